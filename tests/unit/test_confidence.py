"""The probability of a right answer: its signs, its bar, and what the grounding adds."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graph.adapters.fitted_confidence import ConfidenceFile, load_confidence
from nodes.confidence import NAMES, confidence_signs, support_needed, too_unsure
from nodes.context import Context
from nodes.estimate_confidence import estimate_confidence
from nodes.findings import Evidence, Grade, Sentence
from nodes.state import State
from tests.fakes import a_candidate, a_citation, a_grade

CHANCE = st.floats(0, 1)


def a_draft(best: float, *others: float) -> State:
    """A draft that cites passage 0 of those graded so."""
    found = [
        Evidence(a_candidate(str(i), dense=0.5), Grade("correct", p), 0)
        for i, p in enumerate([best, *others])
    ]
    sentence = Sentence("It weighs a kilogram.", [a_citation(found[0].candidate.chunk)])
    return State(
        standalone="What does the warranty weigh?",
        draft=[sentence],
        graded={e.candidate.chunk.chunk_id: e.grade for e in found},
        evidence=found,
    )


def test_signs_of_a_draft() -> None:
    signs = confidence_signs(a_draft(0.8, 0.5, 0.2))
    assert set(signs) == set(NAMES)
    assert signs["best"] == pytest.approx(math.log(4))
    assert signs["rest"] == pytest.approx(-math.log(4) / 2)  # the mean of log 1 and log 1/4
    assert signs["covered"] == 1 / 2  # of "warranty" and "weigh"


@given(CHANCE, st.lists(CHANCE, max_size=3))
def test_signs_are_finite_and_a_better_grade_never_makes_less_sure(
    best: float, others: list[float]
) -> None:
    model, state = load_confidence(), a_draft(best, *others)
    assert all(math.isfinite(value) for value in confidence_signs(state).values())
    surer = model.probability(confidence_signs(a_draft(min(1.0, best + 0.1), *others)))
    assert model.probability(confidence_signs(state)) <= surer + 1e-9


@given(CHANCE, CHANCE, CHANCE)
def test_sentences_that_pass_keep_the_confidence_above_the_bar(
    confidence: float, support: float, bar: float
) -> None:
    state, context = State(confidence=confidence), Context(min_confidence=bar)
    passes = support >= support_needed(state, context)
    assert passes == (confidence * support >= bar) or math.isclose(
        confidence * support, bar, rel_tol=1e-6, abs_tol=1e-8
    )
    if too_unsure(state, context):
        assert support_needed(state, context) > 1


def test_a_run_without_an_estimate_is_not_held_back() -> None:
    assert not too_unsure(State(), Context(min_confidence=0.9))
    assert support_needed(State(), Context(min_confidence=0.9)) == 0


async def test_no_draft_has_no_confidence() -> None:
    runtime: Any = SimpleNamespace(context=Context())
    update = await estimate_confidence(State(), runtime, model=load_confidence())
    assert update["confidence"] is None
    told = await estimate_confidence(a_draft(0.9), runtime, model=load_confidence())
    assert 0 < (told["confidence"] or 0) < 1


def test_a_file_that_cannot_work_is_refused() -> None:
    shipped = load_confidence().model_dump()
    for broken in ({"scale": [0.0] * len(shipped["signs"])}, {"weights": []}, {"signs": ["x"]}):
        with pytest.raises(ValueError, match=r"scale|length|unknown"):
            ConfidenceFile.model_validate(shipped | broken)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What does E-4103 mean?", 1.0),
        ("What does E-4102 mean?", 0.0),
        ("What is the price of the Q-Hub 300?", 1.0),
        ("What is the price of the Q-Hub 200?", 0.0),
        ("We are 20 people, do we have to ask?", 0.0),
        ("We are 20 teams, do we have to ask?", 1.0),
        ("Do we have to ask in room 20?", 1.0),
        ("May we spend 10 000 EUR?", 0.0),
        ("May we spend 10\u00a0000 EUR?", 0.0),
        ("May we spend 10.000,00 EUR?", 0.0),
    ],
)
def test_a_code_or_a_number_that_no_cited_passage_has(question: str, missing: float) -> None:
    told = a_candidate(
        "a", "E-4102 is shown by the Q-Hub 200. From 12 people on, ask. At most EUR 10,000."
    )
    state = State(
        standalone=question,
        evidence=[Evidence(told, a_grade("correct"), 0)],
        draft=[Sentence("It is shown.", [a_citation(told.chunk)])],
    )
    assert confidence_signs(state)["missing"] == missing


@given(
    st.integers(0, 999_999_999),
    st.sampled_from([",", ".", " ", "\u00a0", "\u2009", "\u202f"]),
    st.sampled_from([",", "."]),
    st.sampled_from(["", "0", "00"]),
)
def test_a_number_is_the_same_however_it_is_parted(
    number: int, between: str, before_cents: str, cents: str
) -> None:
    parted = f"{number:,}".replace(",", between)
    assume(not cents or before_cents != between)
    written = f"It costs {parted}{before_cents}{cents} EUR." if cents else f"It costs {parted} EUR."
    told = a_candidate("a", written)
    state = State(
        standalone=f"May it cost {number}?",
        evidence=[Evidence(told, a_grade("correct"), 0)],
        draft=[Sentence("It may.", [a_citation(told.chunk)])],
    )
    assert confidence_signs(state)["missing"] == 0
