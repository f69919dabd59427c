"""What a whole run ranks: the evidence of all its loops, then what it looked at besides."""

from dataclasses import dataclass

from eval.datasets import Question
from eval.retrieval import Ranked, documents_of
from graph.compose import Service
from graph.runner import Ask
from ingest.documents import Candidate
from nodes.state import State, Turn


@dataclass(frozen=True)
class WholeRun:
    """`first` is the order of its first search after the reranker, before any grading or loop."""

    ranked: Ranked
    first: Ranked
    answered: bool
    loops: int
    chat_calls: int = 0
    usd: float = 0.0


async def whole_run(service: Service, base: str, question: Question) -> WholeRun:
    """Asks as a person would, with the history that the dataset has; the web is left out."""
    watched = _Candidates()
    ask = Ask(
        question.text,
        base,
        history=[Turn(asked, told) for asked, told in question.history],
        options={"web": False, "cache": False},
        logged=False,
    )
    answer = await service.runner.ask(ask, watch=watched)
    evidence = [one.candidate for one in watched.last.evidence]
    ms = answer.timings["total_ms"]
    return WholeRun(
        ranked=Ranked(question, documents_of([*evidence, *watched.reranked]), ms),
        first=Ranked(question, documents_of(watched.first), ms),
        answered=answer.outcome in ("answered", "answered_partially"),
        loops=answer.budget["rewrites"]["used"],
        chat_calls=answer.budget["chat_calls"]["used"],
        usd=answer.budget["usd"],
    )


class _Candidates:
    """The candidates of every loop in the order they were reranked, the first loop's first."""

    def __init__(self) -> None:
        self.reranked: list[Candidate] = []
        self.first: list[Candidate] = []
        self.last = State()

    def __call__(self, state: State) -> None:
        self.last = state
        if state.trace and state.trace[-1].node == "rerank":
            self.first = self.first or state.candidates
            self.reranked += state.candidates
