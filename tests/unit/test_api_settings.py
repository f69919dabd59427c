"""Settings of the service from the environment."""

import pytest

from api.auth import credentials
from api.errors import Unauthorized
from api.settings import Settings, is_loopback
from ingest.errors import ConfigurationError
from ingest.scope import LOCAL
from ingest.settings import read


@pytest.mark.parametrize("given", ["a,b", " a , b,", '["a", "b"]'])
def test_keys_come_separated_by_commas_or_as_json(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_API__KEYS", given)
    assert [key.get_secret_value() for key in read(Settings).api.keys] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("CRAG_PORT", "70000"), ("CRAG_API__KEYS", "[1"), ("CRAG_WEB__ALLOW", "example.org")],
)
def test_a_bad_value_is_a_configuration_error(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError):
        read(Settings)


def test_secrets_are_not_shown() -> None:
    assert "top-secret" not in repr(Settings(api={"keys": "top-secret"}))


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("example.org", False),
    ],
)
def test_knows_loopback(host: str, local: bool) -> None:
    assert is_loopback(host) is local


def test_a_proxy_on_this_machine_does_not_make_strangers_local() -> None:
    with pytest.raises(Unauthorized):
        credentials(Settings(), None).scope(None, "rag.example.org")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://10.0.0.7"])
def test_a_web_page_from_elsewhere_cannot_post(origin: str) -> None:
    with pytest.raises(Unauthorized):
        credentials(Settings(), None).scope(None, "127.0.0.1", origin)


@pytest.mark.parametrize("origin", [None, "http://localhost:3000", "http://127.0.0.1:8000"])
def test_a_page_of_this_machine_can(origin: str | None) -> None:
    assert credentials(Settings(), None).scope(None, "127.0.0.1", origin) == LOCAL


def test_anonymous_use_by_an_explicit_yes_has_no_such_bound() -> None:
    allowed = credentials(Settings(host="0.0.0.0", api={"allow_anonymous": True}), None)
    assert allowed.scope(None, "rag.example.org") == LOCAL
