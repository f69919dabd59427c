"""Writes the answer from the evidence: the correct passages, or else the ambiguous ones."""

from dataclasses import replace

from langgraph.runtime import Runtime

from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.grade_documents import has_correct
from nodes.ports import Generator
from nodes.state import Evidence, State, Update


async def generate(state: State, runtime: Runtime[Context], *, generator: Generator) -> Update:
    """A draft of cited sentences; empty where the evidence holds no answer."""
    context = runtime.context or DEFAULTS
    draft, faults = await or_fallback(
        generator.generate(
            state.standalone,
            usable(state.evidence),
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
            "evidence": len(usable(state.evidence)),
            "without": state.rejected,
        },
    }


def usable(evidence: list[Evidence]) -> list[Evidence]:
    """The correct evidence, and only where there is none the ambiguous."""
    if has_correct(evidence):
        return [e for e in evidence if e.grade.verdict == "correct"]
    return evidence
