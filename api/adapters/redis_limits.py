"""Limits counted in Redis, which several API processes share. Its clock is the one that counts."""

import hashlib
from collections.abc import Awaitable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from api.limits import Place
from graph.settings import RedisSettings
from ingest.errors import ConfigurationError, DependencyError

if TYPE_CHECKING:
    pass

LEASE_S = 15
"""Seconds after which a run counts no more whose process said nothing of it: it was killed."""
KEPT_S = 2 * 86_400
"""Seconds that a day's tokens are kept."""

NOW = "local t = redis.call('TIME') local now = t[1] * 1000000 + t[2]\n"
"""In microseconds."""

TAKE = (
    NOW
    + """
local minute, after, over, refused = 60000000, {}, {}, false
for n, key in ipairs(KEYS) do
  after[n] = math.max(tonumber(redis.call('GET', key) or now), now) + minute / ARGV[n]
  over[n] = math.max(math.ceil(after[n] - now - minute - 1), 0)
  refused = refused or over[n] > 0
end
if refused then return over end
for n, key in ipairs(KEYS) do
  local life_ms = math.ceil((after[n] - now) / 1000) + 1
  redis.call('SET', key, string.format('%.0f', after[n]), 'PX', life_ms)
end
return over
"""
)
"""The generic cell rate algorithm (ITU-T I.371): kept is when all requests may come again."""

PLACE = (
    NOW
    + """
local running, waiting, alive = KEYS[1], KEYS[2], KEYS[3]
local run, most, most_waiting = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local lease = ARGV[4] * 1000000
redis.call('ZREMRANGEBYSCORE', running, '-inf', now)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', alive, '-inf', now)) do
  redis.call('ZREM', waiting, gone)
  redis.call('ZREM', alive, gone)
end
local place = 'waiting'
local rank = redis.call('ZRANK', waiting, run)
local ahead = rank or redis.call('ZCARD', waiting)
if redis.call('ZSCORE', running, run) or redis.call('ZCARD', running) + ahead < most then
  place = 'running'
  redis.call('ZREM', waiting, run)
  redis.call('ZREM', alive, run)
  redis.call('ZADD', running, now + lease, run)
elseif rank or ahead < most_waiting then
  redis.call('ZADD', waiting, 'NX', now, run)
  redis.call('ZADD', alive, now + lease, run)
else
  place = 'full'
end
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, 2 * ARGV[4]) end
return place
"""
)


class RedisLimits:
    def __init__(self, settings: RedisSettings) -> None:
        try:
            from redis.asyncio import Redis
        except ImportError as error:
            raise ConfigurationError(
                f"CRAG_REDIS__URL needs the extra `redis`: pip install -e '.[redis]' ({error})"
            ) from error
        url = settings.url.get_secret_value() if settings.url else ""
        try:
            self._redis: Redis = Redis.from_url(
                url,
                decode_responses=True,
                socket_timeout=settings.timeout_s,
                socket_connect_timeout=settings.timeout_s,
            )
        except ValueError as error:
            raise ConfigurationError(f"CRAG_REDIS__URL: {error}") from None
        self._prefix = f"{settings.prefix}:limits"
        self._take = self._redis.register_script(TAKE)
        self._place = self._redis.register_script(PLACE)

    async def take(self, per_minute: Mapping[str, int]) -> dict[str, float]:
        keys = [self._key(subject, "requests") for subject in per_minute]
        over = await _asked(self._take(keys=keys, args=list(per_minute.values())))
        found = zip(per_minute, over, strict=True)
        return {subject: wait_us / 1_000_000 for subject, wait_us in found if wait_us}

    async def place(self, subject: str, run: str, *, running: int, waiting: int) -> Place:
        keys = [self._key(subject, name) for name in ("running", "waiting", "alive")]
        args: list[str | int] = [run, running, waiting, LEASE_S]
        return cast(Place, await _asked(self._place(keys=keys, args=args)))

    async def leave(self, subject: str, run: str) -> None:
        async with self._redis.pipeline(transaction=True) as together:
            for name in ("running", "waiting", "alive"):
                together.zrem(self._key(subject, name), run)
            await _asked(together.execute())

    async def spend(self, subject: str, tokens: int) -> None:
        key = self._key(subject, f"tokens:{_today()}")
        async with self._redis.pipeline(transaction=True) as together:
            together.incrby(key, tokens)
            together.expire(key, KEPT_S)
            await _asked(together.execute())

    async def spent(self, subject: str) -> int:
        key = self._key(subject, f"tokens:{_today()}")
        return int(await _asked(self._redis.get(key)) or 0)

    async def close(self) -> None:
        await self._redis.aclose()

    def _key(self, subject: str, name: str) -> str:
        """One slot of a cluster for each tenant, whose name a subject begins with. Digests: names
        of users stay out of Redis."""
        tenant = subject.partition(" ")[0]
        return f"{self._prefix}:{{{_digest(tenant)}}}:{_digest(subject)}:{name}"


async def _asked(asking: Awaitable[Any]) -> Any:
    from redis.exceptions import RedisError

    try:
        return await asking
    except (RedisError, OSError) as error:
        raise DependencyError(f"Redis: {error}") from error


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
