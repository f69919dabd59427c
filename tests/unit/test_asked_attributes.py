"""Attributes that a question asks for, and the sentences that have one, in three languages."""

from datetime import date, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.answer_type import asks_of_several, expected_type, holds_type
from nodes.answer_words import AnswerType

QUESTIONS: list[tuple[AnswerType, str]] = [
    ("price", "How much do I have to pay for parking?"),
    ("price", "What is the monthly fee?"),
    ("price", "How much is the learning budget?"),
    ("price", "Wie hoch ist die Kaution?"),
    ("price", "Wie teuer ist ein Stellplatz?"),
    ("price", "¿Cuánto cuesta la entrada?"),
    ("password", "What is the Wi-Fi password?"),
    ("password", "Wie lautet das Passwort für das Gäste-WLAN?"),
    ("password", "¿Cuál es la contraseña?"),
    ("pin", "What is the door code?"),
    ("pin", "Welchen Code hat das Tor?"),
    ("phone", "What is the phone number of the night desk?"),
    ("phone", "Wie lautet die Durchwahl der Werkstatt?"),
    ("phone", "¿Cuál es el número de teléfono de la recepción?"),
    ("email", "Which e-mail address do invoices go to?"),
    ("email", "Wie lautet die E-Mail-Adresse der Buchhaltung?"),
    ("frequency", "How often is the alarm tested?"),
    ("frequency", "Wie häufig wird geprüft?"),
    ("frequency", "¿Cada cuánto se revisa?"),
    ("price", "What does a canoe cost per hour?"),
    ("price", "What do you charge for parking?"),
    ("price", "Welcher Preis gilt für Kinder?"),
    ("price", "Wie hoch ist die Gebühr für ein Kanu?"),
    ("price", "¿Cuál es el precio de la entrada?"),
    ("password", "Which password opens the guest network?"),
    ("password", "What's the passphrase of the archive?"),
    ("password", "Welches Passwort hat das WLAN?"),
    ("password", "Was ist das WLAN-Kennwort?"),
    ("pin", "What is the PIN of the safe?"),
    ("pin", "What's the code for the bike shed?"),
    ("pin", "Which code opens the gate?"),
    ("pin", "Wie lautet die PIN?"),
    ("pin", "Was ist der Türcode?"),
    ("pin", "¿Cuál es el código de la puerta?"),
    ("phone", "Which number do I call at night?"),
    ("phone", "What is the phone extension of the workshop?"),
    ("phone", "What is the emergency number?"),
    ("phone", "Welche Telefonnummer hat die Pforte?"),
    ("phone", "Unter welcher Nummer erreiche ich die Wache?"),
    ("email", "What is the email of the library?"),
    ("email", "Welche Mailadresse hat die Bibliothek?"),
    ("email", "¿Cuál es el correo electrónico de la biblioteca?"),
    ("frequency", "How many times a year is it cleaned?"),
    ("frequency", "In welchen Abständen wird geprüft?"),
    ("frequency", "¿Con qué frecuencia se limpia?"),
]
ALIKE: list[tuple[AnswerType, str]] = [
    ("password", "What is the password policy?"),
    ("password", "What is the minimum password length?"),
    ("password", "What are the rules for passwords?"),
    ("pin", "What is the code of conduct?"),
    ("pin", "What about the PIN of the gateway?"),
    ("pin", "What does the error code E-4102 mean?"),
    ("price", "Which cost centre do I book it on?"),
    ("frequency", "How long are the courses?"),
    ("phone", "May I use my phone at work?"),
    ("email", "How do I set up e-mail?"),
    ("password", "How long must a password be?"),
    ("password", "How often must the password be changed?"),
    ("password", "Which password manager do we use?"),
    ("password", "What is the password expiry period?"),
    ("password", "Wie lautet die Passwort-Richtlinie?"),
    ("password", "Welche Länge muss ein Passwort haben?"),
    ("password", "Wer setzt mein Passwort zurück?"),
    ("pin", "What is the dress code?"),
    ("pin", "Which error code is shown?"),
    ("pin", "Welcher Fehlercode erscheint?"),
    ("pin", "Where is the code of the gateway stored?"),
    ("price", "What is the cost center of the workshop?"),
    ("price", "Welche Kostenstelle gilt?"),
    ("price", "Who pays the costs?"),
    ("price", "How much time do I have to pay?"),
    ("phone", "What is the phone policy?"),
    ("phone", "Who pays for my mobile phone?"),
    ("phone", "How many phones are there?"),
    ("email", "What is the e-mail policy?"),
    ("email", "How long are e-mails kept?"),
    ("email", "Welche E-Mail-Regeln gelten?"),
    ("frequency", "Wie lange dauert eine Prüfung?"),
]
HELD: list[tuple[AnswerType, str]] = [
    ("price", "A night costs 84 euros."),
    ("price", "Breakfast is included."),
    ("price", "Ein Platz kostet CHF 12.50 am Tag."),
    ("price", "Price: 39"),
    ("password", "The password of the guest network is pinecone."),
    ("password", "Passwort: Tannenzapfen"),
    ("pin", "The code of the gate is 2580."),
    ("pin", "Enter 4711 at the key box."),
    ("phone", "Call +49 341 550134 at night."),
    ("phone", "The night desk answers on extension 17."),
    ("email", "Write to accounts@example.org."),
    ("frequency", "Fire drills are held monthly."),
    ("frequency", "The filter is changed every two weeks."),
    ("frequency", "Das Tor wird zweimal im Jahr geprüft."),
    ("duration", "It takes two weeks."),
    ("date", "The treasurer pays invoices on the 15th."),
    ("date", "Rechnungen werden am 15. bezahlt."),
    ("price", "Kinder zahlen 4,50 €."),
    ("price", "Der Eintritt ist kostenlos."),
    ("price", "La entrada cuesta 5 euros."),
    ("password", "Use the password “pinecone” to log in."),
    ("password", "Password: hunter2"),
    ("password", "Das Passwort lautet Tannenzapfen."),
    ("password", "La contraseña es girasol."),
    ("pin", "PIN: 4711"),
    ("pin", "Die PIN lautet 4711."),
    ("pin", "El código es 2580."),
    ("pin", "Type 0815# on the keypad."),
    ("phone", "Tel. (030) 123-4567"),
    ("phone", "Telefon: 0341/550134"),
    ("phone", "In an emergency dial 112."),
    ("phone", "Sie erreichen uns unter 0341 55 01 34."),
    ("email", "E-Mail: wald@camp.example"),
    ("frequency", "Boats are checked once a year."),
    ("frequency", "It is cleaned daily."),
    ("frequency", "Jeden Montag wird geputzt."),
    ("frequency", "El filtro se cambia cada dos semanas."),
]
LACKED: list[tuple[AnswerType, str]] = [
    ("price", "Canoes can be borrowed for two hours."),
    ("price", "The desk opens at 8:00."),
    ("price", "Lessons for the two offices do not touch your budget."),
    ("password", "The network is called Camp-Guest."),
    ("password", "You need a password to log in."),
    ("pin", "The key hangs in a box beside the door."),
    ("pin", "You may enter from 15:00."),
    ("phone", "The front desk opens at 8 and closes at 20:00."),
    ("phone", "It was built on 2021-05-04."),
    ("email", "Write to the front desk."),
    ("pin", "The code of the alarm is changed every quarter."),
    ("password", "The password is not written down."),
    ("password", "Das Passwort ist im Büro erhältlich."),
    ("date", "We repaired 15 boats."),
    ("frequency", "The course takes 12 hours."),
    ("duration", "Fire drills are held monthly."),
    ("duration", "Kurse werden monatlich angekündigt."),
    ("price", "A price list hangs in the hall."),
    ("price", "The fee is due on 3 May."),
    ("price", "Der Preis wird jedes Jahr neu festgelegt."),
    ("password", "A password is needed."),
    ("password", "The password must be changed every 90 days."),
    ("password", "The password is required for the guest network."),
    ("password", "Passwords have at least 12 characters."),
    ("password", "Das Passwort ist erforderlich."),
    ("pin", "The PIN has four digits."),
    ("pin", "Die PIN hat vier Ziffern."),
    ("pin", "It was built in 1998."),
    ("pin", "A night costs 120 euros."),
    ("pin", "The hall seats 250 people."),
    ("phone", "We counted 1,840 visitors in 2024."),
    ("phone", "Der Umsatz betrug 1.840.500 Euro."),
    ("phone", "The plan covers 2019-2024."),
    ("phone", "The phone is charged in 20 minutes."),
    ("phone", "Call the front desk."),
    ("email", "Follow us @camp."),
    ("email", "Write an e-mail to the front desk."),
    ("frequency", "The check takes an hour."),
    ("frequency", "Tickets cost 9 euros per person."),
    ("frequency", "Die Prüfung dauert eine Stunde."),
    ("duration", "It is checked every week."),
    ("duration", "Se revisa mensualmente."),
]


