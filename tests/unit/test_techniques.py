"""The registry of techniques: every switch is a setting that changes something."""

import pytest

from eval.ablation_report import report, table
from eval.techniques import TECHNIQUES, Technique, named, with_overrides
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError

NAMES = [technique.name for technique in TECHNIQUES]


@pytest.mark.parametrize("technique", TECHNIQUES, ids=NAMES)
def test_one_side_is_the_default_and_the_other_is_not(technique: Technique) -> None:
    plain = GraphSettings()
    on, off = (with_overrides(plain, side) for side in (technique.on, technique.off))
    if technique.needs == "web":  # a base opts in; no setting does
        assert on == off == plain and not technique.shipped
        return
    assert on != off
    assert plain in (on, off)
    assert technique.shipped == (on == plain)
    assert technique.on.keys() == technique.off.keys()


def test_names_are_unique_and_each_says_when_to_use_it() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(technique.when.endswith(".") for technique in TECHNIQUES)


def test_named_keeps_the_registry_order_and_refuses_what_is_unknown() -> None:
    assert [t.name for t in named("bm25, dense", searches_alone=True)] == ["dense", "bm25"]
    assert {t.changes for t in named(None, searches_alone=True)} == {"search"}
    assert named(None, searches_alone=False) == list(TECHNIQUES)
    with pytest.raises(ConfigurationError, match=f"unknown technique 'bm52'; known: {NAMES[0]}, "):
        named("bm52", searches_alone=True)


def test_the_gain_is_paired_and_leaves_out_what_one_side_lacks() -> None:
    """Question 3 has no value off, question 2 no hit@1 on: by hand .5 over two questions."""
    on = {
        1: {"nDCG@10": 1.0, "hit@1": 1.0, "ms": 30.0, "usd": 0.2, "chat_calls": 2.0},
        2: {"nDCG@10": 0.5, "ms": 50.0},
        3: {"nDCG@10": 1.0, "ms": 10.0},
    }
    off = {
        1: {"nDCG@10": 0.5, "hit@1": 0.0, "ms": 10.0},
        2: {"nDCG@10": 0.0, "hit@1": 1.0, "ms": 20.0},
    }
    made = report(*named("dense", searches_alone=True), on, off)
    assert made["n"] == 2
    assert made["gain"]["nDCG@10"] == {
        "on": 0.75, "off": 0.25, "difference": 0.5, "interval": [0.5, 0.5], "n": 2,
    }  # fmt: skip
    assert (made["gain"]["hit@1"]["difference"], made["gain"]["hit@1"]["n"]) == (1.0, 1)
    assert (made["added_ms"], made["added_chat_calls"], made["added_usd"]) == (25.0, 1.0, 0.1)
    assert not {"ms", "usd", "chat_calls"} & made["gain"].keys()
    done = {"dataset": "tiny", "n": 3, "techniques": [made], "left_out": {"web": "why"},
        "errors": ["q3: gone"]}  # fmt: skip
    lines = table(done)
    assert lines[4].startswith("| dense | on | +0.500 [+0.500, +0.500] | +1.000 [")
    assert lines[4].endswith("| - | +25.0 | +1.00 | +0.10000 |")
    assert lines[-2:] == ["left out: web: why", "error: q3: gone"]
