"""`crag eval ablation` on six documents, through the whole service but the embedding model."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import crag
from eval.ablation_sets import BeirSet
from tests.chat_runs import says
from tests.fake_chat import FakeChat, Reply
from tests.fake_chat_wire import Body
from tests.fakes import HashingEmbedder
from tests.integration.test_eval_cli import beir  # noqa: F401

GOLDEN = {
    "id": "refund", "knowledge_base": "notes", "answerable": True,
    "question": "When is a refund paid?", "must_contain": ["five business days"],
    "relevant": [{"document": "refunds.md", "quote": "paid within five business days"}],
}  # fmt: skip


@pytest.fixture(autouse=True)
def hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.adapters.embedders.open_embedder", lambda name: HashingEmbedder())


@dataclass(frozen=True)
class Done:
    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def ablation(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    def run(*arguments: object) -> Done:
        code = crag.run(["eval", "ablation", *map(str, arguments)])
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


def test_techniques_of_the_search_are_measured_and_what_was_kept_is_not_asked_again(
    beir: Path,  # noqa: F811
    store_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ablation: Callable[..., Done],
) -> None:
    asked = ("--beir", beir, "--data-dir", store_path / "kept", "--json")
    begun = ablation(*asked, "--techniques", "bm25,late-interaction", "--limit", 2)
    assert begun.exit_code == 0, begun.stderr
    done = json.loads(begun.stdout)
    assert [row["technique"] for row in done["techniques"]] == ["bm25", "late-interaction"]
    assert {row["n"] for row in done["techniques"]} == {2}
    assert done["errors"] == []
    assert set(done["techniques"][0]["gain"]["nDCG@10"]) == {
        "on", "off", "difference", "interval", "n",
    }  # fmt: skip
    calls: list[list[int]] = []
    values = BeirSet.values

    async def counted(self: BeirSet, service: Any, kind: str, numbers: Any) -> Any:
        calls.append(list(numbers))
        return await values(self, service, kind, numbers)

    monkeypatch.setattr(BeirSet, "values", counted)
    again = json.loads(ablation(*asked, "--techniques", "bm25", "--limit", 2).stdout)
    assert calls == []
    assert again["techniques"] == done["techniques"][:1]
    more = json.loads(ablation(*asked, "--techniques", "bm25").stdout)
    assert calls == [[2], [2], [2]]  # one unmeasured, then each side
    assert more["techniques"][0]["n"] == 3


def test_a_golden_set_is_measured_by_answers_and_says_what_was_left_out(
    store_path: Path, ablation: Callable[..., Done]
) -> None:
    folder = store_path / "notes"
    folder.mkdir()
    (folder / "refunds.md").write_text("# Refunds\n\nA refund is paid within five business days.\n")
    golden = store_path / "golden.jsonl"
    golden.write_text(json.dumps(GOLDEN) + "\n")
    result = ablation(
        "--golden", golden, "--documents", folder, "--data-dir", store_path / "kept",
        "--techniques", "correction,strips,web",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "| correction | on | " in result.stdout
    assert "left out: strips: needs a chat model, CRAG_CHAT__MODEL" in result.stdout


CHAT = ("multi-query", "synonyms", "step-back", "hyde", "hops", "chat-pointwise", "chat-listwise")


def as_told(body: Body) -> str | Reply:
    form = body.get("response_format", {}).get("json_schema", {}).get("name")
    orders = {"Relevance": '{"score": 5}', "Ranking": '{"ranking": [1]}'}
    return orders.get(form) or says(hop="DONE")(body)


def test_with_a_chat_model_each_technique_has_its_calls_and_their_price_and_goes_on(
    beir: Path,  # noqa: F811
    store_path: Path,
    chat: FakeChat,
    monkeypatch: pytest.MonkeyPatch,
    ablation: Callable[..., Done],
) -> None:
    named = {"MODEL": "openai:fake", "BASE_URL": chat.url, "API_KEY": "any",
        "USD_PER_MILLION_INPUT": "1", "RETRIES": "0"}  # fmt: skip
    for name, value in named.items():
        monkeypatch.setenv(f"CRAG_CHAT__{name}", value)
    asked = ("--beir", beir, "--data-dir", store_path / "kept", "--sample", 2, "--json")
    asked = (*asked, "--techniques", ",".join(CHAT))
    chat.script = as_told
    chat.breaks("status", times=1)
    cut_short = ablation(*asked)
    assert (cut_short.exit_code, len(json.loads(cut_short.stdout)["errors"])) == (4, 1)
    before = len(chat.requests)
    result = ablation(*asked)
    assert result.exit_code == 0, result.stderr
    done = json.loads(result.stdout)
    assert len(chat.requests) - before < before / 2  # only what failed is asked again
    assert (done["chat"], done["n"], done["left_out"]) == ("openai:fake", 2, {})
    assert {row["technique"]: row["n"] for row in done["techniques"]} == dict.fromkeys(CHAT, 2)
    for row in done["techniques"]:
        assert row["added_chat_calls"] >= 1, row["technique"]
        assert row["added_usd"] > 0, row["technique"]
    calls = {row["technique"]: row["added_chat_calls"] for row in done["techniques"]}
    assert calls["chat-listwise"] == 1 < calls["chat-pointwise"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([], "give exactly one of --beir, --golden"),
        (["--beir", "x", "--golden", "y"], "give exactly one of --beir, --golden"),
        (["--beir", "x", "--side", "left"], "unknown 'left'"),
        (["--golden", "x", "--split", "train"], "unknown 'train'"),
        (["--beir", "x", "--kb", "k"], "belong to --golden"),
    ],
)
def test_what_cannot_be_measured_is_a_usage_error(
    wrong: list[str], said: str, ablation: Callable[..., Done]
) -> None:
    result = ablation(*wrong)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())
