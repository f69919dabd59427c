"""API keys: who a key stands for, what it may do, and how long; the secret itself is not kept."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol, get_args

from api.limits import own_limits
from ingest.acl import checked_name
from ingest.errors import InvalidRequest, NotFound
from ingest.scope import LOCAL, TENANT, Scope

KeyScope = Literal["ask", "ingest", "admin"]
KEY_SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)
"""ask: questions, searches, runs, threads. ingest: documents. admin: knowledge bases."""

WRITTEN = re.compile(r"crag_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
"""The id, which is shown in lists and logs, then 256 random bits."""

NOBODY = hashlib.sha256(b"").hexdigest()
MAX_NAMES = 100


@dataclass(frozen=True)
class Key:
    """What is known of a key. Times are ISO 8601 in UTC; `replaced_by` is the id of a rotation."""

    key_id: str
    name: str
    tenant: str
    created_at: str
    user: str | None = None
    groups: list[str] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    expires_at: str | None = None
    revoked_at: str | None = None
    replaced_by: str | None = None
    limits: dict[str, int] = field(default_factory=dict)

    def state(self, now: datetime) -> Literal["live", "expired", "revoked"]:
        if self.revoked_at is not None:
            return "revoked"
        expired = self.expires_at is not None and datetime.fromisoformat(self.expires_at) <= now
        return "expired" if expired else "live"

    @property
    def scope(self) -> Scope:
        user = [f"user:{self.user}"] if self.user else []
        return Scope(self.tenant, [*user, *(f"group:{group}" for group in self.groups)])


class KeyStore(Protocol):
    """Keys by id, each with the digest of its secret. Calls block for some milliseconds.

    Keys are never deleted: one that was revoked still says that keys are asked for here. Raises
    DependencyError when it cannot answer.
    """

    def add(self, key: Key, digest: str, *, instead_of: Key | None = None) -> None:
        """Durable when it returns; the key that it replaces is changed along with it."""

    def find(self, key_id: str) -> tuple[Key, str] | None:
        """The key and its digest."""

    def listed(self, tenant: str | None = None) -> list[Key]:
        """Of a tenant, or all; by the time they were made."""

    def change(self, key: Key) -> None:
        """Writes its `expires_at`, `revoked_at`, `replaced_by` and `limits`."""

    def any(self) -> bool:
        """Whether a key was ever made."""

    def close(self) -> None: ...


def new_key(
    tenant: str = LOCAL.tenant,
    *,
    name: str = "",
    user: str | None = None,
    groups: Sequence[str] = (),
    scopes: Sequence[str] = ("ask",),
    lifetime: timedelta | None = None,
    limits: Mapping[str, int] | None = None,
) -> Key:
    """Raises InvalidRequest for a name, a scope or a limit that cannot be."""
    if not TENANT.fullmatch(tenant):
        raise InvalidRequest("a tenant has 1 to 128 of A-Z, a-z, 0-9 and _.:@|-, not first")
    unknown = [scope for scope in scopes if scope not in KEY_SCOPES]
    if unknown or not scopes:
        raise InvalidRequest(f"a scope is one of {', '.join(KEY_SCOPES)}")
    if len(groups) > MAX_NAMES:
        raise InvalidRequest(f"a key has at most {MAX_NAMES} groups")
    now = datetime.now(UTC)
    return Key(
        key_id=secrets.token_hex(6),
        name=name[:MAX_NAMES],
        tenant=tenant,
        created_at=_iso(now),
        user=checked_name(user) if user else None,
        groups=[checked_name(group) for group in dict.fromkeys(groups)],
        scopes=[scope for scope in KEY_SCOPES if scope in scopes],
        expires_at=_iso(now + lifetime) if lifetime else None,
        limits=own_limits(limits or {}),
    )


def store_key(store: KeyStore, key: Key, *, instead_of: Key | None = None) -> str:
    """The whole key, which is told this once: the store keeps a digest.

    A plain SHA-256: with 256 random bits there is nothing to guess that a slow hash would protect,
    and it would cost every request.
    """
    told = f"crag_{key.key_id}_{secrets.token_urlsafe(32)}"
    store.add(key, _digest(told), instead_of=instead_of)
    return told


def rotate(
    store: KeyStore, key_id: str, grace: timedelta, lifetime: timedelta | None = None
) -> tuple[Key, str]:
    """A new key for the same, and its whole text; the old one lives for the grace and no longer.

    Without a lifetime of its own it gets that of the old one. Raises NotFound, and InvalidRequest
    for a key that is not live.
    """
    now = datetime.now(UTC)
    old = _live(store, key_id, now)
    lifetime = lifetime or _lifetime(old)
    new = replace(
        old,
        key_id=secrets.token_hex(6),
        created_at=_iso(now),
        expires_at=_iso(now + lifetime) if lifetime else None,
    )
    until = min(filter(None, [old.expires_at, _iso(now + grace)]))
    retired = replace(old, expires_at=until, replaced_by=new.key_id)
    return new, store_key(store, new, instead_of=retired)


def revoke(store: KeyStore, key_id: str) -> Key:
    """It opens nothing from now on. Raises NotFound."""
    key = _known(store, key_id)
    if key.revoked_at is None:
        key = replace(key, revoked_at=_iso(datetime.now(UTC)))
        store.change(key)
    return key


def limit(store: KeyStore, key_id: str, limits: Mapping[str, int]) -> Key:
    """Its limits from now on, in place of those it had. Raises NotFound, InvalidRequest."""
    key = replace(_known(store, key_id), limits=own_limits(limits))
    store.change(key)
    return key


def key_for(store: KeyStore, told: str) -> Key | None:
    """The live key that was told; None for every other text, in the same time."""
    match = WRITTEN.fullmatch(told)
    found = store.find(match[1]) if match else None
    key, digest = found or (None, NOBODY)
    same = hmac.compare_digest(_digest(told), digest)
    live = key is not None and key.state(datetime.now(UTC)) == "live"
    return key if same and live else None


def _known(store: KeyStore, key_id: str) -> Key:
    """By its id, or as it is shown, with `crag_` before it."""
    found = store.find(key_id.removeprefix("crag_"))
    if found is None:
        raise NotFound(f"no key {key_id[:20]!r}; crag keys list shows them")
    return found[0]


def _live(store: KeyStore, key_id: str, now: datetime) -> Key:
    key = _known(store, key_id)
    if (state := key.state(now)) != "live":
        raise InvalidRequest(f"the key {key.key_id} is {state}; create another one")
    if key.replaced_by:
        raise InvalidRequest(f"the key {key.key_id} was replaced by {key.replaced_by} already")
    return key


def _lifetime(key: Key) -> timedelta | None:
    if key.expires_at is None:
        return None
    return datetime.fromisoformat(key.expires_at) - datetime.fromisoformat(key.created_at)


def _digest(told: str) -> str:
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="seconds")
