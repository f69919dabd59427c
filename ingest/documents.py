"""What the index holds: documents, their chunks, and the ids that name them."""

import hashlib
import re
import uuid
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

ID_SPACE = uuid.UUID("6f2a8b4e-0c0d-5c55-9e8f-3a1d5f7b9c21")

BlockKind = Literal["heading", "paragraph", "list_item", "table_row", "code"]


@dataclass(frozen=True)
class Block:
    """A structural unit of a document: `text[start:end]`, offsets in Unicode code points."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    page: int | None = None


@dataclass(frozen=True)
class LoadedDocument:
    """A file as readable text. Blocks are in order, do not overlap, and index into `text`.

    A table row is written with its headers, `Plan: Pro | Price: 49 €`, so that one row can be
    quoted alone. `metadata` holds only keys of `METADATA_KEYS`.
    """

    text: str
    title: str
    media_type: str
    blocks: list[Block]
    metadata: dict[str, str] = field(default_factory=dict)
    hidden: int = 0
    """Characters that no reader saw, taken out, and look-alikes that became what they look like."""


METADATA_KEYS = tuple("language version status effective supersedes owner tags trust acl".split())
"""`status` is current, superseded or draft; `effective` an ISO date; `tags` and `acl` are
comma-separated, and chunks do not have `acl`; `trust` is low, or not there."""

SECTION = "section"
"""Metadata of a chunk: where the text under its heading starts and ends, as `120-940`; absent where
that is the chunk itself."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_SPAN = re.compile(r"(\d{1,12})-(\d{1,12})", re.ASCII)


def calendar_date(text: str) -> date | None:
    """The day that YYYY-MM-DD names; None for any other text, and for a day that there is not."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


@dataclass(frozen=True)
class Chunk:
    """A passage that is searched, graded and cited: `document.text[start:end]` is `text`."""

    chunk_id: str
    document_id: str
    revision: str
    ordinal: int
    text: str
    start: int
    end: int
    title: str
    heading: str = ""
    page: int | None = None
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def section(self) -> tuple[int, int]:
        """Where the text under its heading starts and ends; the chunk itself where that is all."""
        found = _SPAN.fullmatch(self.metadata.get(SECTION, ""))
        return (int(found[1]), int(found[2])) if found else (self.start, self.end)

    @property
    def embedded_text(self) -> str:
        """The text as it is embedded and indexed: with its title and heading path."""
        head = " > ".join(part for part in (self.title, self.heading) if part)
        return f"{head}\n{self.text}" if head else self.text


def document_id(tenant: str, knowledge_base: str, source: str) -> str:
    """The stable id of a source within a knowledge base: 32 hexadecimal digits."""
    return uuid.uuid5(ID_SPACE, "\x00".join((tenant, knowledge_base, source))).hex


def revision_id(content_sha256: str, pipeline: str) -> str:
    """The id of one content of a document under one splitting and embedding pipeline."""
    return hashlib.sha256(f"{content_sha256}\x00{pipeline}".encode()).hexdigest()[:16]


def chunk_id(document: str, revision: str, ordinal: int) -> str:
    """A UUID that is the same for the same document, revision and position."""
    return str(uuid.uuid5(ID_SPACE, f"{document}\x00{revision}\x00{ordinal}"))


def quote_sha256(quote: str) -> str:
    return hashlib.sha256(quote.encode()).hexdigest()


@dataclass(frozen=True)
class Candidate:
    """A retrieved chunk with its named scores.

    `dense` is the cosine with the question, `bm25` the question's BM25 score, `fused` the
    retrieval order in [0, 1]; a reranker adds `late_interaction` or `cross_encoder`, and `rerank`
    in [0, 1] for the order. `queries` are the ones that found it. `url` is set for the web, else
    `knowledge_base`.
    """

    chunk: Chunk
    scores: dict[str, float]
    queries: list[str] = field(default_factory=list)
    url: str | None = None
    knowledge_base: str = ""
