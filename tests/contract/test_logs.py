"""What the log of runs and the audit trail must do: SQLite in a file, and a real PostgreSQL."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from api.adapters.sql_audit import AUDIT, SqlAudit
from api.audit import audit_row
from graph.run_log import RUNS, RunLog
from ingest.database import Database, Tables, open_database
from ingest.errors import DependencyError, NotFound
from ingest.scope import LOCAL, Scope
from ingest.settings import DatabaseSettings
from tests.api_fakes import an_answer

LONG_AGO = "2020-01-01T00:00:00.000+00:00"
Open = Callable[[Tables], Database]


@pytest.fixture(params=["sqlite", "postgres"])
def open_(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the same tables again and again, as several processes do."""
    opened: list[Database] = []
    database = DatabaseSettings()
    if request.param == "postgres":
        database = DatabaseSettings(url=request.getfixturevalue("postgres_server").new_database())

    def open_tables(tables: Tables) -> Database:
        opened.append(open_database(database, tmp_path, tables))
        return opened[-1]

    yield open_tables
    for one in opened:
        one.close()


def seer(tenant: str = "acme", user: str = "ann", *groups: str) -> Scope:
    return Scope(tenant, principals=[f"user:{user}", *(f"group:{group}" for group in groups)])


async def test_a_run_is_read_in_every_process_and_listed_newest_first(open_: Open) -> None:
    here, there = RunLog(open_(RUNS)), RunLog(open_(RUNS))
    for n in range(3):
        await here.add(LOCAL, "kb", an_answer(f"r{n}", f"question {n}?"))
    assert (await there.get(LOCAL, "r1"))["question"] == "question 1?"
    listed = await there.recent(LOCAL, limit=2)
    assert {run["run_id"] for run in listed} <= {"r0", "r1", "r2"} and len(listed) == 2
    with pytest.raises(DependencyError):
        await there.add(LOCAL, "kb", an_answer("r1", "again"))
    for odd in ("", "r%", "r1\x00", "' OR 1=1 --"):
        with pytest.raises(NotFound):
            await there.get(LOCAL, odd)


async def test_a_run_is_seen_by_who_may_see_all_that_it_has_seen(open_: Open) -> None:
    log = RunLog(open_(RUNS))
    await log.add(seer("acme", "o'brien", "hr"), "kb", an_answer("hers", "q"))
    sees = [
        (seer("acme", "o'brien", "hr", "it"), True),
        (seer("acme", "o'brien", "hr"), True),
        (seer("acme", "o'brien"), False),
        (seer("acme", "ann", "hr"), False),
        (seer("globex", "o'brien", "hr"), False),
        (seer("acme", "O'BRIEN", "hr"), False),
    ]
    for scope, expected in sees:
        assert [run["run_id"] for run in await log.recent(scope)] == ["hers"] * expected
        if not expected:
            with pytest.raises(NotFound):
                await log.get(scope, "hers")


async def test_bad_runs_are_those_that_did_not_answer_or_were_degraded(open_: Open) -> None:
    log = RunLog(open_(RUNS))
    fine = an_answer("fine", "fine")
    fault = {"node": "rerank", "kind": "x", "fallback": "none", "detail": ""}
    await log.add(LOCAL, "kb", fine)
    await log.add(LOCAL, "kb", replace(fine, run_id="refused", outcome="refused"))
    await log.add(LOCAL, "kb", replace(fine, run_id="weak", degraded=[fault]))
    await log.add(LOCAL, "other", replace(fine, run_id="there", outcome="refused"))
    bad = await log.bad(LOCAL, "kb")
    assert sorted((run["outcome"], run["degraded"]) for run in bad) == [
        (fine.outcome, True),
        ("refused", False),
    ]


async def test_runs_end_with_their_time_and_number(
    open_: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_(RUNS)
    log = RunLog(database)
    await log.add(LOCAL, "kb", an_answer("old", "q"))
    with database.transaction() as db:
        db.execute("UPDATE runs SET created_at = ?", [LONG_AGO])
    assert (await log.sweep(1), await log.sweep(1)) == (1, 0)
    monkeypatch.setattr("graph.run_log.KEPT", 3)
    for n in range(5):
        await log.add(LOCAL, "kb", an_answer(f"r{n}", "q"))
    assert {run["run_id"] for run in await log.recent(LOCAL)} == {"r2", "r3", "r4"}


def test_audit_rows_come_newest_first_from_every_process(open_: Open) -> None:
    here, there = SqlAudit(open_(AUDIT)), SqlAudit(open_(AUDIT))
    row = replace(audit_row("ask", "acme", "user:o'brien"), question="ünï\x00 '; --")
    here.add(replace(row, at=LONG_AGO, target="old"))
    for n in range(3):
        (here, there)[n % 2].add(replace(row, target=str(n)))
    there.add(replace(row, tenant="globex"))
    assert [one.target for one in here.recent(tenant="acme")] == ["2", "1", "0", "old"]
    assert [one.tenant for one in there.recent(limit=1)] == ["globex"]
    assert here.recent(tenant="' OR 1=1 --") == []
    assert (there.sweep(1), here.sweep(1)) == (1, 0)
    assert len(here.recent()) == 4
