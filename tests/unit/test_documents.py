"""Ids: the same for the same thing anywhere, and different for different things."""

import uuid

from ingest.documents import chunk_id, document_id, quote_sha256, revision_id
from tests.fakes import a_chunk


def test_ids_are_the_same_on_every_machine() -> None:
    document = document_id("local", "handbook", "policies/refunds.md")
    assert document == "6161e0fee80c5bf399f4f12808497ed6"
    assert revision_id("ab" * 32, "pipeline-1") == "d55d1df1cc6834cb"
    assert chunk_id(document, "r", 0) == "73ecc879-99b6-53fa-a79b-fc4bc0ce1f02"


def test_each_part_of_an_id_counts() -> None:
    ids = {
        document_id("t", "kb", "a"),
        document_id("u", "kb", "a"),
        document_id("t", "kc", "a"),
        document_id("t", "kb", "b"),
        document_id("tk", "b", "a"),
    }
    assert len(ids) == 5
    assert len({revision_id(*pair) for pair in [("a", "b"), ("b", "b"), ("a", "c")]}) == 3
    assert len({chunk_id(*three) for three in [("d", "r", 1), ("d", "r", 2), ("d", "s", 1)]}) == 3


def test_a_chunk_id_is_a_uuid() -> None:
    assert str(uuid.UUID(chunk_id("d", "r", 10**77))) == chunk_id("d", "r", 10**77)


def test_a_quote_has_the_hash_of_its_utf_8() -> None:
    assert quote_sha256("ä") == "33e6d73fee82904c8d7afb78de1154d1e8dc2a0edb08120e63df5b9385c2d9cc"


def test_a_chunk_is_embedded_with_its_title_and_heading() -> None:
    chunk = a_chunk("Refunds", "Within 5 days.", heading="Money > Back")
    assert chunk.embedded_text == "Refunds > Money > Back\nWithin 5 days."
    assert a_chunk("Refunds", "Within 5 days.").embedded_text == "Refunds\nWithin 5 days."
    assert a_chunk("x", "Within 5 days.", title="").embedded_text == "Within 5 days."
