"""The commands `crag keys`: one document or one key on standard output, fixed exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

import crag
from api.keys import key_for
from api.settings import Settings
from api.stored_keys import open_keys
from ingest.data_folder import DataFolder


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / "crag"))
    return tmp_path / "crag"


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert crag.run(["keys", *arguments, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_a_key_is_told_once_and_alone(capsys: pytest.CaptureFixture[str], data_dir: Path) -> None:
    assert crag.run(["keys", "create", "--tenant", "acme", "--scope", "ingest"]) == 0
    told = capsys.readouterr().out.strip()
    store = open_keys(Settings(data_dir=data_dir))
    key = key_for(store, told)
    store.close()
    assert key is not None and (key.tenant, key.scopes) == ("acme", ["ingest"])
    assert crag.run(["keys", "list"]) == 0
    listed = capsys.readouterr().out
    assert f"crag_{key.key_id}" in listed and told not in listed


def test_a_key_is_told_also_where_the_audit_trail_cannot_be_written(
    capsys: pytest.CaptureFixture[str], data_dir: Path
) -> None:
    DataFolder(data_dir).close()
    (data_dir / "audit.sqlite").mkdir()
    assert crag.run(["keys", "create"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("crag_")
    assert "not in the audit trail" in printed.err


def test_create_list_rotate_revoke(capsys: pytest.CaptureFixture[str]) -> None:
    made = run_json(capsys, "create", "--user", "bob", "--group", "hr", "--expires", "90d")
    assert (made["user"], made["groups"], made["scopes"]) == ("bob", ["hr"], ["ask"])
    new = run_json(capsys, "rotate", made["prefix"], "--grace", "0")
    assert new["key"] != made["key"] and new["groups"] == ["hr"]
    run_json(capsys, "revoke", new["key_id"])
    states = {key["key_id"]: key["state"] for key in run_json(capsys, "list")["keys"]}
    assert states == {made["key_id"]: "expired", new["key_id"]: "revoked"}
    assert run_json(capsys, "list", "--tenant", "acme") == {"keys": []}


def test_the_list_has_a_header_and_each_value_under_its_title(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_json(capsys, "create", "--user", "bob", "--name", "a \x1b[31mscript")
    run_json(capsys, "create", "--tenant", "acme", "--scope", "ask", "--scope", "ingest")
    assert crag.run(["keys", "list"]) == 0
    titles, first, second = capsys.readouterr().out.splitlines()
    assert titles.split() == ["KEY", "STATE", "SCOPES", "TENANT", "USER", "GROUPS", "UNTIL", "NAME"]
    places = [titles.index(title) for title in titles.split()]
    rows = [[line[at:].split()[0] for at in places] for line in (first, second)]
    assert sorted(row[1:] for row in rows) == [
        ["live", "ask", "local", "bob", "-", "-", "a"],
        ["live", "ask,ingest", "acme", "-", "-", "-", "-"],
    ]
    assert "\x1b" not in first + second


def test_a_revoked_key_lasts_until_it_was_revoked(capsys: pytest.CaptureFixture[str]) -> None:
    made = run_json(capsys, "create", "--expires", "90d")
    revoked = run_json(capsys, "revoke", made["prefix"])
    assert crag.run(["keys", "list"]) == 0
    listed = capsys.readouterr().out
    assert revoked["revoked_at"] in listed and revoked["expires_at"] not in listed


def test_works_while_a_server_holds_the_folder(
    capsys: pytest.CaptureFixture[str], data_dir: Path
) -> None:
    folder = DataFolder(data_dir)
    try:
        assert run_json(capsys, "create")["tenant"] == "local"
    finally:
        folder.close()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["create", "--tenant", "a/b"], 2),
        (["create", "--scope", "root"], 2),
        (["create", "--expires", "soon"], 2),
        (["create", "--user", "a\x1b[2J"], 2),
        (["rotate", "nope"], 1),
        (["revoke", "../../keys"], 1),
        (["forget", "x"], 2),
    ],
)
def test_what_cannot_be_is_said_by_the_exit_code(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crag.run(["keys", *arguments]) == code
    output = capsys.readouterr()
    assert output.out == "" and "\x1b" not in output.err


def test_the_database_is_the_place_where_one_is_set(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    monkeypatch.setenv("CRAG_DATABASE__URL", "postgresql:///none?host=/nowhere")
    monkeypatch.setattr("ingest.adapters.postgres_database.TIMEOUT_S", 1)
    assert crag.run(["keys", "list"]) == 1
    assert not data_dir.exists()


def test_a_key_has_limits_of_its_own_and_keeps_them(capsys: pytest.CaptureFixture[str]) -> None:
    made = run_json(capsys, "create", "--limit", "requests_per_minute=60", "--limit", "running=2")
    assert made["limits"] == {"requests_per_minute": 60, "running": 2}
    assert run_json(capsys, "rotate", made["prefix"])["limits"] == made["limits"]
    assert run_json(capsys, "limit", made["prefix"], "--limit", "running=1")["limits"] == {
        "running": 1
    }
    assert run_json(capsys, "limit", made["prefix"])["limits"] == {}


@pytest.mark.parametrize("bad", ["running", "running=0", "running=-1", "wait_s=1", "x=1", "=1"])
def test_a_limit_that_cannot_be_is_refused(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert crag.run(["keys", "create", "--limit", bad]) == 2
    assert capsys.readouterr().err.startswith("crag: ")
