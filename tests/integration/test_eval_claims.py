"""`crag eval benchmark` on claims and near misses with a chat model as the judge: a sample by hash,
resumable; what has no verdict is counted and not scored."""

import asyncio
import hashlib
import json
from pathlib import Path

import pytest

from eval.claim_pairs import benchmark_near_misses
from eval.claims import benchmark_claims
from eval.datasets import on_side
from graph.settings import ChatSettings, GraphSettings, GroundingSettings
from ingest.errors import ConfigurationError, DependencyError
from tests.fake_chat import FakeChat, Fault, Reply
from tests.fake_chat_wire import Body

TRUE, FALSE = "The canteen is open on Mondays.", "The canteen is closed for good."


def sides(wanted: str, count: int) -> list[str]:
    return [str(n) for n in range(200) if on_side(f"Passage {n}.", wanted)][:count]  # type: ignore[arg-type]


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    rows = [
        {"dataset": "d", "id": f"{n}-{label}", "doc": f"Passage {n}.", "label": label,
         "claim": f"{TRUE if label else FALSE}"}
        for n in sides("report", 6) for label in (0, 1)
    ]  # fmt: skip
    file = tmp_path / "claims.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rows = [
        {"id": f"p{n}", "language": "en", "kind": "scope", "passage": f"Passage {n}.",
         "supported": TRUE, "near_miss": FALSE}
        for n in range(8)
    ]  # fmt: skip
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@pytest.fixture
def settings(chat: FakeChat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GraphSettings:
    monkeypatch.setattr("eval.clustered.RESAMPLES", 20)
    chat.script = lambda body: Reply(*(("Yes", {"Yes": 0.9, "No": 0.1}) if TRUE in said(body)
                                       else ("No", {"Yes": 0.2, "No": 0.8})))  # fmt: skip
    return GraphSettings(
        data_dir=tmp_path / "data",
        grounding=GroundingSettings(kind="chat"),
        chat=ChatSettings(
            model="openai:fake", base_url=chat.url, verdicts="logprob", retries=0, timeout_s=10
        ),
    )


def said(body: Body) -> str:
    return str(body["messages"][-1]["content"])


async def test_a_sample_is_judged_once_and_has_no_baseline(
    settings: GraphSettings, claims: Path, chat: FakeChat
) -> None:
    first = await benchmark_claims(settings, [claims], "service", sample=8)
    assert (first["n"], first["errors"]) == (8, 0)
    assert set(first["metrics"]) == {"balanced_accuracy", "auroc", "ece"}
    assert first["metrics"]["balanced_accuracy"] == 1.0
    assert first["parts"]["chat"] == "openai:fake" and "baseline9" not in first["sets"]["d"]
    asked = len(chat.requests)
    assert asked == 8
    assert await benchmark_claims(settings, [claims], "service", sample=8) == first
    assert len(chat.requests) == asked


def test_the_sample_is_the_first_by_the_hash_of_the_id(
    settings: GraphSettings, claims: Path, chat: FakeChat
) -> None:
    rows = [json.loads(line) for line in claims.read_text().splitlines()]
    rows.sort(key=lambda row: hashlib.sha256(row["id"].encode()).hexdigest())
    asyncio.run(benchmark_claims(settings, [claims], "service", sample=6))
    assert _asked(chat) == sorted(f"{row['doc']}|{row['claim']}" for row in rows[:6])


def _asked(chat: FakeChat) -> list[str]:
    found = []
    for request in chat.requests:
        text = said(request.body)
        doc = next(f"Passage {n}." for n in range(200) if f"Passage {n}." in text)
        found.append(f"{doc}|{TRUE if TRUE in text else FALSE}")
    return sorted(found)


async def test_what_has_no_verdict_is_counted_not_scored_and_asked_again(
    settings: GraphSettings, pairs: Path, chat: FakeChat
) -> None:
    some = next(n for n in range(8) if on_side(f"p{n}", "report"))
    broken = Fault("status", status=500)
    chat.fault_of = lambda body: (
        broken if f"Passage {some}." in said(body) and FALSE in said(body) else None
    )
    cut = await benchmark_near_misses(settings, pairs, "frozen")
    asked = len(chat.requests)
    chat.fault_of = lambda body: None
    whole = await benchmark_near_misses(settings, pairs, "frozen")
    assert (cut["errors"], whole["errors"], whole["n"] - cut["n"]) == (1, 0, 1)
    assert cut["metrics"] == whole["metrics"] == dict.fromkeys(whole["metrics"], 1.0)
    assert len(chat.requests) == asked + 1


async def test_a_check_that_judges_nothing_gives_no_figure(
    settings: GraphSettings, claims: Path, pairs: Path, chat: FakeChat
) -> None:
    chat.fault_of = lambda body: Fault("status", status=500)
    with pytest.raises(DependencyError):
        await benchmark_claims(settings, [claims], "service", sample=8)
    with pytest.raises(DependencyError):
        await benchmark_near_misses(settings, pairs, "open", sample=2)


async def test_verdicts_on_one_kind_alone_give_no_figure(
    settings: GraphSettings, claims: Path, chat: FakeChat
) -> None:
    chat.fault_of = lambda body: Fault("status", status=500) if TRUE in said(body) else None
    with pytest.raises(ConfigurationError, match="supported and other"):
        await benchmark_claims(settings, [claims], "service", sample=8)
