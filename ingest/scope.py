"""Who asks: every search and every write carries a Scope."""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass, field

EVERYONE = "*"
TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@|-]{0,127}")
"""A name that looks like another one, or like a path, is no name of a tenant."""


@dataclass(frozen=True)
class Scope:
    """The tenant and the principals, `user:NAME` and `group:NAME`, whose documents may be seen.

    It is derived from a credential and never from a request body. One that `manages` lists and
    changes all documents of its tenant; what it searches and reads are still only its own.
    """

    tenant: str
    principals: list[str] = field(default_factory=list)
    manages: bool = False

    @property
    def readable_acl(self) -> list[str]:
        return [EVERYONE, *self.principals]

    def may_read(self, acl: Collection[str]) -> bool:
        return any(entry in acl for entry in self.readable_acl)

    def covers(self, other: "Scope") -> bool:
        """Whether it may see all that the other one has seen, such as its runs."""
        return self.tenant == other.tenant and set(other.principals) <= set(self.principals)

    def conversation(self, thread_id: str) -> str:
        """The name of a thread: a user's own, or of those who may see the same."""
        users = [name for name in self.principals if name.startswith("user:")]
        owners = users or sorted(self.principals)
        if not owners:
            return f"{self.tenant}/{thread_id}"
        return f"{self.tenant}/{_digest(owners)}/{thread_id}"

    @property
    def fingerprint(self) -> str:
        """The same for all who may see the same; for keys of caches."""
        return _digest([self.tenant, *sorted(set(self.principals))])


def _digest(names: list[str]) -> str:
    return hashlib.sha256("\x00".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:32]


LOCAL = Scope(tenant="local")
"""Of the commands on this machine, and of every request where no credential is asked for."""

LOCAL_MANAGER = Scope(tenant="local", manages=True)
"""The same where documents are ingested, listed and deleted."""
