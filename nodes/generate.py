"""Writes the answer from the evidence: the correct passages, or else the ambiguous ones."""

from langgraph.runtime import Runtime

from nodes.context import DEFAULTS, Context
from nodes.evidence import usable
from nodes.fallback import or_fallback
from nodes.ports import Generator
from nodes.settle import settle
from nodes.state import Degraded, State, Update


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
    settled = settle(
        state.standalone,
        draft.sentences,
        state.evidence,
        by_date=bool(state.derived_filters.conditions),
        rejected=state.rejected,
    )
    notes = [Degraded("generate", draft.kind, draft.degraded, "")] if draft.degraded else []
    return {
        "draft": settled.sentences,
        "reservations": [settled.reservation] if settled.reservation else [],
        "degraded": [*state.degraded, *(note for note in notes if note not in state.degraded)],
        "summary": {
            "sentences": [s.text for s in settled.sentences],
            "evidence": len(evidence),
            "without": state.rejected,
            "disagreement": settled.reservation,
            "older": settled.older,
        },
    }
