"""eval/ragas_run.py with ragas itself, in the environment that `make ragas` makes."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fake_chat import FakeChat
from tests.fake_chat_wire import Body

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-ragas" / "bin" / "python"
pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="no .venv-ragas: `make ragas` makes it, nothing else needs it"
)

REPLIES: dict[str, Any] = {
    "StatementGeneratorOutput": {"statements": ["Parental leave is 16 weeks.", "It is paid."]},
    "NLIStatementOutput": {
        "statements": [
            {"statement": "Parental leave is 16 weeks.", "reason": "stated", "verdict": 1},
            {"statement": "It is paid.", "reason": "not stated", "verdict": 0},
        ]
    },
    "ContextPrecisionOutput": {"reason": "useful", "verdict": 1},
    "ContextRecallOutput": {
        "classifications": [{"statement": "16 weeks", "reason": "stated", "attributed": 1}]
    },
    "AnswerRelevanceOutput": {"question": "How long is parental leave?", "noncommittal": 0},
}


def asked_for(body: Body) -> str:
    """Its fields tell which of the outputs a prompt wants: the schema is part of the prompt."""
    prompt = "\n".join(str(message["content"]) for message in body["messages"])
    fields = {
        "ContextRecallOutput": '"classifications"',
        "AnswerRelevanceOutput": '"noncommittal"',
        "ContextPrecisionOutput": '"ContextPrecisionOutput"',
        "NLIStatementOutput": '"NLIStatementOutput"',
    }
    found = [name for name, field in fields.items() if field in prompt]
    return found[0] if found else "StatementGeneratorOutput"


def judge(body: Body) -> str:
    return json.dumps(REPLIES[asked_for(body)])


def record(id: str, **changes: Any) -> str:
    question = {"id": id, "question": "How long is parental leave?", "answerable": True}
    ran = {"outcome": "answered", "answer": "16 weeks, paid. [1]", "passages": ["16 weeks."]}
    row = {"pipeline": "corrective", "golden": question | {"answer": "16 weeks"}, "ran": ran}
    return json.dumps(row | changes)


def measured(folder: Path, chat: FakeChat, *options: str) -> dict[str, Any]:
    settings = {"CRAG_CHAT__BASE_URL": chat.url, "CRAG_CHAT__MODEL": "openai:fake"}
    ran = subprocess.run(
        [PYTHON, "-m", "eval.ragas_run", folder, *options],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)} | settings,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads((folder / "ragas.json").read_text())
    assert (folder / "ragas.md").read_text() == ran.stdout
    return found


def test_ragas_scores_what_the_model_says(tmp_path: Path, chat: FakeChat) -> None:
    (tmp_path / "records.jsonl").write_text("\n".join(map(record, ("a", "b", "c"))))
    chat.script = judge
    found = measured(tmp_path, chat, "--limit", "2", "--embedding", "letters")
    figures = found["metrics"]["corrective"]
    counts = {"n": 2, "failed": 0, "not_applicable": 0}
    assert figures["faithfulness"] == {"mean": 0.5} | counts
    assert figures["context_precision"]["mean"] == pytest.approx(1)
    assert figures["context_recall"] == {"mean": 1.0} | counts
    assert figures["answer_relevancy"]["mean"] == pytest.approx(1)
    assert found["used"]["embedding"] == "letters" and not found["skipped"]


def test_what_the_judge_cannot_say_is_counted(tmp_path: Path, chat: FakeChat) -> None:
    """Broken JSON, and no statements, which ragas makes a NaN of."""
    (tmp_path / "records.jsonl").write_text(record("a"))
    broken = {"ContextRecallOutput": "{", "StatementGeneratorOutput": '{"statements": []}'}
    chat.script = lambda body: broken.get(asked_for(body)) or judge(body)
    found = measured(tmp_path, chat)
    failed = {"mean": None, "n": 0, "failed": 1, "not_applicable": 0}
    assert found["metrics"]["corrective"]["faithfulness"] == failed
    assert found["metrics"]["corrective"]["context_recall"] == failed
    assert found["metrics"]["corrective"]["context_precision"]["n"] == 1
    assert list(found["skipped"]) == ["answer_relevancy"]
