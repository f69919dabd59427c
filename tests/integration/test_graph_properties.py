"""Whatever the ports give or raise, a run ends in an answer or in a typed refusal."""

import asyncio
import json
import time
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from langgraph.graph import END

from graph.answer import Answer, answer_from
from graph.builder import build
from graph.services import Services
from ingest.errors import DependencyError, DependencyTimeout, ServiceError
from nodes.citations import citations_problem
from nodes.context import Context
from nodes.findings import Grade, Sentence, Support
from nodes.ports import Draft, GradedPassages, Sources, WebResult
from nodes.state import Outcome, Reason, State, Turn
from tests.fakes import (
    FakeChecker,
    FakeGrader,
    FakeIndex,
    FakeWeb,
    a_candidate,
    a_citation,
    a_grade,
)
from tests.runs import Told, ports, route, run_through, told_through, with_a_node_between

CANDIDATES = [a_candidate(name) for name in "abcdef"]
TEXTS = {(c.chunk.document_id, c.chunk.revision): c.chunk.text for c in CANDIDATES}

garbage = st.sampled_from(
    [None, "correct", "", 0, 1.5, float("nan"), True, {}, [], [None], object(), ("a", "b"), b"x"]
)
# Made anew for each raise: an exception keeps the frames of every raise it went through.
errors = st.sampled_from(
    [
        lambda: DependencyError("down"),
        lambda: DependencyTimeout("slow"),
        lambda: ServiceError("odd", code="x" * 300),
        lambda: ValueError("v" * 5_000),
        lambda: TypeError(),
        lambda: KeyError("k"),
        lambda: RecursionError("deep"),
        lambda: MemoryError(),
        lambda: TimeoutError(),
        lambda: OSError(5, "io"),
        lambda: StopAsyncIteration(),
        lambda: AssertionError("a"),
        lambda: ZeroDivisionError(),
        lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        lambda: ExceptionGroup("several", [ValueError("one")]),
    ]
)
EDGES = [("decline", END), ("rerank", "grade_documents")]
"""Where one more node is put: a run passes the second one in every loop."""

often_fine = st.integers(0, 9)

candidates = st.lists(st.sampled_from(CANDIDATES), max_size=6)
grades = st.one_of(
    st.sampled_from(["correct", "ambiguous", "incorrect"]).map(a_grade),
    st.builds(Grade, garbage, garbage),
    garbage,
)


