"""Filters are typed values: no request can say more than "this key is one of these"."""

from typing import Any

import pytest

from ingest.errors import InvalidFilter
from ingest.filters import FILTER_KEYS, MAX_VALUES, Condition, Filters, filter_value, parse_filters
from tests.fakes import a_chunk

HOSTILE_VALUES = ["x' || tenant == 'y", '") or true', '{"$ne": ""}', "*", "", "\x00"]


def test_a_scalar_and_a_list_become_conditions() -> None:
    assert parse_filters({"language": "en", "version": ["2", 3]}) == Filters(
        [Condition("language", ["en"]), Condition("version", ["2", "3"])]
    )
    assert parse_filters({}) == Filters()


@pytest.mark.parametrize("key", ["tenant", "acl", "knowledge_base", "text", "$or", "", "Language"])
def test_only_known_keys_are_filters(key: str) -> None:
    with pytest.raises(InvalidFilter, match="language"):
        parse_filters({key: "x"})


@pytest.mark.parametrize(
    "value",
    [{"$ne": ""}, [{"$ne": ""}], [["en"]], None, [None], True, [False], 1.5, [], ("en",), b"en"],
)
def test_anything_but_text_and_whole_numbers_is_refused(value: Any) -> None:
    with pytest.raises(InvalidFilter):
        parse_filters({"language": value})


def test_the_number_of_values_is_bounded() -> None:
    parse_filters({"language": ["en"] * MAX_VALUES})
    with pytest.raises(InvalidFilter):
        parse_filters({"language": ["en"] * (MAX_VALUES + 1)})


def test_an_error_does_not_repeat_a_long_key() -> None:
    with pytest.raises(InvalidFilter) as error:
        parse_filters({"k" * 5_000: "x"})
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("value", HOSTILE_VALUES)
def test_a_hostile_value_admits_nothing_else(value: str) -> None:
    filters = parse_filters({"language": value})
    assert not filters.admit(a_chunk("a", metadata={"language": "en"}))
    assert not filters.admit(a_chunk("a"))
    assert filters.admit(a_chunk("a", metadata={"language": value}))


def test_exclusion_admits_what_has_no_value() -> None:
    old = Condition("status", ["superseded", "draft"], exclude=True)
    assert not old.admits("draft")
    assert old.admits("current")
    assert old.admits(None)


def test_all_conditions_must_hold() -> None:
    english = Filters([Condition("language", ["en"])])
    both = english + Filters([Condition("status", ["draft"], exclude=True)])
    assert both.admit(a_chunk("a", metadata={"language": "en", "status": "current"}))
    assert not both.admit(a_chunk("a", metadata={"language": "en", "status": "draft"}))
    assert not both.admit(a_chunk("a", metadata={"language": "de", "status": "current"}))


def test_the_document_id_comes_from_the_chunk_and_not_from_its_metadata() -> None:
    chunk = a_chunk("a", document_id="real", metadata={"document_id": "forged"})
    assert filter_value(chunk, "document_id") == "real"
    assert set(FILTER_KEYS) == {"document_id", "language", "version", "status"}


@pytest.mark.parametrize(
    ("key", "bounds", "inside", "outside"),
    [
        ("effective", {"from": "2024-01-01"}, ["2024-01-01", "2025-06-30"], ["2023-12-31"]),
        ("effective", {"to": "2024-01-01"}, ["2024-01-01"], ["2024-01-02", "2024", "soon", ""]),
        ("version", {"from": "2", "to": 10}, ["2", "2.0", "v3.1", "10"], ["1.9", "10.1", "two"]),
    ],
)
def test_a_range_holds_both_its_ends(
    key: str, bounds: dict[str, Any], inside: list[str], outside: list[str]
) -> None:
    filters = parse_filters({key: bounds})
    assert [v for v in inside if not filters.admit(a_chunk("a", metadata={key: v}))] == []
    assert [v for v in outside if filters.admit(a_chunk("a", metadata={key: v}))] == []
    assert not filters.admit(a_chunk("a"))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("effective", {}),
        ("effective", {"from": "yesterday"}),
        ("effective", {"from": "2025-02-29"}),
        ("effective", {"from": ["2024-01-01"]}),
        ("effective", {"$gte": "2024-01-01"}),
        ("effective", {"from": None}),
        ("effective", "2024-01-01"),
        ("version", {"from": "x' || 1"}),
        ("version", {"to": "9" * 5_000}),
        ("language", {"from": "a"}),
    ],
)
def test_what_is_no_range_is_refused(key: str, value: Any) -> None:
    with pytest.raises(InvalidFilter):
        parse_filters({key: value})


def test_a_reader_is_told_values_or_both_ends() -> None:
    both = {"from": "2024-01-01", "to": "2024-12-31"}
    filters = parse_filters({"effective": both, "version": {"from": 2}, "language": ["en", "de"]})
    assert [c.within for c in filters.conditions] == [
        "2024-01-01..2024-12-31", "2..", "en / de",
    ]  # fmt: skip
