"""The near-miss pairs are balanced, and nothing as shallow as word overlap tells the twins apart.

`supported` follows from `passage`, `near_miss` says nearly the same and does not. The half of a
pair is the side of its id: "tune" is open, so whoever builds a checker may look at it; "report" is
frozen.
"""

import json
import re
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Literal

import pytest

from eval.datasets import on_side

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "near_misses.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
KINDS = set("role condition direction quantity scope negation time entity modality".split())
TWINS = ("supported", "near_miss")
STOPWORDS = frozenset(
    "a an the of to in on at by for from with and or but is are was were be been has have had it "
    "its that this than as who which der die das den dem des ein eine einen einem einer eines und "
    "oder aber ist sind war waren wird werden wurde wurden hat haben hatte es sich im am auf "
    "an bei zu zum zur von vom mit für nach vor aus als wie dass man er sie".split()
)
NEGATION = re.compile(
    r"\b(no|not|never|neither|nor|nobody|without|nicht|kein\w*|nie|niemand|ohne|weder|nichts)\b",
    re.IGNORECASE,
)
Half = Literal["tune", "report"]


def test_every_pair_has_these_fields_and_a_text_in_each() -> None:
    fields = {"id", "language", "kind", "passage", *TWINS}
    assert all(set(pair) == fields and all(map(str.strip, pair.values())) for pair in PAIRS)


def test_no_id_passage_or_claim_is_there_twice() -> None:
    for field in ("id", "passage"):
        assert len({pair[field] for pair in PAIRS}) == len(PAIRS)
    assert len({plain(claim) for claim in all_claims()}) == 2 * len(PAIRS)


@pytest.mark.parametrize("half", ["tune", "report"])
def test_each_half_has_every_kind_equally_in_both_languages(half: Half) -> None:
    counts = Counter((p["kind"], p["language"]) for p in PAIRS if on_side(p["id"], half))
    assert set(counts) == {(kind, language) for kind in KINDS for language in ("en", "de")}
    assert set(counts.values()) == {7}


def test_no_twin_stands_in_its_passage_word_for_word() -> None:
    assert not [p["id"] for p in PAIRS for twin in TWINS if plain(p[twin]) in plain(p["passage"])]


@pytest.mark.parametrize("stem", [99, 5], ids=["whole words", "first five letters"])
@pytest.mark.parametrize("half", ["tune", "report"])
def test_word_overlap_does_not_tell_the_twins_apart(half: Half, stem: int) -> None:
    own = [pair for pair in PAIRS if on_side(pair["id"], half)]
    supported, near_miss = (
        [overlap(pair[twin], pair["passage"], stem) for pair in own] for twin in TWINS
    )
    assert abs(sum(supported) - sum(near_miss)) / len(own) < 0.05
    assert best_threshold(supported, near_miss) < 0.58
    ahead = sum(good > bad for good, bad in zip(supported, near_miss, strict=True))
    behind = sum(good < bad for good, bad in zip(supported, near_miss, strict=True))
    assert abs(ahead - behind) < 0.1 * len(own)


def test_neither_length_nor_negation_nor_figures_tell_the_twins_apart() -> None:
    for sign in (lambda c: len(c.split()), negated, lambda c: bool(re.search(r"\d", c))):
        supported, near_miss = ([float(sign(pair[twin])) for pair in PAIRS] for twin in TWINS)
        assert best_threshold(supported, near_miss) < 0.58


def test_supported_claims_are_often_negated_and_name_figures_in_another_form() -> None:
    supported = [pair["supported"] for pair in PAIRS]
    assert sum(map(negated, supported)) > len(PAIRS) / 5
    restated = [p for p in PAIRS if figures(p["supported"]) - figures(p["passage"])]
    assert len(restated) >= 20


def test_the_best_threshold_is_the_one_that_errs_least_in_either_direction() -> None:
    assert best_threshold([3.0, 4.0], [1.0, 2.0]) == best_threshold([1.0, 2.0], [3.0, 4.0]) == 1.0
    assert best_threshold([1.0, 2.0], [1.0, 2.0]) == 0.5
    assert best_threshold([1.0, 3.0], [1.0, 2.0]) == 0.75


def best_threshold(supported: list[float], near_miss: list[float]) -> float:
    """The accuracy of the best cut on one figure: no logistic on it alone gets further."""
    claims = len(supported) + len(near_miss)
    right = [
        (sum(v >= cut for v in supported) + sum(v < cut for v in near_miss)) / claims
        for cut in {*supported, *near_miss}
    ]
    return max(chain(right, (1 - share for share in right)))


def overlap(claim: str, passage: str, stem: int) -> float:
    """The part of the claim's content words that the passage has."""
    there = {word[:stem] for word in content_words(passage)}
    words = content_words(claim)
    return sum(word[:stem] in there for word in words) / len(words)


def content_words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.casefold()) if word not in STOPWORDS]


def figures(text: str) -> set[str]:
    return set(re.findall(r"\d[\d.,]*\d|\d", text))


def negated(text: str) -> bool:
    return NEGATION.search(text) is not None


def all_claims() -> list[str]:
    return [pair[twin] for pair in PAIRS for twin in TWINS]


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
