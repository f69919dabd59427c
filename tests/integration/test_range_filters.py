"""A range of dates or versions limits what a search finds, whatever the store."""

from pathlib import Path
from typing import Any

import pytest

from ingest.filters import parse_filters
from ingest.scope import LOCAL
from tests.corpus import BASE, open_corpus
from tests.fakes import HashingEmbedder

RULES = {"old": ("2023-05-01", "1"), "new": ("2024-05-01", "2.1"), "next": ("2026-01-01", "10")}


def a_rule(effective: str, version: str) -> str:
    head = f"---\neffective: {effective}\nversion: '{version}'\n---\n"
    return f"{head}# Travel\n\nTrains are booked in second class.\n"


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ({"effective": {"from": "2024-01-01", "to": "2025-12-31"}}, {"new"}),
        ({"version": {"from": 2}}, {"new", "next"}),
        ({"version": {"to": 2}, "effective": {"from": "2020-01-01"}}, {"old"}),
        ({"effective": {"from": "2030-01-01"}}, set()),
    ],
)
async def test_a_search_finds_what_is_within(
    store_path: Path, embedder: HashingEmbedder, raw: dict[str, Any], found: set[str]
) -> None:
    async with open_corpus(store_path / "crag", embedder) as corpus:
        for name, (effective, version) in RULES.items():
            await corpus.upload(f"{name}.md", a_rule(effective, version))
        await corpus.upload("undated.md", "# Travel\n\nTrains are booked early.\n")
        candidates = await corpus.index.search(
            LOCAL, BASE, "trains", ["trains"], limit=10, filters=parse_filters(raw)
        )
    assert {c.chunk.metadata["source"].removesuffix(".md") for c in candidates} == found
