"""What an answer is worth, case by case, against values worked out by hand."""

from typing import Any

import pytest

from eval.answer_metrics import METRICS, Value, answered, right
from eval.golden import GoldenQuestion
from eval.records import Ran
from tests.golden_records import (
    QUOTE,
    a_cited,
    a_label,
    a_question,
    a_refusal,
    a_run,
    told,
)

TEN = "Goods are sent back within ten days."


def value(name: str, question: GoldenQuestion, ran: Ran) -> Value:
    return METRICS[name](question, ran)


def measured(question: GoldenQuestion, ran: Ran, *names: str) -> list[Value]:
    return [value(name, question, ran) for name in names]


ASKED = a_question(must_contain=["five days"], forbidden=["ten days"])
NOT_ANSWERABLE = a_question(answerable=False)


@pytest.mark.parametrize(
    ("question", "ran", "correctness", "answered_wrong", "refusal_correctness"),
    [
        (ASKED, a_run(answer="Within FIVE  days. [1]"), 1, 0, 1),
        (ASKED, a_run("answered_partially", "Within five days."), 1, 0, 1),
        (ASKED, a_run(answer="Within a week."), 0, 1, 1),
        (ASKED, a_run("answered_partially", "Within a week."), 0, 1, 1),
        (ASKED, a_run(answer="Within five days, or ten days."), 0, 1, 1),
        (ASKED, a_run(answer=""), 0, 1, 1),
        (ASKED, a_refusal(), 0, 0, 0),
        (ASKED, a_refusal("needs_clarification", reason=None), 0, 0, 0),
        (ASKED, a_refusal("no_retrieval", reason=None), 0, 0, 0),
        (ASKED, a_refusal(answer="Not within five days."), 0, 0, 0),
        (NOT_ANSWERABLE, a_run(), None, 1, 0),
        (NOT_ANSWERABLE, a_run("answered_partially"), None, 1, 0),
        (NOT_ANSWERABLE, a_run(answer=""), None, 1, 0),
        (NOT_ANSWERABLE, a_refusal(), None, 0, 1),
        (NOT_ANSWERABLE, a_refusal("needs_clarification", reason=None), None, 0, 1),
        (NOT_ANSWERABLE, a_refusal("no_retrieval", reason=None), None, 0, 1),
    ],
)
def test_right_wrong_and_refused(
    question: GoldenQuestion,
    ran: Ran,
    correctness: Value,
    answered_wrong: Value,
    refusal_correctness: Value,
) -> None:
    names = ("correctness", "answered_wrong", "refusal_correctness")
    assert measured(question, ran, *names) == [correctness, answered_wrong, refusal_correctness]


@pytest.mark.parametrize(
    ("answerable", "refused", "precision", "recall"),
    [
        (False, True, 1.0, 1.0),
        (True, True, 0.0, None),
        (False, False, None, 0.0),
        (True, False, None, None),
    ],
)
def test_refusals_have_precision_over_refusals_and_recall_over_the_unanswerable(
    answerable: bool, refused: bool, precision: Value, recall: Value
) -> None:
    question, ran = a_question(answerable=answerable), a_refusal() if refused else a_run()
    assert measured(question, ran, "refusal_precision", "refusal_recall") == [precision, recall]


def test_all_of_must_contain_is_needed() -> None:
    question = a_question(must_contain=["five", "refunds"])
    assert right(question, a_run(answer="Refunds: five days."))
    assert not right(question, a_run(answer="Five days."))


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ("Größe 5", "Die GRÖSSE 5 passt."),
        ("五天内", "退款会在五天内支付。[1]"),
        ("خمسة أيام", "تدفع خلال خمسة أيام."),
        ("пять дней", "Возврат: ПЯТЬ\nдней"),
        ("５ ｄａｙｓ", "5 days"),
        ("e\u0301te\u0301", "Été"),
        ("sync.retry_max", "Set `sync.retry_max` to 5."),
        ("10 %", "It is **10 %** of the net price."),
    ],
)
def test_texts_are_compared_in_any_script(wanted: str, answer: str) -> None:
    assert right(a_question(must_contain=[wanted]), a_run(answer=answer))


@pytest.mark.parametrize(
    ("cited", "is_right"),
    [
        (QUOTE, True),
        (f"{QUOTE} Postage is not.", True),
        ("refunds are PAID within five days", True),
        ("Parental leave lasts twelve weeks.", False),
        ("", False),
    ],
)
def test_without_must_contain_a_labelled_quote_is_cited(cited: str, is_right: bool) -> None:
    ran = a_run(sentences=[told("Something.", a_cited(cited))])
    assert right(a_question(), ran) is is_right


def test_an_answer_without_citations_cites_no_label() -> None:
    assert not right(a_question(), a_run(sentences=[told(QUOTE)]))
    assert not right(a_question(), a_run(sentences=[]))


def test_one_of_several_labels_is_enough() -> None:
    question = a_question(relevant=[a_label("Something else."), a_label()])
    assert right(question, a_run())


