"""The audit trail: a row for all that asks, changes or deletes, without what was asked."""

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts

import crag
from api.app import create_app
from api.audit import AuditRow, audit_row, open_audit
from api.keys import new_key, store_key
from api.settings import AuditSettings, LimitSettings, Settings
from api.stored_keys import open_keys
from ingest.data_folder import DataFolder
from ingest.errors import DependencyError, NotFound
from ingest.scope import LOCAL
from tests.api_clients import client_of, settings_on
from tests.api_fakes import FakeService, an_answer
from tests.fakes import a_run_log

SECRET = "Who earns sk-proj-abcdefghijklmnop1234 in hr?"
ASK = {"question": SECRET, "knowledge_base": "handbook"}


def rows_of(settings: Settings) -> list[AuditRow]:
    """Oldest first."""
    log = open_audit(settings)
    rows = log.recent()
    log.close()
    return rows[::-1]


def ann(settings: Settings) -> tuple[str, dict[str, str]]:
    store = open_keys(settings)
    key = new_key("acme", user="ann", scopes=["ask", "ingest", "admin"])
    told = store_key(store, key)
    store.close()
    return f"crag_{key.key_id}", {"Authorization": f"Bearer {told}"}


async def test_who_did_what_to_what_and_how_it_ended(tmp_path: Path) -> None:
    settings = settings_on(tmp_path)
    key_id, key = ann(settings)
    base = "/v1/knowledge-bases/kb"
    async with client_of(settings, FakeService()) as client:
        await client.post("/v1/knowledge-bases", json={"name": "kb"}, headers=key)
        up = await client.post(f"{base}/documents?name=a.txt", content=b"Some text.", headers=key)
        (document,) = [file["document_id"] for file in up.json()["files"]]
        asked = await client.post("/v1/ask", json=ASK, headers=key | {"X-Request-ID": "r-1"})
        await client.post("/v1/ask/stream", json=ASK | {"question": "refuse"}, headers=key)
        await client.post("/v1/ask", json=ASK | {"knowledge_base": "nope"}, headers=key)
        await client.get("/v1/knowledge-bases", headers=key)
        await client.delete(f"{base}/documents/{document}", headers=key)
        await client.delete(f"{base}/documents/{document}", headers=key)
        await client.delete(base, headers=key)
    rows = rows_of(settings)
    assert {(row.tenant, row.who) for row in rows} == {("acme", f"{key_id} user:ann")}
    run_id = asked.json()["run_id"]
    assert [(row.action, row.knowledge_base, row.target, row.outcome) for row in rows] == [
        ("create_knowledge_base", "", "", "ok"),
        ("upload_documents", "kb", document, "1 added"),
        ("ask", "handbook", run_id, "answered"),
        ("ask_stream", "handbook", "run-2", "refused"),
        ("ask", "nope", "", "unknown_knowledge_base"),
        ("delete_document", "kb", document, "ok"),
        ("delete_document", "kb", document, "not_found"),
        ("delete_knowledge_base", "kb", "", "ok"),
    ]
    assert rows[2].request_id == "r-1"
    assert abs(datetime.fromisoformat(rows[0].at).timestamp() - time.time()) < 60
    assert "earns" not in repr(rows)


async def test_questions_are_kept_where_the_settings_say_so_and_masked(tmp_path: Path) -> None:
    audit = AuditSettings(questions=True)
    settings = settings_on(tmp_path).model_copy(update={"audit": audit})
    async with client_of(settings, FakeService()) as client:
        await client.post("/v1/ask", json=ASK)
        await client.post("/v1/search", json=ASK)
    assert [row.question for row in rows_of(settings)] == ["Who earns [secret] in hr?"] * 2


async def test_what_was_cancelled_limited_or_refused_is_a_row(tmp_path: Path) -> None:
    settings = settings_on(tmp_path).model_copy(
        update={"limits": LimitSettings(running=1, waiting=0)}
    )
    key_id, key = ann(settings)
    known = key["Authorization"]
    guessed = known[:-1] + ("B" if known.endswith("A") else "A")
    service = FakeService()
    async with client_of(settings, service) as client:
        slow = asyncio.create_task(
            client.post("/v1/ask", json=ASK | {"question": "slow"}, headers=key)
        )
        await service.runner.waiting.wait()
        await client.post("/v1/ask", json=ASK, headers=key)
        (running,) = (await client.get("/v1/runs", headers=key)).json()["running"]
        await client.post(f"/v1/runs/{running['run_id']}/cancel", headers=key)
        await slow
        for told in (guessed, "Bearer x"):
            await client.get("/v1/runs", headers={"Authorization": told})
        assert (await client.get("/v1/runs")).status_code == 401
    found = sorted((row.action, row.who, row.outcome) for row in rows_of(settings))
    who = f"{key_id} user:ann"
    assert found == [
        ("ask", who, "cancelled"),
        ("ask", who, "rate_limited"),
        ("cancel_run", who, "ok"),
        ("use_key", "another credential", "unauthorized"),
        ("use_key", key_id, "unauthorized"),
    ]


