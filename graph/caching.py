"""The cache of answers, by the settings."""

from graph.adapters.answer_cache import (
    AnswerStore,
    MemoryAnswers,
    StoredAnswers,
    versions_of,
)
from graph.runner import PIPELINE_VERSION
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError
from ingest.ports import Embedder
from nodes.prompts import PROMPT_VERSION

NOT_DECIDING = frozenset("data_dir access budget cache privacy threads runs database redis".split())
"""Settings that change no answer; all others, also those to come, part the kept ones."""


def open_cache(
    settings: GraphSettings, embedder: Embedder, *, calibration: str
) -> StoredAnswers | None:
    """None where it is switched off; in Redis where one is set. Raises ConfigurationError.

    `calibration` names what probabilities are read by.
    """
    if not settings.cache.enabled:
        return None
    deciding = set(GraphSettings.model_fields) - NOT_DECIDING
    versions = {
        "pipeline": PIPELINE_VERSION,
        "prompts": PROMPT_VERSION,
        "embedder": embedder.fingerprint,
        "calibration": calibration,
        "settings": settings.model_dump_json(include=deciding),
    }
    return StoredAnswers(
        _open_store(settings),
        embedder,
        versions=versions_of(versions),
        similarity=settings.cache.similarity,
    )


def _open_store(settings: GraphSettings) -> AnswerStore:
    if settings.redis.url is None:
        return MemoryAnswers(megabytes=settings.cache.megabytes, ttl_s=settings.cache.ttl_s)
    try:
        from graph.adapters.redis_answers import RedisAnswers
    except ImportError:
        raise ConfigurationError("CRAG_REDIS__URL needs pip install -e '.[redis]'") from None
    return RedisAnswers(settings.redis, ttl_s=settings.cache.ttl_s)
