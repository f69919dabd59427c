"""Which questions are split, and which part of one is named as not found."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.evidence import enough, usable
from nodes.findings import Evidence, Sentence
from nodes.notes import not_found
from nodes.parts import MOST, covers, for_part, split, unanswered
from nodes.state import Query, State
from tests.fakes import a_candidate, a_grade

ONE, TWO = "How long do refunds take?", "Who is the head of the choir?"


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (f"{ONE} {TWO}", [ONE, TWO]),
        (
            "How long is probation in Leipzig, and who is the head of the choir?",
            ["How long is probation in Leipzig?", "who is the head of the choir?"],
        ),
        (
            "Wie lange ist die Probezeit in Leipzig und wer ist der Leiter des Chors?",
            ["Wie lange ist die Probezeit in Leipzig?", "wer ist der Leiter des Chors?"],
        ),
        (
            "Wie lange dauert die Probezeit in Leipzig und wer ist der Leiter des Chors?",
            ["Wie lange dauert die Probezeit in Leipzig?", "wer ist der Leiter des Chors?"],
        ),
        (
            "¿Cuánto cuesta el billete de tren y cuándo abre la oficina de Madrid?",
            ["¿Cuánto cuesta el billete de tren?", "cuándo abre la oficina de Madrid?"],
        ),
        (ONE, []),
        (
            "Where is the Riverside Clinic, and what is its phone number?",
            ["Where is the Riverside Clinic?", "what is its phone number? (riverside clinic)"],
        ),
        (
            "Where is the Riverside Clinic and what is the phone number?",
            ["Where is the Riverside Clinic?", "what is the phone number? (riverside clinic)"],
        ),
        (f"{ONE} And who approves them?", [ONE, "who approves them? (refunds)"]),
        (
            "How long may a bicycle stay and what is the fee?",
            ["How long may a bicycle stay?", "what is the fee? (bicycle stay)"],
        ),
        (
            "How long do refunds take and what is the meal allowance?",  # stands for itself
            [ONE, "what is the meal allowance?"],
        ),
        (
            "Wo ist die Praxis am Markt und wie ist die Telefonnummer?",
            ["Wo ist die Praxis am Markt?", "wie ist die Telefonnummer? (praxis markt)"],
        ),
        (
            "What does E-4102 mean and how is it solved?",
            ["What does E-4102 mean?", "how is it solved? (E-4102 mean)"],
        ),
        ("Where is it and who runs it?", []),  # what leans on nothing before
        ("Which firmware is needed for this hub, and which app version at least?", []),  # no verb
        ("Who signs orders and contracts?", []),
        ("I was ill. What must I do?", []),
        (f"{ONE} {TWO} {ONE} {TWO}", []),
    ],
)
def test_splits_what_stands_alone(question: str, parts: list[str]) -> None:
    assert split(question) == parts


@given(st.text(alphabet="ab who?is,. and", max_size=120))
def test_never_one_part_and_never_many(text: str) -> None:
    assert len(split(text)) in (0, *range(2, MOST + 1))


def asked(*evidence: Evidence) -> State:
    queries = [Query("both"), Query(ONE, "part"), Query(TWO, "part")]
    return State(standalone="both", queries=queries, evidence=list(evidence))


def found(name: str, **verdicts: str) -> Evidence:
    grades = {{"one": ONE, "two": TWO}[key]: a_grade(v) for key, v in verdicts.items()}
    return replace(Evidence(a_candidate(name), a_grade("correct"), 0), parts=grades)


def test_enough_is_a_correct_passage_for_each_part() -> None:
    assert not enough(asked(found("a", one="correct", two="ambiguous")))
    assert enough(asked(found("a", one="correct"), found("b", two="correct")))


def test_each_part_is_answered_from_its_own_evidence() -> None:
    state = asked(found("a", one="correct", two="ambiguous"), found("b", one="ambiguous"))
    assert [e.candidate.chunk.chunk_id for e in usable(state, ONE)] == ["a"]
    assert [e.grade.verdict for e in usable(state, TWO)] == ["ambiguous"]
    assert for_part(state.evidence, "another part") == []


def test_a_part_without_a_sentence_is_named() -> None:
    told = [Sentence("5 days.", [], parts=[ONE])]
    missing = unanswered(asked().queries, told)
    assert not_found(missing) == f"I found nothing on: {TWO}"
    assert unanswered([Query("one thing")], told) == [] and not_found([]) == ""


@pytest.mark.parametrize(
    ("part", "text", "answers"),
    [
        ("Who has to sign a purchase order?", "Order value: 5 | Who signs: Purchasing", True),
        ("Who has to sign a purchase order?", "The Head of Purchasing likes orders.", False),
        (ONE, "Refunds take 5 days.", True),
        (ONE, "Refunds take long.", False),
    ],
)
def test_a_sentence_may_answer_another_part_too(part: str, text: str, answers: bool) -> None:
    assert covers(Sentence(text, []), part) is answers
