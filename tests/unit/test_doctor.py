"""The report of `crag doctor`: what is wrong is one line among its problems, and never a crash."""

from pathlib import Path

import pytest
from ingest.adapters.sentence_transformer import FILES_SHA256, packaged_model
from pydantic import SecretStr

from api.doctor import examine
from api.doctor_languages import base_line
from api.settings import Settings
from graph.settings import AnswerSettings, GradeSettings, RedisSettings, RerankSettings
from ingest.settings import AccessSettings
from tests.redis_server import RedisServer


def problems(folder: Path, **settings: object) -> list[str]:
    found: list[str] = examine(Settings(data_dir=folder / "crag", **settings))["problems"]  # type: ignore[arg-type]
    return found


def test_nothing_is_wrong_here(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


@pytest.mark.parametrize("name", ["tokenizer.json", "1_Pooling/config.json"])
def test_every_file_of_the_model_is_checked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in set(FILES_SHA256) - {name}:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).symlink_to(packaged_model() / file)
    monkeypatch.setattr("ingest.adapters.sentence_transformer.packaged_model", lambda: tmp_path)
    (problem,) = problems(tmp_path)
    assert problem.startswith(f"the model is incomplete: {name} of its package: ")


def test_documents_in_another_language_than_the_model_are_named() -> None:
    base = {"name": "kb", "documents": 3, "chunks": 4, "languages": {"en": 2, "de": 1}}
    assert base_line(base) == "  kb: 3 documents, 4 passages; 1 in de: the model was made for en"
    assert base_line(base | {"languages": {"en": 3}}) == "  kb: 3 documents, 4 passages"


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


def test_a_redis_that_is_away_is_a_problem(tmp_path: Path, redis: RedisServer) -> None:
    section = RedisSettings(url=SecretStr(redis.url), timeout_s=0.5)
    assert problems(tmp_path, redis=section) == []
    redis.stop()
    try:
        (problem,) = problems(tmp_path, redis=section)
    finally:
        redis.start()
    assert problem.startswith("CRAG_REDIS__URL: Redis: ")
