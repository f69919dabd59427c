"""Golden sets are checked when they are read: what is wrong is named with its line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.golden import SHOWN, GoldenQuestion, load_golden_set
from ingest.errors import ConfigurationError
from tests.golden_records import a_question

LABEL = {"document": "refunds.md", "quote": "Refunds are paid within five days."}
OTHER = {"document": "leave.md", "quote": "Parental leave lasts twelve weeks."}


def line(name: str = "q1", **changed: Any) -> dict[str, Any]:
    fields = {"id": name, "question": f"{name}?", "answerable": True, "relevant": [LABEL]}
    return {k: v for k, v in (fields | changed).items() if v is not ...}


def unanswerable(name: str = "q1", **changed: Any) -> dict[str, Any]:
    return line(name, **({"answerable": False, "relevant": []} | changed))


def written(folder: Path, *lines: dict[str, Any] | str, end: str = "\n", bom: bool = False) -> Path:
    file = folder / "golden.jsonl"
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    content = end.join(texts) + end
    file.write_bytes(content.encode("utf-8-sig" if bom else "utf-8"))
    return file


def fault(folder: Path, *lines: dict[str, Any] | str) -> str:
    file = written(folder, *lines)
    with pytest.raises(ConfigurationError) as raised:
        load_golden_set(file)
    return raised.value.message.replace(f"{file}:", "line ")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (line(relevant=[]), "answerable, but nothing is relevant"),
        (unanswerable(relevant=[LABEL]), "not answerable, but it has relevant passages"),
        (unanswerable(must_contain=["five"]), "not answerable, but"),
        (unanswerable(answer="Five days."), "not answerable, but"),
        (line(tags=["unanswerable"]), "answerable, but tagged unanswerable"),
        (line(tags=["near_miss"]), "answerable, but tagged near_miss"),
        (line(tags=["multi_hop"]), "multi_hop needs relevant passages in two documents"),
        (line(tags=["multi_hop"], relevant=[LABEL, LABEL | {"quote": "Else."}]), "multi_hop"),
        (line(tags=["follow_up"]), "follow_up needs a history"),
        (line(relevant=[LABEL, LABEL]), "the same passage is relevant twice"),
        (
            line(relevant=[LABEL, LABEL | {"quote": "**refunds** are  paid within five days."}]),
            "the same passage is relevant twice",
        ),
        (line(must_contain=["five", " "]), "must_contain and forbidden need words"),
        (line(forbidden=["**"]), "must_contain and forbidden need words"),
        (line(must_contain=["in 5 days"], forbidden=["5 Days"]), "holds the forbidden '5 Days'"),
        (line(must_contian=["five"]), "must_contian: Extra inputs are not permitted"),
        (line(relevant=[LABEL | {"page": 1}]), "relevant.0.page: Extra inputs"),
        (line(answerable=...), "answerable: Field required"),
        (line(relevant=...), "relevant: Field required"),
        (line(question=""), "question: String should have at least 1 character"),
        (line(relevant=[LABEL | {"quote": ""}]), "relevant.0.quote: String should have"),
        (line(split="train"), "split: Input should be 'dev' or 'test'"),
        (line(tags=["Multi Hop"]), "tags.0: String should match"),
        ("[]", "Input should be an object"),
        ('{"id": "q1"', "Invalid JSON"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, wrong: dict[str, Any] | str, said: str
) -> None:
    message = fault(tmp_path, line("q0"), "", wrong)
    assert "line 3: " in message
    assert said in message
    assert "line 1: " not in message
    assert "\n" not in message


def test_one_error_names_all_contradictions_of_a_line(tmp_path: Path) -> None:
    message = fault(tmp_path, line(relevant=[], tags=["near_miss", "multi_hop", "follow_up"]))
    assert message == (
        "line 1: answerable, but nothing is relevant; answerable, but tagged near_miss; "
        "multi_hop needs relevant passages in two documents; follow_up needs a history"
    )


def test_a_part_of_a_number_is_not_forbidden_by_it(tmp_path: Path) -> None:
    written_line = line(must_contain=["15 days"], forbidden=["5 days"])
    assert len(load_golden_set(written(tmp_path, written_line))) == 1


def test_one_error_names_the_faults_of_all_lines(tmp_path: Path) -> None:
    message = fault(tmp_path, line(relevant=[]), "{", line("q3"), line("q4", tags=["follow_up"]))
    assert [f"line {n}: " in message for n in (1, 2, 3, 4)] == [True, True, False, True]
    assert "follow_up needs a history" in message


def test_a_file_full_of_faults_is_cut_and_counted(tmp_path: Path) -> None:
    message = fault(tmp_path, *["{"] * (SHOWN + 3))
    assert message.count("Invalid JSON") == SHOWN
    assert message.endswith("and 3 more")


def test_an_id_stands_once(tmp_path: Path) -> None:
    message = fault(tmp_path, line(), line("q2"), line(question="Another?"))
    assert message == "line 3: id 'q1' stands in line 1 already"


def test_a_question_stands_once_up_to_case_and_space(tmp_path: Path) -> None:
    message = fault(tmp_path, line(question="How  long?"), line("q2", question="how long?"))
    assert message == "line 2: question 'how long?' stands in line 1 already"


def test_a_question_may_stand_again_after_another_history(tmp_path: Path) -> None:
    said = [{"question": "And leave?", "answer": "Twelve weeks."}]
    lines = [line(question="How long?"), line("q2", question="How long?", history=said)]
    assert len(load_golden_set(written(tmp_path, *lines))) == 2
    assert "line 3: question" in fault(tmp_path, *lines, lines[1] | {"id": "q3"})


@pytest.mark.parametrize(("end", "bom"), [("\n", True), ("\r\n", False), ("\r\n", True)])
def test_byte_order_marks_and_windows_lines_are_read(tmp_path: Path, end: str, bom: bool) -> None:
    file = written(tmp_path, line(), "", "  ", unanswerable("q2"), end=end, bom=bom)
    assert [question.id for question in load_golden_set(file)] == ["q1", "q2"]


def test_a_line_separator_within_a_text_ends_no_line(tmp_path: Path) -> None:
    question = "How long\u2028does it take\x85or\u2029last?"
    file = tmp_path / "golden.jsonl"
    file.write_text(json.dumps(line(question=question), ensure_ascii=False), encoding="utf-8")
    assert load_golden_set(file)[0].question == question


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_no_golden_set(tmp_path: Path, content: str) -> None:
    (tmp_path / "golden.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="has no questions"):
        load_golden_set(tmp_path / "golden.jsonl")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.jsonl: No such file"):
        load_golden_set(tmp_path / "none.jsonl")
    with pytest.raises(ConfigurationError, match="directory"):
        load_golden_set(tmp_path)
    (tmp_path / "utf16.jsonl").write_text(json.dumps(line()), encoding="utf-16")
    with pytest.raises(ConfigurationError, match=r"utf16\.jsonl: not UTF-8"):
        load_golden_set(tmp_path / "utf16.jsonl")


def test_all_fields_are_read(tmp_path: Path) -> None:
    whole = line(
        knowledge_base="kb",
        history=[{"question": "And?", "answer": ""}],
        relevant=[LABEL, OTHER],
        answer="Five days.",
        must_contain=["five"],
        forbidden=["ten"],
        split="test",
        tags=["multi_hop", "follow_up", "my-own_tag"],
        note="for people",
    )
    (question,) = load_golden_set(written(tmp_path, whole))
    assert question.model_dump() == whole


@given(st.text().filter(str.strip), st.sampled_from(["dev", "test"]), st.lists(st.text()))
def test_a_question_is_the_same_after_its_json(text: str, split: Any, notes: list[str]) -> None:
    question = a_question(question=text, split=split, note=" ".join(notes))
    assert GoldenQuestion.model_validate_json(question.model_dump_json()) == question


@pytest.mark.parametrize(
    "wrong",
    [
        line(question="  \n "),
        line(relevant=[LABEL | {"quote": " \t"}]),
        line(relevant=[LABEL | {"quote": "| |"}]),
    ],
)
def test_white_space_is_no_question_and_no_quote(tmp_path: Path, wrong: dict[str, Any]) -> None:
    assert "line 1: " in fault(tmp_path, wrong)


def test_two_bases_may_be_asked_the_same(tmp_path: Path) -> None:
    lines = [line(knowledge_base="a"), line("q2", question="q1?", knowledge_base="b")]
    assert len(load_golden_set(written(tmp_path, *lines))) == 2
    assert "line 3: question 'q1?'" in fault(tmp_path, *lines, lines[1] | {"id": "q3"})
