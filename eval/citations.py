"""Citations as an evaluation sees them: read again from the stored text, whoever checked before."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from eval.labels import plain
from eval.records import Cited, Told
from ingest.index import Index
from ingest.scope import LOCAL
from nodes.citations import citation_problem
from nodes.findings import Sentence
from nodes.ports import Sources
from nodes.words import content_words

SHARE = 0.6
"""Content words of a sentence that its quotes must hold, where it is not the quote itself."""

PART = 0.2
"""Content words of a sentence that a quote beside others must add to them: one of five."""

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Stored:
    """Stored texts and sources by document, read once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._texts: dict[tuple[str, str, str], str | None] = {}
        self._names: dict[str, dict[str, str]] = {}

    async def text(self, base: str, document: str, revision: str) -> str | None:
        key = (base, document, revision)
        if key not in self._texts:
            self._texts[key] = await self._index.text(LOCAL, base, document, revision)
        return self._texts[key]

    async def source(self, base: str, document: str) -> str:
        if base not in self._names:
            known = await self._index.documents(LOCAL, base)
            self._names[base] = {d.document_id: d.source for d in known}
        return self._names[base].get(document, document)


async def told(
    sentences: Sequence[Sentence],
    stored: Stored,
    base: str,
    *,
    supports: Sequence[bool] = (),
    web: Mapping[tuple[str, str], str] | None = None,
) -> list[Told]:
    """The sentences with each citation's problem; `web` are texts that no base holds."""
    found: dict[tuple[str, str], str] = dict(web or {})
    for citation in (c for sentence in sentences for c in sentence.citations):
        text = await stored.text(base, citation.document_id, citation.revision)
        if text is not None:
            found[citation.document_id, citation.revision] = text
    verdicts: list[bool | None] = [*supports, *[None] * (len(sentences) - len(supports))]
    return [
        Told(
            text=sentence.text,
            supported=verdict,
            citations=await _cited(sentence, Sources(found), stored, base),
        )
        for sentence, verdict in zip(sentences, verdicts, strict=True)
    ]


async def _cited(sentence: Sentence, sources: Sources, stored: Stored, base: str) -> list[Cited]:
    problems = [citation_problem(citation, sources) for citation in sentence.citations]
    standing = [n for n, problem in enumerate(problems) if not problem]
    quotes = [sentence.citations[n].quote for n in standing]
    for n, problem in zip(standing, support_problems(quotes, sentence.text), strict=True):
        problems[n] = problem
    return [
        Cited(
            chunk_id=citation.chunk_id,
            document=await stored.source(base, citation.document_id),
            quote=citation.quote,
            problem=problem,
        )
        for citation, problem in zip(sentence.citations, problems, strict=True)
    ]


def support_problems(quotes: Sequence[str], sentence: str) -> list[str]:
    """What is wrong with each of the quotes that a sentence rests on, or nothing.

    A sentence may be merged from several sources: together they must support it, and each must
    support it alone or add words to the others that the sentence needs.
    """
    if not supports(sentence, *quotes):
        return ["the quote does not support the sentence"] * len(quotes)
    return [
        ""
        if _contributes(sentence, quote, [*quotes[:n], *quotes[n + 1 :]])
        else "the quote adds nothing to the others of its sentence"
        for n, quote in enumerate(quotes)
    ]


def supports(sentence: str, *quotes: str) -> bool:
    """Whether the quotes say the sentence, by its words: they hold all of its numbers, and SHARE of
    its content words or one of them the sentence as it is. A cheap check that needs no model; it
    cannot see a negation."""
    if not plain(sentence):
        return False
    if not _numbers(sentence) <= frozenset().union(*map(_numbers, quotes)):
        return False
    if any(sentence in quote or plain(sentence) in plain(quote) for quote in quotes):
        return True
    words = _content(sentence)
    held = words & frozenset().union(*map(_content, quotes))
    return bool(words) and len(held) >= SHARE * len(words)


def _contributes(sentence: str, quote: str, others: Sequence[str]) -> bool:
    """Others that hold all that the quote holds are left aside: two sources may say the same."""
    if supports(sentence, quote):
        return True
    words = _content(sentence)
    own = words & _content(quote)
    rest = [other for other in others if not own <= _content(other)]
    added = own - frozenset().union(*map(_content, rest))
    return supports(sentence, quote, *rest) and len(added) >= max(1, PART * len(words))


@lru_cache(maxsize=1_000)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(NUMBER.findall(text))


@lru_cache(maxsize=1_000)
def _content(text: str) -> frozenset[str]:
    """Kept: every sentence of an answer is held against the same passages."""
    return frozenset(content_words(text))
