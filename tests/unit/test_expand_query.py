"""Other queries beside the question: what each is, and that a failure only leaves it out."""

from typing import Any

from nodes.context import Context
from nodes.expand_query import expanded, keywords
from nodes.plan_queries import plan_queries
from nodes.retrieve import retrieve
from nodes.state import Query, State
from tests.fakes import FakeIndex, a_candidate

QUESTION = "How long may I keep PROJ-123 after thirty days?"
ALL = Context(phrasings=3, step_back=True, hyde=True)


class Writer:
    """`replies` by method; an Exception is raised."""

    def __init__(self, **replies: Any) -> None:
        told = {"phrasings": ["a wording", "another"], "step_back": "What is kept?",
            "synonyms": [], "made_up": "It is kept for a year."}  # fmt: skip
        self.replies = told | replies
        self.asked: list[str] = []

    async def phrasings(self, question: str, count: int) -> Any:
        return self._said("phrasings")

    async def synonyms(self, question: str) -> Any:
        return self._said("synonyms")

    async def step_back(self, question: str) -> Any:
        return self._said("step_back")

    async def made_up(self, question: str) -> Any:
        return self._said("made_up")

    def _said(self, name: str) -> Any:
        self.asked.append(name)
        if isinstance(self.replies[name], Exception):
            raise self.replies[name]
        return self.replies[name]


async def queries(context: Context, writer: Any = None, question: str = QUESTION) -> list[Query]:
    return (await expanded(question, context, writer))[0]


async def test_each_is_asked_for_once_and_a_made_up_passage_is_only_embedded() -> None:
    writer = Writer()
    assert await queries(ALL, writer) == [
        Query("a wording PROJ-123 thirty days", "phrasing"),
        Query("another PROJ-123 thirty days", "phrasing"),
        Query("What is kept? PROJ-123", "step_back"),
        Query(QUESTION, "hyde", embedded="It is kept for a year."),
    ]
    assert sorted(writer.asked) == ["made_up", "phrasings", "step_back"]


async def test_no_more_phrasings_than_asked_for_and_each_once() -> None:
    writer = Writer(phrasings=[QUESTION.upper(), "one PROJ-123 30 days", "two", "three"])
    context = Context(phrasings=3)
    found = [query.text for query in await queries(context, writer)]
    assert found == ["one PROJ-123 30 days", "two PROJ-123 thirty days"]


async def test_what_fails_is_left_out_and_recorded() -> None:
    writer = Writer(phrasings=OSError("down"), made_up=OSError("down"))
    found, faults = await expanded(QUESTION, ALL, writer)  # type: ignore[arg-type]
    assert [query.technique for query in found] == ["step_back"]
    assert {fault.fallback for fault in faults} == {
        "searched without phrasings", "searched without made-up passage"
    }  # fmt: skip


async def test_synonyms_stand_beside_the_keywords_that_are_kept_as_written() -> None:
    told = ["retain", "keeping", "retention period", "31 days", "retained", "what one may do next"]
    writer = Writer(synonyms=told)
    assert await queries(Context(synonyms=True), writer) == [
        Query("PROJ-123 thirty days keep retain retention period", "synonyms")
    ]
    assert await queries(Context(synonyms=True), Writer(synonyms=["keeping"])) == []
    assert await queries(Context(synonyms=True)) == []


async def test_without_a_chat_model_the_keywords_are_the_other_phrasing() -> None:
    assert await queries(ALL) == [Query("PROJ-123 thirty days keep", "keywords")]


async def test_a_lookup_and_a_run_without_the_options_ask_nothing() -> None:
    writer = Writer()
    assert await queries(ALL, writer, "PROJ-123") == []
    assert await queries(Context(), writer) == []
    assert not writer.asked


def test_keywords_keep_the_words_of_the_question() -> None:
    assert keywords("Can I return hardware after 45 days?") == "45 return hardware days"


async def test_a_run_searches_with_all_of_them_and_shows_them() -> None:
    runtime: Any = type("Run", (), {"context": ALL})
    index = Recording([a_candidate("a")])
    state = State(question=QUESTION, standalone=QUESTION)
    planned = await plan_queries(state, runtime, writer=Writer())  # type: ignore[arg-type]
    state = State(question=QUESTION, standalone=QUESTION, queries=planned["queries"])
    await retrieve(state, runtime, index=index)
    assert index.queries[0] == QUESTION and len(index.queries) == 4
    assert index.more["made_up"] == ["It is kept for a year."]
    assert index.more["merge"] == "best"
    assert [one["technique"] for one in planned["summary"]["beside"]] == [
        "phrasing", "phrasing", "step_back", "hyde"
    ]  # fmt: skip


class Recording(FakeIndex):
    """Remembers what the last search was given."""

    queries: Any = None

    async def search(self, scope: Any, base: str, question: str, queries: Any, **more: Any) -> Any:
        self.queries, self.more = queries, more
        return await super().search(scope, base, question, queries, **more)
