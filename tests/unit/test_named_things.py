"""What a question names and no candidate has: then whatever was found is of another thing."""

from dataclasses import replace

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
        ("When does cabin Badger open on Monday?", ["Badger"]),
        ("Does John Smith write to Mary Jones?", ["John Smith", "Mary Jones"]),
        ("Is the O'Brien boat free?", ["O'Brien"]),
        ("Where is retry_max set?", ["retry_max"]),
        ("Wo liegt das Buch „Der rote Kahn“?", ["Der rote Kahn"]),
        ("Öffnet die Hütte Dachs am Montag im März?", ["Dachs"]),
        ("Welche Regeln gelten am Samstag im Mai?", []),
        ("Hat die Hütte im Januar Strom?", []),
        ("Gibt es am Montag Brot?", []),
        ("WHEN MAY WE ENTER THE CABIN?", []),
        ("When May We Enter The Cabin?", []),
        ("When I arrive, may I park?", []),
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
        "When may we enter cabin “Otter”?",
        "What does Mr Hartman have?",
        "What do the Hartmanns have?",
        "What does Mr. Hartmann have?",
        "What is Ana's job?",
        "What is Ana Ruiz' job?",
        "Was repariert Jana Brand?",
        "Wie viele Betten hat die Reiher-Hütte?",
        "Wie viele Betten hat die Hütte „Reiher“?",
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
        ("What does Peter Schmidt have?", "Peter Schmidt"),
        pytest.param(
            "What does Juan Ruiz repair?",
            "Juan Ruiz",
            marks=pytest.mark.xfail(reason="a known surname counts as the name", strict=True),
        ),
        ("Is the name “Great Owl” taken?", "Great Owl"),
        ("What does error E-4108 mean?", "E-4108"),
        ("Wo wohnt Herr Vogel?", "Vogel"),
        ("Wie viele Betten hat die Hütte „Dachs“?", "Dachs"),
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


@pytest.mark.parametrize(
    ("question", "surname"),
    [("What is Ana Perez's job?", "Perez"), ("What does Dr. Meyer sign?", "Meyer")],
)
def test_a_possessive_or_a_title_hides_no_name(question: str, surname: str) -> None:
    assert surname in " ".join(nowhere(question, CAMP))


@pytest.mark.parametrize(
    ("question", "text", "name"),
    [
        ("What does Ana repair?", "Bananas are sold here.", "Ana"),
        ("When may we enter cabin Otter?", "Harry Potter is lent here.", "Otter"),
        ("What does code E-410 mean?", "E-4107 means full.", "E-410"),
    ],
)
def test_a_name_within_another_word_is_not_found(question: str, text: str, name: str) -> None:
    assert nowhere(question, found(text)) == [name]


def test_a_code_is_found_in_other_case() -> None:
    assert nowhere("What does E-4107 mean?", found("Error e-4107 means full.")) == []


NAMES = st.from_regex(r"\A[A-Z][a-z]{3,9}\Z")
ASKED = ["When does the old {} open?", "What is {}'s price?", "Wann öffnet die Hütte {}?"]


@given(NAMES, st.sampled_from(ASKED), st.sampled_from(["title", "heading", "source", "text"]))
def test_a_name_is_found_wherever_it_stands(name: str, question: str, place: str) -> None:
    (one,) = found(f"{name} is here." if place == "text" else "It is here.")
    if place == "source":
        chunk = replace(one.chunk, metadata={"source": f"huts/{name.lower()}.md"})
    else:
        chunk = one.chunk if place == "text" else replace(one.chunk, **{place: f"About {name}"})
    other = found("Nothing of that.")
    assert nowhere(question.format(name), [*other, Candidate(chunk, {})]) == []


@given(st.text(max_size=60), st.text(max_size=60))
def test_only_what_is_named_is_told(question: str, text: str) -> None:
    missing = nowhere(question, found(text))
    assert set(missing) <= set(named(question))
    assert not [name for name in missing if name in text.split()]
