"""Does the grader tell a passage that answers from one on the same topic that does not?

Over triples (question, answering passage, on-topic passage): how often the answering one gets the
higher grade, and how often the higher cosine; the difference with its paired bootstrap interval.

python -m eval.benchmarks.triples --triples FILE [--half open|frozen] [--json]
"""

import argparse
import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.benchmarks.report import Figure, finish
from eval.statistics import bootstrap_interval
from eval.triples import load_triples
from graph.adapters.answer_scorer import AnswerScorer
from graph.adapters.calibration import load_calibration
from graph.adapters.token_vectors import TokenVectors
from ingest.adapters.bm25 import Bm25Encoder
from ingest.adapters.embedders import open_embedder
from ingest.ports import Embedder
from ingest.settings import IndexSettings


@dataclass(frozen=True)
class Pairwise:
    """For each triple 1 where the answering passage is ahead, .5 where both are level, else 0."""

    grade: list[float]
    cosine: list[float]

    @property
    def gain(self) -> list[float]:
        return [a - b for a, b in zip(self.grade, self.cosine, strict=True)]


async def pairwise(file: Path, embedder: Embedder, *, frozen: bool) -> Pairwise:
    """With the shipped calibration. Raises ConfigurationError for a line that is no triple."""
    triples = await load_triples(file, embedder, Bm25Encoder(), frozen=frozen)
    scorer = AnswerScorer(
        TokenVectors(embedder, megabytes=64), load_calibration(embedder=embedder.fingerprint)
    )
    graded, cosines = [], []
    for triple in triples:
        pair = [triple.answering, triple.on_topic]
        scoring = await scorer.score(triple.question, pair, among=pair)
        best = [passage.best for passage in scoring.passages]
        graded.append(_ahead(*((one.probability or 0.0) if one else 0.0 for one in best)))
        cosines.append(_ahead(*(candidate.scores["dense"] for candidate in pair)))
    return Pairwise(graded, cosines)


def _ahead(answering: float, on_topic: float) -> float:
    return 0.5 if answering == on_topic else float(answering > on_topic)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--triples", type=Path, required=True, help="The file of triples.")
    options.add_argument("--half", choices=("open", "frozen"), default="open")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()

    embedder = open_embedder(IndexSettings().embedder)
    found = asyncio.run(pairwise(given.triples, embedder, frozen=given.half == "frozen"))
    embedder.close()
    parts: dict[str, Any] = {"embedder": embedder.fingerprint, "half": given.half}
    parts["spread"] = "p10 and p90 stand for the ends of the 95 % interval"
    figures = [
        _figure("pairwise accuracy, grade", found.grade),
        _figure("pairwise accuracy, cosine", found.cosine),
        _figure("gain of the grade, lower end of its interval", found.gain, above=0.0),
    ]
    finish("triples", figures, parts, as_json=given.json)


def _figure(name: str, values: list[float], *, above: float | None = None) -> Figure:
    low, high = bootstrap_interval(values)
    mean = sum(values) / len(values) if above is None else low
    return Figure(name, round(mean, 4), "", len(values), low, high, at_least=above)


if __name__ == "__main__":
    main()
