"""A fact-checking or NLI cross-encoder: it reads source and claim together."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graph.adapters.claim_reading import read_text
from graph.adapters.claim_rules import objection, rule_signs
from graph.adapters.claim_scorer import Claim, ClaimScore, span_of
from graph.adapters.claim_signs import window_by_words
from graph.adapters.model_files import find_model
from ingest.batching import MicroBatcher
from ingest.errors import ConfigurationError, DependencyError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

Pair = tuple[str, str]
Verdict = tuple[float, float]
"""Probabilities that the source entails the claim, and that it contradicts it."""

SETTING = "CRAG_GROUNDING__MODEL"
ENTAILS = ("entail", "support", "consistent", "faithful")
CONTRADICTS = ("contradict", "refute")
NOT = ("not", "non", "un", "in")
TOGETHER = 64
"""Pairs that wait at once which are scored in one call."""
PROBE: Pair = ("Refunds are paid within five days.", "Refunds take five days.")


class CrossEncoderScorer:
    """A sentence-transformers CrossEncoder with one, two or three classes, in a thread of its own.

    The head's `id2label` says which class entails: an NLI model has three (entailment, neutral,
    contradiction in any order), a fact-checking one two, or one behind a sigmoid. Every part that
    a claim cites is read, and the best verdict counts.
    """

    def __init__(self, name: str | None) -> None:
        """Reads no weights. Raises ConfigurationError where the model is missing."""
        self._folder: Path = find_model(name, kind="CRAG_GROUNDING__KIND", setting=SETTING)
        self._model: CrossEncoder | None = None
        self._classes: tuple[int, int | None] | None = None
        self._score = MicroBatcher[Pair, Verdict](self._scored, limit=TOGETHER, name="grounding")

    async def load(self) -> None:
        """Raises ConfigurationError for weights that do not load or classes without a meaning."""
        await self._score([PROBE])

    def close(self) -> None:
        self._score.close()

    async def score(self, claims: Sequence[Claim]) -> list[ClaimScore]:
        """Raises DependencyError where the model gives no number, and what `load` raises."""
        pairs = [(part.text, claim.text) for claim in claims for part in claim.parts]
        verdicts = iter(await self._score(pairs))
        return [self._of(claim, [next(verdicts) for _ in claim.parts]) for claim in claims]

    def _of(self, claim: Claim, verdicts: Sequence[Verdict]) -> ClaimScore:
        if not np.isfinite(verdicts).all():
            raise DependencyError("the cross-encoder gave scores that are no numbers")
        best = int(np.argmax([entails for entails, _ in verdicts]))
        part = claim.parts[best]
        first, last = window_by_words(claim.text, [part.text])
        read = read_text(part.text)
        said, against = objection(rule_signs(read_text(claim.text), read, read))
        entails, contradicts = verdicts[best]
        return ClaimScore(
            entails, span_of([part], first, last), said, against or contradicts > max(0.5, entails)
        )

    def _scored(self, pairs: list[Pair]) -> list[Verdict]:
        """Only the batcher's thread comes here, so that the model is loaded once."""
        if self._model is None:
            self._model, self._classes = self._loaded()
        assert self._classes is not None
        entails, contradicts = self._classes
        rows = np.asarray(self._model.predict(pairs, show_progress_bar=False), dtype=float)
        if rows.ndim == 1:
            return [(float(row), 0.0) for row in rows]
        return [
            (float(row[entails]), float(row[contradicts]) if contradicts is not None else 0.0)
            for row in rows
        ]

    def _loaded(self) -> tuple["CrossEncoder", tuple[int, int | None]]:
        import torch
        from sentence_transformers import CrossEncoder
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            model: CrossEncoder = CrossEncoder(str(self._folder), local_files_only=True)
        except Exception as error:  # the loaders raise what they like
            raise ConfigurationError(f"{SETTING}: {self._folder} cannot be loaded: {error}") from (
                error
            )
        labels: dict[Any, str] = dict(getattr(model.config, "id2label", None) or {})
        one = len(labels) == 1
        model.activation_fn = torch.nn.Sigmoid() if one else torch.nn.Softmax(dim=-1)
        return model, (0, None) if one else classes(labels)


def classes(labels: dict[Any, str]) -> tuple[int, int | None]:
    """The class that entails, and the one that contradicts where there is one. Of two classes
    without a name the second entails, as in MiniCheck. Raises ConfigurationError."""
    named = {int(n): label.lower().replace("_", " ") for n, label in labels.items()}
    entails = [n for n, label in named.items() if _means(label, ENTAILS)]
    contradicts = [n for n, label in named.items() if _means(label, CONTRADICTS)]
    if not entails and set(named.values()) == {"label 0", "label 1"}:
        return 1, None
    if len(entails) != 1:
        raise ConfigurationError(
            f"{SETTING}: no one class of {', '.join(labels.values())} means supported"
        )
    return entails[0], contradicts[0] if len(contradicts) == 1 else None


def _means(label: str, stems: tuple[str, ...]) -> bool:
    for stem in stems:
        before, found, _ = label.partition(stem)
        if found:
            return not any(before.strip().split(" ")[-1].startswith(no) for no in NOT if before)
    return False
