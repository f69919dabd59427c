"""Each loop another technique; what was written as a literal survives all of them."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.filters import Filters
from nodes.context import Context
from nodes.findings import Evidence, Grade
from nodes.plan_queries import NOT_CURRENT
from nodes.rewrite_query import MAX_KEYWORDS, TECHNIQUES, rewrite_query
from nodes.state import Query, State
from nodes.words import guess_language, literals
from tests.fakes import a_candidate, a_grade

RUNTIME: Any = None
QUESTION = "How do I fix E-4102 with sync.retry_max on the V2a when VPN is off?"
FOUND = [
    a_candidate("a", "The error E-4102 appears when the tunnel handshake fails. Handshake again."),
    a_candidate("b", "Payroll runs on Fridays."),
    a_candidate("c", "Parking permits cost nothing."),
]


def asked(question: str = QUESTION, **more: Any) -> State:
    plain = {"queries": [Query(question)], "candidates": FOUND}
    return State(question=question, standalone=question, **(plain | more))


async def ladder(state: State, runtime: Any = RUNTIME) -> list[Query]:
    """The queries of all loops."""
    while True:
        update = await rewrite_query(state, runtime)
        if "loops_over" in update:
            return state.queries[1:]
        state = replace(state, **{k: v for k, v in update.items() if k != "summary"})


async def test_each_loop_uses_another_technique() -> None:
    queries = await ladder(asked())
    assert [query.technique for query in queries] == ["keywords", "widened", "feedback"]
    assert [query.loop for query in queries] == [1, 2, 3]
    assert len({query.text for query in queries} | {QUESTION}) == 3


@pytest.mark.parametrize("left_out", TECHNIQUES)
async def test_a_technique_that_the_option_leaves_out_is_not_used(left_out: str) -> None:
    corrections = [one for one in TECHNIQUES if one != left_out]
    runtime: Any = SimpleNamespace(context=Context(corrections=corrections))
    queries = await ladder(asked(), runtime)
    assert {query.technique for query in queries} == set(corrections)
    runtime = SimpleNamespace(context=Context(corrections=[]))
    assert await ladder(asked(), runtime) == []


async def test_nothing_is_widened_where_the_option_leaves_it_out() -> None:
    held = asked(derived_filters=Filters([NOT_CURRENT]), new_chunks=0)
    assert (await rewrite_query(held, RUNTIME))["wide"]
    runtime: Any = SimpleNamespace(context=Context(corrections=["keywords"]))
    assert not (await rewrite_query(held, runtime))["wide"]


async def test_literal_tokens_survive_every_technique() -> None:
    wanted = set(literals(QUESTION))
    assert wanted == {"E-4102", "sync.retry_max", "V2a", "VPN"}
    for query in await ladder(asked()):
        assert wanted <= set(query.text.replace("?", "").split())


@pytest.mark.parametrize("words", ["thirty days", "not", "2019"])
async def test_the_question_stays_an_arm_for_what_a_technique_drops(words: str) -> None:
    state = asked(f"Why are refunds {words} late?")
    update = await rewrite_query(state, RUNTIME)
    assert update["queries"][0] == Query(state.question)


async def test_numbers_and_constraints_are_keywords() -> None:
    (keywords, *_) = await ladder(asked("Can I return hardware after thirty days or 45 days?"))
    assert {"thirty", "45", "days", "hardware", "return"} <= set(keywords.text.split())


async def test_feedback_adds_words_that_set_the_best_passages_apart() -> None:
    state = asked(evidence=[Evidence(FOUND[0], a_grade("ambiguous"), 0)])
    feedback = (await ladder(state))[0]
    assert "handshake" in feedback.text
    assert "payroll" not in feedback.text


async def test_feedback_without_passages_is_skipped() -> None:
    techniques = [q.technique for q in await ladder(asked(candidates=[]))]
    assert techniques == ["keywords", "widened"]


async def test_a_technique_that_says_nothing_new_costs_no_loop() -> None:
    queries = await ladder(asked("refund deadline"))
    assert [(q.technique, q.loop) for q in queries] == [("widened", 1), ("feedback", 2)]


async def test_the_last_loop_widens_where_something_was_near() -> None:
    state = asked(evidence=[Evidence(FOUND[0], a_grade("ambiguous"), 0)])
    for expected in (False, False, True):
        update = await rewrite_query(state, RUNTIME)
        assert update["wide"] is expected
        state = replace(state, **{k: v for k, v in update.items() if k != "summary"})


async def test_when_no_technique_is_left_the_looping_is_over() -> None:
    done = [Query(QUESTION), *(Query(name, name, n) for n, name in enumerate(TECHNIQUES, 1))]
    update = await rewrite_query(asked(queries=done), RUNTIME)
    assert update["loops_over"] == "no technique left"
    assert "queries" not in update


async def test_a_rewrite_is_told_what_was_tried_and_rejected() -> None:
    update = await rewrite_query(asked(graded={"b": a_grade("incorrect")}), RUNTIME)
    assert update["summary"]["tried"] == [QUESTION]
    assert update["summary"]["rejected"] == ["b"]


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("Wie lange dauert die Erstattung nach einer Rückgabe?", "erstattung"),
        ("¿Cuánto tarda el reembolso después de la devolución?", "reembolso"),
    ],
)
async def test_the_language_is_kept(question: str, kept: str) -> None:
    language = guess_language(question)
    passage = "Die Erstattung erfolgt über die Buchhaltung. El reembolso llega por banco."
    for query in await ladder(asked(question, candidates=[a_candidate("a", passage)])):
        assert kept in query.text.lower()
    assert guess_language((await ladder(asked(question)))[-1].text) == language


async def test_a_long_story_is_cut_to_its_rarest_words() -> None:
    story = " ".join(f"plain{chr(97 + n)}" for n in range(20)) + " PROJ-123?"
    (keywords, *_) = await ladder(asked(story))
    assert keywords.text.split()[0] == "PROJ-123"
    assert len(keywords.text.split()) == MAX_KEYWORDS + 1


@pytest.mark.parametrize(
    ("evidence", "because", "technique"),
    [
        ([], "nothing near", "keywords"),
        ([Evidence(FOUND[0], Grade("ambiguous", 0.1), 0)], "nothing near", "keywords"),
        (
            [Evidence(FOUND[0], a_grade("ambiguous"), 0)],
            "near but not answering",
            "feedback",
        ),
    ],
)
async def test_the_technique_follows_from_what_the_grading_lacked(
    evidence: list[Evidence], because: str, technique: str
) -> None:
    summary = (await rewrite_query(asked(evidence=evidence), RUNTIME))["summary"]
    assert (summary["because"], summary["technique"]) == (because, technique)


async def test_half_answered_the_next_query_is_made_of_the_part_that_is_left() -> None:
    answered, left = "Who approves parental leave?", "When is payroll run?"
    whole = f"{answered} {left}"
    evidence = [Evidence(FOUND[2], a_grade("correct"), 0, parts={answered: a_grade("correct")})]
    state = asked(
        whole,
        queries=[Query(whole), Query(answered, "part"), Query(left, "part")],
        evidence=evidence,
    )
    summary = (await rewrite_query(state, RUNTIME))["summary"]
    assert summary["because"] == "half answered"
    assert "payroll" in summary["query"]
    assert "parental" not in summary["query"]
