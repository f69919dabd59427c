"""Secrets and addresses are masked wherever a run is written down; answers are not."""

import logging
import sys
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from api.request_id import MaskedLine
from nodes.masking import masked, masked_json

SECRETS = {
    "anna.berger+x@example.co.uk": "[e-mail]",
    "sk-proj-abcdefghijklmnop1234": "[secret]",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a": "[secret]",
    "AKIAIOSFODNN7EXAMPLE": "[secret]",
    f"crag_0123456789ab_{'aB3-_' * 9}": "[secret]",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl": "[secret]",
    "Bearer 3f9a7c1e5b2d8f60a1": "Bearer [secret]",
    "https://ada:hunter2@example.org/x": "https://[secret]@example.org/x",
    "password: hunter2": "password: [secret]",
    "Passwort=geheim": "Passwort=[secret]",
    '{"api_key": "abc"}': '{"api_key": "[secret]"}',
    "DE89 3704 0044 0532 0130 00": "[IBAN]",
    "4111 1111 1111 1111": "[card]",
    "-----BEGIN PRIVATE KEY-----\nProc-Type: 4\nMIIB\n-----END PRIVATE KEY-----": "[secret]",
}
HARMLESS = [
    "Skandinavienreisen und Skateboardverleih kosten 12 Euro.",
    "How do I reset my password?",
    "A token bucket holds 10 tokens.",
    "Order 4111 1111 1111 1112 and part DE89 3704 0044 0532 0130 01 are no such numbers.",
    "Released on 2026-05-14 at 10:30, version 3.2.1, 192.168.10.20:8080.",
    "The bearer identification form; basic troubleshooting steps.",
    "0000 0000 0000 0000",
]


@pytest.mark.parametrize(("secret", "mask"), SECRETS.items())
def test_each_kind_of_secret_is_masked_where_it_stands(secret: str, mask: str) -> None:
    assert masked(f"Why is {secret} refused?") == f"Why is {mask} refused?"


def test_a_key_of_this_service_is_masked_inside_of_a_word_too() -> None:
    key = f"crag_0123456789ab_{'aB3-_' * 9}"
    assert masked(f"my_{key}, sk-proj-abcdefghijklmnop1234{key}") == "my_[secret], [secret]"
    assert masked("crag_0123456789ab is its id") == "crag_0123456789ab is its id"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert masked(text) == text


pieces = st.sampled_from([*SECRETS, "@", "://", "token=", "Bearer ", "a.b", ":", " ", "[e-mail]"])


@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(pieces, st.text(max_size=6)), max_size=8).map("".join))
@example("a@b.c@d.e")
@example("AKIAIOSFODNN7EXAMPLEsk-proj-abcdefghijklmnop1234")
@example("password: password: a@b.de")
def test_masking_twice_is_masking_once_and_adds_little(text: str) -> None:
    once = masked(text)
    assert masked(once) == once
    # The shortest secret is one character, `token=x`, and the longest mask eight.
    assert len(once) <= len(text) + 7 * max(1, len(text) // 3)


def test_ids_stay_whole_and_everything_else_in_a_record_is_masked() -> None:
    record = {
        "revision": "4111111111111111",
        "question": "4111111111111111",
        "document_id": "https://a:b@example.org/",
        "trace": [{"summary": {"queries": ["ask ada@example.org"], "candidates": 3}}],
    }
    assert masked_json(record) == {
        "revision": "4111111111111111",
        "question": "[card]",
        "document_id": "https://[secret]@example.org/",
        "trace": [{"summary": {"queries": ["ask [e-mail]"], "candidates": 3}}],
    }


def test_a_line_of_the_log_is_masked_with_its_traceback() -> None:
    try:
        raise ValueError("no account for ada@example.org")
    except ValueError:
        record = logging.LogRecord(
            "crag", logging.ERROR, "", 0, "asked with %s", ("password=geheim",), sys.exc_info()
        )
    line = MaskedLine("%(message)s").format(record)
    assert line.startswith("asked with password=[secret]\n")
    assert line.endswith("ValueError: no account for [e-mail]")


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "a@b",
        "a@b-",
        "bearer ",
        "://a:",
        "password ",
        "1 ",
        "A1",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_a_long_text_takes_linear_time(piece: str) -> None:
    started = time.perf_counter()
    masked(piece * 5_000)
    assert time.perf_counter() - started < 2
