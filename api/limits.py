"""What a credential and its tenant may take, and the port that counts it, here or in Redis."""

from collections.abc import Mapping
from typing import Literal, Protocol

from api.errors import RateLimited
from api.settings import LimitSettings, Settings
from ingest.errors import InvalidRequest

Place = Literal["running", "waiting", "full"]

OWN = ("requests_per_minute", "tokens_per_day", "running", "waiting", "question_chars", "upload_mb")
"""What a key may have of its own."""


class Limiter(Protocol):
    """Counts by subject: whose credential it is, or which tenant. Every call is atomic, whoever
    else calls.

    Raises DependencyError when it cannot answer.
    """

    async def take(self, per_minute: Mapping[str, int]) -> dict[str, float]:
        """Counts a request under all these subjects and gives nothing; where it is one too many
        for any, counts it under none and gives the seconds until each of those may have one.

        A minute's requests may come at once; they come back evenly. All are of one tenant.
        """

    async def place(self, subject: str, run: str, *, running: int, waiting: int) -> Place:
        """The place of a run, which asks again while it waits and while it runs. First come, first
        served: who waits keeps the order when others leave."""

    async def leave(self, subject: str, run: str) -> None:
        """Gives its place up, whichever it has."""

    async def spend(self, subject: str, tokens: int) -> None: ...

    async def spent(self, subject: str) -> int:
        """Tokens of this day, in UTC."""

    async def close(self) -> None: ...


def own_limits(given: Mapping[str, int]) -> dict[str, int]:
    """Raises InvalidRequest for a limit that a key cannot have."""
    from pydantic import ValidationError

    for name in given:
        if name not in OWN:
            raise InvalidRequest(f"a limit is one of {', '.join(OWN)}")
    try:
        LimitSettings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidRequest(f"limit {first['loc'][0]}: {first['msg']}") from None
    return dict(given)


def check_question(question: str, limits: LimitSettings) -> None:
    """Raises InvalidRequest."""
    if len(question) > limits.question_chars:
        raise InvalidRequest(f"question: this key asks at most {limits.question_chars} characters")


def too_many(what: str, retry_after_s: float) -> RateLimited:
    return RateLimited(f"{what}; try again in {max(1, round(retry_after_s))} s", retry_after_s)


def open_limiter(settings: Settings) -> Limiter | None:
    """What all processes count in; None where each counts for itself."""
    if settings.redis.url is None:
        return None
    from api.adapters.redis_limits import RedisLimits

    return RedisLimits(settings.redis)
