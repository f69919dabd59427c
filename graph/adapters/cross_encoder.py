"""Cross-encoders: a model that reads the question and a passage together scores the passage."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graph.adapters.model_files import find_model, require_backend
from graph.settings import RerankSettings
from ingest.batching import MicroBatcher
from ingest.documents import Candidate
from ingest.errors import ConfigurationError, DependencyError
from ingest.fusion import best_first

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

Pair = tuple[str, str]

PROBES: list[Pair] = [
    ("How long do refunds take?", "Refunds are paid within five days."),
    ("How long do refunds take?", "Refunds are paid within five days. " * 500),
]
"""Scored once at start: the second is beyond every window, so that the cut is tried as well."""

TOGETHER = 256
"""Pairs of questions that wait at once which are scored in one call."""


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder, behind a sigmoid, in one thread of its own.

    `cross_encoder` is the model's relevance in [0, 1], of the first `depth` candidates in the
    order they come. `rerank` is for ordering only: those in [.5, 1] by it, the rest below by the
    order of retrieval.
    """

    def __init__(self, settings: RerankSettings) -> None:
        """Reads no weights. Raises ConfigurationError where the model or its backend is missing."""
        self._settings = settings
        self._folder = find_model(settings.model)
        require_backend(settings.backend)
        self._model: CrossEncoder | None = None
        self._score = MicroBatcher[Pair, float](self._scored, limit=TOGETHER, name="rerank")

    async def load(self) -> None:
        """Raises ConfigurationError for weights that do not load or are not on the scale."""
        await self._score(PROBES[:1])

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Raises DependencyError where the model gives no number, and what `load` raises."""
        read = candidates[: self._settings.depth]
        scores = await self._score([(question, c.chunk.embedded_text) for c in read])
        if not np.isfinite(scores).all():
            raise DependencyError("the cross-encoder gave scores that are no numbers")
        scored = [_scored(c, score) for c, score in zip(read, scores, strict=True)]
        scored += [_unread(candidate) for candidate in candidates[len(read) :]]
        by_id = {candidate.chunk.chunk_id: candidate for candidate in scored}
        return [by_id[key] for key in best_first({k: c.scores["rerank"] for k, c in by_id.items()})]

    def close(self) -> None:
        self._score.close()

    def _scored(self, pairs: list[Pair]) -> list[float]:
        """Only the batcher's thread comes here, so that the model is loaded once."""
        if self._model is None:
            self._model = self._loaded()
        return [float(score) for score in self._predict(self._model, pairs)]

    def _loaded(self) -> "CrossEncoder":
        import torch
        from sentence_transformers import CrossEncoder
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        named = f"CRAG_RERANK__MODEL: {self._settings.model}"
        try:
            model: CrossEncoder = CrossEncoder(
                str(self._folder),
                backend=self._settings.backend,
                local_files_only=True,
                # The ms-marco models say that their scores are raw logits, which no scale bounds.
                activation_fn=torch.nn.Sigmoid(),
            )
            window = model.max_seq_length or self._settings.max_length
            model.max_seq_length = min(window, self._settings.max_length)
            probed = np.asarray(self._predict(model, PROBES))
        except Exception as error:  # the loaders of three backends raise what they like
            raise ConfigurationError(f"{named} cannot be loaded: {error}") from error
        if probed.shape != (len(PROBES),):
            raise ConfigurationError(f"{named} gives {probed.shape[-1]} scores for a pair, not one")
        if not ((probed >= 0) & (probed <= 1)).all():
            raise ConfigurationError(f"{named} scores a pair {probed.max():.3g}, not in [0, 1]")
        return model

    def _predict(self, model: "CrossEncoder", pairs: list[Pair]) -> Any:
        return model.predict(pairs, batch_size=self._settings.batch, show_progress_bar=False)


def _scored(candidate: Candidate, score: float) -> Candidate:
    return _with(candidate, cross_encoder=score, rerank=(1 + score) / 2)


def _unread(candidate: Candidate) -> Candidate:
    return _with(candidate, rerank=candidate.scores.get("fused", 0.0) / 2)


def _with(candidate: Candidate, **scores: float) -> Candidate:
    return replace(candidate, scores=candidate.scores | scores)
