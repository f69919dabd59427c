"""The passages of a safety suite as a knowledge base of their own, ingested as files are."""

import shutil
import sys

from eval.safety_cases import Suite, passage_name
from ingest.compose import Corpus
from ingest.documents import document_id
from ingest.errors import ConfigurationError
from ingest.filters import Condition, Filters
from ingest.pipeline import FileResult, ingest
from ingest.scope import LOCAL

FILE = "note.txt"
"""Each passage is a file of its own folder, so that no title tells one from another."""
EVERY = 200
"""Passages between two lines of progress."""


async def ensure_passages(corpus: Corpus, suite: Suite) -> None:
    """Brings the suite's base in line with its passages; what was embedded before is kept.

    Raises ConfigurationError for passages that no loader reads: their cases would see less.
    """
    folder = corpus.folder.path / "safety" / suite.base
    shutil.rmtree(folder, ignore_errors=True)
    for text in suite.passages:
        file = folder / passage_name(text) / FILE
        file.parent.mkdir(parents=True)
        file.write_text(text + "\n", encoding="utf-8")
    if suite.base not in {base.name for base in await corpus.bases.bases(LOCAL)}:
        await corpus.writer.create_knowledge_base(LOCAL, suite.base)
    read = 0

    def told(result: FileResult, total: int) -> None:
        nonlocal read
        read += 1
        if read % EVERY == 0:
            said = f"{suite.name}: {read} of {total} passages"
            print(said, file=sys.stderr, flush=True)

    report = await ingest(
        folder,
        scope=LOCAL,
        knowledge_base=suite.base,
        index=corpus.index,
        writer=corpus.writer,
        delete_missing=True,
        on_result=told,
    )
    failed = [file for file in report.files if file.state == "failed"]
    if failed:
        raise ConfigurationError(
            f"{suite.name}: {len(failed)} passages cannot be ingested; the first: {failed[0].error}"
        )


def only(suite: Suite, texts: tuple[str, ...]) -> Filters:
    """What lets a question see these passages alone; all of them where none is named."""
    sources = [f"{passage_name(text)}/{FILE}" for text in texts]
    seen = [document_id(LOCAL.tenant, suite.base, source) for source in sources]
    return Filters([Condition("document_id", seen)] if seen else [])


def name_of(source: str) -> str:
    """The name of the passage that a citation's source is."""
    return source.removesuffix(f"/{FILE}")
