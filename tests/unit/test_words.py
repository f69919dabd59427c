"""Words, stems, literals and languages."""

import pytest

from nodes.words import (
    content_words,
    guess_language,
    literals,
    stem,
    stems,
    without_capitals,
    words,
)


def test_words_are_lower_case_and_in_order() -> None:
    assert words("The Customer's e-mail: Straße, año 2024!") == [
        "the",
        "customer",
        "e",
        "mail",
        "straße",
        "año",
        "2024",
    ]
    assert words("… — !?") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How long do refunds take? Refunds!", "refunds"),
        ("Wie lange dauert die Erstattung?", "erstattung"),
        ("¿Cuánto tiempo tarda el reembolso?", "reembolso"),
    ],
)
def test_content_words_leave_out_what_carries_no_meaning(text: str, expected: str) -> None:
    found = content_words(text)
    assert expected in found
    assert len(found) == len(set(found))
    assert not {"how", "wie", "die", "el", "do"} & set(found)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "refunds", "refund"),
        ("en", "returned", "returning"),
        ("de", "erstattungen", "erstattung"),
        ("es", "reembolsos", "reembolso"),
    ],
)
def test_forms_of_a_word_share_a_stem(language: str, one: str, other: str) -> None:
    assert stem(one, language) == stem(other, language)


def test_a_word_with_a_digit_is_not_stemmed() -> None:
    assert stem("v2s") == "v2s"
    assert stems("E4102s errors", "en")[0] == "e4102s"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What does E-4102 mean?", ["E-4102"]),
        ("Fix PROJ-123, PROJ-123 again", ["PROJ-123"]),
        ("set sync.retry_max to 3", ["sync.retry_max"]),
        ("retry_max or api/v1", ["retry_max", "api/v1"]),
        ("upgrade from 3.2.1 to v4.0", ["3.2.1", "v4.0"]),
        ("the V2a board and the VPN", ["V2a", "VPN"]),
        ("run it with --force", ["--force"]),
        ("nothing special here", []),
        ("", []),
    ],
)
def test_literal_tokens_are_found_as_they_are_written(text: str, expected: list[str]) -> None:
    assert literals(text) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How long do refunds take?", "en"),
        ("Wie lange dauert eine Erstattung?", "de"),
        ("Urlaub für Eltern", "de"),
        ("¿Cuánto tarda un reembolso?", "es"),
        ("qué dice la política de la empresa", "es"),
        ("que documentos necesito para el viaje", "es"),
        ("Combien de temps prend un remboursement ?", "en"),
        ("Qu'est-ce que le plan Pro ?", "en"),
        ("Quanto costa il piano Pro?", "en"),
        ("Hoe lang duurt een terugbetaling?", "en"),
        ("VPN", "en"),
        ("", "en"),
        ("退款需要多长时间", "en"),
    ],
)
def test_guesses_the_language(text: str, language: str) -> None:
    assert guess_language(text) == language


@pytest.mark.parametrize(
    ("shouted", "plain"),
    [
        ("WHEN IS THE REFUND PAID?", "when is the refund paid?"),
        ("WHAT DOES E-4102 MEAN HERE?", "what does E-4102 mean here?"),
        ("VPN IT SLA", "VPN IT SLA"),
        ("What does the SLA say?", "What does the SLA say?"),
    ],
)
def test_shouted_words_are_read_as_words(shouted: str, plain: str) -> None:
    assert without_capitals(shouted) == plain
