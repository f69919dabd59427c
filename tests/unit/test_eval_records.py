"""records.jsonl: what was written is what is read, and a bad line is named."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval.records import PIPELINES, STAGES, Cited, Ran, Record, Told, of_pipeline, write_record
from eval.records import read_records as read
from ingest.errors import ConfigurationError
from tests.golden_records import a_question, a_record, a_refusal, a_run

IN_TMP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)

TEXT = st.text(max_size=30)
TIMES = st.floats(0, 1e9)
CITED = st.builds(Cited, chunk_id=TEXT, document=TEXT, quote=TEXT, problem=TEXT)
TOLD = st.builds(
    Told, text=TEXT, supported=st.none() | st.booleans(), citations=st.lists(CITED, max_size=2)
)
RAN = st.builds(
    Ran,
    outcome=st.sampled_from(["answered", "refused", "needs_clarification", "no_retrieval"]),
    reason=st.none() | st.sampled_from(["no_evidence", "budget"]),
    answer=TEXT,
    sentences=st.lists(TOLD, max_size=2),
    stages=st.dictionaries(st.sampled_from(STAGES), st.lists(TEXT, max_size=3)),
    passages=st.lists(TEXT, max_size=2),
    best_grade=st.none() | st.floats(0, 1),
    loops=st.integers(0, 3),
    total_ms=TIMES,
    node_ms=st.dictionaries(TEXT, TIMES, max_size=2),
    degraded=st.lists(TEXT, max_size=2),
    trace=st.lists(st.dictionaries(TEXT, TEXT | st.integers() | st.none(), max_size=2), max_size=2),
)
RECORDS = st.builds(
    Record,
    pipeline=st.sampled_from(PIPELINES),
    golden=st.builds(a_question, question=st.text().filter(str.strip)),
    relevant=st.lists(TEXT, max_size=2),
    ran=RAN,
) | st.builds(
    Record,
    pipeline=st.sampled_from(PIPELINES),
    golden=st.builds(a_question),
    relevant=st.just([]),
    error=TEXT,
)


def write(file: Path, records: list[Record]) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as written:
        for record in records:
            write_record(written, record)


@IN_TMP
@given(records=st.lists(RECORDS, max_size=3))
def test_what_was_written_is_read_again(tmp_path: Path, records: list[Record]) -> None:
    write(tmp_path / "records.jsonl", records)
    assert read(tmp_path / "records.jsonl") == records


def test_a_record_is_one_line_that_any_reader_of_json_reads(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    odd = "one\ntwo\rthree\u2028four\x85 \x00 😀"
    write(file, [a_record("naive", a_question(), a_run(answer=odd)), error_record()])
    lines = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert [json.loads(line)["pipeline"] for line in lines] == ["naive", "corrective"]
    assert json.loads(lines[0])["ran"]["answer"] == odd


def error_record() -> Record:
    return a_record("corrective", a_question(), None)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "Invalid JSON"),
        ("{}", "Field required"),
        ("[]", "should be an object"),
        (error_record().model_dump_json().replace("corrective", "best"), "corrective"),
        (error_record().model_dump_json()[:-1] + ', "more": 1}', "Extra inputs"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, bad: str, said: str) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text("\n".join([error_record().model_dump_json(), "", bad]), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"records\.jsonl:3: no record: .*") as raised:
        read(file)
    assert said in raised.value.message


def test_a_file_that_is_not_there_names_the_command_that_writes_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="`crag eval run` writes it"):
        read(tmp_path / "records.jsonl")


def test_records_of_one_pipeline_keep_their_order() -> None:
    made = [a_record(p, a_question(n), a_refusal()) for n in ("b", "a") for p in PIPELINES]
    assert [record.key for record in of_pipeline(made, "naive")] == [("naive", "b"), ("naive", "a")]


def test_a_file_that_is_not_utf8_is_a_configuration_error(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_bytes(error_record().model_dump_json().encode("utf-16"))
    with pytest.raises(ConfigurationError, match=r"records\.jsonl"):
        read(file)


@pytest.mark.parametrize("both", [{}, {"ran": a_refusal(), "error": "x: broke"}])
def test_a_record_has_either_a_run_or_an_error(both: dict[str, Any]) -> None:
    """Neither is a row that is missing without a reason; both are counted as no error."""
    with pytest.raises(ValueError, match="either `ran` or `error`"):
        Record(pipeline="naive", golden=a_question(), relevant=[], **both)
