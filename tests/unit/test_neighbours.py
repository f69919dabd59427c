"""What stands around a passage is read with it, in whole sentences and with true offsets."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Candidate
from ingest.errors import DependencyError
from nodes.findings import Evidence, Grade, Stated
from nodes.neighbours import widened
from nodes.ports import Draft, GradedPassages
from nodes.state import State
from tests.fakes import FakeGrader, FakeIndex, QuotingGenerator, a_candidate
from tests.runs import kinds, ports, run

TEXT = "One is first. Two is here. Three is asked for. Four comes next. Five is last."
START = TEXT.index("Three")
END = START + len("Three is asked for.")


def passage(start: int = START, end: int = END, text: str = TEXT) -> Candidate:
    made = a_candidate("a", text[start:end])
    return replace(made, chunk=replace(made.chunk, start=start, end=end))


def evidence(candidate: Candidate, *, strips: bool = False) -> Evidence:
    spans = [Stated(0, len(candidate.chunk.text), 0.9)]
    grade = Grade("correct", 0.9, stated=spans, sentences=spans)
    return Evidence(candidate, grade, 0, strips=spans if strips else None)


def wider(around: int, one: Evidence | None = None, text: str = TEXT) -> Evidence:
    (found,) = widened([one or evidence(passage())], {("doc-a", "r1"): text}, around)
    return found


def test_whole_sentences_within_reach_come_with_it() -> None:
    assert wider(20).candidate.chunk.text == "Two is here. Three is asked for. Four comes next."
    assert wider(200).candidate.chunk.text == TEXT
    assert wider(3).candidate.chunk.text == "Three is asked for."


def test_what_was_judged_moves_along_and_neighbours_become_strips() -> None:
    found = wider(20, evidence(passage(), strips=True))
    (stated,) = found.grade.stated or []
    text = found.candidate.chunk.text
    assert text[stated.start : stated.end] == "Three is asked for."
    assert [text[s.start : s.end].strip() for s in found.strips or []] == [
        "Two is here.", "Three is asked for.", "Four comes next.",
    ]  # fmt: skip


def test_a_text_that_changed_and_the_web_stay_alone() -> None:
    one = evidence(passage())
    assert wider(200, text="Something else stands here now, longer than it was.") == one
    web = evidence(replace(passage(), url="https://example.org"))
    assert wider(200, web) == web


@given(st.text("ab .\n", max_size=60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 80))
def test_offsets_are_those_of_the_document(text: str, one: int, other: int, around: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    if start == end:
        return
    chunk = wider(around, evidence(passage(start, end, text)), text).candidate.chunk
    assert chunk.text == text[chunk.start : chunk.end]
    assert chunk.start <= start < end <= chunk.end
    assert chunk.start >= start - around and chunk.end <= end + around


TWO = "A one. A two.\n\nB one. B two. B three. B four.\n\nC one."
SECTION = (TWO.index("B one"), TWO.index("\n\nC"))


def in_section(text: str) -> Evidence:
    start = TWO.index(text, SECTION[0])
    made = passage(start, start + len(text), TWO)
    chunk = replace(made.chunk, metadata={"section": "{}-{}".format(*SECTION)})
    return evidence(replace(made, chunk=chunk))


def read_with(parent: int, *passages: Evidence) -> list[str]:
    found = widened(list(passages), {("doc-a", "r1"): TWO}, 0, parent=parent)
    return [one.candidate.chunk.text for one in found]


def test_a_passage_comes_with_its_section_and_no_other() -> None:
    assert read_with(500, in_section("B two.")) == ["B one. B two. B three. B four."]
    assert read_with(0, in_section("B two.")) == ["B two."]
    assert read_with(500, evidence(passage(0, 6, TWO))) == ["A one."]  # nothing known of a section


def test_of_a_long_section_whole_sentences_near_the_passage_come() -> None:
    assert read_with(21, in_section("B two.")) == ["B one. B two."]
    assert read_with(22, in_section("B four.")) == ["B three. B four."]


def test_a_section_is_read_once() -> None:
    whole = "B one. B two. B three. B four."
    assert read_with(500, in_section("B two."), in_section("B four.")) == [whole, "B four."]


@given(st.integers(0, 29), st.integers(1, 12), st.integers(0, 60))
def test_a_section_is_never_left_and_the_passage_never_cut(
    start: int, length: int, parent: int
) -> None:
    text = TWO[SECTION[0] :][start : start + length].partition("\n")[0]
    if text:
        (read,) = read_with(parent, in_section(text))
        assert text in read and read in TWO[SECTION[0] : SECTION[1]]
        assert len(read) <= max(parent, len(text))


class Reading(QuotingGenerator):
    read: list[str]

    async def generate(self, question: str, evidence: Sequence[Evidence], **more: Any) -> Draft:
        self.read = [one.candidate.chunk.text for one in evidence]
        return await super().generate(question, evidence, **more)


async def answered(index: FakeIndex, around: int, parent: int = 0) -> tuple[State, list[str]]:
    generator = Reading()
    grader = FakeGrader(lambda found: GradedPassages([Grade("correct", 0.9) for _ in found]))
    services = ports(index=index, grader=grader, generator=generator)
    return await run(services, around=around, parent=parent), generator.read


def an_index() -> FakeIndex:
    index = FakeIndex([passage()])
    index.texts = {("doc-a", "r1"): TEXT}
    return index


async def test_a_generator_reads_them_where_the_option_says_so() -> None:
    state, read = await answered(an_index(), 200)
    assert read == [TEXT]
    assert state.evidence[0].candidate.chunk.text == "Three is asked for."
    (summary,) = [entry.summary for entry in state.trace if entry.node == "generate"]
    assert summary["around"] == 1
    assert state.outcome == "answered"  # what is cited of the neighbours was checked
    assert (await answered(an_index(), 0))[1] == ["Three is asked for."]


async def test_small_passages_are_answered_from_their_section() -> None:
    small = passage()
    section = {"section": f"0-{len(TEXT)}"}
    index = FakeIndex([replace(small, chunk=replace(small.chunk, metadata=section))])
    index.texts = {("doc-a", "r1"): TEXT}
    state, read = await answered(index, 0, parent=2_000)
    assert read == [TEXT]
    (summary,) = [entry.summary for entry in state.trace if entry.node == "generate"]
    assert summary["sections"] == 1 and state.outcome == "answered"


@pytest.mark.parametrize(("around", "parent"), [(200, 0), (0, 2_000)])
async def test_where_the_document_cannot_be_read_the_passage_is_read_alone(
    monkeypatch: pytest.MonkeyPatch, around: int, parent: int
) -> None:
    index = an_index()
    whole, calls = index.text, []

    async def broken(*where: Any) -> Any:
        calls.append(where)
        if len(calls) == 1:
            raise DependencyError("gone")
        return await whole(*where)

    monkeypatch.setattr(index, "text", broken)
    state, read = await answered(index, around, parent)
    assert read == ["Three is asked for."]
    assert kinds(state) == [("generate", "dependency_down")]
    assert state.degraded[0].fallback == "passages alone"
    assert state.outcome == "answered"
