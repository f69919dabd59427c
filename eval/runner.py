"""Runs golden questions through the corrective run and the naive line, and keeps what they did."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from eval.answer_metrics import ANSWERS
from eval.citations import Stored, told
from eval.golden import GoldenQuestion
from eval.naive import PASSAGES, naive
from eval.records import Pipeline, Ran, Record, Stage
from eval.relevance import relevant_chunks
from eval.remembered import Remembered
from graph.answer import Answer
from graph.compose import Service
from graph.runner import Ask
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError, DependencyError, ServiceError
from ingest.scope import LOCAL
from nodes.state import State, Turn

Progress = Callable[[int, int], None]


def deterministic(settings: GraphSettings) -> GraphSettings:
    """Without what makes two runs differ: approximate search, the wall deadline, kept answers and
    wordings."""
    return settings.model_copy(
        update={
            "retrieve": settings.retrieve.model_copy(update={"exact": True}),
            "cache": settings.cache.model_copy(update={"enabled": False}),
            "query": settings.query.model_copy(update={"kept_s": 0}),
            "budget": settings.budget.model_copy(update={"deadline_s": None}),
        }
    )


async def check_bases(service: Service, questions: Sequence[GoldenQuestion]) -> None:
    """Raises ConfigurationError for a base that is not there, and a question without one."""
    bases = {base.name for base in await service.corpus.bases.bases(LOCAL)}
    for question in questions:
        if question.knowledge_base not in bases:
            named = question.knowledge_base or "no knowledge base"
            raise ConfigurationError(
                f"question {question.id} names {named!r}; there are: "
                f"{', '.join(sorted(bases)) or 'none'}. Ingest it first, or give --kb"
            )


async def run_questions(
    service: Service,
    questions: Sequence[GoldenQuestion],
    pipelines: Sequence[Pipeline],
    kept: Sequence[Record] = (),
    *,
    progress: Progress,
) -> AsyncIterator[Record]:
    """A record for each question and pipeline, one after the other: side by side they would share
    batches, and the last bits of a vector depend on its batch. One of `kept` stands for its run.

    An error in one question is its record; it does not end the others. A refusal for an outage is
    an error too; one for a spent budget is a verdict, since no clock is in it (`deterministic`).
    Raises StaleLabels, and ConfigurationError for a base that is not there or a question without
    one.
    """
    await check_bases(service, questions)
    relevant: dict[str, list[str]] = {}
    for base in dict.fromkeys(q.knowledge_base for q in questions):
        own = [q for q in questions if q.knowledge_base == base]
        relevant |= await relevant_chunks(service.corpus.index, LOCAL, base, own)
    asked = _Asked(service, Stored(service.corpus.index), Remembered(service.corpus.embedder))
    done, total = 0, len(questions) * len(pipelines)
    before = {record.key: record for record in kept}
    for question in questions:
        for pipeline in pipelines:
            yield before.get((pipeline, question.id)) or await _record(
                asked, question, pipeline, relevant[question.id]
            )
            done += 1
            progress(done, total)


@dataclass(frozen=True)
class _Asked:
    """What the runs of one evaluation share."""

    service: Service
    stored: Stored
    remembered: Remembered


async def _record(
    asked: _Asked, question: GoldenQuestion, pipeline: Pipeline, ids: list[str]
) -> Record:
    made = partial(Record, pipeline=pipeline, golden=question, relevant=ids)
    run = _corrective if pipeline == "corrective" else _naive
    try:
        return made(ran=await run(asked, question))
    except Exception as error:  # ports may be other people's code
        kind = error.code if isinstance(error, ServiceError) else type(error).__name__
        return made(error=f"{kind}: {error}")


async def _corrective(asked: _Asked, question: GoldenQuestion) -> Ran:
    history = [Turn(turn.question, turn.answer) for turn in question.history]
    watched = _Watched()
    ask = Ask(
        question.question,
        question.knowledge_base,
        history=history,
        options={"web": False, "cache": False},  # what the web says changes from run to run
        logged=False,
    )
    answer = await asked.service.runner.ask(ask, watch=watched)
    if answer.reason == "dependency_down":
        # An outage is no verdict on the question: it would pass as a right refusal.
        raise DependencyError("; ".join(f"{x.node}: {x.detail}" for x in answer.degraded))
    return await _ran(answer, watched, asked.stored, question.knowledge_base)


async def _naive(asked: _Asked, question: GoldenQuestion) -> Ran:
    service, settings = asked.service, asked.service.settings
    ran, sentences = await naive(
        service.corpus.index,
        asked.remembered.embed,
        LOCAL,
        question.knowledge_base,
        question.question,
        candidates=settings.retrieve.candidates,
        sentences=settings.answer.sentences,
    )
    checked = await told(sentences, asked.stored, question.knowledge_base)
    return ran.model_copy(update={"sentences": checked})


class _Watched:
    """The states of one run: the stages of retrieval, and the draft that was answered with."""

    def __init__(self) -> None:
        self.stages: dict[Stage, list[str]] = {}
        self.last = State()

    def __call__(self, state: State) -> None:
        self.last = state
        node = state.trace[-1].node if state.trace else ""
        candidates = [candidate.chunk.chunk_id for candidate in state.candidates]
        evidence = [e.candidate.chunk.chunk_id for e in state.evidence]
        if node == "retrieve":
            self.stages.setdefault("retrieved", candidates)
        elif node == "rerank":
            self.stages.setdefault("reranked", candidates)
        elif node == "grade_documents":
            self.stages.setdefault("graded", evidence)
            self.stages["corrected"] = evidence


async def _ran(answer: Answer, watched: _Watched, stored: Stored, base: str) -> Ran:
    draft = watched.last.draft
    web = {
        (e.candidate.chunk.document_id, e.candidate.chunk.revision): e.candidate.chunk.text
        for e in watched.last.evidence
        if e.candidate.url
    }
    # A refusal tells nothing of the draft that was judged.
    judged = watched.last.supports if answer.outcome in ANSWERS else []
    supports = [support.supported for support in judged]
    return Ran(
        outcome=answer.outcome,
        reason=answer.reason,
        answer=answer.answer,
        sentences=await told(draft, stored, base, supports=supports, web=web),
        stages=watched.stages,
        passages=[e.candidate.chunk.text for e in watched.last.evidence[:PASSAGES]],
        best_grade=answer.searched["best_grade"],
        confidence=answer.confidence,
        loops=answer.budget["rewrites"]["used"],
        chat_calls=answer.budget["chat_calls"]["used"],
        tokens=answer.budget["tokens"]["used"],
        usd=answer.budget["usd"],
        total_ms=answer.timings["total_ms"],
        node_ms=answer.timings["nodes"],
        degraded=[f"{fault.node}: {fault.kind}" for fault in answer.degraded],
        trace=[asdict(entry) for entry in answer.trace],
    )
