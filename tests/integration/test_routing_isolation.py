"""`auto` over the real service: what a credential may not see is neither searched nor named."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.api_clients import client_of, settings_on
from tests.integration.test_isolation import World, members
from tests.real_service import RealService

BASES = "/v1/knowledge-bases"
QUESTION = "When are refunds paid?"
SECRET = "kolibri"
"""The name, description, example, title and text of what bob may not see hold this word."""


@pytest.fixture
async def world(store_path: Path) -> AsyncIterator[World]:
    """Of acme: two bases for everybody, one of the group hr; in one for everybody a document of
    hr. Of globex a base."""
    settings = settings_on(store_path)
    async with client_of(settings, RealService()) as client:
        made = await members(client, settings)
        for member, name, acl in (
            (made.acme, "shop", ["*"]),
            (made.acme, "canteen", ["*"]),
            (made.acme, f"{SECRET}-pay", ["group:hr"]),
            (made.globex, f"{SECRET}-globex", ["*"]),
        ):
            hidden = SECRET if SECRET in name else ""
            told = f"{QUESTION} {hidden}" if hidden else "Opening hours and prices"
            base = {"name": name, "description": told, "examples": [told], "acl": acl}
            await member.ok("POST", BASES, json=base)
            text = f"# Refunds {hidden}\n\nRefunds are paid in May, says {name}.\n"
            document = f"{BASES}/{name}/documents?name=refunds-{hidden or name}.md"
            await member.ok("POST", document, content=text.encode())
        own = f"# When are refunds paid {SECRET}\n\nRefunds are paid to {SECRET} in June.\n"
        place = f"{BASES}/canteen/documents?name={SECRET}.md&acl=group:hr"
        await made.acme.ok("POST", place, content=own.encode())
        yield made


async def asked(member: Any, knowledge_base: Any, **options: Any) -> dict[str, Any]:
    more = {"route": True, "cache": False} | options
    answer: dict[str, Any] = await member.ask(QUESTION, knowledge_base=knowledge_base, options=more)
    return answer


@pytest.mark.parametrize("margin", [0.0, 2.0])
async def test_what_may_not_be_seen_is_neither_routed_to_nor_named(
    world: World, margin: float
) -> None:
    answer = await asked(world.bob, "auto", route_margin=margin)
    assert set(answer["searched"]["knowledge_bases"]) <= {"shop", "canteen"}
    assert SECRET not in json.dumps(answer)
    run = await world.bob.ok("GET", f"/v1/runs/{answer['run_id']}")
    assert SECRET not in json.dumps(run)


async def test_hidden_titles_move_no_route(world: World) -> None:
    """The base with the hidden title leads for who may read it, and for nobody else."""

    async def score(member: Any) -> tuple[list[str], float]:
        answer = await asked(member, ["shop", "canteen"], route_margin=0.0)
        entry = next(e for e in answer["trace"] if e["node"] == "route_question")
        return entry["summary"]["searched"], entry["summary"]["lead"]

    searched, lead = await score(world.ann)
    assert (searched, lead > 0) == (["canteen"], True)
    assert (await score(world.bob))[1] == 0


async def test_who_may_see_it_is_routed_there_and_the_citation_names_it(world: World) -> None:
    answer = await asked(world.ann, "auto", route_margin=0.0)
    assert answer["searched"]["knowledge_bases"] == [f"{SECRET}-pay"]
    assert {c["knowledge_base"] for c in answer["citations"]} == {f"{SECRET}-pay"}


@pytest.mark.parametrize(
    "named", [f"{SECRET}-pay", f"{SECRET}-globex", ["shop", f"{SECRET}-pay"], ["shop", "nowhere"]]
)
async def test_a_hidden_name_in_a_list_is_an_unknown_one(world: World, named: Any) -> None:
    body = {"question": QUESTION, "knowledge_base": named}
    answer = await world.bob.send("POST", "/v1/ask", json=body)
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_knowledge_base")


async def test_a_list_is_searched_and_each_citation_names_its_base(world: World) -> None:
    answer = await asked(world.bob, ["shop", "canteen"], route=False)
    assert answer["searched"]["knowledge_bases"] == ["shop", "canteen"]
    assert {c["knowledge_base"] for c in answer["citations"]} <= {"shop", "canteen"}
    assert answer["citations"]


async def test_a_description_is_the_managers_to_change(world: World) -> None:
    body = {"description": "Wages", "examples": ["When are wages paid?"]}
    told = await world.acme.ok("PUT", f"{BASES}/shop/description", json=body)
    assert (told["description"], told["examples"]) == ("Wages", ["When are wages paid?"])
    for member, base in ((world.bob, "shop"), (world.globex, "shop")):
        refused = await member.send("PUT", f"{BASES}/{base}/description", json=body)
        assert refused.status_code in (401, 403, 404)
    refused = await world.acme.send("POST", BASES, json={"name": "auto"})
    assert refused.json()["code"] == "invalid_request"
