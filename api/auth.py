"""Who asks: the scope follows from the credential, and from nothing else."""

import hmac
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from api.errors import Unauthorized
from api.settings import Settings, is_loopback
from ingest.scope import LOCAL, Scope


@dataclass(frozen=True)
class Credentials:
    """The keys that are accepted. With none, `anonymous` requests may come: from this machine
    alone where `local_only`.
    """

    keys: Sequence[bytes]
    anonymous: bool
    local_only: bool

    def scope(self, bearer: str | None, host: str, origin: str | None = None) -> Scope:
        """The scope of a request that names the service `host`; a browser names the page it comes
        from as `origin`. Raises Unauthorized."""
        if bearer is not None and self._knows(bearer.encode()):
            return LOCAL
        if not self.anonymous:
            raise Unauthorized("send a valid key: Authorization: Bearer <key>")
        if self.local_only and not _is_local_name(host):
            raise Unauthorized(
                f"this service has no keys and answers this machine only, not as {host[:80]}; "
                "set CRAG_API__KEYS to serve it under that name"
            )
        if self.local_only and origin and not _is_local_name(_host_of(origin)):
            raise Unauthorized(
                f"this service has no keys and takes nothing from the web page {origin[:80]}"
            )
        return LOCAL

    def _knows(self, given: bytes) -> bool:
        """Every key is compared, in constant time, whichever matches."""
        matches = [hmac.compare_digest(given, key) for key in self.keys]
        return any(matches)


def _host_of(origin: str) -> str:
    """Empty for what is no address."""
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""


def credentials(settings: Settings, token: str | None) -> Credentials:
    """`token` is the one in the lock file, for commands on this machine."""
    keys = [key.get_secret_value().encode() for key in settings.api.keys]
    return Credentials(
        keys=[*keys, *([token.encode()] if token else [])],
        anonymous=not keys,
        local_only=is_loopback(settings.host) and not settings.api.allow_anonymous,
    )


def _is_local_name(host: str) -> bool:
    """Whether no web site can have this name. A page on `evil.example` could otherwise post to
    127.0.0.1 for whoever opens it, or let its name point there and read the answers."""
    if not host:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return "." not in host or host.endswith(".localhost")
