"""The corpus commands on a data folder that this process opens itself."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import SecretStr, ValidationError

from ingest.compose import Corpus, Holdings, open_draft, open_holdings, open_index, open_store
from ingest.copying import CopyReport, OnDocument, Place, copy_base, shares_records
from ingest.errors import EmbedderMismatch, InvalidRequest
from ingest.inventory import inventory, summary_of
from ingest.live import require_known
from ingest.pipeline import IngestReport, OnResult, files_below, ingest
from ingest.records import NAME, NAME_RULE, taken
from ingest.reembedding import OnChunks, reembed
from ingest.scope import EVERYONE, LOCAL_MANAGER
from ingest.settings import DatabaseSettings, IndexSettings, QdrantSettings, own_folder

T = TypeVar("T")


def ingest_here(
    settings: IndexSettings,
    path: Path,
    knowledge_base: str,
    delete_missing: bool,
    acl: list[str] | None,
    on_result: OnResult,
) -> tuple[IngestReport, bool]:
    """The report, and whether the base was created. Raises what ingest.pipeline.ingest raises."""
    files_below(path)

    async def work(corpus: Corpus) -> tuple[IngestReport, bool]:
        names = [base.name for base in await corpus.bases.bases(LOCAL_MANAGER)]
        created = knowledge_base not in names
        if created:
            await corpus.writer.create_knowledge_base(LOCAL_MANAGER, knowledge_base)
        report = await ingest(
            path,
            scope=LOCAL_MANAGER,
            knowledge_base=knowledge_base,
            index=corpus.index,
            writer=corpus.writer,
            delete_missing=delete_missing,
            acl=acl,
            on_result=on_result,
        )
        return report, created

    return _with_corpus(settings, work)


def bases_here(settings: IndexSettings) -> list[dict[str, Any]]:
    async def work(corpus: Corpus) -> list[dict[str, Any]]:
        return [asdict(summary) for summary in await inventory(corpus, LOCAL_MANAGER)]

    return _with_corpus(settings, work)


def create_here(
    settings: IndexSettings,
    name: str,
    description: str,
    web: bool,
    acl: list[str] | None,
    examples: list[str],
) -> dict[str, Any]:
    async def work(corpus: Corpus) -> dict[str, Any]:
        base = await corpus.writer.create_knowledge_base(
            LOCAL_MANAGER, name, description, web=web, acl=acl or [EVERYONE], examples=examples
        )
        return asdict(await summary_of(corpus, LOCAL_MANAGER, base))

    return _with_corpus(settings, work)


def describe_here(
    settings: IndexSettings, name: str, description: str, examples: list[str]
) -> dict[str, Any]:
    async def work(corpus: Corpus) -> dict[str, Any]:
        base = await corpus.writer.describe(LOCAL_MANAGER, name, description, examples)
        return asdict(await summary_of(corpus, LOCAL_MANAGER, base))

    return _with_corpus(settings, work)


def delete_here(settings: IndexSettings, name: str) -> None:
    async def work(corpus: Corpus) -> None:
        await corpus.writer.delete_knowledge_base(LOCAL_MANAGER, name)

    _with_corpus(settings, work)


def copy_here(
    settings: IndexSettings,
    name: str,
    *,
    tenant: str,
    data_dir: Path | None,
    url: str | None,
    database: str | None = None,
    new_name: str | None,
    replace_target: bool,
    on_document: OnDocument,
) -> CopyReport:
    """Copies a base to the store at `url` (its records to that PostgreSQL `database`), to the one
    embedded in `data_dir`, or under a new name beside itself. Raises what ingest.copying.copy_base
    raises, and DataFolderHeld."""
    target = _target_settings(settings, data_dir, url, database)
    new_name = new_name or name
    if not NAME.fullmatch(new_name):
        raise InvalidRequest(NAME_RULE)
    same_records = _same_folder(settings, target) and target.database == settings.database
    if new_name == name and target.qdrant.url == settings.qdrant.url:
        if same_records:
            raise InvalidRequest("that is where it is; give --to-data-dir, --to-url or --as")
        if target.qdrant.url is not None:
            raise InvalidRequest("both would share one collection of that server; give --as")

    async def run() -> CopyReport:
        async with open_holdings(settings) as held, _other(held, settings, target) as other:
            base = require_known(held.records.knowledge_bases(tenant), name)
            if (base.embedder, base.sparse) != (held.encoders.embedder, held.encoders.sparse):
                raise EmbedderMismatch(
                    f"{name!r} was embedded with {base.embedder}; run crag kb reembed {name} first"
                )
            await held.store.check(tenant, [name])
            source = Place(held.records, held.store, held.vectors, tenant, name)
            copy = Place(other.records, other.store, other.vectors, tenant, new_name)
            with ExitStack() as taking:
                for place in (source,) if shares_records(source, copy) else (source, copy):
                    taking.enter_context(taken(place.records, tenant, place.name))
                return await copy_base(
                    source, copy, replace_target=replace_target, on_document=on_document
                )

    return asyncio.run(run())


def reembed_here(settings: IndexSettings, name: str, *, tenant: str, on_chunks: OnChunks) -> int:
    """The number of passages embedded anew. Raises what ingest.reembedding.reembed raises."""

    async def run() -> int:
        async with open_holdings(settings) as held:
            base = require_known(held.records.knowledge_bases(tenant), name)
            before = replace(held.encoders, embedder=base.embedder, sparse=base.sparse)
            old = open_store(settings, held.folder.path, before)
            draft = open_draft(settings, held.folder.path, held.encoders)
            try:
                with taken(held.records, tenant, name):
                    return await reembed(held, old, draft, tenant, name, on_chunks=on_chunks)
            finally:
                await old.close()
                await draft.close()

    return asyncio.run(run())


def _target_settings(
    settings: IndexSettings, data_dir: Path | None, url: str | None, database: str | None
) -> IndexSettings:
    """A folder means the records in it, and without an address the store embedded in it."""
    if data_dir is not None and database is not None:
        raise InvalidRequest("the records go to a folder or to a database: give one of them")
    changed: dict[str, Any] = {}
    if url is not None or data_dir is not None:
        try:
            values = {**settings.qdrant.model_dump(), "url": url}
            changed["qdrant"] = QdrantSettings.model_validate(values)
        except ValidationError as error:
            raise InvalidRequest(f"--to-url {url}: {error.errors()[0]['msg']}") from None
    if data_dir is not None:
        changed |= own_folder(data_dir)
    if database is not None:
        changed["database"] = DatabaseSettings(url=SecretStr(database))
    return settings.model_copy(update=changed)


def _same_folder(one: IndexSettings, other: IndexSettings) -> bool:
    return one.data_dir.resolve() == other.data_dir.resolve()


@asynccontextmanager
async def _other(
    held: Holdings, settings: IndexSettings, target: IndexSettings
) -> AsyncIterator[Holdings]:
    """The target's holdings; what it shares with the source is open already."""
    if not _same_folder(settings, target):
        async with open_holdings(target) as other:
            yield other
    elif target.database != settings.database:
        async with open_holdings(target, held.folder) as other:
            yield other
    elif target.qdrant.url == settings.qdrant.url:
        yield held
    else:
        store = open_store(target, held.folder.path, held.encoders)
        try:
            yield replace(held, store=store)
        finally:
            await store.close()


def _with_corpus(settings: IndexSettings, work: Callable[[Corpus], Awaitable[T]]) -> T:
    async def run() -> T:
        async with open_index(settings) as corpus:
            return await work(corpus)

    return asyncio.run(run())
