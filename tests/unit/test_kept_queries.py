"""The same text is worded once in five minutes, whoever asks; another text or model is not it."""

from typing import Any

import pytest

from graph.adapters import kept_queries
from graph.adapters.kept_queries import KeptQueries
from nodes.state import Turn


class Counting:
    """Words each text as itself with the number of the call; `error` is raised."""

    def __init__(self) -> None:
        self.calls = 0
        self.error: Exception | None = None

    async def rewritten(self, question: str, **told: Any) -> str:
        return self._said(question)

    async def standalone(self, question: str, history: Any) -> str:
        return self._said(question)

    async def parts(self, question: str) -> list[str]:
        return [self._said(question)]

    def _said(self, text: str) -> str:
        self.calls += 1
        if self.error:
            raise self.error
        return f"{text} {self.calls}"


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def kept(writer: Any, clock: Clock, model: str = "m") -> KeptQueries:
    return KeptQueries(writer, model=model, ttl_s=300, now=clock)


async def test_a_wording_is_kept_for_five_minutes() -> None:
    writer, clock = Counting(), Clock()
    queries = kept(writer, clock)
    told = {"tried": ["a"], "rejected": []}
    assert await queries.rewritten("q", **told) == await queries.rewritten("q", **told)
    clock.seconds = 299.0
    await queries.rewritten("q", **told)
    assert writer.calls == 1
    clock.seconds = 300.0
    await queries.rewritten("q", **told)
    assert writer.calls == 2


async def test_another_history_or_another_try_is_another_text() -> None:
    writer, clock = Counting(), Clock()
    queries = kept(writer, clock)
    for history in ([], [Turn("a", "b")], [Turn("a", "c")]):
        await queries.standalone("q", history)
    await queries.rewritten("q", tried=[], rejected=[])
    await queries.rewritten("q", tried=["q"], rejected=[])
    await queries.parts("q")
    assert writer.calls == 6


async def test_what_failed_is_asked_again() -> None:
    writer, clock = Counting(), Clock()
    queries = kept(writer, clock)
    writer.error = OSError("gone")
    with pytest.raises(OSError, match="gone"):
        await queries.parts("q")
    writer.error = None
    assert await queries.parts("q") == ["q 2"]


async def test_the_least_used_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_queries, "MOST", 2)
    writer, clock = Counting(), Clock()
    queries = kept(writer, clock)
    for text in ("a", "b", "a", "c", "a"):
        await queries.parts(text)
    assert writer.calls == 3
    await queries.parts("b")
    assert writer.calls == 4
