"""Sentences end where a reader says so, in English, German and Chinese, and never cost much."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sentences import sentence_spans


def units(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith met J. R. R. Tolkien and John F. Kennedy in St. Petersburg.",
        "It costs approx. 3.5 EUR, e.g. for v2.1, i.e. less than 1.234,56 vs. before.",
        "See config.toml, https://a.example/b.html?x=1.5 and sync.retry_max for more.",
        "See Fig. 3, No. 5, p. 12 and Sec. 2 of max. 10 pages, et al. 2019 included.",
        "Das gilt z. B. für Nr. 5 bzw. den 14. März, d. h. ab dem 1. Mai.",
        "Am 3. Tag und im 2. Quartal, i. d. R. mit ca. 5 Mio. Euro, vgl. Abs. 2.",
        "He lives in the U.S. Government district.",
        '"Why?" he asked.',
        "Use Yahoo! to search.",
        "Wait ... then go.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(sentence: str) -> None:
    assert units(f"{sentence} Next one.") == [sentence, "Next one."]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Really?", "Yes!", "Well…", "It is."],
        ['He said "Stop."', "(Then he went.)", "Wiki.[12]", "End."],
        ["The limit is 5.", "sync.interval is 3.", "macOS too.", "v2 as well."],
        ["In Version 5.", "Danach nicht.", "Seit 2019.", "Nie mehr."],
        ["He said no.", "At the max.", "Then nothing."],
        ["»Ja.«", "„Nein.“", "Gut."],
        ["Set `a.b`.", "Read crag.py.", "Done."],
    ],
)
def test_sentences_are_told_apart(sentences: list[str]) -> None:
    assert units(" ".join(sentences)) == sentences


def test_chinese_and_japanese_need_no_space() -> None:
    assert units("他来了。你好！「真的？」是。") == ["他来了。", "你好！", "「真的？」", "是。"]


def test_a_list_item_is_split_into_its_sentences_but_not_at_its_number() -> None:
    assert units("1. First. Second.\n  - Third") == ["1. First.", "Second.", "- Third"]


def test_a_table_row_is_one_unit() -> None:
    row = "Plan: Pro | Note: Since May. Incl. tax. | Seats: 5"
    assert units(f"{row}\n{row}") == [row, row]


def test_lines_are_units_unless_the_sentence_goes_on() -> None:
    text = "Heading\n\nA wrapped line that\ngoes on here. And\nnot: here\nNew line"
    expected = ["Heading", "A wrapped line that\ngoes on here.", "And\nnot: here", "New line"]
    assert units(text) == expected


def test_nothing_gives_nothing() -> None:
    assert sentence_spans("") == sentence_spans(" \n\t") == []


@given(st.text(alphabet=st.sampled_from("ab Z1.!?…。|\n\t-\"')(»[]é\u00a0\u2028"), max_size=80))
def test_spans_are_in_order_and_cover_all_but_white_space(text: str) -> None:
    end = 0
    for start, following_end in sentence_spans(text):
        assert not text[end:start].strip()
        assert start < following_end
        assert text[start:following_end] == text[start:following_end].strip()
        end = following_end
    assert not text[end:].strip()


@pytest.mark.parametrize("unit", ["a", ".", "a ", ".)", "\n", " ", "| ", '"', "- ", "[1]", "。"])
def test_a_megabyte_takes_less_than_a_second(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()
    sentence_spans(text)
    assert time.process_time() - started < 1
