"""Where several bases may be searched: the surest one, or all; a correction widens to all."""

from typing import Any

import pytest

from graph.builder import build
from ingest.errors import DependencyError, UnknownKnowledgeBase
from ingest.live import named
from ingest.ports import KnowledgeBase
from nodes.context import Context
from nodes.route_question import surest
from nodes.state import State
from tests.fakes import FakeGrader, FakeIndex, a_candidate
from tests.runs import kinds, ports, route, run

ROUTED = {"route": True, "route_margin": 0.1}


class Bases:
    """Those that the scope may read; `error` is raised."""

    def __init__(self, *names: str, error: Exception | None = None) -> None:
        self.known = [KnowledgeBase(name, "", "", "", "") for name in names]
        self.error = error

    async def named(self, scope: Any, asked: str) -> list[KnowledgeBase]:
        if self.error:
            raise self.error
        return named(self.known, asked)


class Scores:
    def __init__(self, scores: Any) -> None:
        self.told = scores
        self.asked: list[list[str]] = []

    async def scores(self, scope: Any, question: str, bases: Any) -> Any:
        self.asked.append(list(bases))
        if isinstance(self.told, Exception):
            raise self.told
        return self.told


class ByBase(FakeIndex):
    """Each base has the one passage that is named like it."""

    def __init__(self) -> None:
        super().__init__([])
        self.bases: list[str] = []
        texts = ("hr", "it", "kb")
        self.passages = {name: a_candidate(name, dense=0.5, bm25=1.0, fused=1.0) for name in texts}
        self.texts = {
            (c.chunk.document_id, c.chunk.revision): c.chunk.text for c in self.passages.values()
        }

    async def search(self, scope: Any, base: str, *what: Any, **more: Any) -> Any:
        self.bases.append(base)
        return [self.passages[base]]

    async def text(self, scope: Any, base: str, document: str, revision: str) -> str | None:
        there = document == self.passages[base].chunk.document_id
        return self.texts.get((document, revision)) if there else None


async def asked(
    knowledge_base: str, scores: Any, correct: str = "it", **more: Any
) -> tuple[State, ByBase]:
    index = ByBase()
    services = ports(
        index=index,
        bases=more.pop("bases", Bases("hr", "it")),
        router=Scores(scores),
        grader=FakeGrader({correct: "correct"}),
    )
    options = ROUTED | more
    state = await run(services, knowledge_base=knowledge_base, **options)
    return state, index


async def test_a_sure_route_searches_one_base() -> None:
    state, index = await asked("auto", {"hr": 0.3, "it": 0.7})
    assert index.bases == ["it"]
    assert state.outcome == "answered"
    entry = next(one for one in state.trace if one.node == "route_question")
    assert entry.summary == {"searched": ["it"], "of": 2, "scores": {"it": 0.7}, "lead": 0.4}


@pytest.mark.parametrize("scores", [{"hr": 0.65, "it": 0.7}, {"hr": 0.7, "it": 0.7}])
async def test_an_unsure_route_searches_all(scores: Any) -> None:
    state, index = await asked("auto", scores)
    assert sorted(index.bases) == ["hr", "it"]
    assert state.outcome == "answered"


async def test_the_first_correction_widens_a_wrong_route() -> None:
    state, index = await asked("hr,it", {"hr": 0.9, "it": 0.1})
    assert (index.bases[0], sorted(index.bases[1:])) == ("hr", ["hr", "it"])
    assert state.outcome == "answered" and state.spent.rewrites == 1
    assert route(state, "route_question").startswith("context route_question plan retrieve")


@pytest.mark.parametrize("scores", [OSError("down"), {"hr": 0.9}, {"hr": 0.9, "it": "high"}])
async def test_a_router_that_fails_searches_all(scores: Any) -> None:
    state, index = await asked("auto", scores)
    assert sorted(index.bases) == ["hr", "it"]
    assert [node for node, _ in kinds(state)] == ["route_question"]
    assert state.outcome == "answered"


async def test_without_names_nothing_is_searched() -> None:
    state, index = await asked("auto", {}, bases=Bases(error=DependencyError("locked")))
    assert (state.outcome, state.reason) == ("refused", "dependency_down")
    assert not index.bases


async def test_switched_off_or_of_one_base_nothing_is_scored() -> None:
    for more in ({"route": False}, {"bases": Bases("it")}):
        state, _ = await asked("auto", OSError("not asked"), **more)
        assert state.outcome == "answered" and not state.degraded


async def test_one_base_is_not_routed() -> None:
    state, index = await asked("kb", OSError("not asked"), correct="kb")
    assert index.bases == ["kb"] and "route_question" not in route(state, "route_question")
    assert state.bases == state.routed == []


def test_what_a_name_stands_for() -> None:
    bases = Bases("auto", "hr", "it").known
    assert [b.name for b in named(bases[1:], "auto")] == ["hr", "it"]
    assert [b.name for b in named(bases, "auto")] == ["auto"]
    assert [b.name for b in named(bases, "it,hr,it")] == ["it", "hr"]
    for missing in ("law", "hr,law", "", "hr, it", "hr,"):
        with pytest.raises(UnknownKnowledgeBase):
            named(bases[1:], missing)
    with pytest.raises(UnknownKnowledgeBase):
        named([], "auto")


def test_a_lead_is_over_all_others() -> None:
    assert surest({"a": 0.5, "b": 0.25}, 0.25) == ["a"]
    assert surest({"a": 0.5, "b": 0.3}, 0.25) == []
    assert surest({}, 0.0) == surest({"a": 0.5}, 0.0) == []


def test_the_form_of_studio_shows_the_options() -> None:
    fields = build(ports(), options=Context).get_context_jsonschema()["properties"]
    assert {"route", "route_margin", "phrasings", "step_back", "hyde", "merge"} <= fields.keys()
    assert fields["route_margin"]["maximum"] == 2 and fields["route"]["description"]
