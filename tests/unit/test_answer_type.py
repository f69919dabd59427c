"""What kind of answer a question asks for, and which sentences hold it, in three languages."""

import pytest

from nodes.answer_type import expected_type, holds_type
from nodes.answer_words import AnswerType

QUESTIONS: list[tuple[AnswerType, str]] = [
    ("duration", "How long do refunds take?"),
    ("duration", "How many days do I have?"),
    ("duration", "What is the return period?"),
    ("duration", "Wie lange dauert eine Erstattung?"),
    ("duration", "Wie viele Tage habe ich Zeit?"),
    ("duration", "¿Cuánto tiempo tarda el reembolso?"),
    ("duration", "¿Cuántos días tengo?"),
    ("reason", "Why was the release delayed?"),
    ("reason", "What caused the outage?"),
    ("reason", "Warum ist der Dienst ausgefallen?"),
    ("reason", "¿Por qué falló el servicio?"),
    ("person", "Who approves travel?"),
    ("person", "Which team owns billing?"),
    ("person", "Wer genehmigt Reisen?"),
    ("person", "¿Quién aprueba los viajes?"),
    ("date", "When does the office open?"),
    ("date", "In which year was it founded?"),
    ("date", "Wann öffnet das Büro?"),
    ("date", "¿Cuándo abre la oficina?"),
    ("place", "Where are spare parts kept?"),
    ("place", "Wo liegen die Ersatzteile?"),
    ("place", "¿Dónde están los repuestos?"),
    ("price", "How much does the Pro plan cost?"),
    ("amount", "What is the maximum upload size?"),
    ("price", "Wie hoch ist das Budget?"),
    ("price", "Was kostet der Tarif?"),
    ("amount", "Wie hoch ist die Selbstbeteiligung bei Diebstahl?"),
    ("amount", "Was ist die Selbstbeteiligung bei Diebstahl?"),
    ("price", "Was ist der Preis?"),
    ("amount", "Was ist die individuelle Gebühr?"),
    ("price", "Was kosten die Tickets?"),
    ("amount", "Was muss ich bezahlen?"),
    ("amount", "Welcher Betrag wird erstattet?"),
    ("price", "Wie viel kostet ein Rad?"),
    ("amount", "Wie viele Räder gibt es?"),
    ("duration", "Wie lange darf ich das Rad behalten?"),
    ("date", "Um wie viel Uhr öffnet der Laden?"),
    ("date", "Bis wann kann ich stornieren?"),
    ("place", "Wohin schicke ich das Paket?"),
    ("person", "Von wem bekomme ich den Schlüssel?"),
    ("step", "Was ist bei Diebstahl zu tun?"),
    ("other", "Was ist im Preis enthalten?"),
    ("other", "Was ist der Unterschied zwischen Plan und Vertrag?"),
    ("other", "Was gilt im Lager?"),
    ("other", "Was bringt mir das?"),
    ("yes_no", "Was the office closed?"),
    ("yes_no", "Was payment made in time?"),
    ("yes_no", "Ist der Laden offen?"),
    ("price", "¿Cuánto cuesta el plan?"),
    ("step", "How do I reset the gateway?"),
    ("step", "Wie kann ich das Gerät zurücksetzen?"),
    ("step", "¿Cómo reinicio el equipo?"),
    ("yes_no", "Can I return opened hardware?"),
    ("yes_no", "Is overtime paid?"),
    ("yes_no", "Darf ich im Ausland arbeiten?"),
    ("yes_no", "¿Puedo devolver el equipo?"),
    ("definition", "What is a gateway?"),
    ("definition", "Was ist ein Gateway?"),
    ("other", "Tell me about the gateway"),
    ("duration", "How long must people who travel wait?"),
    ("amount", "Wie viel bekommt, wer mit dem Rad fährt?"),
    ("other", "Which rooms are there where I can eat?"),
    ("person", "How long is it and who signs it?"),
    ("person", "Do you know who signs it?"),
    ("person", "The gate was left open. Who locks it?"),
    ("person", "who approves it? (cost of a refund)"),
]

HOLDING: list[tuple[AnswerType, str]] = [
    ("duration", "Refunds are paid within 5 business days."),
    ("duration", "It takes two weeks."),
    ("duration", "Die Erstattung dauert fünf Tage."),
    ("duration", "El reembolso tarda 5 días."),
    ("date", "The office opened on 3 May 2021."),
    ("date", "Am 1. Mai öffnet das Büro."),
    ("date", "Abre el lunes."),
    ("amount", "The Pro plan is 49 €."),
    ("amount", "Der Tarif ist kostenlos."),
    ("person", "Travel is approved by Anna Berger."),
    ("person", "Your manager approves it."),
    ("person", "Anna approves it."),
    ("person", "It was sold to the Merkits."),
    ("person", "Die Buchhaltung zahlt es aus."),
    ("person", "Den Antrag genehmigt die Teamleitung."),
    ("date", "It is due within 5 days of delivery."),
    ("date", "Spätestens 14 Tage vor Beginn."),
    ("date", "A note is needed from the fourth calendar day on."),
    ("date", "He was elected in 1186."),
    ("place", "The river flows through the Rhine Gorge."),
    ("place", "Spare parts are kept in Room 4."),
    ("step", "Hold the button for ten seconds."),
    ("step", "Drücken und das Formular ausfüllen."),
    ("yes_no", "Opened hardware can be returned."),
    ("yes_no", "Das ist nicht erlaubt."),
    ("yes_no", "No está permitido."),
    ("definition", "A gateway is a device that joins two nets."),
    ("reason", "It failed because the disk was full."),
    ("reason", "Der Dienst fiel aus, weil die Platte voll war."),
    ("reason", "Falló porque el disco estaba lleno."),
    ("code", "Set retry_max in the file."),
    ("other", "Anything at all."),
    ("other", ""),
]

LACKING: list[tuple[AnswerType, str]] = [
    ("duration", "Refunds are handled by the finance team."),
    ("duration", "Die Erstattung übernimmt die Buchhaltung."),
    ("date", "The office is bright."),
    ("amount", "The plan has a price."),
    ("person", "it is approved in the portal"),
    ("person", "A first appointment takes 45 minutes."),
    ("person", "Der Antrag dauert fünf Tage."),
    ("date", "Niemand leistet mehr als 7 Tage Rufbereitschaft im Monat."),
    ("date", "Recordings have 30 minutes each."),
    ("reason", "The disk was full."),
    ("code", "Set it in the file."),
]


@pytest.mark.parametrize(("kind", "question"), QUESTIONS)
def test_reads_what_a_question_asks_for(kind: AnswerType, question: str) -> None:
    assert expected_type(question) == kind


@pytest.mark.parametrize(("kind", "sentence"), HOLDING)
def test_finds_the_kind_in_a_sentence_that_holds_it(kind: AnswerType, sentence: str) -> None:
    assert holds_type(sentence, kind)


@pytest.mark.parametrize(("kind", "sentence"), LACKING)
def test_does_not_find_the_kind_in_a_sentence_without_it(kind: AnswerType, sentence: str) -> None:
    assert not holds_type(sentence, kind)


def test_a_month_or_a_day_is_no_person() -> None:
    assert not holds_type("The tank is emptied in April and on Mondays.", "person")
    assert holds_type("The tank is emptied by April Smith.", "person")
