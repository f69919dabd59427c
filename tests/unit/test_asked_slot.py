"""The induction for the kiln is not the induction for the laser cutter."""

import pytest

from nodes.asked_slot import of_another_thing, slots_of
from nodes.words import content_words, stem


def stems(text: str, language: str) -> set[str]:
    return {stem(word, language) for word in content_words(text)}


def another(question: str, sentence: str, passage: str, language: str = "en") -> bool:
    return of_another_thing(
        slots_of(question, language),
        slots_of(sentence, language),
        said=stems(sentence, language),
        around=stems(passage, language),
    )


LASER = "The induction for the laser cutter takes 90 minutes."
SEGELN = "Der Kurs im Segeln dauert 12 Stunden."


@pytest.mark.parametrize(
    ("question", "sentence", "passage", "language"),
    [
        ("How long is the induction for the kiln?", LASER, "The kiln is hot.", "en"),
        (
            "How long does the course on rowing take?",
            "The course on sailing takes 5 h.",
            "row",
            "en",
        ),
        ("Wie lange dauert der Kurs im Rudern?", SEGELN, "Rudern macht Spaß.", "de"),
    ],
)
def test_another_thing_in_the_same_place(
    question: str, sentence: str, passage: str, language: str
) -> None:
    assert another(question, sentence, f"{sentence} {passage}", language)


@pytest.mark.parametrize(
    ("question", "sentence", "passage"),
    [
        ("How long is the induction for the laser cutter?", LASER, "The kiln is hot."),
        ("How long is the induction for the cutter?", LASER, "The kiln is hot."),
        ("How long is the induction?", LASER, "The kiln is hot."),
        ("How long is the induction for the router?", LASER, "The kiln is hot."),
        ("How long is the kiln fired?", LASER, "The kiln is hot."),
        ("What is the number of seats?", "Of seats there are 20, a number of them wet.", ""),
    ],
)
def test_the_same_thing_or_one_that_the_passage_never_names(
    question: str, sentence: str, passage: str
) -> None:
    assert not another(question, sentence, f"{sentence} {passage}")