@pytest.mark.parametrize(
    ("answer", "reference", "f1", "exact"),
    [
        ("Within five days", "within five days", 1.0, 1.0),
        ("The five days. [1]", "five days", 1.0, 1.0),
        # 2 of 3 words said, 2 of 2 wanted: 2 * 2 / (3 + 2)
        ("within five days", "five days", 0.8, 0.0),
        # one "five" of two said counts: 2 * 1 / (2 + 2)
        ("five five", "five days", 0.5, 0.0),
        ("a week", "five days", 0.0, 0.0),
        ("days five", "five days", 1.0, 0.0),
        ("", "five days", 0.0, 0.0),
        ("fünf Tage", "Fünf TAGE", 1.0, 1.0),
        # each run of letters is a word
        ("五天", "五天", 1.0, 1.0),
    ],
)
def test_token_f1_and_exact_match(answer: str, reference: str, f1: float, exact: float) -> None:
    found = measured(a_question(answer=reference), a_run(answer=answer), "token_f1", "exact_match")
    assert found == [pytest.approx(f1), exact]


def test_a_refusal_with_the_words_of_the_reference_has_no_f1() -> None:
    ran = a_refusal(answer="five days")
    question = a_question(answer="five days")
    assert measured(question, ran, "token_f1", "exact_match") == [0.0, 0.0]


def test_references_are_compared_where_there_are_any() -> None:
    for question in (a_question(), NOT_ANSWERABLE):
        assert measured(question, a_run(), "token_f1", "exact_match") == [None, None]


@pytest.mark.parametrize(
    ("loops", "ran", "corrected"),
    [(0, a_run(), 0.0), (2, a_run(), 1.0), (2, a_refusal(), 0.0)],
)
def test_corrected_is_right_after_a_loop(loops: int, ran: Ran, corrected: float) -> None:
    looped = ran.model_copy(update={"loops": loops})
    assert value("corrected", a_question(), looped) == corrected
    assert value("corrected", NOT_ANSWERABLE, looped) is None


def test_groundedness_reads_the_passages_and_not_the_runs_own_verdict() -> None:
    sentences = [told(QUOTE, supported=False), told("Parking is free for all.", supported=True)]
    assert value("groundedness", a_question(), a_run(sentences=sentences)) == 0.5
    nothing = a_run(sentences=sentences, passages=[])
    assert value("groundedness", a_question(), nothing) == 0.0


def test_citations_are_covered_by_sentence_and_valid_by_citation() -> None:
    sentences = [told(QUOTE, a_cited(), a_cited(problem="altered")), told("x"), told("y")]
    found = measured(
        a_question(), a_run(sentences=sentences), "citation_coverage", "citation_validity"
    )
    assert found == [pytest.approx(1 / 3), 0.5]


@pytest.mark.parametrize("ran", [a_refusal(), a_run(answer="", sentences=[])])
def test_what_has_no_sentences_has_no_share_of_them(ran: Ran) -> None:
    names = ("groundedness", "citation_coverage", "citation_validity")
    assert measured(a_question(), ran, *names) == [None] * 3


def test_an_answer_without_any_citation_is_not_valid_by_having_none() -> None:
    ran = a_run(sentences=[told(QUOTE)])
    names = ("citation_coverage", "citation_validity")
    assert measured(a_question(), ran, *names) == [0.0, None]


@pytest.mark.parametrize("question", [a_question(answer="x", must_contain=["y"]), NOT_ANSWERABLE])
@pytest.mark.parametrize("ran", [a_run(), a_refusal(), a_run(answer=""), a_run(sentences=[])])
def test_every_value_is_a_share_or_none(question: GoldenQuestion, ran: Ran) -> None:
    counts: dict[str, Any] = {"loops": 0, "chat_calls": 0, "tokens": 0}
    for name in METRICS.keys() - counts.keys():
        found = value(name, question, ran)
        assert found is None or 0.0 <= found <= 1.0, name
    assert not (answered(ran) and value("refusal_precision", question, ran) is not None)


@pytest.mark.parametrize("wanted", ["1", "1]"])
def test_a_citation_number_is_no_part_of_the_answer(wanted: str) -> None:
    assert not right(a_question(must_contain=[wanted]), a_run(answer="Within a week. [1]"))
    forbidden = a_question(must_contain=["week"], forbidden=[wanted])
    assert right(forbidden, a_run(answer="Within a week. [1]"))


@pytest.mark.parametrize(
    ("wanted", "answer", "held"),
    [("5 days", "Within 15 days.", "15 days"), ("30", "Up to 1,300 euros.", "1,300 euros")],
)
def test_a_number_is_not_a_part_of_another_one(wanted: str, answer: str, held: str) -> None:
    assert not right(a_question(must_contain=[wanted]), a_run(answer=answer))
    assert right(a_question(must_contain=[held], forbidden=[wanted]), a_run(answer=answer))


def test_a_word_of_the_quote_is_not_the_quote() -> None:
    assert not right(a_question(), a_run(sentences=[told("Days.", a_cited("days"))]))


def test_a_quote_of_another_document_is_not_the_label() -> None:
    cited = a_cited("within five days").model_copy(update={"document": "archive/old.md"})
    assert not right(a_question(), a_run(sentences=[told("Within five days.", cited)]))
