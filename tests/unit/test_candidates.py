"""A search or a reranker that gives no candidates has failed, and the run says so."""

from typing import Any

import pytest

from tests.fakes import FakeIndex, a_candidate
from tests.runs import kinds, ports, route, run

NONSENSE = [None, "", "correct", 0, {}, b"x", object(), ("a", "b"), [None]]


class Gives:
    """A port that gives the same thing whatever it is asked."""

    def __init__(self, given: Any) -> None:
        self._given = given

    async def search(self, *args: Any, **more: Any) -> Any:
        return self._given

    async def text(self, *args: Any) -> Any:
        return None

    async def rerank(self, *args: Any) -> Any:
        return self._given


@pytest.mark.parametrize("given", NONSENSE, ids=lambda one: type(one).__name__)
async def test_a_reranker_that_gives_nonsense_leaves_the_order_of_retrieval(given: Any) -> None:
    found = [a_candidate("a"), a_candidate("b")]
    state = await run(ports(index=FakeIndex(found), reranker=Gives(given)))
    assert state.candidates == found
    assert kinds(state) == [("rerank", "TypeError")]
    assert route(state).endswith("generate check")


@pytest.mark.parametrize("given", NONSENSE, ids=lambda one: type(one).__name__)
async def test_a_search_that_gives_nonsense_is_a_search_that_failed(given: Any) -> None:
    state = await run(ports(index=Gives(given)))
    assert (state.outcome, state.reason) == ("refused", "dependency_down")
    assert state.candidates == []
    assert kinds(state) == [("retrieve", "TypeError")]
