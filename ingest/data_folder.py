"""The data folder: its format number, and the lock that names who holds it."""

import fcntl
import json
import os
import shutil
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from ingest.errors import ConfigurationError, DataFolderHeld, UnknownDataFormat

FORMAT = 2
"""Grows when what lies in the folder changes its shape; another number is refused."""

UPGRADED = ("1",)
"""Formats that become the present one when they are opened. What 1 lacks, token vectors, is
computed when it is asked for, or for a whole base by `crag kb reembed`."""

FRESH = "format.new"
"""The number while it is written; a process that was killed then may have left it."""

FEWEST_FREE = 128 * 2**20
"""Bytes that must be free before the store is opened or written."""


@dataclass(frozen=True)
class Holder:
    """Who holds the folder. A server states its `url` and a `token` for local commands."""

    pid: int
    url: str | None = None
    token: str | None = None


def check_space(path: Path) -> None:
    """Raises ConfigurationError when the disk is all but full: the store maps its files into
    memory, and a write that finds no room there would end the process."""
    free = shutil.disk_usage(path).free
    if free < FEWEST_FREE:
        raise ConfigurationError(
            f"the disk of {path} has {free // 2**20} MB left; {FEWEST_FREE // 2**20} MB are needed"
        )


class DataFolder:
    """An open, locked data folder. One process holds it at a time.

    Raises DataFolderHeld when another process does, UnknownDataFormat for a folder of another
    version, ConfigurationError when it cannot be made or written. A new folder is its owner's
    alone: documents and runs are in it. `holder` is what the lock file says; by default a process
    that serves nothing.
    """

    def __init__(self, path: Path, holder: Holder | None = None) -> None:
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigurationError(f"data folder {path}: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise DataFolderHeld(held_by(path)) from None
        with ExitStack() as undo:
            undo.callback(os.close, self._lock)
            check_space(path)
            self._check_format()
            self.announce(holder or Holder(os.getpid()))
            undo.pop_all()

    def announce(self, holder: Holder) -> None:
        """States in the lock file who holds the folder."""
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, json.dumps(asdict(holder)).encode(), 0)

    def close(self) -> None:
        os.ftruncate(self._lock, 0)
        os.close(self._lock)

    def _check_format(self) -> None:
        marker = self.path / "format"
        if not marker.exists():
            if any(p.name not in ("lock", FRESH) for p in self.path.iterdir()):
                raise UnknownDataFormat(
                    f"{self.path} is not empty and is no data folder of this service; "
                    "set CRAG_DATA_DIR to another folder"
                )
            self._mark(marker)
        found = marker.read_text(errors="replace").strip()
        if found in UPGRADED:
            found = self._mark(marker)
        if found != str(FORMAT):
            raise UnknownDataFormat(
                f"{self.path} has data format {found[:20]!r}, this version reads {FORMAT}; "
                "use the version that wrote it, or another CRAG_DATA_DIR and ingest again"
            )

    def _mark(self, marker: Path) -> str:
        """At once or not at all: a half-written number would be refused ever after. An older
        version refuses the folder from here on."""
        fresh = marker.with_name(FRESH)
        fresh.write_text(f"{FORMAT}\n")
        os.replace(fresh, marker)
        return str(FORMAT)


def holder_of(path: Path) -> Holder | None:
    """What the lock file says of the holder; None where it says nothing readable."""
    try:
        return Holder(**json.loads((path / "lock").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def is_held(path: Path) -> bool:
    """Whether a living process holds the folder; a lock file that a crash left says nothing."""
    try:
        lock = os.open(path / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def held_by(path: Path) -> str:
    """Who holds the folder, and what to do, in one line."""
    holder = holder_of(path)
    who = f"process {holder.pid}" if holder else "another process"
    at = f", serving {holder.url}" if holder and holder.url else ""
    return f"the data folder {path} is held by {who}{at}; stop it or set another CRAG_DATA_DIR"
