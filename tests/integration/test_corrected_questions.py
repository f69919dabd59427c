"""The correction loops on the example handbook: refused without them, rightly answered with them.

Real model, real store, no deadline. All questions are valid, also those that the loops do not help.
"""

import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from eval.datasets import Question, load_golden
from eval.labels import plain
from graph.answer import Answer
from graph.compose import Service, open_graph
from graph.runner import Ask
from graph.settings import BudgetSettings, GraphSettings
from ingest.pipeline import ingest
from ingest.ports import DocumentRecord
from ingest.scope import LOCAL
from nodes.layout import unmarked
from tests.conftest import MEMORY
from tests.corpus import BASE

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"
QUESTIONS = Path(__file__).parents[1] / "data" / "corrected_questions.jsonl"

AT_LEAST = 8
"""Questions that the loops must turn from a refusal into a right answer."""

NOTES = {"superseded": "no longer current, from ", "draft": "draft, from "}


pytestmark = pytest.mark.timeout(300)
"""The whole fixture counts as the first test's setup, and other workers may hold the cores."""


@dataclass(frozen=True)
class Asked:
    """A question with its answer without a loop and its answer with the default of three."""

    question: Question
    without: Answer
    answer: Answer
    documents: dict[str, DocumentRecord]

    @property
    def corrected(self) -> bool:
        return self.without.outcome == "refused" and self.right

    @property
    def right(self) -> bool:
        """All of the right strings, none of the wrong ones, and a document of the label cited."""
        told = plain(self.answer.answer)
        cited = {self.documents[c.document_id].source for c in self.answer.citations}
        return (
            self.answer.outcome in ("answered", "answered_partially")
            and all(plain(wanted) in told for wanted in self.question.answers)
            and not any(plain(wrong) in told for wrong in self.question.forbidden)
            and bool(cited & self.question.relevant.keys())
        )


@dataclass(frozen=True)
class Run:
    service: Service
    asked: list[Asked]

    @property
    def corrected(self) -> list[Asked]:
        return [one for one in self.asked if one.corrected]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Run]:
    """The service on the handbook, asked everything once."""
    base = MEMORY if MEMORY.is_dir() else tmp_path_factory.getbasetemp()
    with tempfile.TemporaryDirectory(dir=base, prefix="crag-test-") as folder:
        settings = GraphSettings(
            data_dir=Path(folder) / "crag", budget=BudgetSettings(deadline_s=None)
        )
        async with open_graph(settings) as service:
            yield Run(service, await ask_all(service))


async def ask_all(service: Service) -> list[Asked]:
    index, writer = service.corpus.index, service.corpus.writer
    await writer.create_knowledge_base(LOCAL, BASE)
    report = await ingest(HANDBOOK, scope=LOCAL, knowledge_base=BASE, index=index, writer=writer)
    assert report.exit_code == 0
    documents = {d.document_id: d for d in await index.documents(LOCAL, BASE)}
    return [
        Asked(
            question,
            await service.runner.ask(Ask(question.text, BASE, options={"rewrites": 0})),
            await service.runner.ask(Ask(question.text, BASE)),
            documents,
        )
        for question in load_golden(QUESTIONS)
    ]


def test_the_labels_stand_in_the_documents_they_name() -> None:
    questions = load_golden(QUESTIONS)
    assert len({question.text for question in questions}) == len(questions) >= 30
    for question in questions:
        assert question.answers, question.id
        for document, quote in question.quotes:
            assert quote in (HANDBOOK / document).read_text(encoding="utf-8"), question.id


def test_the_loops_turn_refusals_into_right_answers(run: Run) -> None:
    assert len(run.corrected) >= AT_LEAST, [one.question.id for one in run.corrected]


def test_a_corrected_answer_has_used_a_loop(run: Run) -> None:
    for one in run.corrected:
        assert one.without.budget["rewrites"] == {"used": 0, "limit": 0}
        assert 1 <= one.answer.budget["rewrites"]["used"] <= 3, one.question.id


def test_what_is_not_current_says_so(run: Run) -> None:
    """One line of the answer is one sentence: its note, its quote, its number. The note of what is
    current tells of an older side alone."""
    for one in run.corrected:
        lines = one.answer.answer.splitlines()
        for line, citation in zip(lines, one.answer.citations, strict=True):
            told = f"{unmarked(citation.quote)} [{citation.n}]"
            assert line.endswith(told), (one.question.id, line)
            note = line.removesuffix(told)
            said = NOTES.get(one.documents[citation.document_id].status)
            if said is None:
                assert not note or note.startswith("(newer than "), (one.question.id, line)
            else:
                assert note.startswith(f"({said}"), (one.question.id, line)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_quote_stands_in_the_cited_document(run: Run) -> None:
    index = run.service.corpus.index
    for one in run.corrected:
        assert one.answer.citations
        for citation in one.answer.citations:
            text = await index.text(LOCAL, BASE, citation.document_id, citation.revision)
            assert text is not None
            assert text[citation.start : citation.end] == citation.quote, one.question.id
