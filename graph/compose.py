"""Opens the one graph: api, eval, Studio and the command line all come in here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from graph.adapters.calibration import Calibration, load_calibration
from graph.builder import Graph, build
from graph.chat_ports import with_chat
from graph.retention import swept
from graph.run_log import RunLog, open_runs
from graph.runner import Runner
from graph.services import Loading, Services
from graph.settings import GraphSettings
from graph.threads import open_threads
from ingest.compose import Corpus, open_index
from ingest.data_folder import Holder
from ingest.errors import ConfigurationError
from ingest.named_adapters import make_adapter
from nodes.scope_of_base import NEVER

CHAT_KINDS = ("chat_pointwise", "chat_listwise")
"""Rerankers that are a chat model."""


@dataclass(frozen=True)
class Service:
    """Everything that is open: the runner, the graph behind it, the corpus, the log of runs."""

    runner: Runner
    graph: Graph
    corpus: Corpus
    runs: RunLog
    services: Services
    settings: GraphSettings

    async def load(self) -> None:
        """Reads the weights of every model, so that the first question is as fast as the second.

        Raises ConfigurationError for a model that cannot be used.
        """
        await self.corpus.embedder.load()
        for part in (self.services.reranker, self.services.checker):
            if isinstance(part, Loading):
                await part.load()


@asynccontextmanager
async def open_graph(
    settings: GraphSettings, holder: Holder | None = None
) -> AsyncIterator[Service]:
    """Raises what open_index raises, and ConfigurationError for an adapter that is unknown.

    Loads no model: `service.load()` does, or the first question.
    """
    from threadpoolctl import threadpool_limits

    # The reranker and the grader make many small products: BLAS threads wait for each other in a
    # busy loop there, and take the cores from the model.
    with threadpool_limits(1, user_api="blas"):
        async with (
            open_index(settings, holder) as corpus,
            open_threads(settings, corpus.folder.path) as threads,
        ):
            services, calibration = compose_services(settings, corpus)
            graph = build(services, threads.checkpointer)
            runs = open_runs(settings, corpus.folder.path)
            runner = Runner(
                graph=graph,
                index=corpus.index,
                bases=corpus.bases,
                runs=runs,
                settings=settings,
                calibration=calibration,
                alone=threads.alone,
            )
            try:
                async with swept("runs", settings.runs.ttl_days, runs.sweep):
                    yield Service(runner, graph, corpus, runs, services, settings)
            finally:
                await services.close()
                runs.close()
                for part in (services.reranker, services.checker):
                    if isinstance(part, Loading):
                        part.close()


@asynccontextmanager
async def varied(service: Service, settings: GraphSettings, vectors: Any) -> AsyncIterator[Service]:
    """The same corpus and token vectors under other settings, for an evaluation that sets runs
    side by side; it keeps no conversations."""
    services, calibration = compose_services(settings, service.corpus, vectors)
    graph = build(services)
    runner = Runner(
        graph=graph,
        index=service.corpus.index,
        bases=service.corpus.bases,
        runs=service.runs,
        settings=settings,
        calibration=calibration,
    )
    try:
        yield Service(runner, graph, service.corpus, service.runs, services, settings)
    finally:
        await services.close()
        for part in (services.reranker, services.checker):
            if isinstance(part, Loading):
                part.close()


def open_vectors(settings: GraphSettings, corpus: Corpus) -> Any:
    """Token vectors of passages, as the reranker and the grader read them."""
    from graph.adapters.token_vectors import TokenVectors

    return TokenVectors(corpus.embedder, megabytes=settings.rerank.cache_mb, stored=corpus.vectors)


def compose_services(
    settings: GraphSettings, corpus: Corpus, vectors: Any = None
) -> tuple[Services, str]:
    """The ports with their adapters, and the versions of the calibrations they use."""
    from graph.adapters.answer_scorer import AnswerScorer
    from graph.adapters.base_router import BaseRouter
    from graph.adapters.extractive import ExtractiveGenerator
    from graph.adapters.fitted_confidence import load_confidence
    from graph.adapters.graded_bases import GradedBases
    from graph.adapters.grading import CalibratedGrader
    from graph.adapters.tavily import TavilySearch
    from graph.caching import open_cache
    from graph.calibrations_named import calibrations_named
    from graph.checking import open_checker

    vectors = vectors or open_vectors(settings, corpus)
    calibration = load_calibration(settings.grade.calibration, embedder=corpus.embedder.fingerprint)
    scorer = AnswerScorer(vectors, calibration)
    calibrated = calibration.model == corpus.embedder.fingerprint
    services = Services(
        index=corpus.index,
        documents=corpus.index,
        bases=corpus.bases,
        router=BaseRouter(corpus.embedder, corpus.index, corpus.bases),
        reranker=open_reranker(settings, vectors),
        grader=CalibratedGrader(scorer, calibrated=calibrated),
        web=TavilySearch(settings.web),
        generator=ExtractiveGenerator(scorer),
        checker=open_checker(
            settings.grounding, corpus.embedder, vectors, chat=settings.chat.model is not None
        ),
    )
    others = GradedBases(corpus.index, corpus.bases, services.grader)
    confidence = (
        load_confidence(settings.answer.calibration, embedder=calibration.model)
        if calibrated
        else None
    )
    in_scope = _in_scope(settings.answer.in_scope, calibration) if calibrated else NEVER
    version = calibrations_named(
        settings, calibration, confidence, embedder=corpus.embedder.fingerprint
    )
    cache = open_cache(settings, corpus.embedder, calibration=version)
    services = replace(
        services,
        others=others,
        confidence=confidence,
        in_scope=in_scope,
        cache=cache,
        connections=(cache,) if cache is not None else (),
    )
    return with_chat(settings, services), version


def _in_scope(given: float | None, calibration: Calibration) -> float:
    own = calibration.in_scope if calibration.in_scope is not None else NEVER
    return own if given is None else given


def open_reranker(settings: GraphSettings, vectors: Any) -> Any:
    from graph.adapters.late_interaction import LateInteractionReranker, NoReranker

    kind = settings.rerank.kind
    if kind in CHAT_KINDS and settings.chat.model is None:
        raise ConfigurationError(f"CRAG_RERANK__KIND={kind} needs a model in CRAG_CHAT__MODEL")
    if kind in ("late_interaction", *CHAT_KINDS):  # a chat model orders what that puts first
        return LateInteractionReranker(vectors, weight=settings.rerank.weight)
    if kind == "cross_encoder":
        from graph.adapters.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker(settings.rerank)
    if kind == "none":
        return NoReranker()
    if ":" in kind:
        return _own_reranker(kind, settings)
    raise ConfigurationError(
        f"CRAG_RERANK__KIND: unknown {kind!r}; "
        f"known: late_interaction, cross_encoder, {', '.join(CHAT_KINDS)}, none, "
        "package.module:Class"
    )


def _own_reranker(kind: str, settings: GraphSettings) -> Any:
    """A class of the user's, made with the settings of the section."""
    return make_adapter("CRAG_RERANK__KIND", kind, settings.rerank, given="rerank", method="rerank")
