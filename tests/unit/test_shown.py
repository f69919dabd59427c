"""How a sentence of an answer is read, with the numbers of its sources."""

from dataclasses import replace

import pytest

from ingest.documents import Candidate
from nodes.check_grounding import shown
from nodes.citations import cite
from nodes.findings import Sentence
from tests.fakes import a_chunk


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("It has 64 GB [3].", "It has 64 GB (3). [1]"),
        ("It weighs 200 g [1][2, 3].", "It weighs 200 g (1)(2, 3). [1]"),
        ("Array [a] and list[int].", "Array [a] and list[int]. [1]"),
    ],
)
def test_only_sources_of_the_answer_have_numbers_in_brackets(text: str, read: str) -> None:
    sentence = Sentence(text, [cite(Candidate(a_chunk("a", text), {}), 0, len(text), 1)])
    assert shown(sentence) == read
    noted = shown(replace(sentence, note="from [7]"))
    assert noted == f"(from (7)) {read}"
