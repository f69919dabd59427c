"""The knowledge bases of a run: those that may be searched, and those that are."""

from ingest.scope import Scope
from nodes.ports import SourceTexts
from nodes.state import State


def bases_of(state: State) -> list[str]:
    """All that the run may read from; the one that was asked for, unless several were."""
    return state.bases or [state.knowledge_base]


def routed_to(state: State) -> list[str]:
    """Those that are searched in this loop."""
    return state.routed or bases_of(state)


def narrowed_route(state: State) -> bool:
    """Whether the run may search more bases than it did."""
    return len(routed_to(state)) < len(bases_of(state))


async def text_of(
    texts: SourceTexts, scope: Scope, bases: list[str], document_id: str, revision: str
) -> str | None:
    """The stored text of a document, whichever of the bases holds it."""
    for base in bases:
        text = await texts.text(scope, base, document_id, revision)
        if text is not None:
            return text
    return None
