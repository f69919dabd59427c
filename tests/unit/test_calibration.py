"""A calibration file that cannot work is refused when it is read, not while it grades."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.adapters.calibration import AnswerModel, load_calibration
from graph.adapters.calibration_file import shipped as shipped_file
from graph.adapters.claim_model import load_claim_model
from ingest.adapters.embedders import MODELS
from ingest.errors import ConfigurationError
from ingest.settings import IndexSettings

SHIPPED = shipped_file("passages")


@pytest.fixture
def shipped() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(SHIPPED.read_text())
    return content


def written(folder: Path, content: object) -> str:
    path = folder / "calibration.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


@pytest.mark.parametrize("name", MODELS)
def test_each_model_has_calibrations_of_its_own(name: str) -> None:
    fingerprint = MODELS[name]().fingerprint
    calibration = load_calibration(embedder=fingerprint)
    assert calibration.model == load_claim_model(embedder=fingerprint).model.model == fingerprint
    assert shipped_file("confidence", fingerprint).parent.name == name.lower()
    assert {"full", "words", "web"} <= set(calibration.answers)
    for model in calibration.answers.values():
        assert 0 <= model.lower <= model.upper <= 1


def test_without_a_name_it_is_that_of_the_default_and_so_for_an_embedder_that_has_none() -> None:
    default = MODELS[IndexSettings().embedder]().fingerprint
    for named in (None, "another@0123"):
        assert load_calibration(embedder=named).model == default


def test_its_version_is_that_of_its_content(tmp_path: Path, shipped: dict[str, Any]) -> None:
    same = tmp_path / "same.json"
    same.write_bytes(SHIPPED.read_bytes())
    assert load_calibration(str(same)).version == load_calibration().version
    shipped["answers"]["full"]["bias"] += 1
    assert load_calibration(written(tmp_path, shipped)).version != load_calibration().version


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", "7", "{}", '{"model": "x"}', "\x00", '"text"']
)
def test_what_is_no_calibration_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(ConfigurationError, match="calibration"):
        load_calibration(written(tmp_path, content))


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path):
        with pytest.raises(ConfigurationError, match="calibration"):
            load_calibration(str(path))
    (tmp_path / "latin").write_bytes(b'{"model": "\xff"}')
    with pytest.raises(ConfigurationError):
        load_calibration(str(tmp_path / "latin"))


BROKEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "a weight is missing": lambda m: m["weights"].pop(),
    "a mean too many": lambda m: m["mean"].append(0.0),
    "a scale of zero": lambda m: m["scale"].__setitem__(0, 0.0),
    "a weight that is no number": lambda m: m["weights"].__setitem__(0, float("nan")),
    "a weight without end": lambda m: m["weights"].__setitem__(0, float("inf")),
    "text for a weight": lambda m: m["weights"].__setitem__(0, "much"),
    "a sign nobody computes": lambda m: m["signs"].__setitem__(0, "astrology"),
    "a key nobody knows": lambda m: m.__setitem__("extra", 1),
    "no bias": lambda m: m.pop("bias"),
}
THRESHOLDS: dict[str, Callable[[dict[str, Any]], object]] = {
    "an upper above one": lambda m: m.__setitem__("upper", 1.5),
    "a lower below zero": lambda m: m.__setitem__("lower", -0.1),
    "a lower above upper": lambda m: m.update(upper=0.2, lower=0.8),
    "an upper that is no number": lambda m: m.__setitem__("upper", float("nan")),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_model_that_cannot_work_is_refused(
    tmp_path: Path, shipped: dict[str, Any], what: str
) -> None:
    BROKEN[what](shipped["answers"]["full"])
    with pytest.raises(ConfigurationError, match="calibration"):
        load_calibration(written(tmp_path, shipped))


@pytest.mark.parametrize("what", THRESHOLDS)
def test_thresholds_that_cannot_work_are_refused(
    tmp_path: Path, shipped: dict[str, Any], what: str
) -> None:
    THRESHOLDS[what](shipped["answers"]["full"])
    with pytest.raises(ConfigurationError, match="calibration"):
        load_calibration(written(tmp_path, shipped))


def test_both_thresholds_may_be_zero(tmp_path: Path, shipped: dict[str, Any]) -> None:
    shipped["answers"]["full"].update(upper=0, lower=0)
    model = load_calibration(written(tmp_path, shipped)).answers["full"]
    assert (model.upper, model.lower) == (0, 0)


def test_a_probability_by_hand() -> None:
    numbers = {"mean": [1, 0], "scale": [2, 1], "weights": [4, -1], "bias": 0.5}
    bars = {"upper": 0.5, "lower": 0.5}
    model = AnswerModel(signs=["a", "b"], **numbers, **bars)  # type: ignore[arg-type]
    assert model.log_odds({"a": 2, "b": 0.5}) == pytest.approx(0.5 + 4 * 0.5 - 0.5)
    assert model.probability({"a": 2, "b": 0.5}) == pytest.approx(0.880797, abs=1e-6)
    assert model.probability({"a": 1e9, "b": 0}) <= 1
    assert model.probability({"a": -1e9, "b": 0}) >= 0
