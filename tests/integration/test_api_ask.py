"""POST /v1/ask: one answer object, bounded requests, and errors that are problems."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from api.settings import LimitSettings
from ingest.filters import Condition
from nodes.state import Turn
from tests.api_clients import client_of, settings_on
from tests.api_fakes import FakeService


def asking(question: str, **more: Any) -> dict[str, Any]:
    return {"question": question, "knowledge_base": "handbook", **more}


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("no-store", {"rewrites": 1, "cache": False}),
        ("max-age=0, No-Cache", {"rewrites": 1, "cache": False}),
        ("max-age=0", {"rewrites": 1}),
    ],
)
async def test_who_wants_no_kept_answer_says_so_in_a_header(
    tmp_path: Path, header: str, options: dict[str, Any]
) -> None:
    service = FakeService()
    async with client_of(settings_on(tmp_path), service) as client:
        await client.post(
            "/v1/ask",
            json=asking("why?", options={"rewrites": 1}),
            headers={"cache-control": header},
        )
    (asked,) = service.runner.asked
    assert asked.options == options


async def test_answers_with_the_whole_answer_object(tmp_path: Path) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        response = await client.post("/v1/ask", json=asking("why?"))
    assert response.status_code == 200
    assert response.json()["answer"] == "Yes. [1]"
    assert response.json()["reason"] is None


async def test_a_refusal_is_a_result(tmp_path: Path) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        response = await client.post("/v1/ask", json=asking("refuse this"))
    assert (response.status_code, response.json()["outcome"]) == (200, "refused")


async def test_hands_everything_to_the_run(tmp_path: Path) -> None:
    service = FakeService()
    async with client_of(settings_on(tmp_path), service) as client:
        await client.post(
            "/v1/ask",
            json=asking(
                "and B1?",
                history=[{"question": "q", "answer": "a"}],
                filters={"language": "en"},
                thread_id="t-1",
                options={"rewrites": 1},
            ),
        )
    (asked,) = service.runner.asked
    assert asked.history == [Turn("q", "a")]
    assert asked.filters.conditions == [Condition("language", ["en"])]
    assert (asked.thread_id, asked.options, asked.scope.tenant) == ("t-1", {"rewrites": 1}, "local")


async def test_a_control_character_becomes_a_space_on_the_way_in(tmp_path: Path) -> None:
    service = FakeService()
    async with client_of(settings_on(tmp_path), service) as client:
        turn = {"question": "q\x1bq", "answer": "a\x07a"}
        await client.post("/v1/ask", json=asking("Why\x1b[31m\x00now?", history=[turn]))
        await client.post("/v1/knowledge-bases", json={"name": "handbook"})
        found = await client.post("/v1/search", json=asking("ten\x1bdays", limit=1))
    (asked,) = service.runner.asked
    assert asked.question == "Why [31m now?"
    assert asked.history == [Turn("q q", "a a")]
    assert found.json()["question"] == "ten days"


@pytest.mark.parametrize(
    "body",
    [
        asking(""),
        asking(" \n"),
        asking("\x00\x1b\x07"),
        asking("x" * 4001),
        asking("q", scope="other"),
        asking("q", tenant="other"),
        asking("q", thread_id="../x"),
        asking("q", history=[{"question": "q", "role": "system"}]),
        asking("q", history=[{"question": "q", "answer": "a"}] * 51),
        asking("q", filters={"tenant": "other"}),
        asking("q", filters={"language": {"$ne": ""}}),
        asking("q", options={"rewrites": 9}),
        {"question": "q"},
        [],
    ],
)
async def test_refuses_what_is_out_of_bounds(tmp_path: Path, body: Any) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        for route in ("/v1/ask", "/v1/ask/stream"):
            response = await client.post(route, json=body)
            assert response.status_code == 422
            assert response.headers["content-type"] == "application/problem+json"
            assert response.json()["code"] == "invalid_request"


async def test_refuses_half_a_character(tmp_path: Path) -> None:
    """A lone surrogate is legal in JSON and can be encoded nowhere."""
    half = {"content-type": "application/json"}
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        for field in ("question", "knowledge_base", "filters"):
            body = asking("q", filters={}) | {field: "q\ud800"}
            if field == "filters":
                body = asking("q", filters={"q\ud800": 1})
            content = json.dumps(body).encode()
            response = await client.post("/v1/ask", content=content, headers=half)
            assert (field, response.status_code) == (field, 422)


async def test_takes_a_question_of_4000_characters(tmp_path: Path) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        response = await client.post("/v1/ask", json=asking("ü" * 4000))
    assert response.status_code == 200


async def test_says_what_is_wrong_in_one_sentence(tmp_path: Path) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        blank = await client.post("/v1/ask", json=asking(" "))
        broken = await client.post(
            "/v1/ask", content=b"{", headers={"content-type": "application/json"}
        )
    assert blank.json()["detail"] == "question: must not be blank"
    assert broken.json()["detail"] == "JSON decode error"


async def test_an_unknown_base_is_404_on_both_routes(tmp_path: Path) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        for route in ("/v1/ask", "/v1/ask/stream"):
            response = await client.post(route, json=asking("q") | {"knowledge_base": "nope"})
            assert response.json()["code"] == "unknown_knowledge_base"
            assert response.status_code == 404


async def test_a_bug_is_a_500_that_shows_nothing_of_the_inside(tmp_path: Path) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        response = await client.post("/v1/ask", json=asking("crash"))
    assert (response.status_code, response.json()["code"]) == (500, "internal")
    assert "secret" not in response.text


async def test_a_thread_has_one_run_at_a_time(tmp_path: Path) -> None:
    service = FakeService()
    async with client_of(settings_on(tmp_path), service) as client:
        slow = asyncio.create_task(client.post("/v1/ask", json=asking("slow", thread_id="t")))
        await service.runner.waiting.wait()
        busy = await client.post("/v1/ask", json=asking("q", thread_id="t"))
        other = await client.post("/v1/ask", json=asking("q", thread_id="u"))
        deleting = await client.delete("/v1/threads/t")
        running = (await client.get("/v1/runs")).json()["running"]
        await client.post(f"/v1/runs/{running[0]['run_id']}/cancel")
        ended = await slow
        free = await client.post("/v1/ask", json=asking("q", thread_id="t"))
    assert (busy.status_code, busy.json()["code"]) == (409, "thread_busy")
    assert deleting.json()["code"] == "thread_busy"
    assert (ended.status_code, ended.json()["code"]) == (409, "cancelled")
    assert (other.status_code, free.status_code) == (200, 200)


async def test_one_run_too_many_is_rate_limited(tmp_path: Path) -> None:
    service = FakeService()
    settings = settings_on(tmp_path).model_copy(
        update={"limits": LimitSettings(running=1, waiting=0)}
    )
    async with client_of(settings, service) as client:
        slow = asyncio.create_task(client.post("/v1/ask", json=asking("slow")))
        await service.runner.waiting.wait()
        refused = await client.post("/v1/ask", json=asking("q"))
        slow.cancel()
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.headers["retry-after"] == "5"


async def test_the_request_id_goes_in_and_out(tmp_path: Path) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        kept = await client.get("/livez", headers={"X-Request-ID": "abc-1"})
        replaced = await client.get("/livez", headers={"X-Request-ID": "a b\tc"})
        on_error = await client.get("/nowhere", headers={"X-Request-ID": "abc-2"})
    assert kept.headers["x-request-id"] == "abc-1"
    assert len(replaced.headers["x-request-id"]) == 32
    assert on_error.headers["x-request-id"] == "abc-2"


async def test_unknown_paths_and_methods_are_problems(tmp_path: Path) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        path = await client.get("/v1/nothing")
        method = await client.put("/v1/ask")
    assert (path.status_code, path.json()["code"]) == (404, "not_found")
    assert (method.status_code, method.json()["code"]) == (405, "method_not_allowed")
    assert method.headers["allow"] == "POST"


async def test_search_shows_scores_by_stage(tmp_path: Path) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        await client.post("/v1/knowledge-bases", json={"name": "handbook"})
        await client.post(
            "/v1/knowledge-bases/handbook/documents?name=a.md", content=b"# Leave\n\nTen days."
        )
        found = await client.post("/v1/search", json=asking("ten days", limit=1))
        unknown = await client.post("/v1/search", json=asking("q") | {"knowledge_base": "nope"})
    (hit,) = found.json()["results"]
    assert (hit["source"], hit["text"]) == ("a.md", "Ten days.")
    assert set(hit["scores"]) == {"dense", "bm25", "fused"}
    assert unknown.status_code == 404
