"""NLI and fact-checking heads: real code around random weights."""

from pathlib import Path
from typing import Any

import pytest

from graph.adapters.claim_cross_encoder import CrossEncoderScorer, classes
from graph.adapters.claim_scorer import Claim
from graph.adapters.claim_source import Part
from ingest.errors import ConfigurationError
from tests.tiny_models import save_cross_encoder

CLAIM = Claim("refunds take five days", [Part("d", "r", 0, "how long do refunds take")])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["contradiction", "entailment", "neutral"], (1, 0)),
        (["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], (0, 2)),
        (["not_entailment", "entailment"], (1, None)),
        (["entailment", "not_entailment"], (0, None)),
        (["unsupported", "supported"], (1, None)),
        (["inconsistent", "consistent"], (1, None)),
        (["LABEL_0", "LABEL_1"], (1, None)),
    ],
)
def test_the_class_that_entails_is_read_from_the_labels(labels: list[str], expected: Any) -> None:
    assert classes(dict(enumerate(labels))) == expected


@pytest.mark.parametrize("labels", [["a", "b"], ["LABEL_0", "LABEL_1", "LABEL_2"]])
def test_labels_that_say_nothing_are_refused(labels: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="means supported"):
        classes(dict(enumerate(labels)))


@pytest.mark.parametrize("labels", [1, 2])
async def test_a_head_of_one_or_two_classes_gives_a_probability(
    tmp_path: Path, labels: int
) -> None:
    scorer = CrossEncoderScorer(str(save_cross_encoder(tmp_path, labels=labels)))
    try:
        await scorer.load()
        (score,) = await scorer.score([CLAIM])
        assert 0 < score.probability < 1
        assert score.span is not None
    finally:
        scorer.close()


async def test_three_classes_without_a_name_are_refused_at_start(tmp_path: Path) -> None:
    scorer = CrossEncoderScorer(str(save_cross_encoder(tmp_path, labels=3)))
    try:
        with pytest.raises(ConfigurationError, match="CRAG_GROUNDING__MODEL"):
            await scorer.load()
    finally:
        scorer.close()
