"""The corpus commands on a data folder that this process opens itself."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from ingest.compose import Corpus, open_index
from ingest.inventory import inventory, summary_of
from ingest.pipeline import IngestReport, OnResult, files_below, ingest
from ingest.scope import LOCAL
from ingest.settings import IndexSettings

T = TypeVar("T")


def ingest_here(
    settings: IndexSettings,
    path: Path,
    knowledge_base: str,
    delete_missing: bool,
    on_result: OnResult,
) -> tuple[IngestReport, bool]:
    """The report, and whether the base was created. Raises what ingest.pipeline.ingest raises."""
    files_below(path)

    async def work(corpus: Corpus) -> tuple[IngestReport, bool]:
        names = [base.name for base in await corpus.bases.bases(LOCAL)]
        created = knowledge_base not in names
        if created:
            await corpus.writer.create_knowledge_base(LOCAL, knowledge_base)
        report = await ingest(
            path,
            scope=LOCAL,
            knowledge_base=knowledge_base,
            index=corpus.index,
            writer=corpus.writer,
            delete_missing=delete_missing,
            on_result=on_result,
        )
        return report, created

    return _with_corpus(settings, work)


def bases_here(settings: IndexSettings) -> list[dict[str, Any]]:
    async def work(corpus: Corpus) -> list[dict[str, Any]]:
        return [asdict(summary) for summary in await inventory(corpus, LOCAL)]

    return _with_corpus(settings, work)


def create_here(settings: IndexSettings, name: str, description: str, web: bool) -> dict[str, Any]:
    async def work(corpus: Corpus) -> dict[str, Any]:
        base = await corpus.writer.create_knowledge_base(LOCAL, name, description, web=web)
        return asdict(await summary_of(corpus, LOCAL, base))

    return _with_corpus(settings, work)


def delete_here(settings: IndexSettings, name: str) -> None:
    async def work(corpus: Corpus) -> None:
        await corpus.writer.delete_knowledge_base(LOCAL, name)

    _with_corpus(settings, work)


def _with_corpus(settings: IndexSettings, work: Callable[[Corpus], Awaitable[T]]) -> T:
    async def run() -> T:
        async with open_index(settings) as corpus:
            return await work(corpus)

    return asyncio.run(run())
