"""Who stands behind a request, and what it may do."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from api.keys import KEY_SCOPES, KeyScope
from ingest.scope import LOCAL, Scope


@dataclass(frozen=True)
class Identity:
    """A credential as it was understood; `label` names it in logs."""

    scope: Scope
    may: frozenset[KeyScope]
    label: str = ""
    limits: Mapping[str, int] = field(default_factory=dict)
    """The key's own, in place of CRAG_LIMITS__…."""
    local: bool = False
    """A command on this machine, by the token of the lock file."""

    @property
    def who(self) -> str:
        users = [name for name in self.scope.principals if name.startswith("user:")]
        return " ".join([self.label, *users])

    @property
    def subject(self) -> str:
        """Whose requests, runs and tokens are counted together."""
        return f"{self.scope.tenant} {self.who}"

    @property
    def managing(self) -> Scope:
        """The scope in which it lists and changes documents."""
        manages = bool(self.may & {"ingest", "admin"})
        return replace(self.scope, manages=True) if manages else self.scope


OPERATOR = Identity(LOCAL, frozenset(KEY_SCOPES), "operator")
"""Keys of CRAG_API__KEYS, and everyone where nobody needs a key: they are counted as one."""

COMMANDS = replace(OPERATOR, label="this machine", local=True)
"""The commands of this machine, which go through a server that holds the data folder."""
