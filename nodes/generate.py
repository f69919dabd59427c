"""Writes the answer from the evidence: the correct passages, or else the ambiguous ones."""

from dataclasses import replace

from langgraph.runtime import Runtime

from nodes.context import DEFAULTS, Context
from nodes.evidence import usable
from nodes.fallback import or_fallback
from nodes.ports import Generator
from nodes.state import State, Update


async def generate(state: State, runtime: Runtime[Context], *, generator: Generator) -> Update:
    """A draft of cited sentences; empty where the evidence holds no answer."""
    context = runtime.context or DEFAULTS
    evidence = usable(state)
    draft, faults = await or_fallback(
        generator.generate(
            state.standalone,
            evidence,
            limit=context.sentences,
            rejected=state.rejected,
        ),
        None,
        node="generate",
        fallback="declined",
    )
    if draft is None:
        failed = "the answer could not be written"
        return {
            "failed": failed,
            "degraded": [*state.degraded, *faults],
            "summary": {"error": failed},
        }
    spent = replace(
        state.spent,
        chat_calls=state.spent.chat_calls + draft.chat_calls,
        tokens=state.spent.tokens + draft.tokens,
    )
    return {
        "draft": draft.sentences,
        "spent": spent,
        "summary": {
            "sentences": [s.text for s in draft.sentences],
            "evidence": len(evidence),
            "without": state.rejected,
        },
    }
