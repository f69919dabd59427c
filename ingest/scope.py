"""Who asks: every search and every write carries a Scope."""

from dataclasses import dataclass, field

EVERYONE = "*"


@dataclass(frozen=True)
class Scope:
    """The tenant and the principals (user and group names) whose documents may be seen.

    It is derived from a credential and never from a request body.
    """

    tenant: str
    principals: list[str] = field(default_factory=list)

    @property
    def readable_acl(self) -> list[str]:
        return [EVERYONE, *self.principals]


LOCAL = Scope(tenant="local")
"""The only scope until access control is configured."""
