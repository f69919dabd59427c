"""Of whom a sentence speaks: the price before a sentence on canoes is the price of boats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.adapters.answer_scorer import AnswerScorer
from graph.adapters.calibration import AnswerModel, Calibration
from graph.adapters.extractive import ExtractiveGenerator
from graph.adapters.pool_signs import read_passages
from graph.adapters.question_signs import read_question
from graph.adapters.token_vectors import TokenVectors
from nodes.findings import Evidence
from tests.fakes import HashingEmbedder, a_candidate, a_grade

CANOE = "What is the price of a canoe?"
CANOES = "Canoes can be borrowed for two hours at most."
BOATS = "Rowing boats cost 9 euros an hour."


def eligible(question: str, *passages: str) -> list[str]:
    """The sentences that may answer, of passages in order."""
    pool = [a_candidate(f"p{n}", text) for n, text in enumerate(passages)]
    found = read_passages(read_question(question), pool, [None] * len(pool))
    return [sentence.text for read in found for sentence, _ in read if sentence.eligible]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (CANOE, f"{BOATS} {CANOES}"),
        (CANOE, f"{BOATS} They are blue. {CANOES}"),
        ("How much does a canoe cost?", f"{BOATS} {CANOES}"),
        (
            "Wie hoch ist der Preis für ein Kanu?",
            "Ruderboote kosten 9 Euro in der Stunde. Kanus werden für zwei Stunden verliehen.",
        ),
        (
            "How long does the check of the boats take?",
            "Courses take 12 hours. The check of the boats is done monthly.",
        ),
        ("How often are the boats checked?", "Drills are held monthly. The boats are checked."),
        (
            "What is the phone number of the mill?",
            "The ranger's phone number is 0341 55 01 34. The mill opens at 9:00.",
        ),
        (
            "What is the e-mail address of the mill?",
            "The ranger's e-mail address is ranger@camp.example. The mill opens at 9:00.",
        ),
        (
            "What is the password of the printer?",
            "The radio has the password: pinecone. The printer is slow.",
        ),
        ("What is the PIN of the safe?", "The PIN at the gate is 2580. The safe is grey."),
        (
            "Wie lautet die Telefonnummer der Mühle?",
            "Die Telefonnummer des Försters ist 0341 55 01 34. Die Mühle öffnet um 9 Uhr.",
        ),
    ],
)
def test_what_another_sentence_names_more_of_is_not_said_here(question: str, text: str) -> None:
    assert eligible(question, text) == []


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        (CANOE, f"{CANOES} A trip costs 9 euros.", ["A trip costs 9 euros."]),
        (CANOE, f"{CANOES} It is fun. Each costs 9 euros.", ["Each costs 9 euros."]),
        (CANOE, f"Canoes cost 9 euros. {CANOES}", ["Canoes cost 9 euros."]),
        (CANOE, f"{CANOES} {BOATS} Canoes cost 7 euros.", [BOATS, "Canoes cost 7 euros."]),
        ("What do canoes and boats cost?", f"{BOATS} {CANOES}", [BOATS]),
        ("What is the price of a boat?", f"{BOATS} {CANOES}", [BOATS]),
        ("Was kostet ein Kanu?", "Kanus sind rot. Eine Fahrt kostet 9 Euro.", None),
        ("Wie oft werden Boote geprüft?", "Boote werden monatlich geprüft. Boote sind rot.", None),
    ],
)
def test_what_follows_or_names_as_much_may_answer(
    question: str, text: str, told: list[str] | None
) -> None:
    found = eligible(question, text)
    assert found == told if told is not None else len(found) == 1


@pytest.mark.parametrize("question", ["Are canoes cheap?", "Who lends canoes?", "Why lend canoes?"])
def test_a_kind_that_a_sentence_need_not_hold_rules_nothing_out(question: str) -> None:
    assert BOATS in eligible(question, f"{BOATS} {CANOES}")


SENTENCES = st.lists(
    st.sampled_from([BOATS, CANOES, "A trip costs 5 euros.", "They are blue.", "Canoes cost 7 €."]),
    min_size=1,
    max_size=5,
    unique=True,
)


@given(SENTENCES, SENTENCES)
def test_another_passage_changes_nothing(one: list[str], other: list[str]) -> None:
    first, second = " ".join(one), " ".join(other)
    assert eligible(CANOE, first, second) == eligible(CANOE, first) + eligible(CANOE, second)


@given(SENTENCES)
def test_what_may_answer_holds_the_kind_and_the_thing_itself_always_may(told: list[str]) -> None:
    found = eligible(CANOE, " ".join(told))
    assert not {CANOES, "They are blue."} & set(found)
    assert ("Canoes cost 7 €." in found) == ("Canoes cost 7 €." in told)


AROUND = AnswerModel(
    signs=["around"], mean=[0], scale=[1], weights=[6], bias=-3, upper=0.4, lower=0.1
)
"""Nothing counts but the share of the question's words in the sentence, before and above it."""


@pytest.fixture
def generator(embedder: HashingEmbedder) -> ExtractiveGenerator:
    calibration = Calibration("1", "hashing", {"full": AROUND, "web": AROUND})
    return ExtractiveGenerator(AnswerScorer(TokenVectors(embedder, megabytes=1), calibration))


COURSES = {
    "Courses": "The course on sailing takes 12 hours. The course on rowing takes 5 hours.",
}
KURSE = {"Kurse": "Der Kurs im Segeln dauert 12 Stunden. Der Kurs im Rudern dauert 5 Stunden."}
CABINS = {"Cabin Heron": "A night costs 62 euros.", "Cabin Otter": "A night costs 84 euros."}
HÜTTEN = {"Hütte Reiher": "Eine Nacht kostet 62 Euro.", "Hütte Otter": "Eine Nacht kostet 84 Euro."}


@pytest.mark.parametrize(
    ("question", "documents", "told"),
    [
        ("How long does the course on sailing take?", COURSES, ["12"]),
        ("How long does the course on rowing take?", COURSES, ["5"]),
        ("How long do the courses take?", COURSES, ["12", "5"]),
        ("How long do the courses on sailing and rowing take?", COURSES, ["12", "5"]),
        ("Wie lange dauert der Kurs im Segeln?", KURSE, ["12"]),
        ("Wie lange dauern die Kurse?", KURSE, ["12", "5"]),
        ("Wie lange dauern die Kurse im Segeln und im Rudern?", KURSE, ["12", "5"]),
        ("How much does a night in cabin Heron cost?", CABINS, ["62"]),
        ("How much does a night in cabin Otter cost?", CABINS, ["84"]),
        ("How much does a night in a cabin cost?", CABINS, ["62", "84"]),
        ("How much is a night in cabin Otter or cabin Heron?", CABINS, ["62", "84"]),
        ("Was kostet eine Nacht in der Hütte Reiher?", HÜTTEN, ["62"]),
        ("Was kostet eine Nacht in einer Hütte?", HÜTTEN, ["62", "84"]),
    ],
)
async def test_further_sentences_name_what_the_best_one_names(
    generator: ExtractiveGenerator, question: str, documents: dict[str, str], told: list[str]
) -> None:
    evidence = [
        Evidence(a_candidate(title, text), a_grade("correct"), 0)
        for title, text in documents.items()
    ]
    draft = await generator.generate(question, evidence, limit=3, rejected=(), kept=())
    numbers = ["".join(c for c in sentence.text if c.isdigit()) for sentence in draft.sentences]
    assert sorted(numbers) == sorted(told)
