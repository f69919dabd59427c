"""Who does it: a name, a role or what does it; no place, no product, nothing that was asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.answer_person import says_who
from nodes.answer_type import holds_type

SAID = [
    ("Who repairs the boats?", "Ana Ruiz repairs the boats."),
    ("Who repairs the boats?", "The boats are repaired by Ana."),
    ("Who repairs the boats?", "Repairs are done by the caretaker."),
    ("Who repairs the boats?", "Repaired by: J. Smith"),
    ("Who approves it?", "Your manager approves it."),
    ("Who approves it?", "Anna approves it."),
    ("Who signs the contracts?", "Contracts are signed by Dr. Meyer."),
    ("Who opens the gate?", "Ask O'Brien to open the gate."),
    ("Who wrote the song?", "It was written by Ludwig van Beethoven."),
    ("Who feeds the goats?", "The neighbour feeds the goats."),
    ("Who fed the goats?", "The old neighbour fed the goats."),
    ("Who can open the gate?", "Every neighbour can open the gate."),
    ("Who replaces Ana Ruiz?", "Ana Ruiz is replaced by Tom Baker."),
    ("Who has the keys?", "The keys are with Anna."),
    ("Who plays on Sundays?", "The organist plays on Sundays."),
    ("Whom do I ask?", "Write to ana@camp.example."),
    ("Wer repariert die Boote?", "Jana Brandt repariert die Boote."),
    ("Wer repariert die Boote?", "Die Boote repariert Frau Brandt."),
    ("Wer mahlt den Mais?", "Der Müller mahlt den Mais."),
    ("Wer genehmigt Reisen?", "Reisen genehmigt die Geschäftsleitung."),
    ("Wer füttert die Ziegen?", "Der Nachbar füttert die Ziegen."),
    ("Wer füttert die Ziegen?", "Die Ziegen füttert der Nachbar."),
    ("Wer backt das Brot?", "Das Brot backt der Bäcker."),
    ("Wer leert die Tonnen?", "Die Tonnen leert der Hausmeister."),
    ("Wer vertritt Jana Brandt?", "Jana Brandt wird von Max Vogel vertreten."),
    ("¿Quién aprueba los viajes?", "El director aprueba los viajes."),
]

UNSAID = [
    ("Who repairs broken kayaks?", "Broken kayaks are marked with red tape."),
    ("Who locks the large ovens?", "Large ovens stay locked at night."),
    ("Who brings the firewood?", "It is delivered to Maple Street on Fridays."),
    ("Who runs the workshop?", "The workshop is in Building C."),
    ("Who cleans the hall?", "The Grand Hall is cleaned on Mondays."),
    ("Who sails to Lake Road?", "Boats leave at Lake Road in April."),
    ("Who founded Quendrel?", "Quendrel has an office in Leipzig."),
    ("Who uses the network?", "The network is called Camp-Guest."),
    ("Who uses the boat?", "The boat is named Sea Eagle."),
    pytest.param(
        "Who uses the printer?",
        "The printer Falcon prints 30 pages a minute.",
        marks=pytest.mark.xfail(reason="a product's name reads as a person's", strict=True),
    ),
    ("Who maintains the Bosch grinder?", "The Bosch grinder has a guard."),
    ("Who maintains Falcon printers?", "Falcon printers lie in Bay 4."),
    ("Who restored the Ana Ruiz bridge?", "The Ana Ruiz Bridge is old."),
    ("Who is Ana Ruiz's deputy?", "Ana Ruiz works on Mondays."),
    ("Who is Tom Baker's deputy?", "Tom Baker works on Mondays."),
    ("Who may enter?", "Entering requires a badge."),
    ("Who removes the tape?", "Removed tape goes into the bin."),
    ("Who repairs boats?", "Repairing boats takes two days."),
    ("Who signs the lease?", "The lease is signed in March."),
    ("Who bakes the bread?", "Bread is baked daily."),
    ("Who uses it in the evening?", "Wi-Fi is slow in the evening."),
    ("Who gets in?", "VPN access is needed."),
    ("Wer repariert Kajaks?", "Defekte Kajaks werden mit rotem Band markiert."),
    ("Wer verschließt die Öfen?", "Große Öfen bleiben nachts verschlossen."),
    ("Wer wartet den Bosch Winkelschleifer?", "Der Bosch Winkelschleifer hat eine Haube."),
    ("Wer bringt das Holz?", "Brennholz wird freitags in die Lange Straße geliefert."),
    ("Wer nutzt das WLAN?", "Das WLAN heißt Camp-Gast."),
    ("Wer nutzt das Boot?", "Das Boot heißt Roter Adler."),
    ("Wer bringt die Post?", "Die Post wird im Haus Linde abgegeben."),
    ("Wer leert die Tonnen?", "Geleert wird am Dienstag."),
    ("Wer putzt den Saal?", "Der große Saal wird montags geputzt."),
    ("Wer hat den Schlüssel?", "Der Schlüssel hängt im Kasten neben der Tür."),
]

THINGS = st.sampled_from(["kiln", "gate", "old boat", "filter", "roof of the barn"])
FIRST = st.sampled_from(["Ana", "Tom", "Max", "Jana", "Aisha", "Piotr"])
LAST = st.sampled_from(["Ruiz", "Hill", "Vogel", "O'Brien", "Smith-Jones", "Nowak"])
MONTHS = st.sampled_from(["April", "May", "June", "August", "October"])


@pytest.mark.parametrize(("question", "sentence"), SAID)
def test_a_name_or_a_role_or_what_does_it_is_who(question: str, sentence: str) -> None:
    assert says_who(sentence, question)


@pytest.mark.parametrize(("question", "sentence"), UNSAID)
def test_what_is_nobody_is_not_who(question: str, sentence: str) -> None:
    assert not says_who(sentence, question)


@given(THINGS, FIRST, LAST)
def test_a_full_name_is_who_unless_the_question_says_it(thing: str, first: str, last: str) -> None:
    sentence = f"The {thing} is repaired by {first} {last}."
    assert says_who(sentence, f"Who repairs the {thing}?")
    assert not says_who(sentence, f"Who else repairs the {thing} with {first} {last}?")


@given(THINGS, MONTHS)
def test_what_is_done_in_a_month_says_nobody(thing: str, month: str) -> None:
    for sentence in (f"The {thing} is cleaned in {month}.", f"In {month} the {thing} is cleaned."):
        assert not says_who(sentence, f"Who cleans the {thing}?")


KIND = [
    ("Who approves it?", "The finance team approves it.", True),
    ("Who grinds the corn?", "The old wheelwright grinds the corn.", True),
    ("Who repairs broken kayaks?", "Broken kayaks are marked with red tape.", False),
    ("Who maintains the Bosch grinder?", "The Bosch grinder has a hood.", False),
    ("Who brings the firewood?", "It is delivered to Maple Street on Fridays.", False),
    ("Who uses the network?", "The network is called Camp-Guest.", False),
    ("Wer repariert die Boote?", "Jana Brandt repariert die Boote.", True),
    ("Wer unterschreibt?", "Die Kassenwartin unterschreibt die Verträge.", True),
    ("Wer repariert Kajaks?", "Defekte Kajaks werden mit rotem Band repariert.", False),
]


@pytest.mark.parametrize(("question", "sentence", "says"), KIND)
def test_who_is_a_kind_of_answer_that_the_question_has_a_part_in(
    question: str, sentence: str, says: bool
) -> None:
    assert holds_type(sentence, "person", question) == says
