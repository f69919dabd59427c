"""Whether the adapters that the settings name can be opened."""

from typing import Any

from api.settings import Settings
from ingest.errors import ConfigurationError


def reranker_report(settings: Settings, problems: list[str]) -> dict[str, Any]:
    """Looks for a model's files and its backend; only loading it tells whether its weights work."""
    from graph.compose import open_reranker

    rerank = settings.rerank
    state = f"{rerank.model}, {rerank.backend}" if rerank.kind == "cross_encoder" else "ready"
    try:
        open_reranker(settings, None)
    except ConfigurationError as error:
        problems.append(error.message)
        state = "cannot be used"
    return {"kind": rerank.kind, "model": rerank.model, "state": state}


def grounding_report(settings: Settings, problems: list[str]) -> dict[str, Any]:
    """As of the reranker: whether its files are there, not whether its weights work."""
    from graph.checking import open_checker
    from ingest.adapters.sentence_transformer import SentenceTransformerEmbedder

    grounding = settings.grounding
    state = "ready"
    try:
        chat = settings.chat.model is not None
        open_checker(grounding, SentenceTransformerEmbedder(), chat=chat)
    except ConfigurationError as error:
        problems.append(error.message)
        state = "cannot be used"
    return {"kind": grounding.kind, "model": grounding.model, "state": state}
