"""Bearer tokens (JWT, RFC 7519) checked against the public keys that their issuer publishes."""

import asyncio
import json
import logging
import math
import time
from collections.abc import Callable
from typing import Any

import httpx
import jwt

from api.settings import JwtSettings
from ingest.errors import DependencyError

MAX_BYTES = 512 * 1024
"""Of a set of keys; a real one has some thousand."""
MAX_TOKEN = 16 * 1024

UNREADABLE = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
"""What a token can raise that somebody made up, or that holds a number like 1e999."""

log = logging.getLogger("crag.api")


class JwtVerifier:
    """Keys are kept for `cache_s` after their fetch, and no longer where no new fetch succeeds."""

    def __init__(
        self, settings: JwtSettings, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._keys: dict[str, jwt.PyJWK] = {}
        self._good_until = -math.inf
        self._fetch_after = -math.inf
        self._fetching = asyncio.Lock()

    async def claims(self, token: str) -> dict[str, Any] | None:
        """The claims of a valid token; None for any other.

        Raises DependencyError where the keys cannot be had: nobody is let in without them.
        """
        try:
            kid, algorithm = _header(token)
        except UNREADABLE:
            return None
        if algorithm not in self._settings.algorithms:
            return None
        key = await self._key(kid)
        if key is None or key.algorithm_name != algorithm:
            return None
        try:
            return self._decoded(token, key)
        except UNREADABLE as error:
            log.info("a token was refused: %s", type(error).__name__)
            return None

    def _decoded(self, token: str, key: jwt.PyJWK) -> dict[str, Any]:
        settings = self._settings
        return jwt.decode(
            token,
            key,
            algorithms=list(settings.algorithms),
            issuer=settings.issuer,
            audience=settings.audience,
            leeway=settings.leeway_s,
            options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
        )

    async def _key(self, kid: str) -> jwt.PyJWK | None:
        if self._clock() < self._good_until and kid in self._keys:
            return self._keys[kid]
        async with self._fetching:
            if self._clock() >= self._fetch_after and not (
                self._clock() < self._good_until and kid in self._keys
            ):
                await self._fetch()
        if self._clock() >= self._good_until:
            raise DependencyError("the keys of the token issuer cannot be had")
        return self._keys.get(kid)

    async def _fetch(self) -> None:
        """Keeps what was there where it fails. The next one waits, whatever this one brings."""
        self._fetch_after = self._clock() + self._settings.refetch_s
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                keys = _usable(await self._published())
        except (httpx.HTTPError, TimeoutError, ValueError) as error:
            log.warning("the keys of the token issuer were not fetched: %r", error)
            return
        self._keys, self._good_until = keys, self._clock() + self._settings.cache_s

    async def _published(self) -> Any:
        body = b""
        client = httpx.AsyncClient(timeout=self._settings.timeout_s, trust_env=False)
        async with client, client.stream("GET", str(self._settings.jwks_url)) as response:
            response.raise_for_status()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > MAX_BYTES:
                    raise ValueError("the set of keys is too large")
        return json.loads(body)


def _header(token: str) -> tuple[str, str]:
    """The key id and the algorithm that it states. Raises PyJWTError or ValueError."""
    if len(token) > MAX_TOKEN:
        raise ValueError("too long")
    header = jwt.get_unverified_header(token)
    kid, algorithm = header.get("kid"), header.get("alg")
    if not isinstance(kid, str) or not isinstance(algorithm, str):
        raise ValueError("it names no key")
    return kid, algorithm


def _usable(published: Any) -> dict[str, jwt.PyJWK]:
    """Public keys for signatures, by id. Never a shared secret: who can check could also sign."""
    found = {}
    entries = published.get("keys") if isinstance(published, dict) else None
    if not isinstance(entries, list):
        raise ValueError("no set of keys")
    for entry in entries:
        public = isinstance(entry, dict) and entry.get("kty") in ("RSA", "EC", "OKP")
        if not public or entry.get("use", "sig") != "sig" or not isinstance(entry.get("kid"), str):
            continue
        try:
            found[entry["kid"]] = jwt.PyJWK(entry)
        except UNREADABLE:
            continue  # of a kind that is not known here; the others work
    return found
