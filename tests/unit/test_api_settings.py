"""Settings of the service from the environment."""

from pathlib import Path

import pytest

from api.auth import credentials
from api.errors import Unauthorized
from api.identity import OPERATOR, Identity
from api.settings import Settings, is_loopback
from ingest.errors import ConfigurationError
from ingest.settings import read


@pytest.mark.parametrize("given", ["a,b", " a , b,", '["a", "b"]'])
def test_keys_come_separated_by_commas_or_as_json(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_API__KEYS", given)
    assert [key.get_secret_value() for key in read(Settings).api.keys] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("CRAG_PORT", "70000"), ("CRAG_API__KEYS", "[1"), ("CRAG_JWT__ALGORITHMS", "HS256")],
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


async def identity(settings: Settings, host: str, origin: str | None = None) -> Identity:
    asked = credentials(settings, None)
    try:
        return await asked.identity(None, host, origin)
    finally:
        await asked.close()


async def test_a_proxy_on_this_machine_does_not_make_strangers_local(tmp_path: Path) -> None:
    with pytest.raises(Unauthorized):
        await identity(Settings(data_dir=tmp_path), "rag.example.org")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://10.0.0.7"])
async def test_a_web_page_from_elsewhere_cannot_post(origin: str, tmp_path: Path) -> None:
    with pytest.raises(Unauthorized):
        await identity(Settings(data_dir=tmp_path), "127.0.0.1", origin)


@pytest.mark.parametrize("origin", [None, "http://localhost:3000", "http://127.0.0.1:8000"])
async def test_a_page_of_this_machine_can(origin: str | None, tmp_path: Path) -> None:
    assert await identity(Settings(data_dir=tmp_path), "127.0.0.1", origin) == OPERATOR


async def test_anonymous_use_by_an_explicit_yes_has_no_such_bound(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, host="0.0.0.0", api={"allow_anonymous": True})
    assert await identity(settings, "rag.example.org") == OPERATOR


async def test_nobody_is_anonymous_on_an_open_address_whatever_becomes_of_its_keys(
    tmp_path: Path,
) -> None:
    with pytest.raises(Unauthorized):
        await identity(Settings(data_dir=tmp_path, host="0.0.0.0"), "localhost")


@pytest.mark.parametrize(
    "jwt",
    [
        {"jwks_url": "https://id.example/keys", "issuer": "i"},
        {"jwks_url": "https://id.example/keys", "audience": "a"},
        {"jwks_url": "http://id.example/keys", "issuer": "i", "audience": "a"},
        {"jwks_url": "file:///etc/keys", "issuer": "i", "audience": "a"},
        {"algorithms": ["HS256"]},
        {"algorithms": ["none"]},
        {"algorithms": []},
    ],
)
def test_tokens_are_not_taken_half_checked(jwt: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="jwt"):
        Settings(jwt=jwt)