class Chaos:
    """Every port at once: `draw` decides at each call what it gives or raises."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def _one_of(self, fine: Any) -> Any:
        """Seven times in ten what a healthy port gives; else garbage or an error."""
        luck = self.draw(often_fine)
        if luck >= 3:
            return self.draw(fine)
        if luck == 0:
            return self.draw(garbage)
        raise self.draw(errors)()

    async def search(self, *args: Any, **more: Any) -> Any:
        if len(args) == 1:
            return self._one_of(st.lists(st.builds(a_web_result, st.integers(0, 3)), max_size=3))
        return self._one_of(candidates)

    async def text(self, scope: Any, base: str, document: str, revision: str) -> Any:
        return self._one_of(st.sampled_from([TEXTS.get((document, revision)), None, "other"]))

    async def rerank(self, question: str, found: Any) -> Any:
        return self._one_of(st.permutations(found))

    async def grade(self, question: str, chosen: Any, **more: Any) -> Any:
        size = {"min_size": len(chosen), "max_size": len(chosen)}
        return self._one_of(
            st.builds(GradedPassages, st.lists(grades, **size), st.sampled_from(["", "weak"]))
        )

    @property
    def missing(self) -> str:
        return str(self.draw(st.sampled_from(["", "", "no key"])))

    async def generate(self, question: str, evidence: Any, **more: Any) -> Any:
        passages = [e.candidate for e in evidence] or CANDIDATES
        sentences = st.lists(st.sampled_from(passages).flatmap(a_sentence), max_size=3)
        return self._one_of(st.builds(Draft, sentences, st.integers(0, 2)))

    async def settled(self, question: str, sentences: Any, sources: Any) -> Any:
        verdicts = [self.draw(st.one_of(st.none(), a_support(s.text))) for s in sentences]
        return self._one_of(st.just(verdicts))

    async def check(self, question: str, sentences: Any, sources: Any) -> Any:
        verdicts = [self.draw(a_support(s.text)) for s in sentences]
        return self._one_of(st.sampled_from([verdicts, verdicts, verdicts, verdicts[1:]]))


def a_web_result(n: int) -> WebResult:
    return WebResult(f"https://example.org/{n}", f"Page {n}", f"Page {n} says something.")


@st.composite
def a_sentence(draw: Any, candidate: Any) -> Sentence:
    """A quotation, or one that is made up, misplaced or without a source."""
    chunk = candidate.chunk
    kind = "web" if candidate.url else "document"
    wrong = draw(
        st.sampled_from(
            [{}, {}, {}, {"start": 1}, {"end": 10**9}, {"quote": "made up"}, {"quote_sha256": ""}]
        )
    )
    citation = a_citation(chunk, 1, kind=kind, url=candidate.url, **wrong)
    return Sentence(chunk.text, draw(st.sampled_from([[citation], [citation], []])))


def a_support(text: str) -> st.SearchStrategy[Support]:
    odd = st.sampled_from([True, True, True, False, None, "yes"])
    return st.builds(Support, st.just(text), odd, st.sampled_from([1.0, 0.95, 0.3, float("nan")]))


@settings(
    max_examples=150,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # shrinking a whole run takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    data=st.data(),
    rewrites=st.integers(0, 3),
    web=st.booleans(),
    keep=st.integers(1, 5),
    question=st.sampled_from(
        ["How long do refunds take?", "refund deadline", "Wie lange dauert das?", "E-4102", "hi"]
    ),
    history=st.sampled_from([[], [Turn("What is a gateway?", "A device.")]]),
    edge=st.sampled_from([None, *EDGES]),
)
def test_every_run_ends_in_an_answer_or_a_typed_refusal(
    data: st.DataObject,
    rewrites: int,
    web: bool,
    keep: int,
    question: str,
    history: list[Turn],
    edge: tuple[str, str] | None,
) -> None:
    chaos: Any = Chaos(data.draw)
    context = Context(rewrites=rewrites, web=web, keep=keep)
    start = State(question=question, knowledge_base="kb", history=history)
    graph = build(Services(chaos, chaos, chaos, chaos, chaos, chaos))
    if edge:
        graph = with_a_node_between(graph, *edge)
    told = asyncio.run(told_through(graph, start, context))
    state = told.state
    assert 0 < len(route(state).split()) <= longest_route(rewrites)
    answer = answer_from(state, context, run_id="r", versions={"index": "1"}, total_ms=1.0)
    check_answer(answer, rewrites)
    check_citations(answer)
    check_deltas(told, answer)


def check_answer(answer: Answer, rewrites: int) -> None:
    assert answer.outcome in get_args(Outcome)
    assert (answer.outcome == "refused") == (answer.reason in get_args(Reason))
    assert answer.answer
    assert answer.budget["rewrites"]["used"] <= rewrites
    shown = json.loads(json.dumps(answer.as_json(), allow_nan=False))
    assert set(shown) == {
        "run_id",
        "question",
        "outcome",
        "reason",
        "answer",
        "citations",
        "grounding",
        "searched",
        "degraded",
        "budget",
        "timings",
        "trace",
        "versions",
        "confidence",
        "choices",
        "suggestions",
    }


def check_deltas(told: Told, answer: Answer) -> None:
    """What was told stays: each delta is a sentence of the answer, in its place, once."""
    if answer.outcome in ("answered", "answered_partially"):
        assert [text for _, text, _ in sorted(told.deltas)] == answer.answer.split("\n")
        assert len({index for index, _, _ in told.deltas}) == len(told.deltas)
    else:
        assert told.deltas == []


def check_citations(answer: Answer) -> None:
    """What is answered stands word for word in a document that answers; a refusal cites none."""
    if answer.outcome not in ("answered", "answered_partially"):
        assert answer.citations == []
        return
    assert len(answer.citations) >= 1
    assert answer.grounding["supported"] is True
    pages = {(r.url, "web"): r.text for r in map(a_web_result, range(4))}
    sources = Sources(TEXTS | pages)
    for citation in answer.citations:
        assert citations_problem(Sentence(citation.quote, [citation]), sources) == ""


def longest_route(rewrites: int) -> int:
    """Nodes of the longest run, counted by hand: every loop, the web, a repair, the refusal."""
    before, search, loop, web, answer = 2, 3, 4, 3, 2
    return before + search + loop * rewrites + web + 2 * answer + 1


@pytest.mark.parametrize("edge", [None, *EDGES])
@pytest.mark.parametrize("rewrites", [0, 1, 2, 3])
async def test_the_longest_run_ends_also_with_one_more_node(
    rewrites: int, edge: tuple[str, str] | None
) -> None:
    """Each loop finds something new and nothing correct; what is written never stands."""
    services = ports(
        index=FakeIndex(*([candidate] for candidate in CANDIDATES)),
        grader=FakeGrader(lambda found: GradedPassages([a_grade("ambiguous") for _ in found])),
        web=FakeWeb([a_web_result(1)]),
        checker=FakeChecker(""),
    )
    graph = build(services)
    if edge:
        graph = with_a_node_between(graph, *edge)
    start = State(question="How long do refunds take?", knowledge_base="kb", started_at=time.time())
    state = await run_through(graph, start, Context(rewrites=rewrites, web=True, sentences=1))
    assert len(route(state).split()) == longest_route(rewrites)
    assert state.outcome == "refused"
