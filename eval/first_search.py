"""The first search of a run, as the service makes it: planned, retrieved, reranked, not graded."""

import time
from typing import Any

from eval.datasets import Question
from eval.retrieval import Ranked, documents_of
from graph.compose import Service
from graph.options import tightened
from graph.runner import Ask, fresh_state
from ingest.errors import DependencyError
from ingest.live import require_known
from ingest.scope import LOCAL
from nodes.state import Spent, State, Turn


async def first_search(service: Service, base: str, question: Question) -> tuple[Ranked, Spent]:
    """The order in which passages would be graded, and what it cost.

    Raises DependencyError where a step failed or fell back: its order is not the one asked for.
    """
    history = [Turn(asked, told) for asked, told in question.history]
    known = require_known(await service.corpus.bases.bases(LOCAL), base)
    context = tightened(service.settings, known, LOCAL, {"web": False, "cache": False})
    graph: Any = service.graph.copy({"checkpointer": None})
    clock = time.perf_counter()
    values = await graph.ainvoke(
        fresh_state(Ask(question.text, base, history=history)),
        context=context,
        interrupt_before=["grade_documents"],
    )
    ms = 1000 * (time.perf_counter() - clock)
    state = values if isinstance(values, State) else State(**values)
    if state.failed or state.degraded:
        raise DependencyError("; ".join(f"{x.node}: {x.detail}" for x in state.degraded))
    return Ranked(question, documents_of(state.candidates), ms), state.spent
