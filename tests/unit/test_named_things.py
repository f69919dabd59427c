"""What a question names and no candidate has: then whatever was found is of another thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Candidate, Chunk
from nodes.named_things import named, nowhere


def found(*texts: str, title: str = "Notes") -> list[Candidate]:
    chunks = [
        Chunk(f"c{n}", f"d{n}", "r", 0, text, 0, len(text), title) for n, text in enumerate(texts)
    ]
    return [Candidate(chunk, {}) for chunk in chunks]


CAMP = found(
    "You may enter cabin Otter from 15:00. Every visitor wears a badge.",
    "Ana Ruiz repairs the boats. The Wi-Fi reaches all cabins. Mr Hartmann has the keys.",
    "Die Hütte Reiher hat vier Betten. Jana Brandt repariert die Boote. Camp Seewald ist groß.",
)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("When may we enter cabin Badger?", ["Badger"]),
        ("What does Ana Perez repair?", ["Ana Perez"]),
        ("Who wrote “The Little Boat”?", ["The Little Boat"]),
        ("Does code E-4107 need a restart?", ["E-4107"]),
        ("Wann dürfen wir die Hütte Dachs betreten?", ["Dachs"]),
        ("Was macht die Leiterin im Haus?", []),
        ("Which rules hold on Sundays in March?", []),
        ("How warm is it in degrees Celsius?", []),
        ("May I bring my dog?", []),
        ("Wann werden Fords Werke geschlossen?", []),
    ],
)
def test_reads_the_names_of_a_question(question: str, names: list[str]) -> None:
    assert named(question) == names


@pytest.mark.parametrize(
    "question",
    [
        "When may we enter cabin Otter?",
        "When may we enter Cabin OTTER?",
        "When may we enter cabin Oter?",
        "What is Otter's hour of entry?",
        "What does Mrs Ruiz repair?",
        "Does WiFi reach cabin Otter?",
        "What does Peter Hartmann have?",
        "Wie viele Betten hat die Hütte Reiher?",
        "Was repariert Frau Brandt?",
    ],
)
def test_a_name_that_was_found_is_known_however_it_is_written(question: str) -> None:
    assert nowhere(question, CAMP) == []


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("When may we enter cabin Badger?", "Badger"),
        ("What does Ana Perez repair?", "Ana Perez"),
        ("Wann dürfen wir die Hütte Dachs betreten?", "Dachs"),
        ("Wer leitet das große Camp Seeblick?", "Seeblick"),
    ],
)
def test_a_name_that_nothing_has_is_told(question: str, name: str) -> None:
    assert nowhere(question, CAMP) == [name]


def test_titles_and_paths_name_things_too() -> None:
    assert nowhere("When may we enter cabin Badger?", found("From 15:00.", title="Badger")) == []


def test_without_candidates_nothing_is_said() -> None:
    assert nowhere("When may we enter cabin Badger?", []) == []


@given(st.from_regex(r"\A[A-Z][a-z]{3,9}\Z"), st.text(max_size=60))
def test_a_name_that_stands_in_a_passage_is_never_missed(name: str, text: str) -> None:
    question = f"When does the old {name} open?"
    assert nowhere(question, found(f"{text} {name} opens at 8.")) == []
