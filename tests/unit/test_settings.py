"""Settings from CRAG_*: unknown names and bad values are one clear line."""

from pathlib import Path

import pytest

from graph.settings import GraphSettings
from ingest.errors import ConfigurationError
from ingest.settings import IndexSettings, check_names, read


def test_defaults_are_those_that_are_promised() -> None:
    settings = read(GraphSettings)
    assert settings.data_dir == Path(".crag")
    assert settings.retrieve.candidates == 50
    assert settings.rerank.keep == 5
    assert settings.budget.rewrites == 3
    assert (settings.grade.upper, settings.grade.lower) == (None, None)


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", "/tmp/x")
    monkeypatch.setenv("CRAG_RETRIEVE__CANDIDATES", "7")
    monkeypatch.setenv("CRAG_GRADE__UPPER", "0")
    monkeypatch.setenv("CRAG_WEB__ALLOW", '["example.org"]')
    settings = read(GraphSettings)
    assert settings.data_dir == Path("/tmp/x")
    assert settings.retrieve.candidates == 7
    assert settings.grade.upper == 0
    assert settings.web.allow == ["example.org"]


def test_an_argument_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", "/tmp/x")
    assert read(IndexSettings, data_dir=Path("/tmp/y")).data_dir == Path("/tmp/y")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("CRAG_DATADIR", "CRAG_DATA_DIR"),
        ("CRAG_RETRIEVE__CANDIDATE", "CRAG_RETRIEVE__CANDIDATES"),
        ("CRAG_RETRIEVE_CANDIDATES", "CRAG_RETRIEVE__CANDIDATES"),
        ("CRAG_BUDGET__REWRITE", "CRAG_BUDGET__REWRITES"),
        ("CRAG_WEB__API_KEY", "CRAG_WEB__TAVILY_API_KEY"),
    ],
)
def test_an_unknown_name_is_refused_and_the_nearest_named(
    monkeypatch: pytest.MonkeyPatch, name: str, nearest: str
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(ConfigurationError) as error:
        read(GraphSettings)
    assert str(error.value) == f"unknown setting {name}; did you mean {nearest}?"


@pytest.mark.parametrize("name", ["crag_prot", "Crag_Budget__Rewrite", "CRAG_prot"])
def test_an_unknown_name_is_refused_in_whatever_case(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(ConfigurationError, match=f"unknown setting {name}; did you mean CRAG_"):
        read(GraphSettings)


def test_a_known_name_is_read_in_whatever_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("crag_budget__Rewrites", "1")
    monkeypatch.setenv("crag_test_data", "x")
    assert read(GraphSettings).budget.rewrites == 1


def test_thresholds_that_contradict_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_GRADE__LOWER", "0.5")
    assert read(GraphSettings).grade.lower == 0.5
    monkeypatch.setenv("CRAG_GRADE__UPPER", "0.5")
    assert read(GraphSettings).grade.upper == 0.5
    monkeypatch.setenv("CRAG_GRADE__UPPER", "0.4")
    with pytest.raises(ConfigurationError) as error:
        read(GraphSettings)
    assert str(error.value) == "CRAG_GRADE: value error, LOWER 0.5 is above UPPER 0.4"


def test_names_of_the_test_suite_and_of_others_are_let_be() -> None:
    check_names(GraphSettings, ["CRAG_TEST_DATA", "PATH", "CRAGGY", "OTHER_CRAG_X"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CRAG_RETRIEVE__CANDIDATES", "0"),
        ("CRAG_RETRIEVE__CANDIDATES", "many"),
        ("CRAG_RETRIEVE__FUSION", "sum"),
        ("CRAG_BUDGET__REWRITES", "4"),
        ("CRAG_BUDGET__DEADLINE_S", "0"),
        ("CRAG_BUDGET__DEADLINE_S", "nan"),
        ("CRAG_GRADE__UPPER", "1.1"),
        ("CRAG_GRADE__LOWER", "-0.1"),
        ("CRAG_SPLIT__MAX_TOKENS", "500"),
        ("CRAG_RERANK__KEEP", ""),
        ("CRAG_BUDGET__DEADLINE_S", "inf"),
        ("CRAG_CHAT__USD_PER_MILLION_INPUT", "1e400"),
        ("CRAG_RUNS__TTL_DAYS", "9" * 30),
        ("CRAG_CACHE__TTL_S", "9" * 30),
        ("CRAG_WEB__ALLOW", "[1"),
        ("CRAG_WEB__DENY", "[1]"),
        ("CRAG_WEB__BASE_URL", "example.org"),
        ("CRAG_CHAT__BASE_URL", "localhost:8080"),
        ("CRAG_DATABASE__URL", "what?"),
        ("CRAG_DATABASE__URL", "mysql://u@host/x"),
        ("CRAG_QDRANT__URL", "host:6333"),
    ],
)
def test_a_bad_value_is_one_line_that_names_its_setting(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as error:
        read(GraphSettings)
    assert str(error.value).startswith(name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["CRAG_DATABASE__URL", "CRAG_QDRANT__URL", "CRAG_CHAT__BASE_URL"])
def test_an_empty_address_is_none(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "")
    assert read(GraphSettings) == GraphSettings.model_construct()


@pytest.mark.parametrize("given", ["a.org,b.org", " a.org , b.org,", '["a.org", "b.org"]'])
def test_a_list_is_separated_by_commas_or_json(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_WEB__ALLOW", given)
    assert read(GraphSettings).web.allow == ["a.org", "b.org"]


def test_a_bad_secret_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_WEB__TAVILY_API_KEY", "tvly-very-secret")
    monkeypatch.setenv("CRAG_WEB__RESULTS", "0")
    with pytest.raises(ConfigurationError) as error:
        read(GraphSettings)
    assert "very-secret" not in str(error.value)
    monkeypatch.delenv("CRAG_WEB__RESULTS")
    assert "very-secret" not in repr(read(GraphSettings))


def test_settings_are_frozen() -> None:
    settings = GraphSettings()
    with pytest.raises(ValueError, match="frozen"):
        settings.budget.rewrites = 1
