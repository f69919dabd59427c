"""Keeps the answer of a finished run for who asks the same."""

import time

from langgraph.runtime import Runtime

from nodes.context import Context
from nodes.fallback import or_fallback
from nodes.kept_answer import kept_answer
from nodes.ports import AnswerCache
from nodes.state import State, Update


async def store_answer(
    state: State, runtime: Runtime[Context], *, cache: AnswerCache | None
) -> Update:
    """Under the key that the run looked for at its start: where the documents changed since, it is
    the key of a state of the index that nobody asks for again."""
    if cache is None:
        return {"summary": {"kept": False}}
    _, faults = await or_fallback(
        cache.keep(state.cache_key, kept_answer(state, time.time())),
        None,
        node="store_answer",
        fallback="not kept",
    )
    return {"degraded": [*state.degraded, *faults], "summary": {"kept": not faults}}
