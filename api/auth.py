"""Who asks: the identity follows from the credential, and from nothing else."""

import hmac
import ipaddress
from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

from api.errors import Unauthorized
from api.identity import COMMANDS, OPERATOR, Identity
from api.jwt_claims import identity_of
from api.settings import JwtSettings, Settings, asks_for_credentials, is_loopback
from api.stored_keys import StoredKeys


class TokenVerifier(Protocol):
    async def claims(self, token: str) -> dict[str, Any] | None:
        """The claims of a valid token; None for any other. Raises DependencyError."""


class Credentials:
    """The keys and tokens that are accepted. Where none is asked for, `anonymous` requests may
    come: from this machine alone where `local_only`.
    """

    def __init__(
        self,
        *,
        operator_keys: Sequence[tuple[bytes, Identity]],
        stored: StoredKeys,
        jwt: JwtSettings,
        verifier: TokenVerifier | None,
        anonymous: bool,
        local_only: bool,
    ) -> None:
        self._operator_keys = operator_keys
        self._stored = stored
        self._jwt = jwt
        self._verifier = verifier
        self._anonymous = anonymous
        self._local_only = local_only

    async def identity(self, bearer: str | None, host: str, origin: str | None = None) -> Identity:
        """Of a request that names the service `host`; a browser names the page it comes from as
        `origin`. Raises Unauthorized, and DependencyError where a key cannot be looked up."""
        known = await self._known(bearer) if bearer is not None else None
        if known is not None:
            return known
        if not self._anonymous or await self._stored.any():
            raise Unauthorized("send a valid key: Authorization: Bearer <key>")
        if self._local_only and not _is_local_name(host):
            raise Unauthorized(
                f"this service has no keys and answers this machine only, not as {host[:80]}; "
                "make one with `crag keys create` to serve it under that name"
            )
        if self._local_only and origin and not _is_local_name(_host_of(origin)):
            raise Unauthorized(
                f"this service has no keys and takes nothing from the web page {origin[:80]}"
            )
        return OPERATOR

    async def close(self) -> None:
        await self._stored.close()

    async def _known(self, bearer: str) -> Identity | None:
        given = bearer.encode("utf-8", "surrogatepass")
        # Every key is compared, in constant time, whichever matches.
        matches = [who for key, who in self._operator_keys if hmac.compare_digest(given, key)]
        if matches:
            return matches[0]
        if self._verifier is not None and bearer.count(".") == 2:
            claims = await self._verifier.claims(bearer)
            return identity_of(claims, self._jwt) if claims is not None else None
        key = await self._stored.key(bearer)
        if key is None:
            return None
        may = frozenset(scope for scope in OPERATOR.may if scope in key.scopes)
        return Identity(key.scope, may, f"crag_{key.key_id}", key.limits)


def credentials(settings: Settings, token: str | None) -> Credentials:
    """`token` is the one in the lock file, for commands on this machine."""
    keys = [(key.get_secret_value().encode(), OPERATOR) for key in settings.api.keys]
    local = is_loopback(settings.host)
    verifier: TokenVerifier | None = None
    if settings.jwt.jwks_url is not None:
        from api.adapters.jwks import JwtVerifier

        verifier = JwtVerifier(settings.jwt)
    return Credentials(
        operator_keys=[*keys, *([(token.encode(), COMMANDS)] if token else [])],
        stored=StoredKeys(settings),
        jwt=settings.jwt,
        verifier=verifier,
        anonymous=not asks_for_credentials(settings) and (local or settings.api.allow_anonymous),
        local_only=local and not settings.api.allow_anonymous,
    )


def _host_of(origin: str) -> str:
    """Empty for what is no address."""
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""


def _is_local_name(host: str) -> bool:
    """Whether no web site can have this name. A page on `evil.example` could otherwise post to
    127.0.0.1 for whoever opens it, or let its name point there and read the answers."""
    if not host:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return "." not in host or host.endswith(".localhost")
