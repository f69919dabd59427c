"""An answer names every calibration that it was made with, so that it can be made again."""

import json
from pathlib import Path
from typing import Any

import pytest

from graph.adapters.calibration import load_calibration
from graph.adapters.calibration_file import shipped
from graph.adapters.claim_model import load_claim_model
from graph.adapters.fitted_confidence import load_confidence
from graph.calibrations_named import calibrations_named
from graph.settings import GraphSettings, GroundingSettings
from ingest.adapters.embedders import MODELS

SHIPPED = shipped("confidence")
E5 = MODELS["multilingual-e5-small"]().fingerprint
MINILM = MODELS["all-MiniLM-L6-v2"]().fingerprint


def named(kind: str = "combined", confidence: Path | None = SHIPPED, *, embedder: str = E5) -> str:
    loaded = load_confidence(str(confidence)) if confidence else None
    settings = GraphSettings(grounding=GroundingSettings(kind=kind))
    return calibrations_named(settings, load_calibration(), loaded, embedder=embedder)


def test_each_one_has_its_name_and_its_version() -> None:
    passages, claims, confidence = (one.split(":") for one in named().split(" "))
    assert passages == ["passages", load_calibration().version]
    assert claims == ["claims", load_claim_model().version]
    assert confidence == ["confidence", load_confidence().version]


@pytest.mark.parametrize("kind", ["quotes", "rules", "cross_encoder", "own.checker:Class"])
def test_a_check_that_uses_no_calibration_names_none(kind: str) -> None:
    assert "claims:" not in named(kind)


def test_the_check_of_another_embedder_has_a_calibration_of_its_own() -> None:
    assert named(embedder=MINILM) != named()
    assert load_claim_model(embedder=MINILM).version in named(embedder=MINILM)


def test_without_an_estimate_of_confidence_none_is_named() -> None:
    assert "confidence:" not in named(confidence=None)


@pytest.mark.parametrize(("change", "same"), [({}, True), ({"bias": 0.0}, False)])
def test_another_fit_of_the_confidence_has_another_version(
    tmp_path: Path, change: dict[str, Any], same: bool
) -> None:
    file = tmp_path / "confidence.json"
    file.write_text(json.dumps(json.loads(SHIPPED.read_text()) | change))
    assert (named(confidence=file) == named()) is same
