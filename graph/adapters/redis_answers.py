"""Kept answers in Redis, shared by all processes that use it."""

import math

from redis.asyncio import Redis
from redis.exceptions import RedisError, TimeoutError

from graph.settings import RedisSettings
from ingest.errors import ConfigurationError, DependencyError, DependencyTimeout


class RedisAnswers:
    """An AnswerStore. Redis bounds its own memory (`maxmemory`, `allkeys-lru`)."""

    def __init__(self, settings: RedisSettings, *, ttl_s: float) -> None:
        """Raises ConfigurationError for an address that is none. Connects at the first call."""
        address = settings.url.get_secret_value() if settings.url is not None else ""
        try:
            self._client = Redis.from_url(
                address,
                socket_timeout=settings.timeout_s,
                socket_connect_timeout=settings.timeout_s,
            )
        except ValueError:
            raise ConfigurationError("CRAG_REDIS__URL: must be redis://… or rediss://…") from None
        self._prefix = f"{settings.prefix}:answer:"
        self._ttl_s = math.ceil(ttl_s)

    async def get(self, key: str) -> bytes | None:
        try:
            value = await self._client.get(self._prefix + key)
        except (RedisError, OSError) as error:
            raise _failed(error) from error
        return value if isinstance(value, bytes) else None

    async def put(self, key: str, value: bytes) -> None:
        try:
            await self._client.set(self._prefix + key, value, ex=self._ttl_s)
        except (RedisError, OSError) as error:
            raise _failed(error) from error

    async def close(self) -> None:
        await self._client.aclose()


def _failed(error: Exception) -> DependencyError:
    """Without the address, which may hold a password."""
    kind = DependencyTimeout if isinstance(error, TimeoutError) else DependencyError
    return kind(f"Redis does not answer: {type(error).__name__}")
