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


def redis_report(settings: Settings, problems: list[str]) -> dict[str, Any]:
    """What several processes share; asked once whether it answers."""
    import asyncio

    from api.limits import open_limiter
    from ingest.errors import DependencyError

    async def asked() -> None:
        limiter = open_limiter(settings)
        if limiter is not None:
            try:
                await limiter.spent("crag doctor")
            finally:
                await limiter.close()

    state = "not set: each process counts for itself"
    try:
        asyncio.run(asked())
        state = "answers" if settings.redis.url else state
    except (ConfigurationError, DependencyError) as error:
        problems.append(f"CRAG_REDIS__URL: {error.message.removeprefix('CRAG_REDIS__URL: ')}")
        state = "cannot be used"
    return {"state": state, "prefix": settings.redis.prefix}


def grounding_report(settings: Settings, problems: list[str]) -> dict[str, Any]:
    """As of the reranker: whether its files are there, not whether its weights work."""
    from graph.checking import open_checker
    from ingest.adapters.embedders import open_embedder

    grounding = settings.grounding
    state = "ready"
    try:
        chat = settings.chat.model is not None
        open_checker(grounding, open_embedder(settings.embedder), chat=chat)
    except ConfigurationError as error:
        problems.append(error.message)
        state = "cannot be used"
    return {"kind": grounding.kind, "model": grounding.model, "state": state}


def check_calibration(settings: Settings) -> None:
    """Raises ConfigurationError where the file cannot be read, or one that was named is of other
    vectors: no run grades by it."""
    from graph.adapters.calibration import load_calibration

    named, embedder = settings.grade.calibration, settings.embedder
    fitted = load_calibration(named, embedder=embedder).model.partition("@")[0]
    if named and fitted.lower() != embedder.lower():
        raise ConfigurationError(
            f"calibration {named} was fitted with {fitted}, and CRAG_EMBEDDER is {embedder}: runs "
            "would grade without it; fit one by crag calibrate, or set the other embedder"
        )
