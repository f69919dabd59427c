"""Says how probable it is that the draft is right, before anything of it is told."""

from langgraph.runtime import Runtime

from nodes.confidence import confidence_signs
from nodes.context import DEFAULTS, Context
from nodes.ports import Confidence
from nodes.state import State, Update


async def estimate_confidence(
    state: State, runtime: Runtime[Context], *, model: Confidence | None = None
) -> Update:
    """The probability in [0, 1]; none without a draft or a model. Too low a one ends in a refusal:
    the reject option of selective prediction (El-Yaniv and Wiener, JMLR 2010). A repair keeps the
    estimate of its first draft."""
    context = runtime.context or DEFAULTS
    if state.repairs:  # what stands of the first draft may be told already
        return {"summary": {"confidence": state.confidence}}
    if not state.draft:
        return {"confidence": None, "summary": {"confidence": None}}
    signs = confidence_signs(state)
    probability = model.probability(signs) if model is not None else None
    return {
        "confidence": probability,
        "summary": {
            "confidence": round(probability, 3) if probability is not None else None,
            "needed": context.min_confidence,
            "signs": {name: round(value, 3) for name, value in signs.items()},
        },
    }
