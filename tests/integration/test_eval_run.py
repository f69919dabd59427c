"""`crag eval run` as a user runs it, with the real model, on a base of five documents."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import crag
from eval.records import Record, read_records

pytestmark = pytest.mark.timeout(300)
"""The fixture counts as the first test's setup, and other workers may hold the cores."""

DOCUMENTS = {
    "refunds.md": "A refund is paid within five business days after the goods came back.",
    "parking.md": "Parking permits for the garage are renewed every November.",
    "lunch.md": "The canteen serves lunch from noon until two in the afternoon.",
    "passwords.md": "A password has at least fourteen characters and never expires.",
    "visitors.md": "Visitors sign in at the front desk and wear a badge all day.",
}


def asked(
    name: str, question: str, document: str = "", *wanted: str, **more: Any
) -> dict[str, Any]:
    relevant = [{"document": document, "quote": DOCUMENTS[document]}] if document else []
    fields = {"id": name, "question": question, "answerable": bool(document), "relevant": relevant}
    tags = ["lookup"] if document else ["unanswerable"]
    return fields | {"must_contain": list(wanted), "tags": tags} | more


QUESTIONS = [
    asked("refund", "When is a refund paid?", "refunds.md", "five business days", split="test"),
    asked("password", "How many characters does a password have?", "passwords.md", "fourteen"),
    asked("parking", "When are parking permits renewed?", "parking.md", "November"),
    asked("moon", "Which engine drives the lunar rover?"),
]


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.golden = path / "golden.jsonl"
        self.documents = path / "documents"
        self.documents.mkdir()
        for name, text in DOCUMENTS.items():
            title = name.removesuffix(".md").title()
            (self.documents / name).write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
        self.golden.write_text("\n".join(map(json.dumps, QUESTIONS)), encoding="utf-8")

    def command(self, out: str, *more: str, kb: str | None = "small") -> list[str]:
        named = ["--kb", kb] if kb else []
        where = ["--data-dir", str(self.path / "crag"), "--out", str(self.path / out)]
        return ["eval", "run", "--golden", str(self.golden), *where, *named, *more]

    def run(self, out: str, *more: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "crag", *self.command(out, *more)]
        return subprocess.run(command, capture_output=True, text=True, timeout=280)

    def metrics(self, out: str) -> dict[str, Any]:
        return dict(json.loads((self.path / out / "metrics.json").read_text(encoding="utf-8")))

    def records(self, out: str) -> dict[tuple[str, str], Record]:
        return {record.key: record for record in read_records(self.path / out / "records.jsonl")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """After two runs, each a process of its own: the second finds its documents there."""
    folder = Folder(tmp_path_factory.mktemp("eval-run"))
    for out, more in (("first", ["--documents", str(folder.documents)]), ("second", ["--json"])):
        done = folder.run(out, *more)
        assert done.returncode == 0, done.stderr
        (folder.path / f"{out}.stdout").write_text(done.stdout, encoding="utf-8")
        assert "8 of 8 runs" in done.stderr
        assert "Traceback" not in done.stderr
    return folder


def test_the_files_are_there(folder: Folder) -> None:
    for name in ("records.jsonl", "metrics.json", "report.md", "report.html"):
        assert (folder.path / "first" / name).stat().st_size > 0, name


def test_it_says_where_the_results_are(folder: Folder) -> None:
    said = (folder.path / "first.stdout").read_text(encoding="utf-8")
    assert f"4 questions, 0 errors; written to {folder.path / 'first'}" in said
    assert "answered_wrong" in said


def test_with_json_the_output_is_the_metrics_alone(folder: Folder) -> None:
    said = (folder.path / "second.stdout").read_text(encoding="utf-8")
    assert json.loads(said) == folder.metrics("second")


def test_the_naive_line_answers_everything(folder: Folder) -> None:
    outcomes = {
        key: record.ran.outcome for key, record in folder.records("first").items() if record.ran
    }
    assert len(outcomes) == 2 * len(QUESTIONS)
    assert {outcome for key, outcome in outcomes.items() if key[0] == "naive"} == {"answered"}


def test_the_corrective_run_answers_what_is_there_and_refuses_what_is_not(folder: Folder) -> None:
    ours = folder.metrics("first")["metrics"]["corrective"]
    assert ours["correctness"] == ours["refusal_correctness"] == ours["citation_validity"] == 1.0
    assert ours["answered_wrong"] == 0.0
    assert ours["hit@1"] == ours["groundedness"] == ours["citation_coverage"] == 1.0
    moon = folder.records("first")["corrective", "moon"].ran
    assert moon is not None
    assert moon.outcome == "refused"


def test_the_gain_is_the_wrong_answer_that_was_not_given(folder: Folder) -> None:
    gain = folder.metrics("first")["gain"]["answered_wrong"]
    naive = folder.metrics("first")["metrics"]["naive"]
    assert naive["refusal_recall"] == 0.0
    assert naive["answered_wrong"] >= 0.25
    assert gain["difference"] == pytest.approx(-naive["answered_wrong"])


def test_two_runs_measure_the_same_but_for_the_time(folder: Folder) -> None:
    first, second = folder.metrics("first"), folder.metrics("second")
    assert first.pop("latency_ms").keys() == second.pop("latency_ms").keys()
    assert first == second


def test_two_runs_do_the_same(folder: Folder) -> None:
    timed = {"ran": {"total_ms", "node_ms", "trace"}}
    first, second = (
        [record.model_dump(exclude=timed) for record in folder.records(out).values()]
        for out in ("first", "second")
    )
    assert first == second


def test_what_was_run_stands_beside_the_metrics(folder: Folder) -> None:
    about = folder.metrics("first")
    assert about["n"] == len(QUESTIONS)
    assert about["errors"] == 0
    assert about["index_version"]
    assert about["knowledge_bases"] == ["small"]
    assert about["golden"]["file"] == "golden.jsonl"
    assert len(about["golden"]["sha256"]) == 64
    assert about["settings"]["retrieve"]["exact"] is True
    assert about["settings"]["budget"]["deadline_s"] is None
    assert {"pipeline", "embedder"} <= about["versions"].keys()


def test_its_runs_are_not_in_the_log(folder: Folder) -> None:
    with closing(sqlite3.connect(folder.path / "crag" / "runs.sqlite")) as runs:
        assert runs.execute("SELECT count(*) FROM runs").fetchone() == (0,)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on standard error; nothing else was printed."""
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 1, captured.err
    return lines[0]


def test_an_unknown_base_is_one_line(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert crag.run(folder.command("x", kb="smal")) == 2
    assert "names 'smal'; there are: small" in said(capsys)


def test_a_question_without_a_base_is_one_line(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crag.run(folder.command("x", kb=None)) == 2
    assert said(capsys) == "crag: question refund names no knowledge_base; give one with --kb"


def test_a_golden_file_that_is_wrong_is_one_line(
    folder: Folder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"id": "q1"}\n{\n', encoding="utf-8")
    assert crag.run([*folder.command("x"), "--golden", str(wrong)]) == 2
    line = said(capsys)
    assert f"{wrong}:1: question: Field required" in line
    assert f"{wrong}:2: Invalid JSON" in line


def test_a_split_without_questions_is_one_line(
    folder: Folder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    some = tmp_path / "dev.jsonl"
    some.write_text(json.dumps(QUESTIONS[1]), encoding="utf-8")
    command = [*folder.command("x", "--split", "test"), "--golden", str(some)]
    assert crag.run(command) == 2
    assert "has no question of split test" in said(capsys)


def test_an_unknown_split_is_a_usage_error(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crag.run(folder.command("x", "--split", "train")) == 2
    assert "unknown 'train'" in " ".join(capsys.readouterr().err.replace("│", "").split())


def stale_golden(folder: Path) -> Path:
    file = folder / "stale.jsonl"
    label = {"document": "lunch.md", "quote": "The canteen serves lunch until three."}
    stale = asked("lunch", "When is lunch?", "lunch.md", "three") | {"relevant": [label]}
    file.write_text(json.dumps(stale), encoding="utf-8")
    return file


def test_stale_labels_are_one_line_that_names_the_question(
    folder: Folder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = [*folder.command("x"), "--golden", str(stale_golden(tmp_path))]
    assert crag.run(command) not in (0, 2)
    line = said(capsys)
    assert "1 labels are no longer found in small: lunch: lunch.md: " in line
    assert not (folder.path / "x" / "metrics.json").exists()


def test_stale_labels_have_an_exit_code_of_their_own(
    folder: Folder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = [*folder.command("x"), "--golden", str(stale_golden(tmp_path))]
    assert crag.run(command) == 3
    said(capsys)


def test_a_folder_of_results_that_is_a_file_is_one_line(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.path / "taken").write_text("", encoding="utf-8")
    assert crag.run(folder.command("taken")) == 2
    assert "taken" in said(capsys)


def test_documents_that_are_not_there_are_one_line(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = folder.path / "nowhere"
    assert crag.run(folder.command("x", "--documents", str(missing), kb="other")) in (1, 2)
    assert "nowhere" in said(capsys)
