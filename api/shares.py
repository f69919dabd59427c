"""What a credential may take, and what its whole tenant may."""

from dataclasses import dataclass
from typing import Literal

from api.identity import Identity
from api.settings import LimitSettings


@dataclass(frozen=True)
class Share:
    """What may be taken under one subject; 0 of requests, tokens or running runs: no limit."""

    subject: str
    whose: Literal["key", "tenant"]
    requests_per_minute: int
    tokens_per_day: int
    running: int
    waiting: int


def shares(identity: Identity, limits: LimitSettings) -> list[Share]:
    """The credential's own and its tenant's. Commands on this machine count in no tenant's."""
    names = ("requests_per_minute", "tokens_per_day", "running", "waiting")
    own, tenant = ([getattr(of, name) for name in names] for of in (limits, limits.tenant))
    found = [Share(identity.subject, "key", *own)]
    if not identity.local:
        found.append(Share(identity.scope.tenant, "tenant", *tenant))
    return found
