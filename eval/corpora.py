"""Labelled documents as a knowledge base, embedded once and kept in a data folder."""

import hashlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

from eval.datasets import Dataset
from ingest import terminal
from ingest.compose import Corpus
from ingest.documents import Block, LoadedDocument
from ingest.errors import UnknownKnowledgeBase
from ingest.pipeline import ingest
from ingest.scope import LOCAL

GROUP = 512
"""Documents embedded in one call."""

Progress = Callable[[str], None]


def say(line: str) -> None:
    terminal.say(line, sys.stderr)


async def ensure_base(corpus: Corpus, dataset: Dataset, *, progress: Progress = say) -> str:
    """The name of the base that holds the dataset; what an interrupted run left is completed."""
    name = base_name(dataset)
    try:
        known = {d.source for d in await corpus.index.documents(LOCAL, name)}
    except UnknownKnowledgeBase:
        await corpus.writer.create_knowledge_base(LOCAL, name)
        known = set()
    missing = [d for d in dataset.documents if d[0] not in known]
    for start in range(0, len(missing), GROUP):
        prepared = [
            await corpus.writer.prepare(LOCAL, name, identity, content(title, text), loaded)
            for identity, title, text in missing[start : start + GROUP]
            if (loaded := as_document(title, text)).text
        ]
        await corpus.writer.write(LOCAL, name, prepared)
        progress(f"{dataset.name}: {min(start + GROUP, len(missing))} of {len(missing)} embedded")
    if missing:
        await corpus.writer.optimize()
    return name


def base_name(dataset: Dataset) -> str:
    """A name that changes with the documents."""
    digest = hashlib.sha256()
    for identity, title, text in dataset.documents:
        digest.update(f"{identity}\x00{title}\x00{text}\x01".encode())
    plain = re.sub(r"[^a-z0-9]+", "-", dataset.name.lower()).strip("-")[:40]
    return f"{plain}-{digest.hexdigest()[:10]}"


def content(title: str, text: str) -> bytes:
    return f"{title}\x00{text}".encode()


def as_document(title: str, text: str) -> LoadedDocument:
    """Plain text as paragraphs; a title that the text repeats at its start is left to the title."""
    blocks = [
        Block("paragraph", match.start(), match.end())
        for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*", text)
    ]
    return LoadedDocument(text, title, "text/plain", blocks)


def golden_base(documents: Path) -> str:
    digest = hashlib.sha256(str(documents.resolve()).encode()).hexdigest()[:10]
    plain = re.sub(r"[^a-z0-9]+", "-", documents.name.lower()).strip("-")[:40]
    return f"golden-{plain}-{digest}"


async def ingest_golden(corpus: Corpus, documents: Path, name: str) -> None:
    """Brings the base in line with the folder as it is now."""
    try:
        await corpus.index.documents(LOCAL, name)
    except UnknownKnowledgeBase:
        await corpus.writer.create_knowledge_base(LOCAL, name)
    report = await ingest(
        documents,
        scope=LOCAL,
        knowledge_base=name,
        index=corpus.index,
        writer=corpus.writer,
        delete_missing=True,
    )
    for file in report.files:
        if file.state == "failed":
            say(f"failed: {file.source}: {file.error}")
