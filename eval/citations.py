"""Citations as an evaluation sees them: read again from the stored text, whoever checked before."""

import re
from collections.abc import Mapping, Sequence

from eval.labels import plain
from eval.records import Cited, Told
from ingest.index import Index
from ingest.scope import LOCAL
from nodes.citations import citation_problem
from nodes.ports import Sources
from nodes.state import Citation, Sentence
from nodes.words import content_words

SHARE = 0.6
"""Content words of a sentence that its quotes must hold, where it is not the quote itself."""

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
            citations=[
                await _cited(citation, sentence, Sources(found), stored, base)
                for citation in sentence.citations
            ],
        )
        for sentence, verdict in zip(sentences, verdicts, strict=True)
    ]


async def _cited(
    citation: Citation, sentence: Sentence, sources: Sources, stored: Stored, base: str
) -> Cited:
    problem = citation_problem(citation, sources)
    if not problem and not supports(citation.quote, sentence.text):
        problem = "the quote does not support the sentence"
    return Cited(
        chunk_id=citation.chunk_id,
        document=await stored.source(base, citation.document_id),
        quote=citation.quote,
        problem=problem,
    )


def supports(quote: str, sentence: str) -> bool:
    """Whether the quote says the sentence, by its words: it holds all of its numbers, and SHARE of
    its content words or the sentence as it is. A cheap check that needs no model; it cannot see a
    negation."""
    if not plain(sentence) or not set(NUMBER.findall(sentence)) <= set(NUMBER.findall(quote)):
        return False
    words, within = set(content_words(sentence)), set(content_words(quote))
    held = bool(words) and len(words & within) >= SHARE * len(words)
    return held or plain(sentence) in plain(quote)
