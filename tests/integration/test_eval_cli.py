"""The evaluation commands as a user runs them, on a dataset of six documents."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOCUMENTS = {
    "d1": ("Refunds", "A refund is paid within five business days after the goods came back."),
    "d2": ("Parking", "Parking permits for the garage are renewed every November."),
    "d3": ("Lunch", "The canteen serves lunch from noon until two in the afternoon."),
    "d4": ("Passwords", "A password has at least fourteen characters and never expires."),
    "d5": ("Travel", "Train tickets are booked in second class for trips below four hours."),
    "d6": ("Visitors", "Visitors sign in at the front desk and wear a badge all day."),
}
QUESTIONS = {
    "q1": ("When is a refund paid?", "d1"),
    "q2": ("How long must a password be?", "d4"),
    "q3": ("When does the canteen serve lunch?", "d3"),
}


@pytest.fixture(scope="module")
def beir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("beir") / "tiny"
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": i, "title": t, "text": x} for i, (t, x) in DOCUMENTS.items()]
    questions = [{"_id": i, "text": x} for i, (x, _) in QUESTIONS.items()]
    judged = [f"{i}\t{document}\t1" for i, (_, document) in QUESTIONS.items()]
    for name, rows in (("corpus", documents), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "qrels" / "test.tsv").write_text(
        "\n".join(["query-id\tcorpus-id\tscore", *judged]) + "\n"
    )
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("eval-data") / "kept"


def crag(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "crag", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=110)


def test_benchmark_prints_one_report_and_embeds_once(beir: Path, data: Path) -> None:
    asked = ("eval", "benchmark", "--beir", beir, "--data-dir", data, "--json")
    first = crag(*asked)
    assert first.returncode == 0, first.stderr
    report: dict[str, Any] = json.loads(first.stdout)
    assert list(report) == [
        "dataset", "pipeline", "n", "metrics", "intervals", "latency_ms", "parts",
    ]  # fmt: skip
    assert (report["dataset"], report["pipeline"], report["n"]) == ("tiny", "rerank", 3)
    assert {report["metrics"][name] for name in ("nDCG@10", "hit@1", "hit@3", "R@5")} == {1.0}
    assert report["intervals"]["nDCG@10"] == [1.0, 1.0]
    assert set(report["latency_ms"]) == {"p50", "p95"}
    assert set(report["parts"]) == {"embedder", "sparse", "reranker", "versions", "split"}
    assert "6 of 6 embedded" in first.stderr
    again = crag(*asked, "--pipeline", "bm25", "--limit", "2")
    assert json.loads(again.stdout)["n"] == 2
    assert "embedded" not in again.stderr


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--claims", "c.jsonl"], "give exactly one of"),
        (["--pipeline", "best"], "unknown 'best'"),
        (["--side", "left"], "unknown 'left'"),
        (["--split", "train"], "train.tsv is missing"),
    ],
)
def test_what_cannot_be_measured_is_a_usage_error(
    beir: Path, data: Path, wrong: list[str], said: str
) -> None:
    done = crag("eval", "benchmark", "--beir", beir, "--data-dir", data, *wrong)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", "").split())
    assert done.stdout == ""


def test_calibrate_says_when_there_are_too_few_answers(beir: Path, data: Path) -> None:
    out = data.parent / "calibration.json"
    done = crag("calibrate", "--beir", beir, "--side", "all", "--data-dir", data, "--out", out)
    assert done.returncode == 2
    assert "are needed" in done.stderr
    assert not out.exists()


def test_calibrate_needs_documents_for_a_golden_file(data: Path) -> None:
    out = data.parent / "calibration.json"
    done = crag("calibrate", "--golden", "g.jsonl", "--out", out, "--data-dir", data)
    assert done.returncode == 2
    assert "needs one --documents" in " ".join(done.stderr.replace("│", "").split())