async def test_nobody_without_a_key_fills_the_disk(tmp_path: Path) -> None:
    settings = settings_on(tmp_path, keys=["k"])
    async with client_of(settings, FakeService()) as client:
        for n in range(70):
            await client.get("/v1/runs", headers={"Authorization": f"Bearer {n}"})
    log = open_audit(settings)
    assert 60 <= len(log.recent(limit=100)) < 70
    log.close()


async def test_every_route_that_changes_something_has_a_row(tmp_path: Path) -> None:
    settings = settings_on(tmp_path)
    app = create_app(settings, open_service=FakeService())
    changing = [
        (method, str(route.path), route.endpoint.__name__)
        for route in iter_route_contexts(app.routes)
        for method in sorted(route.methods or [])
        if str(route.path).startswith("/v1") and method not in ("GET", "HEAD")
    ]
    async with client_of(settings, FakeService()) as client:
        for method, path, _ in changing:
            await client.request(method, path.replace("{", "").replace("}", ""))
    assert [row.action for row in rows_of(settings)] == [name for *_, name in changing]
    assert len(changing) >= 9


async def test_a_trail_that_cannot_be_written_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(settings: Settings, *, make: bool) -> None:
        raise DependencyError("the disk is full")

    monkeypatch.setattr("api.audit_trail.open_audit", broken)
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        assert (await client.post("/v1/ask", json=ASK)).status_code == 200
    assert "a row of the audit trail is lost" in caplog.text
    assert "earns" not in caplog.text


@pytest.mark.parametrize("make", [True, False])
def test_an_empty_folder_still_becomes_a_data_folder(tmp_path: Path, make: bool) -> None:
    """A volume that was mounted: with a trail alone in it, it would be refused for ever."""
    settings = settings_on(tmp_path)
    settings.data_dir.mkdir()
    with suppress(DependencyError):
        open_audit(settings, make=make).close()
    DataFolder(settings.data_dir).close()


def test_the_command_lists_what_keys_and_questions_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / "crag"))

    def run(*arguments: str) -> Any:
        assert crag.run([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert run("audit", "list") == {"rows": []}
    made = run("keys", "create", "--tenant", "acme")
    new = run("keys", "rotate", made["prefix"])
    run("keys", "limit", new["prefix"], "--limit", "running=1")
    run("keys", "revoke", new["prefix"])
    rows = run("audit", "list", "--tenant", "acme")["rows"]
    assert [(row["action"], row["target"]) for row in rows[::-1]] == [
        ("create_key", made["prefix"]),
        ("rotate_key", f"{new['prefix']} {made['prefix']}"),
        ("limit_key", new["prefix"]),
        ("revoke_key", new["prefix"]),
    ]
    assert made["key"] not in repr(rows)
    assert run("audit", "list", "--tenant", "globex") == {"rows": []}
    assert len(run("audit", "list", "--limit", "2")["rows"]) == 2
    assert crag.run(["audit", "list"]) == 0
    titles, newest = capsys.readouterr().out.splitlines()[:2]
    assert titles.split() == "AT TENANT WHO ACTION BASE TARGET OUTCOME QUESTION".split()
    told = [newest[titles.index(title) :].split("  ")[0] for title in titles.split()]
    assert told[1:] == ["acme", rows[0]["who"], "revoke_key", "-", new["prefix"], "ok", "-"]


# Retention


def test_rows_end_with_their_time(tmp_path: Path) -> None:
    log = open_audit(settings_on(tmp_path))
    row = audit_row("ask", "acme", "ann")
    for days in (3, 1):
        log.add(
            replace(
                row, at=(datetime.now(UTC) - timedelta(days=days)).isoformat(), target=str(days)
            )
        )
    assert (log.sweep(2), log.sweep(2)) == (1, 0)
    assert [row.target for row in log.recent()] == ["1"]
    log.close()


async def test_runs_end_with_their_time_and_leave_no_word_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    log = a_run_log(path)
    await log.add(LOCAL, "kb", an_answer("old", "canary-zebrafink"))
    assert await log.sweep(1) == 0
    with log._database.transaction() as db:
        db.execute("UPDATE runs SET created_at = '2020-01-01T00:00:00.000+00:00'")
    await log.add(LOCAL, "kb", an_answer("new", "another"))
    assert await log.sweep(1) == 1
    with pytest.raises(NotFound):
        await log.get(LOCAL, "old")
    assert (await log.get(LOCAL, "new"))["run_id"] == "new"
    log.close()
    assert b"zebrafink" not in path.read_bytes() and b"another" in path.read_bytes()


async def test_the_service_sweeps_when_it_starts(tmp_path: Path) -> None:
    settings = settings_on(tmp_path)
    log = open_audit(settings)
    log.add(replace(audit_row("ask", "acme", "ann"), at="2020-01-01T00:00:00.000+00:00"))
    log.close()
    async with client_of(settings, FakeService()), asyncio.timeout(5):
        while rows_of(settings):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
