"""Who stands behind a request, and what it may do."""

from dataclasses import dataclass, replace

from api.keys import KEY_SCOPES, KeyScope
from ingest.scope import LOCAL, Scope


@dataclass(frozen=True)
class Identity:
    """A credential as it was understood; `label` names it in logs."""

    scope: Scope
    may: frozenset[KeyScope]
    label: str = ""

    @property
    def managing(self) -> Scope:
        """The scope in which it lists and changes documents."""
        manages = bool(self.may & {"ingest", "admin"})
        return replace(self.scope, manages=True) if manages else self.scope


OPERATOR = Identity(LOCAL, frozenset(KEY_SCOPES), "operator")
"""Keys of CRAG_API__KEYS, the commands of this machine, and everyone where nobody needs a key."""
