"""Dependent look-ups in sequence: each next one is written from what the last one found."""

from typing import Any

import pytest

from ingest.documents import Candidate
from nodes.bridge import bridged
from nodes.context import Context
from nodes.state import Query, State
from tests.fakes import FakeGrader, FakeIndex, FakeReranker, a_candidate
from tests.runs import kinds, ports, route, run

QUESTION = "Who leads the team that owns the build server?"
OWNER, LEADER = "Which team owns the build server?", "Who leads the Platform team?"
OWNS = a_candidate("owns", "The build server belongs to Platform.")
LEADS = a_candidate("leads", "Mia Roth leads the Platform team.")
OTHER = a_candidate("other", "Parking is free.")


class Writer:
    """The next hop of those given, or the error; remembers what it had read."""

    def __init__(self, *hops: str | Exception) -> None:
        self.hops = list(hops)
        self.read: list[list[str]] = []

    async def next_hop(self, question: str, asked: list[str], passages: list[str]) -> str:
        self.read.append(list(passages))
        said = self.hops.pop(0) if self.hops else ""
        if isinstance(said, Exception):
            raise said
        return said


class ByQuestion(FakeIndex):
    """A hop's own search finds what it asks for; the whole search everything, that last."""

    def __init__(self) -> None:
        super().__init__([OTHER, OWNS, LEADS])

    async def search(self, scope: Any, base: str, question: str, queries: Any, **more: Any) -> Any:
        found = await super().search(scope, base, question, queries, **more)
        own = {OWNER: [OWNS], LEADER: [LEADS]}
        return own.get(question, found)


class ByWords(FakeReranker):
    """The passage for a question first."""

    async def rerank(self, question: str, candidates: Any) -> list[Candidate]:
        self.questions.append(question)
        first = {OWNER: "owns", LEADER: "leads"}.get(question, "other")
        return sorted(candidates, key=lambda c: c.chunk.chunk_id != first)


async def asked(writer: Any, question: str = QUESTION, **options: Any) -> tuple[State, Any]:
    index, reranker = ByQuestion(), ByWords()
    services = ports(
        index=index,
        reranker=reranker,
        writer=writer,
        grader=FakeGrader({"owns": "correct", "leads": "correct"}),
    )
    state = await run(services, question, **({"hops": 3, "keep": 3} | options))
    return state, index


async def test_the_first_answer_feeds_the_next_query() -> None:
    writer = Writer(OWNER, LEADER)
    state, index = await asked(writer)
    assert writer.read == [[], [OWNS.chunk.text], [OWNS.chunk.text, LEADS.chunk.text]]
    assert [q.text for q in state.queries if q.technique == "hop"] == [OWNER, LEADER]
    assert index.searches[-1]["queries"] == [QUESTION, OWNER, LEADER]
    assert route(state, "follow_hops").startswith("context plan follow_hops retrieve rerank grade")
    assert state.outcome == "answered"
    assert {s.text for s in state.draft} == {OWNS.chunk.text, LEADS.chunk.text}
    entry = next(one for one in state.trace if one.node == "follow_hops")
    assert entry.summary == {"hops": [OWNER, LEADER]}


async def test_what_a_hop_asks_for_is_graded_although_the_question_does_not_name_it() -> None:
    state, _ = await asked(Writer(OWNER, LEADER), keep=3)
    assert list(state.graded)[:3] == ["other", "owns", "leads"]


@pytest.mark.parametrize("hops", [2, 3])
async def test_hops_are_bounded(hops: int) -> None:
    writer = Writer(*(f"What is thing {n}?" for n in range(9)))
    state, index = await asked(writer, hops=hops)
    assert len(writer.read) == hops
    assert len([q for q in state.queries if q.technique == "hop"]) == hops
    assert len(index.searches) - 1 - state.spent.rewrites == hops - 1


@pytest.mark.parametrize(
    "writer", [Writer(), Writer(OWNER), Writer(QUESTION), Writer(OWNER, OWNER)]
)
async def test_one_look_up_is_no_hop(writer: Writer) -> None:
    state, _ = await asked(writer)
    assert {q.technique for q in state.queries} & {"hop"} == set()


@pytest.mark.parametrize("writer", [Writer(OSError("down")), Writer(OWNER, OSError("down"))])
async def test_a_model_that_fails_leaves_the_plain_question(writer: Writer) -> None:
    state, index = await asked(writer, rewrites=0)
    assert ("follow_hops", "OSError") in kinds(state)
    assert index.searches[-1]["queries"] == [QUESTION]


async def test_literal_tokens_are_put_back() -> None:
    state, _ = await asked(Writer(OWNER, LEADER), "Who leads what owns PROJ-123 for thirty days?")
    hops = [q.text for q in state.queries if q.technique == "hop"]
    assert hops == [OWNER, f"{LEADER} PROJ-123 thirty days"]


@pytest.mark.parametrize(
    ("question", "options"),
    [(QUESTION, {"hops": 0}), (QUESTION, {"hops": 1}), ("PROJ-123", {}), ("hello", {})],
)
async def test_nothing_is_asked_where_there_are_no_hops(question: str, options: Any) -> None:
    writer = Writer(OWNER)
    await asked(writer, question, **options, rewrites=0)
    assert not writer.read


async def test_the_bridge_is_one_more_query_without_a_chat_model() -> None:
    state, index = await asked(None, bridge=True, rewrites=0)
    bridge = f"{QUESTION} Parking"
    assert index.searches[-1]["queries"] == [QUESTION, bridge]
    assert [q for q in state.queries if q.technique == "bridge"] == [Query(bridge, "bridge")]
    entry = next(one for one in state.trace if one.node == "follow_hops")
    assert entry.summary == {"hops": [], "bridge": bridge}


async def test_a_bridge_stands_in_for_hops_that_fail() -> None:
    state, index = await asked(Writer(OSError("down")), bridge=True, rewrites=0)
    assert ("follow_hops", "OSError") in kinds(state)
    assert index.searches[-1]["queries"] == [QUESTION, f"{QUESTION} Parking"]


async def test_a_bridge_whose_search_fails_leaves_the_plain_question() -> None:
    services = ports(index=FakeIndex(OSError("down"), [a_candidate("a")]))
    state = await run(services, QUESTION, bridge=True)
    assert kinds(state) == [("follow_hops", "OSError")]
    assert state.outcome == "answered"


@pytest.mark.parametrize(
    ("passage", "added"),
    [
        ("It was built by Ada Lovelace for the Analytical Engine.",
         " It Ada Lovelace Analytical Engine"),
        ("The Build server is old.", " The Build"),
        ("nothing is named here", None),
        ("Alfa, Bravo, Carl, Dora, Emil", " Alfa Bravo Carl Dora"),
    ],
)  # fmt: skip
def test_a_bridge_adds_the_names_that_the_question_lacks(passage: str, added: str | None) -> None:
    expected = "" if added is None else f"who built build servers?{added}"
    assert bridged("who built build servers?", passage) == expected


async def test_without_a_chat_model_there_are_none() -> None:
    state, _ = await asked(None)
    assert "follow_hops" not in route(state, "follow_hops")
    assert Context().hops == 0
