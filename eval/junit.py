"""A verdict as JUnit XML, which build servers show: a test case for each threshold."""

from datetime import UTC, datetime
from xml.etree import ElementTree as Xml

from eval.gate import Check, Verdict

SUITE = "crag.quality-gate"
ATTRIBUTES = {"id": "0", "package": "crag", "hostname": "localhost", "time": "0"}
"""The stricter of the published schemas wants them all."""


def junit(verdict: Verdict) -> str:
    """A regression is a failure, what could not be judged an error. The case `run complete` stands
    for the run itself: without it, a run without thresholds would have nothing to fail."""
    suites = Xml.Element("testsuites")
    states = [check.state for check in verdict.checks]
    suite = Xml.SubElement(
        suites,
        "testsuite",
        ATTRIBUTES,
        name=SUITE,
        timestamp=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        tests=str(1 + len(states)),
        failures=str(states.count("regression")),
        errors=str(states.count("incomplete") + bool(verdict.problems)),
    )
    Xml.SubElement(suite, "properties")
    run = _case(suite, "run", "complete")
    if verdict.problems:
        kind = "stale_labels" if verdict.stale else "incomplete"
        _said(run, "error", kind, verdict.problems[0], "\n".join(verdict.problems))
    for check in verdict.checks:
        _checked(suite, check)
    Xml.SubElement(suite, "system-out").text = "\n".join(map(_valid, verdict.notes))
    Xml.SubElement(suite, "system-err")
    Xml.indent(suites)
    return Xml.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _checked(suite: Xml.Element, check: Check) -> None:
    threshold = check.threshold
    case = _case(suite, threshold.section, f"{threshold.metric} {threshold.kind}")
    if check.state != "pass":
        kind = "failure" if check.state == "regression" else "error"
        ends = "" if check.interval is None else "[{:+.4f}, {:+.4f}]".format(*check.interval)
        _said(case, kind, check.state, check.said, f"{check.said}\n95 % interval {ends}")


def _case(suite: Xml.Element, group: str, name: str) -> Xml.Element:
    return Xml.SubElement(
        suite, "testcase", classname=f"{SUITE}.{group}", name=_valid(name), time="0"
    )


def _said(case: Xml.Element, tag: str, kind: str, message: str, text: str) -> None:
    Xml.SubElement(case, tag, type=kind, message=_valid(message)).text = _valid(text)


def _valid(text: str) -> str:
    """Without the control characters that XML cannot hold."""
    return "".join(c for c in text if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff"))
