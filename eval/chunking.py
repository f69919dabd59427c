"""How much of what answers a question is handed over, and how much beside it, by how a text is cut.

The measures are those of Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval"
(Chroma, 2024), as their code computes them: over code points, not model tokens. Of a question's
excerpts `recall` is the share that was handed over; `precision` the share of excerpts in all that
was handed over, where what is handed over twice counts twice; `IoU` is the excerpts handed over, by
all that was and what was missed. All are in [0, 1], means over questions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.corpora import Progress, say
from eval.datasets import Question
from graph.compose import Service
from ingest.compose import Corpus
from ingest.documents import Block, LoadedDocument
from ingest.errors import UnknownKnowledgeBase
from ingest.filters import Filters
from ingest.preparing import Prepared
from ingest.scope import LOCAL
from nodes.findings import Evidence, Grade
from nodes.neighbours import widened

MEASURES = ("precision", "recall", "IoU")
BASE = "chunking"
HEADING = re.compile(r" *((?:= )+)([^\s=].*[^\s=]|[^\s=])(?: =)+ *")
"""As WikiText writes it; the other corpora have none."""

Span = tuple[str, int, int]
"""(document, start, end), in code points."""


@dataclass(frozen=True)
class Cut:
    """How documents become passages: what an index is made with."""

    name: str
    max_tokens: int = 210
    overlap_tokens: int = 40
    headings: bool = True
    """Passages end at headings."""
    header: bool = True
    """Title and heading path are embedded with the text."""


@dataclass(frozen=True)
class Handed:
    """What of an index a generator reads: `keep` passages, each with `around` code points on both
    sides, or with its section, up to `parent` code points."""

    cut: Cut
    keep: int = 5
    around: int = 0
    parent: int = 0

    @property
    def name(self) -> str:
        more = f", {self.around} around" * (self.around > 0)
        more += f", sections up to {self.parent}" * (self.parent > 0)
        return f"{self.cut.name}, best {self.keep}{more}"


def load_corpora(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """The texts by file name, as they are: the excerpts' offsets count in them."""
    files = {f"{name}.md": folder / "corpora" / f"{name}.md" for name in names}
    return {name: file.read_bytes().decode("utf-8") for name, file in files.items()}


def measured(handed: Sequence[Span], excerpts: Sequence[Span]) -> dict[str, float]:
    """By the names of MEASURES."""
    wanted = sum(end - start for _, start, end in excerpts)
    given = sum(end - start for _, start, end in handed)
    met = sum(_length(_met(excerpt, handed)) for excerpt in excerpts)
    missed = wanted - met
    return {
        "precision": met / given if given else 0.0,
        "recall": met / wanted,
        "IoU": met / (given + missed),
    }


def excerpts_of(question: Question, texts: Mapping[str, str]) -> list[Span]:
    """Where the excerpts stand, each place once. Raises ValueError for one that is not there."""
    found = []
    for document, quote in question.quotes:
        start = texts[document].index(quote)
        found.append((document, start, start + len(quote)))
    return [
        (document, start, end)
        for document in dict.fromkeys(name for name, _, _ in found)
        for start, end in _union((s, e) for name, s, e in found if name == document)
    ]


def as_document(name: str, text: str, *, headings: bool) -> LoadedDocument:
    """Paragraphs, and where they are wanted headings, with the offsets of the text itself."""
    blocks: list[Block] = []
    open_since: int | None = None
    place = end = 0
    for line in text.splitlines(keepends=True):
        heading = HEADING.fullmatch(line.rstrip("\n")) if headings else None
        if open_since is not None and (heading or not line.strip()):
            blocks.append(Block("paragraph", open_since, end))
            open_since = None
        if heading:
            start, stop = (place + at for at in heading.span(2))
            blocks.append(Block("heading", start, stop, level=heading[1].count("=")))
        elif line.strip():
            open_since = place if open_since is None else open_since
            end = place + len(line.rstrip())
        place += len(line)
    if open_since is not None:
        blocks.append(Block("paragraph", open_since, end))
    title = Path(name).stem.replace("_", " ")
    return LoadedDocument(text, title, "text/plain", blocks)


async def ensure_cut(
    corpus: Corpus, texts: Mapping[str, str], cut: Cut, *, progress: Progress = say
) -> int:
    """Embeds what the data folder lacks; the number of passages."""
    try:
        known = {d.source for d in await corpus.index.documents(LOCAL, BASE)}
    except UnknownKnowledgeBase:
        await corpus.writer.create_knowledge_base(LOCAL, BASE)
        known = set()
    for name in texts.keys() - known:
        loaded = as_document(name, texts[name], headings=cut.headings)
        prepared = await corpus.writer.prepare(LOCAL, BASE, name, texts[name].encode(), loaded)
        await corpus.writer.write(LOCAL, BASE, [prepared if cut.header else _bare(prepared)])
        progress(f"{cut.name}: {name}, {len(prepared.chunks)} passages")
    return sum(d.chunks for d in await corpus.index.documents(LOCAL, BASE) if d.source in texts)


async def values(
    service: Service,
    texts: Mapping[str, str],
    questions: Sequence[Question],
    ways: Sequence[Handed],
) -> dict[str, list[dict[str, float]]]:
    """For each way, by its name, the measures of each question and `code points` handed over. One
    search for all ways of an index, in the service's own order."""
    found: dict[str, list[dict[str, float]]] = {way.name: [] for way in ways}
    whole: dict[tuple[str, str], str] = {}
    for document in await service.corpus.index.documents(LOCAL, BASE):
        whole[document.document_id, document.revision] = texts.get(document.source, "")
    for question in questions:
        candidates = await service.corpus.index.search(
            LOCAL, BASE, question.text, [question.text],
            limit=service.settings.retrieve.candidates, filters=Filters(), exact=True,
        )  # fmt: skip
        ordered = await service.services.reranker.rerank(question.text, candidates)
        excerpts = excerpts_of(question, texts)
        for way in ways:
            read = [Evidence(c, Grade("correct", 1.0), 0) for c in ordered[: way.keep]]
            wider = widened(read, whole, way.around, parent=way.parent)
            spans = [_span(one) for one in wider]
            size = float(sum(end - start for _, start, end in spans))
            found[way.name].append(measured(spans, excerpts) | {"code points": size})
    return found


def _bare(prepared: Prepared) -> Prepared:
    chunks = [replace(chunk, title="", heading="") for chunk in prepared.chunks]
    return replace(prepared, chunks=chunks)


def _span(one: Evidence) -> Span:
    chunk = one.candidate.chunk
    return chunk.metadata["source"], chunk.start, chunk.end


def _met(excerpt: Span, handed: Sequence[Span]) -> list[tuple[int, int]]:
    document, low, high = excerpt
    cut = [(max(low, s), min(high, e)) for name, s, e in handed if name == document]
    return _union((s, e) for s, e in cut if s < e)


def _length(spans: Sequence[tuple[int, int]]) -> int:
    return sum(end - start for start, end in spans)


def _union(spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
