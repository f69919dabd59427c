"""Chunks in memory: bounded, and never older than what was written."""

from uuid import UUID

from ingest.adapters.chunk_cache import ChunkCache
from tests.fakes import a_chunk

ONE, TWO, THREE = (UUID(int=n) for n in (1, 2, 3))


def test_gives_what_it_keeps_and_only_of_that_shard() -> None:
    cache = ChunkCache(10)
    cache.keep_written("a", {ONE: a_chunk("one")})
    assert cache.get("a", [ONE, TWO]) == {ONE: a_chunk("one")}
    assert cache.get("b", [ONE]) == {}


def test_the_oldest_go_when_it_is_full() -> None:
    cache = ChunkCache(2)
    for point in (ONE, TWO, THREE):
        cache.keep_written("a", {point: a_chunk(str(point.int))})
    assert set(cache.get("a", [ONE, TWO, THREE])) == {TWO, THREE}
    assert cache.room == 0


def test_what_was_read_before_a_write_is_not_kept() -> None:
    cache = ChunkCache(10)
    before = cache.writes
    cache.keep_written("a", {ONE: a_chunk("one", "new")})
    cache.keep_read("a", {ONE: a_chunk("one", "old")}, as_of=before)
    assert cache.get("a", [ONE])[ONE].text == "new"


def test_a_forgotten_chunk_is_gone() -> None:
    cache = ChunkCache(10)
    cache.keep_written("a", {ONE: a_chunk("one"), TWO: a_chunk("two")})
    cache.forget("a", [ONE])
    assert set(cache.get("a", [ONE, TWO])) == {TWO}
    cache.forget_shard("a")
    assert cache.get("a", [TWO]) == {}


def test_of_size_0_it_keeps_nothing() -> None:
    cache = ChunkCache(0)
    cache.keep_written("a", {ONE: a_chunk("one")})
    assert cache.get("a", [ONE]) == {}
