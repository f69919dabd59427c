"""Gathers the labelled passages that the grader is fitted on, from every set that is named."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from eval.corpora import ensure_base, golden_base, ingest_golden
from eval.datasets import Question, Side, load_beir, load_excerpts, load_golden
from eval.labelled_passages import Passage, labelled_passages
from eval.triples import load_triples, triple_passages
from graph.adapters.token_vectors import TokenVectors
from graph.compose import open_reranker
from graph.settings import GraphSettings
from ingest.adapters.bm25 import Bm25Encoder
from ingest.compose import open_index
from ingest.errors import ConfigurationError

EXCERPTS = "excerpts"
"""One dataset of all folders of excerpts."""


@dataclass(frozen=True)
class Sources:
    """BEIR folders, golden files each with the folder of its documents, folders of excerpts, and a
    file of triples."""

    beir: list[Path] = field(default_factory=list)
    golden: list[tuple[Path, Path]] = field(default_factory=list)
    excerpts: list[Path] = field(default_factory=list)
    triples: Path | None = None
    split: str = "test"
    side: Side = "tune"


async def gather(settings: GraphSettings, sources: Sources) -> tuple[list[Passage], str]:
    """The passages and the fingerprint of the embedder. Raises ConfigurationError."""
    if not sources.beir and not sources.golden:
        raise ConfigurationError("name at least one --beir folder or --golden file")
    sets = [load_beir(folder, split=sources.split, side=sources.side) for folder in sources.beir]
    golden = [
        (tuning_questions(file, sources.side), documents) for file, documents in sources.golden
    ]
    excerpts = [(folder, load_excerpts(folder, side=sources.side)) for folder in sources.excerpts]
    passages: list[Passage] = []
    async with open_index(settings) as corpus:
        vectors = TokenVectors(
            corpus.embedder, megabytes=settings.rerank.cache_mb, stored=corpus.vectors
        )
        reranker = open_reranker(settings, vectors)

        async def add(base: str, questions: list[Question], name: str) -> None:
            found = await labelled_passages(
                corpus.index, reranker, vectors, base, questions, dataset=name
            )
            passages.extend(found)
            print(f"{name}: {len(found)} passages of {len(questions)} questions", file=sys.stderr)

        for dataset in sets:
            await add(await ensure_base(corpus, dataset), dataset.questions, dataset.name)
        for questions, documents in golden:
            name = golden_base(documents)
            await ingest_golden(corpus, documents, name)
            await add(name, questions, documents.name)
        for folder, questions in excerpts:
            name = golden_base(folder / "corpora")
            await ingest_golden(corpus, folder / "corpora", name)
            await add(name, questions, EXCERPTS)
        if sources.triples is not None:
            triples = await load_triples(
                sources.triples, corpus.embedder, Bm25Encoder(), frozen=False
            )
            passages.extend(await triple_passages(triples, vectors))
        return passages, corpus.embedder.fingerprint


def tuning_questions(file: Path, side: Side) -> list[Question]:
    """What may be tuned on: never a row of split test.

    A file with such rows has named its own halves, and all its dev rows are read; any other is
    halved by `side`. Raises ConfigurationError where nothing is left.
    """
    halved = bool(load_golden(file, split="test"))
    questions = load_golden(file, split="dev", side="all" if halved else side)
    if not questions:
        raise ConfigurationError(f"{file} has no question of split dev, side {side}, to tune on")
    return questions
