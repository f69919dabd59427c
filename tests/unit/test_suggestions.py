"""What a refusal says would help."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.documents import Candidate
from ingest.filters import Condition, Filters
from nodes.context import Context
from nodes.state import Reason, State
from nodes.suggestions import MOST, TEXTS, misspelt, suggestions
from tests.fakes import a_chunk

GATEWAY = Candidate(a_chunk("a", "The gateway of Quendrel is reset by its button."), {}, [])
LONG = "Which colour does the housing of every second gateway have?"


def told(question: str, reason: Reason = "no_evidence", **fields: object) -> list[str]:
    return suggestions(State(standalone=question, **fields), Context(), reason, [])  # type: ignore[arg-type]


def test_a_filter_that_left_nothing_is_named() -> None:
    filters = Filters([Condition("language", ["en", "de"])])
    assert told(LONG, filters=filters)[0] == (
        "No document passes the filter language = en / de: ask without it."
    )
    assert "were searched" in told(LONG, filters=filters, candidates_seen=["a"])[0]


def test_a_word_that_nothing_has_is_held_against_those_that_are_there() -> None:
    state = State(standalone="How do I reset the Quendral gateways?", candidates=[GATEWAY])
    assert misspelt(state) == [("quendral", "quendrel")]


def test_a_question_without_a_name_is_asked_for_one() -> None:
    assert TEXTS["en"]["name"] in told("How much is it?")
    for named in (LONG, "How much is a Jacket?", "What is E-4102?"):
        assert TEXTS["en"]["name"] not in told(named)


def test_documents_in_another_language_are_named() -> None:
    english, german = (
        Candidate(a_chunk(code, "x", metadata={"language": code}), {}, []) for code in ("en", "de")
    )
    asked = "Wie lange dauert die Prüfung der Angaben zu Quendrel?"
    assert told(asked, candidates=[english])[0] == (
        "Was gefunden wurde, ist auf Englisch: Fragen Sie auf Englisch."
    )
    assert "What was found is in German: ask in German." in told(LONG, candidates=[german])
    for candidates in ([english, german], [german], []):
        assert not any("auf Englisch" in line for line in told(asked, candidates=candidates))


def test_the_web_is_named_only_where_it_was_not_searched() -> None:
    assert TEXTS["en"]["web"] in told(LONG)
    assert TEXTS["en"]["web"] not in told(LONG, web_searched=True)


@pytest.mark.parametrize("reason", get_args(Reason))
def test_an_outage_is_told_from_a_gap(reason: Reason) -> None:
    said = told(LONG, reason)
    assert (said == [TEXTS["en"]["again"]]) == (reason == "dependency_down")


def test_every_language_has_every_text() -> None:
    assert {tuple(texts) for texts in TEXTS.values()} == {tuple(TEXTS["en"])}


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_question_has_a_few_whole_sentences(question: str, passage: str) -> None:
    candidates = [Candidate(a_chunk("a", passage or "x"), {}, [])]
    said = told(question, candidates=candidates)
    assert len(said) <= MOST
    assert all(said)
