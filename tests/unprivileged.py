"""Servers of tests run as nobody where the tests run as root."""

import os
import pwd
from pathlib import Path
from typing import Any


def unprivileged(folder: Path) -> dict[str, Any]:
    """What Popen takes to run as nobody, who owns the folder; PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
