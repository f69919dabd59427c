"""How long the check of sentences takes that are no quotations, without a chat model.

Each sentence is a passage's first one with its words turned round, so that every sign has to be
computed, and cites another document of the base. The passages' token vectors are warm, as they are
in a run that has ranked and graded them. Milliseconds by the clock and of the processor, beside the
load of the machine.

python -m eval.benchmarks.grounding --documents DIR [--sentences 5] [--repeat 15] [--data-dir DIR]
"""

import argparse
import asyncio
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eval.corpora import ingest_golden
from graph.compose import Service, open_graph
from graph.settings import GraphSettings
from ingest.documents import Candidate
from ingest.errors import ConfigurationError
from ingest.filters import Filters
from ingest.scope import LOCAL
from ingest.sentences import sentence_spans
from ingest.settings import read
from nodes.citations import cite
from nodes.findings import Sentence
from nodes.ports import Sources

BASE = "grounding"
ASKED = "How long does it take, who pays for it, and what is the limit?"
PASSAGES = 60
"""Candidates among which one passage of each document is taken."""


async def measured(service: Service, *, sentences: int, repeat: int) -> dict[str, Any]:
    """Raises ConfigurationError where the base has too few documents."""
    found = await service.corpus.index.search(
        LOCAL, BASE, ASKED, [ASKED], limit=PASSAGES, filters=Filters()
    )
    first = {c.chunk.document_id: c for c in reversed(found)}
    if len(first) < sentences:
        raise ConfigurationError(f"{len(first)} documents were found, {sentences} are needed")
    cited = list(first.values())[:sentences]
    texts = {
        (c.chunk.document_id, c.chunk.revision): await service.corpus.index.text(
            LOCAL, BASE, c.chunk.document_id, c.chunk.revision
        )
        or ""
        for c in cited
    }
    sources = Sources(texts, [c.chunk for c in found])
    await service.services.reranker.rerank(ASKED, found)
    wall, processor = [], []
    for n in range(repeat + 1):
        draft = [_turned(candidate, n) for candidate in cited]
        clock, cpu = time.perf_counter(), time.process_time()
        supports = await service.services.checker.check(ASKED, draft, sources)
        wall.append(1000 * (time.perf_counter() - clock))
        processor.append(1000 * (time.process_time() - cpu))
        assert len(supports) == sentences
    return {
        "sentences": sentences,
        "repeated": repeat,
        "ms": _spread(wall[1:]),
        "processor_ms": _spread(processor[1:]),
        "load": round(os.getloadavg()[0], 1),
    }


def _turned(candidate: Candidate, n: int) -> Sentence:
    """Another one each time: what was scored is kept."""
    text = candidate.chunk.text
    start, end = sentence_spans(text)[0]
    said = text[start:end].split()
    return Sentence(" ".join([*reversed(said), str(n)]), [cite(candidate, start, end, 1)])


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {name: round(float(np.percentile(values, q)), 1) for name, q in
            (("least", 0), ("p50", 50), ("p95", 95))}  # fmt: skip


async def _run(documents: Path, settings: GraphSettings, sentences: int, repeat: int) -> Any:
    async with open_graph(settings) as service:
        await ingest_golden(service.corpus, documents, BASE)
        return [await measured(service, sentences=count, repeat=repeat) for count in (1, sentences)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--documents", type=Path, required=True)
    options.add_argument("--sentences", type=int, default=5)
    options.add_argument("--repeat", type=int, default=15)
    options.add_argument("--data-dir", type=Path, default=Path(".crag-eval"))
    given = options.parse_args()
    settings = read(GraphSettings, data_dir=given.data_dir)
    done = asyncio.run(_run(given.documents, settings, given.sentences, given.repeat))
    print(json.dumps(done, indent=2))


if __name__ == "__main__":
    main()
