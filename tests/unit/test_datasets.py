"""Reads BEIR folders and golden files, and says where one is wrong."""

import gzip
import json
from pathlib import Path

import pytest

from eval.datasets import load_beir, load_golden, on_side
from ingest.errors import ConfigurationError

GOLDEN = {
    "id": "q1",
    "question": "How long?",
    "answerable": True,
    "relevant": [{"document": "a.md", "quote": "Two days."}],
    "must_contain": ["two days"],
    "tags": ["plain"],
}


def lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    lines(
        folder / "corpus.jsonl",
        {"_id": "d1", "title": "One", "text": "first"},
        {"_id": "d2", "text": "second"},
    )
    lines(
        folder / "queries.jsonl",
        {"_id": "q1", "text": "which?", "metadata": {"answers": ["first"]}},
        {"_id": "q2", "text": "judged irrelevant only"},
        {"_id": "q3", "text": "never judged"},
    )
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq2\td1\t0\n", encoding="utf-8"
    )
    return folder


def test_a_beir_folder_gives_documents_and_judged_questions(beir: Path) -> None:
    dataset = load_beir(beir)
    assert dataset.name == "tiny"
    assert dataset.documents == [("d1", "One", "first"), ("d2", "", "second")]
    (question,) = dataset.questions
    assert (question.id, question.relevant) == ("q1", {"d1": 2, "d2": 1})
    assert question.answers == ["first"]
    assert question.answerable


def test_a_packed_corpus_reads_the_same(beir: Path) -> None:
    plain = load_beir(beir)
    content = (beir / "corpus.jsonl").read_bytes()
    (beir / "corpus.jsonl").unlink()
    (beir / "corpus.jsonl.gz").write_bytes(gzip.compress(content))
    assert load_beir(beir) == plain


def test_a_split_that_is_not_there_is_named(beir: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"train\.tsv is missing"):
        load_beir(beir, split="train")


def test_a_folder_without_a_corpus_is_no_beir_folder(beir: Path) -> None:
    (beir / "corpus.jsonl").unlink()
    with pytest.raises(ConfigurationError, match=r"no corpus\.jsonl or corpus\.jsonl\.gz"):
        load_beir(beir)


def test_a_golden_file_gives_quotes_and_answers(tmp_path: Path) -> None:
    (question,) = load_golden(lines(tmp_path / "g.jsonl", GOLDEN))
    assert question.quotes == [("a.md", "Two days.")]
    assert question.relevant == {"a.md": 1}
    assert question.answers == ["two days"]


def test_a_golden_question_without_documents_is_unanswerable(tmp_path: Path) -> None:
    unanswerable = GOLDEN | {"relevant": [], "must_contain": [], "answerable": False}
    (question,) = load_golden(lines(tmp_path / "g.jsonl", unanswerable))
    assert not question.answerable


@pytest.mark.parametrize("bad", ['{"id": "q2"', '{"id": "q2"}', "[]", '{"id": 1, "relevant": 3}'])
def test_a_bad_golden_line_is_named_by_its_number(tmp_path: Path, bad: str) -> None:
    file = lines(tmp_path / "g.jsonl", GOLDEN)
    file.write_text(file.read_text() + "\n" + bad + "\n")
    with pytest.raises(ConfigurationError, match=r"g\.jsonl:3: "):
        load_golden(file)


def test_sides_share_no_question_and_lose_none() -> None:
    names = [f"q{n}" for n in range(200)]
    tune = {name for name in names if on_side(name, "tune")}
    report = {name for name in names if on_side(name, "report")}
    assert not tune & report
    assert tune | report == {name for name in names if on_side(name, "all")} == set(names)
    assert 70 < len(tune) < 130


def test_the_side_of_an_id_is_the_parity_of_its_sha256() -> None:
    # sha256("a") ends in bb, sha256("c") in c6
    assert on_side("c", "tune")
    assert on_side("a", "report")
    assert not on_side("a", "tune")
