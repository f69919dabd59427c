"""What a server says to try: only what it has."""

from pathlib import Path

import pytest

from api.first_requests import first_requests
from ingest.scope import Scope
from tests.api_clients import settings_on
from tests.api_fakes import FakeService

URL = "http://127.0.0.1:1"


async def said(folder: Path, *bases: tuple[str, str], with_key: bool = False) -> str:
    async with FakeService()(settings_on(folder)) as service:
        for tenant, name in bases:
            await service.corpus.writer.create_knowledge_base(Scope(tenant, manages=True), name)
        return await first_requests(service, URL, with_key=with_key)


async def test_says_how_to_ingest_where_there_is_nothing_to_ask(tmp_path: Path) -> None:
    told = await said(tmp_path)
    assert told.startswith(f"Ready on {URL} ")
    assert "crag ingest PATH --kb NAME" in told and "curl" not in told
    assert "curl" not in await said(tmp_path / "foreign", ("acme", "wiki"))


@pytest.mark.parametrize(
    ("bases", "named"),
    [
        ([("local", "wiki")], "wiki"),
        ([("local", "a"), ("local", "handbook")], "handbook"),
        ([("acme", "theirs"), ("local", "own")], "own"),
    ],
)
async def test_names_a_base_that_is_there(
    bases: list[tuple[str, str]], named: str, tmp_path: Path
) -> None:
    told = await said(tmp_path, *bases)
    assert told.count(f'"knowledge_base": "{named}"') == 2
    assert ("refunds" in told) is (named == "handbook")
    assert "$KEY" not in told


async def test_with_keys_a_base_of_their_tenant_is_named(tmp_path: Path) -> None:
    told = await said(tmp_path, ("acme", "theirs"), with_key=True)
    assert told.count('"knowledge_base": "theirs"') == 2
    assert told.count("-H 'Authorization: Bearer '\"$KEY\"") == 3
