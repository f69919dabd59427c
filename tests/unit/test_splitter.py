"""Passages fit, follow the structure, overlap by sentences and lose nothing."""

import time
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.documents import BlockKind, LoadedDocument
from ingest.loaders import load_bytes
from ingest.loaders.assembly import Assembly
from ingest.splitter import Passage, split


def count_words(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def count_characters(texts: list[str]) -> list[int]:
    return [len(text) for text in texts]


def markdown(text: str) -> LoadedDocument:
    return load_bytes("a.md", text.encode())


def texts(document: LoadedDocument, passages: list[Passage]) -> list[str]:
    return [document.text[passage.start : passage.end] for passage in passages]


def sentences(count: int, first: int = 0) -> str:
    return " ".join(f"Sentence number {n} has six words." for n in range(first, first + count))


def test_each_passage_knows_its_section() -> None:
    document = markdown("# Title\n\nIntro.\n\n## A\n\n" + sentences(8) + "\n\n## B\n\nEnd.")
    passages = split(document, count_words, max_tokens=24, overlap_tokens=0)
    of_a = [passage for passage in passages if passage.heading == "A"]
    assert len(of_a) > 1
    assert {document.text[slice(*passage.section)] for passage in of_a} == {sentences(8)}
    assert all(p.section[0] <= p.start < p.end <= p.section[1] for p in passages)


def test_sections_are_not_mixed_and_know_their_path() -> None:
    document = markdown("# Title\n\nIntro.\n\n## A\n\nOne.\n\n### B\n\n" + sentences(20))
    passages = split(document, count_words)
    assert [passage.heading for passage in passages] == ["", "A", "A > B"]
    assert texts(document, passages)[:2] == ["Intro.", "One."]


def test_the_title_leaves_the_path_only_where_it_is_the_first_heading() -> None:
    document = markdown("---\ntitle: Other\n---\n# Title\n\n## A\n\nOne.")
    assert split(document, count_words)[0].heading == "Title > A"


def test_small_sections_below_level_two_join_under_their_parent() -> None:
    document = markdown("# T\n\n## A\n\nIntro.\n\n### B\n\nOne.\n\n### C\n\nTwo.\n\n## D\n\nEnd.")
    passages = split(document, count_words)
    assert [passage.heading for passage in passages] == ["A", "D"]
    assert texts(document, passages)[0] == "Intro.\n\nB\n\nOne.\n\nC\n\nTwo."


def test_sections_of_different_parents_never_join() -> None:
    document = markdown("## A\n\n### Same\n\nOne.\n\n## A\n\n### Same\n\nTwo.")
    assert texts(document, split(document, count_words)) == ["One.", "Two."]


def test_blocks_are_packed_whole_up_to_the_limit() -> None:
    document = markdown(f"{sentences(3)}\n\n{sentences(3, 3)}\n\n{sentences(3, 6)}")
    passages = split(document, count_words, max_tokens=40, overlap_tokens=0)
    assert texts(document, passages)[0] == f"{sentences(3)}\n\n{sentences(3, 3)}"


def test_a_long_block_is_cut_at_sentences_with_whole_sentences_of_overlap() -> None:
    document = markdown(sentences(10))
    found = texts(document, split(document, count_words, max_tokens=30, overlap_tokens=13))
    assert found[:2] == [sentences(5), sentences(5, 3)]


def test_there_is_no_overlap_between_sections() -> None:
    document = markdown(f"## A\n\n{sentences(4)}\n\n## B\n\n{sentences(4, 4)}")
    first, second = split(document, count_words)
    assert first.end < second.start


def test_a_long_sentence_is_cut_at_words() -> None:
    document = markdown("word " * 100)
    found = texts(document, split(document, count_words, max_tokens=30))
    assert found == [" ".join(["word"] * n) for n in (30, 30, 30, 10)]


def test_a_megabyte_without_a_space_is_cut_in_linear_time() -> None:
    document = markdown("x" * 1_000_000)
    started = time.process_time()
    passages = split(document, count_words)
    assert time.process_time() - started < 3
    assert all(passage.end - passage.start <= 230 * 8 for passage in passages)
    assert [a.end for a in passages[:-1]] == [b.start for b in passages[1:]]


def test_a_heading_with_nothing_under_it_is_found_by_its_text() -> None:
    document = markdown("# T\n\n## Call 112\n\n## Rules\n\nNone.")
    assert texts(document, split(document, count_words)) == ["Call 112", "None."]


def test_the_page_is_that_of_the_first_new_sentence() -> None:
    assembly = Assembly()
    assembly.add("paragraph", sentences(4), page=1)
    assembly.add("paragraph", sentences(4, 4), page=2)
    document = LoadedDocument(assembly.text, "T", "application/pdf", assembly.blocks)
    first, second = split(document, count_words, max_tokens=30, overlap_tokens=6)
    assert (first.page, second.page) == (1, 2)
    assert second.start < document.blocks[1].start


def test_tokens_are_counted_in_at_most_two_calls() -> None:
    calls: list[int] = []

    def counting(texts: list[str]) -> list[int]:
        calls.append(len(texts))
        return count_words(texts)

    split(markdown(f"# A\n\n{sentences(50)}\n\n# B\n\n{'word ' * 500}"), counting)
    assert len(calls) == 2


def test_an_empty_document_has_no_passages() -> None:
    assert split(LoadedDocument("", "T", "text/plain", []), count_words) == []


def test_a_document_without_blocks_is_one_paragraph() -> None:
    document = LoadedDocument("Plain text.", "T", "text/plain", [])
    assert split(document, count_words) == [Passage(0, 11, "", None, (0, 11))]


KINDS: list[BlockKind] = ["heading", "paragraph", "list_item", "table_row", "code"]
TEXT = st.lists(
    st.sampled_from(["a", "word", "End.", "x" * 30, "é", "\n", "| ", "1.", "。"]), max_size=25
).map(" ".join)
BLOCKS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 4), TEXT), max_size=12)


@settings(deadline=None)
@given(
    BLOCKS, st.integers(8, 60), st.integers(0, 20), st.sampled_from([count_words, count_characters])
)
def test_passages_fit_and_lose_nothing(blocks, max_tokens, overlap, count) -> None:  # type: ignore[no-untyped-def]
    assembly = Assembly()
    for kind, level, text in blocks:
        assembly.add(kind, text, level=level if kind == "heading" else 0)
    document = LoadedDocument(assembly.text, "T", "text/plain", assembly.blocks)
    passages = split(document, count, max_tokens=max_tokens, overlap_tokens=overlap)
    found = texts(document, passages)
    assert all(text and text == text.strip() for text in found)
    assert max(count(found), default=0) <= max_tokens
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(passages))
    inside = {position for p in passages for position in range(p.start, p.end)}
    for block in document.blocks:
        span = range(block.start, block.end)
        missing = [n for n in span if n not in inside and not document.text[n].isspace()]
        assert not missing or block.kind == "heading"
    borders = [block for block in document.blocks if block.kind == "heading" and block.level <= 2]
    for passage in passages:
        assert not any(passage.start < border.start < passage.end for border in borders)
