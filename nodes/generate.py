"""Writes the answer from the evidence: the correct passages, or else the ambiguous ones."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from nodes.context import DEFAULTS, Context
from nodes.evidence import usable
from nodes.fallback import or_fallback
from nodes.ports import Draft, Generator
from nodes.settle import settle
from nodes.state import Degraded, Evidence, Sentence, State, Update
from nodes.strips import Refined, refined


async def generate(state: State, runtime: Runtime[Context], *, generator: Generator) -> Update:
    """A draft of cited sentences; empty where the evidence holds no answer. In a repair, what takes
    the place of the rejected ones: empty also where that cannot be written."""
    context = runtime.context or DEFAULTS
    evidence = usable(state)
    strips = refined(evidence) if context.strips else Refined(evidence)
    draft, faults = await or_fallback(
        _drafted(generator, state, strips.evidence, context),
        Draft([]) if state.kept else None,
        node="generate",
        fallback="no repair" if state.kept else "declined",
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
        [*state.kept, *draft.sentences],
        state.evidence,
        by_date=bool(state.derived_filters.conditions),
        rejected=[one.sentence for one in state.rejected],
    )
    known = {sentence.text for sentence in state.kept}
    told = [sentence for sentence in settled.sentences if sentence.text not in known]
    before = state.reservations if state.kept else []
    notes = [Degraded("generate", draft.kind, draft.degraded, "")] if draft.degraded else []
    return {
        "draft": told,
        "reservations": [*dict.fromkeys([*before, *filter(None, [settled.reservation])])],
        "degraded": [
            *state.degraded,
            *(note for note in [*faults, *notes] if note not in state.degraded),
        ],
        "summary": {
            "sentences": [s.text for s in told],
            "evidence": len(evidence),
            "strips": {"kept": strips.kept, "dropped": strips.dropped},
            "without": [one.sentence for one in state.rejected],
            "disagreement": settled.reservation,
            "older": settled.older,
        },
    }


async def _drafted(
    generator: Generator, state: State, evidence: Sequence[Evidence], context: Context
) -> Draft:
    """Raises ValueError for what is no draft."""
    draft = await generator.generate(
        state.standalone,
        evidence,
        limit=context.sentences,
        rejected=state.rejected,
        kept=state.kept,
    )
    if not isinstance(draft, Draft) or not all(isinstance(s, Sentence) for s in draft.sentences):
        raise ValueError("the generator gave no draft")
    return draft