@pytest.mark.parametrize(("kind", "question"), QUESTIONS)
def test_reads_which_attribute_is_asked_for(kind: AnswerType, question: str) -> None:
    assert expected_type(question) == kind


@pytest.mark.parametrize(("kind", "question"), ALIKE)
def test_what_merely_names_the_attribute_does_not_ask_for_it(
    kind: AnswerType, question: str
) -> None:
    assert expected_type(question) != kind


@pytest.mark.parametrize(("kind", "sentence"), HELD)
def test_a_sentence_that_has_it(kind: AnswerType, sentence: str) -> None:
    assert holds_type(sentence, kind)


@pytest.mark.parametrize(("kind", "sentence"), LACKED)
def test_a_sentence_that_lacks_it(kind: AnswerType, sentence: str) -> None:
    assert not holds_type(sentence, kind)


@pytest.mark.parametrize(
    ("question", "sentence", "holds"),
    [
        ("How many pitches are there?", "A pitch is 14 € a night, one for a van 26 €.", False),
        ("How many pitches are there?", "There are 40 pitches at 14 € a night.", True),
        ("How many devices may I use?", "Streaming is limited to one device.", True),
        ("How many euros is a pitch?", "A pitch is 14 € a night.", True),
    ],
)
def test_a_price_is_no_count(question: str, sentence: str, holds: bool) -> None:
    assert holds_type(sentence, "amount", question) == holds


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("How long do we keep tickets and recordings?", True),
        ("Was kosten Kanus oder Ruderboote?", True),
        ("How long do we keep tickets?", False),
    ],
)
def test_what_joins_things_may_ask_of_several(question: str, several: bool) -> None:
    assert asks_of_several(question) == several


@given(
    st.dates(date(1950, 1, 1), date(2050, 1, 1)),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%d. %m. %Y"]),
)
def test_a_date_is_no_phone_number(day: date, form: str) -> None:
    assert not holds_type(f"The hall was opened on {day.strftime(form)}.", "phone")


@given(st.times(), st.sampled_from(["It opens at {}.", "Geöffnet ab {} Uhr.", "From {} on."]))
def test_a_time_is_no_code_and_no_phone_number(at: time, sentence: str) -> None:
    text = sentence.format(at.strftime("%H:%M"))
    assert not holds_type(text, "pin")
    assert not holds_type(text, "phone")


@given(st.from_regex(r"\A(?:\+49 |0)[1-9]\d\d[ /-]?\d{3} ?\d{3}\Z".replace(r"\d", "[0-9]")))
def test_a_phone_number_is_found_however_it_is_spaced(number: str) -> None:
    assert holds_type(f"The night desk has {number}.", "phone")
    assert not holds_type(f"The night desk has {number}.", "email")
