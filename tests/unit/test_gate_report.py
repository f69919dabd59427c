"""A verdict as build servers and people read it: JUnit XML, Markdown, lines, JSON."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from eval.changes import Turned
from eval.gate import Check, State, Verdict
from eval.gate_report import SHOWN, as_json, lines, markdown
from eval.junit import junit
from eval.policy import Threshold

FLOOR = Threshold("metrics", "correctness", "floor", 0.5)
DROP = Threshold("stages.reranked", "nDCG@10", "drop", 0.1)
CEILING = Threshold("tags.near_miss", "answered_wrong", "ceiling", 0.3)


def a_check(threshold: Threshold = FLOOR, state: State = "pass", said: str = "said") -> Check:
    return Check(threshold, state, 0.75, 0.875, -0.125, (-0.25, 0.0), said)


FAILED = Verdict(
    checks=[a_check(), a_check(DROP, "regression", "fell by 0.1250"), a_check(CEILING)],
    notes=["index is v2; the baseline's was v1"],
    lost=[Turned("q1", "How long | <b>?</b>", "refused (no_evidence)")],
    won=[Turned("q2", "How much?", "answered")],
)
WITHOUT = Verdict(checks=[a_check(state="incomplete", said="records.jsonl has no value of it")])
ERRORED = Verdict(checks=[a_check()], problems=["q1 (corrective): x: broke", "q2 (naive): y"])
STALE = Verdict(problems=["1 labels are no longer found"], stale=True)
PASSED = Verdict(checks=[a_check()])


def suite(verdict: Verdict) -> Xml.Element:
    found = Xml.fromstring(junit(verdict)).find("testsuite")
    assert found is not None
    return found


def counted(verdict: Verdict) -> tuple[str | None, ...]:
    return tuple(suite(verdict).get(name) for name in ("tests", "failures", "errors"))


def test_each_threshold_is_a_test_case_and_the_run_is_one() -> None:
    cases = suite(FAILED).findall("testcase")
    assert [(case.get("classname"), case.get("name")) for case in cases] == [
        ("crag.quality-gate.run", "complete"),
        ("crag.quality-gate.metrics", "correctness floor"),
        ("crag.quality-gate.stages.reranked", "nDCG@10 drop"),
        ("crag.quality-gate.tags.near_miss", "answered_wrong ceiling"),
    ]
    assert [len(case) for case in cases] == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("verdict", "counts"),
    [
        (PASSED, ("2", "0", "0")),
        (FAILED, ("4", "1", "0")),
        (WITHOUT, ("2", "0", "1")),
        (ERRORED, ("2", "0", "1")),
        (STALE, ("1", "0", "1")),
    ],
)
def test_failures_and_errors_are_those_of_the_cases(
    verdict: Verdict, counts: tuple[str, str, str]
) -> None:
    found = suite(verdict)
    assert counted(verdict) == counts
    cases = found.findall("testcase")
    for number, tag in zip(counts[1:], ("failure", "error"), strict=True):
        assert len([case for case in cases if case.find(tag) is not None]) == int(number)
    assert len(cases) == int(counts[0])


def test_a_failure_says_what_fell_and_by_how_much() -> None:
    failure = suite(FAILED).find("testcase/failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("regression", "fell by 0.1250")
    assert "[-0.2500, +0.0000]" in (failure.text or "")


@pytest.mark.parametrize(("verdict", "kind"), [(ERRORED, "incomplete"), (STALE, "stale_labels")])
def test_what_is_wrong_with_the_run_is_an_error_with_all_problems(
    verdict: Verdict, kind: str
) -> None:
    error = suite(verdict).find("testcase[@name='complete']/error")
    assert error is not None
    assert error.get("type") == kind
    assert (error.text or "").splitlines() == verdict.problems


def test_no_text_of_others_breaks_the_xml() -> None:
    odd = 'a \x00\x1b < & " ]]> \ufffe\n😀'
    found = suite(Verdict(checks=[a_check(state="regression", said=odd)], notes=[odd]))
    failure = found.find("testcase/failure")
    assert failure is not None
    assert '< & " ]]> \n😀' in (failure.text or "")
    assert "\x1b" not in (found.findtext("system-out") or "")


def test_the_page_of_a_build_shows_what_failed_first() -> None:
    page = markdown(FAILED)
    assert page.startswith("## Quality gate failed: quality fell\n")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert rows[0] == "| metric | value | baseline | difference | threshold | verdict |"
    assert rows[2] == (
        "| stages.reranked: nDCG@10 | 0.750 | 0.875 | -0.125 [-0.250, +0.000] | drop 0.1 "
        "| **regression** |"
    )
    assert "### No longer right (1)" in page
    assert "| q1 | How long \\| &lt;b>?&lt;/b> | refused (no_evidence) |" in page
    assert "- Note: index is v2; the baseline's was v1" in page


def test_a_long_list_is_cut_and_counted() -> None:
    many = Verdict(problems=[f"q{n}: broke" for n in range(SHOWN + 3)])
    assert f"q{SHOWN - 1}: broke" in markdown(many)
    assert f"q{SHOWN}: broke" not in markdown(many)
    assert "- and 3 more" in markdown(many)
    assert "  and 3 more" in lines(many)


@pytest.mark.parametrize(
    ("verdict", "first"),
    [
        (PASSED, "gate passed; 1 of 1 thresholds hold"),
        (FAILED, "gate failed: quality fell; 2 of 3 thresholds hold"),
        (ERRORED, "gate not judged: the run is incomplete; 1 of 1 thresholds hold"),
        (STALE, "gate not judged: labels are stale"),
    ],
)
def test_a_terminal_shows_the_verdict_first(verdict: Verdict, first: str) -> None:
    assert lines(verdict)[0] == first


def test_a_terminal_shows_only_what_stands_against_it() -> None:
    assert lines(FAILED)[1:] == [
        "  regression: stages.reranked nDCG@10 drop: fell by 0.1250",
        "  no longer right: q1",
        "  now right: q2",
        "  note: index is v2; the baseline's was v1",
    ]
    assert lines(PASSED) == ["gate passed; 1 of 1 thresholds hold"]


def test_the_document_holds_every_check() -> None:
    found = json.loads(json.dumps(as_json(FAILED)))
    assert (found["verdict"], found["exit_code"]) == ("regression", 1)
    assert [(one["threshold"], one["state"]) for one in found["checks"]] == [
        (FLOOR.name, "pass"),
        (DROP.name, "regression"),
        (CEILING.name, "pass"),
    ]
    assert found["checks"][1]["interval"] == [-0.25, 0.0]
    assert [one["id"] for one in found["lost"]] == ["q1"]


def test_the_xml_is_a_file_that_begins_with_its_declaration(tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    file.write_text(junit(FAILED), encoding="utf-8")
    assert file.read_text(encoding="utf-8").startswith("<?xml")
    assert Xml.parse(file).getroot().tag == "testsuites"
