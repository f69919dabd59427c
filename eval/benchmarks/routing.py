"""Which of three public sets a question is routed to, and what that costs and saves in retrieval.

The three sets are the knowledge bases, each with a description and no examples. Their titles are
the data's own, and anthropic_docs's headings. A route is right where it holds the question's own
base: the surest one where it leads by the margin, else all. Retrieval is the first search without a
reranker, in the routed bases, in all, and in the right one.

python -m eval.benchmarks.routing --data DIR --side tune|report [--limit N] [--data-dir .crag-eval]
    [--margin M] [--json]
"""

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.benchmarks.main_figure import dataset
from eval.corpora import ensure_base
from eval.datasets import Question
from eval.retrieval import Ranked, retrieval_values
from eval.statistics import bootstrap_interval
from graph.adapters.base_router import BaseRouter
from graph.settings import GraphSettings
from ingest.compose import Corpus, open_index
from ingest.documents import Candidate
from ingest.filters import Filters
from ingest.scope import LOCAL
from nodes.context import DEFAULTS
from nodes.retrieve import together
from nodes.route_question import surest

DESCRIPTIONS = {
    "anthropic_docs": "Documentation of an API of large language models: prompts, tokens, tools, "
    "evaluation",
    "multihop": "Encyclopedia articles about people, places, films, music and history",
    "scifact": "Abstracts of biomedical papers: genes, cells, drugs, clinical trials",
}
MARGINS = (0.0, 0.05, 0.1, 0.15, 0.2)
LINES = ("routed", "all", "right")


@dataclass(frozen=True)
class Routed:
    """Scores by set for a question of `own`; nDCG@10 in the routed bases, in all, in its own."""

    own: str
    scores: Mapping[str, float]
    ndcg: Mapping[str, float]


def figures(rows: Sequence[Routed], margin: float) -> dict[str, float]:
    """`sure`: share of questions that go to one base; `right`: of these, those that go to their
    own; `held`: share of all whose own base is searched."""
    chosen = [(row.own, surest(dict(row.scores), margin)) for row in rows]
    sure = [own == routed[0] for own, routed in chosen if routed]
    wrong = len(sure) - sum(sure)
    return {
        "n": len(rows),
        "sure": round(len(sure) / len(rows), 4),
        "right": round(sum(sure) / len(sure), 4) if sure else 1.0,
        "held": round(1 - wrong / len(rows), 4),
    }


async def measured(
    corpus: Corpus, data: Path, side: str, limit: int | None, margin: float
) -> list[Routed]:
    """One row for each question. The bases' descriptions are set first."""
    sets = {name: dataset(data, name, side) for name in DESCRIPTIONS}
    bases = {name: await ensure_base(corpus, one) for name, one in sets.items()}
    for name, text in DESCRIPTIONS.items():
        await corpus.writer.describe(LOCAL, bases[name], text, [])
    router = BaseRouter(corpus.embedder, corpus.index, corpus.bases)
    rows = []
    for own, one in sets.items():
        for question in one.questions[:limit]:
            found = await router.scores(LOCAL, question.text, list(bases.values()))
            scores = {name: found[base] for name, base in bases.items()}
            ndcg = await _ndcg(corpus, bases, question, own, surest(scores, margin))
            rows.append(Routed(own, scores, ndcg))
    return rows


async def _ndcg(
    corpus: Corpus, bases: Mapping[str, str], question: Question, own: str, routed: Sequence[str]
) -> dict[str, float]:
    """By line of LINES."""
    found = {
        name: await corpus.index.search(
            LOCAL, base, question.text, [question.text], limit=DEFAULTS.candidates,
            filters=Filters(), exact=True,
        )
        for name, base in bases.items()
    }  # fmt: skip
    searched = {"routed": routed or list(found), "all": list(found), "right": [own]}
    limit = 2 * DEFAULTS.candidates
    told = {}
    for line, names in searched.items():
        order = found[names[0]] if len(names) == 1 else together([found[n] for n in names], limit)
        ranked = Ranked(question, _places(order, bases[own]), 0.0)
        told[line] = retrieval_values([ranked])["nDCG@10"][0]
    return told


def _places(order: Sequence[Candidate], own: str) -> list[str]:
    """Documents, best first; one of another base takes its place under a name that nothing asks
    for."""
    named = [
        c.chunk.metadata["source"]
        if c.knowledge_base == own
        else f"{c.knowledge_base}/{c.chunk.document_id}"
        for c in order
    ]
    return list(dict.fromkeys(named))


def report(rows: Sequence[Routed], margin: float) -> dict[str, Any]:
    gains = {
        f"routed - {line}": [row.ndcg["routed"] - row.ndcg[line] for row in rows]
        for line in ("all", "right")
    }
    return {
        "margin": margin,
        **figures(rows, margin),
        "by_margin": {str(m): figures(rows, m) for m in MARGINS},
        "by_set": {s: figures([r for r in rows if r.own == s], margin) for s in DESCRIPTIONS},
        "nDCG@10": {
            line: round(sum(row.ndcg[line] for row in rows) / len(rows), 4) for line in LINES
        },
        "gain": {
            name: {
                "difference": round(sum(one) / len(one), 4),
                "interval": [round(end, 4) for end in bootstrap_interval(one)],
            }
            for name, one in gains.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--side", choices=("tune", "report"), required=True)
    parser.add_argument("--limit", type=int, help="questions of each set")
    parser.add_argument("--data-dir", type=Path, default=Path(".crag-eval"))
    parser.add_argument("--margin", type=float, default=DEFAULTS.route_margin)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()

    async def run() -> list[Routed]:
        async with open_index(GraphSettings(data_dir=given.data_dir)) as corpus:
            return await measured(corpus, given.data, given.side, given.limit, given.margin)

    done = report(asyncio.run(run()), given.margin)
    if given.json:
        print(json.dumps(done, indent=2))
        return
    for name in ("n", "margin", "sure", "right", "held", "nDCG@10", "gain"):
        print(f"{name}: {done[name]}")
    for margin, one in done["by_margin"].items():
        print(f"margin {margin}: {one}")


if __name__ == "__main__":
    main()
