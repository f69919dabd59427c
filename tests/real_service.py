"""A service whose index, graph, log and threads are real; its grader trusts whatever was found."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from api.settings import Settings
from graph.adapters.base_router import BaseRouter
from graph.adapters.checkpoints import plain_serializer
from graph.adapters.graded_bases import GradedBases
from graph.builder import build
from graph.caching import open_cache
from graph.compose import Service
from graph.run_log import open_runs
from graph.runner import Runner
from ingest.ports import ChunkStore
from nodes.ports import GradedPassages
from tests.corpus import open_corpus
from tests.fakes import FakeGrader, HashingEmbedder, Sure, a_grade
from tests.runs import ports


class RealService:
    """Opens it on a folder, with Qdrant Edge or another store. It keeps answers, and is sure of
    each, where it is `keeping`."""

    def __init__(self, store: ChunkStore | None = None, *, keeping: bool = False) -> None:
        self._store = store
        self._keeping = keeping

    def __call__(self, settings: Settings) -> AbstractAsyncContextManager[Service]:
        return self._open(settings)

    @asynccontextmanager
    async def _open(self, settings: Settings) -> AsyncIterator[Service]:
        embedder = HashingEmbedder()
        async with (
            open_corpus(
                settings.data_dir, embedder, self._store, database=settings.database
            ) as opened,
            AsyncSqliteSaver.from_conn_string(":memory:") as saver,
        ):
            saver.serde = plain_serializer()
            grader = FakeGrader(_all_correct)
            others = GradedBases(opened.index, opened.bases, grader)
            cache = open_cache(settings, embedder, calibration="c1") if self._keeping else None
            services = ports(
                cache=cache,
                confidence=Sure() if self._keeping else None,
                index=opened.index,
                grader=grader,
                others=others,
                bases=opened.bases,
                router=BaseRouter(embedder, opened.index, opened.bases),
            )
            graph = build(services, saver)
            runs = open_runs(settings, settings.data_dir)
            runner = Runner(
                graph=graph,
                index=opened.index,
                bases=opened.bases,
                runs=runs,
                settings=settings,
                calibration="c1",
            )
            yield Service(runner, graph, opened.corpus, runs, services, settings)
            runs.close()
        embedder.close()


def _all_correct(candidates: Any) -> GradedPassages:
    return GradedPassages([a_grade("correct") for _ in candidates])
