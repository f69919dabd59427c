"""The main figure of retrieval: what the whole default gains over an equal blend of three scores.

The default is the first search of a run with the settings as they are: planned, searched, reranked.
Against it stands the plainest good line: of the candidates of all-MiniLM-L6-v2 and BM25 the 50 best
by reciprocal rank fusion, ordered by the mean of cosine, BM25 and late interaction, each stretched
to [0, 1]; with --same-embedder the line has the default's. The gain is paired by question and
pooled over five public sets, with its 95 % bootstrap interval. scifact is tuned on its train qrels
and reported on its test qrels, every other set on the halves of its questions by the sha256 of
their ids. Read the reporting side once.

Embedded sets and the values of each question are kept in --data-dir: what was cut short goes on. A
change of code or settings asks anew. Exits 1 where the interval holds 0, or a set loses more than
.01; the share of questions with every relevant document within 10 is only reported.

python -m eval.benchmarks.main_figure --data DIR --side tune|report [--only NAME] [--limit N]
    [--same-embedder] [--data-dir .crag-eval] [--json]
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eval.corpora import ensure_base
from eval.datasets import Dataset, Question, load_beir
from eval.first_search import first_search
from eval.kept import Kept, key_of
from eval.retrieval import Ranked, documents_of, retrieval_values
from eval.runner import deterministic
from eval.safety_runs import code_version
from eval.statistics import bootstrap_interval
from graph.adapters.late_interaction import LateInteractionReranker
from graph.compose import Service, open_graph, open_vectors
from graph.settings import GraphSettings
from ingest.documents import Candidate
from ingest.filters import Filters
from ingest.fusion import best_first, blend, rrf
from ingest.scope import LOCAL

SETS = ("anthropic_docs", "xquad-en", "multihop", "cacm", "scifact")
MEASURES = ("nDCG@10", "hit@1", "all@10")
LINES = ("default", "blend")
ARMS = ("dense", "bm25", "late_interaction")
PLAIN = "all-MiniLM-L6-v2"
"""The embedder of the line that the default is held against."""

POOL = 50
"""Candidates of the three-way blend, and hits of each arm that they are taken from."""
WITHIN = 10
LOSS = 0.01
KEPT = "main_figure.jsonl"
VERSION = "1"
"""Grows when the same question would be given other values by what stands here."""
EVERY = 25
"""Questions between two lines of progress."""


def dataset(data: Path, name: str, side: str) -> Dataset:
    folder = data / "beir" / name
    if name == "scifact":
        return load_beir(folder, split="train" if side == "tune" else "test")
    return load_beir(folder, side="tune" if side == "tune" else "report")


def by_rrf(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The POOL best by both arms' ranks; a passage without a word of the question has no second."""
    by_id = {c.chunk.chunk_id: c for c in candidates}
    dense = best_first({key: c.scores["dense"] for key, c in by_id.items()})
    bm25 = {key: c.scores["bm25"] for key, c in by_id.items() if c.scores["bm25"] > 0}
    return [by_id[key] for key in best_first(rrf([dense, best_first(bm25)]))[:POOL]]


def three_way(candidates: Sequence[Candidate]) -> list[Candidate]:
    """By the mean of the three scores, each stretched to [0, 1] over these candidates."""
    by_id = {c.chunk.chunk_id: c for c in candidates}
    arms = [(1.0, {key: c.scores[arm] for key, c in by_id.items()}) for arm in ARMS]
    return [by_id[key] for key in best_first(blend(arms))]


async def default_order(service: Service, base: str, question: Question) -> Ranked:
    return (await first_search(service, base, question))[0]


async def blend_order(service: Service, base: str, question: Question) -> Ranked:
    vectors = open_vectors(service.settings, service.corpus)
    found = await service.corpus.index.search(
        LOCAL, base, question.text, [question.text], limit=POOL, filters=Filters(), exact=True
    )
    late = LateInteractionReranker(vectors, weight=1.0)
    order = three_way(await late.rerank(question.text, by_rrf(found)))
    return Ranked(question, documents_of(order), 0.0)


ORDERS = {"default": default_order, "blend": blend_order}


def measures(ranked: Ranked) -> dict[str, float]:
    own = {m: v[0] for m, v in retrieval_values([ranked]).items()}
    own["all@10"] = float(set(ranked.question.relevant) <= set(ranked.documents[:WITHIN]))
    return {m: own[m] for m in MEASURES}


async def measured(
    settings: GraphSettings, line: str, datasets: Mapping[str, Dataset], limit: int | None
) -> dict[str, list[dict[str, float]]]:
    """The values of each question, by set. The embedder has a data folder of its own."""
    settings = settings.model_copy(update={"data_dir": settings.data_dir / settings.embedder})
    code, own = code_version(), settings.model_dump_json(exclude={"data_dir", "threads"})
    found: dict[str, list[dict[str, float]]] = {}
    async with open_graph(deterministic(settings)) as service:
        kept = Kept[dict[str, float]](settings.data_dir / KEPT)
        for name, asked in datasets.items():
            base = await ensure_base(service.corpus, asked)
            version = await service.corpus.index.version(LOCAL, base)
            questions = asked.questions[:limit]
            found[name] = []
            for n, question in enumerate(questions, start=1):
                wanted = repr((question.text, question.relevant))
                key = key_of(code, own, line, version, question.id, wanted)
                row = kept.get(key)
                if row is None:
                    row = measures(await ORDERS[line](service, base, question))
                    kept.put({key: row})
                found[name].append(row)
                if n % EVERY == 0 or n == len(questions):
                    said = f"{name}, {line}: {n} of {len(questions)} questions"
                    print(said, file=sys.stderr, flush=True)
    return found


async def measure(
    settings: GraphSettings, datasets: Mapping[str, Dataset], limit: int | None, plain: str
) -> dict[str, list[dict[str, float]]]:
    """By set, the values of both lines for each question, as `default nDCG@10`."""
    lines = {
        "default": await measured(settings, "default", datasets, limit),
        "blend": await measured(
            settings.model_copy(update={"embedder": plain}), "blend", datasets, limit
        ),
    }
    return {
        name: [
            {f"{line} {m}": row[m] for line, row in zip(LINES, rows, strict=True) for m in row}
            for rows in zip(*(lines[line][name] for line in LINES), strict=True)
        ]
        for name in datasets
    }


def report(found: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, Any]:
    """Each set's means and gains, those of all questions, and whether the figure holds."""
    sets = {name: _means(rows) for name, rows in found.items() if rows}
    pooled = _means([row for rows in found.values() for row in rows])
    gained = pooled["gain"]["nDCG@10"][1] > 0
    lost = [name for name, own in sets.items() if own["gain"]["nDCG@10"][0] < -LOSS]
    return {"pooled": pooled, "sets": sets, "gained": gained, "lost": lost}


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    gains = {m: [row[f"default {m}"] - row[f"blend {m}"] for row in rows] for m in MEASURES}
    return {
        "n": len(rows),
        "default": {
            m: round(float(np.mean([r[f"default {m}"] for r in rows])), 4) for m in MEASURES
        },
        "blend": {m: round(float(np.mean([r[f"blend {m}"] for r in rows])), 4) for m in MEASURES},
        "gain": {
            m: [round(x, 4) for x in (float(np.mean(own)), *bootstrap_interval(own))]
            for m, own in gains.items()
        },
    }


def table(done: Mapping[str, Any]) -> list[str]:
    heads = [f"{m}: default, blend, gain" for m in MEASURES]
    lines = [f"| set | n | {' | '.join(heads)} |", "|---" * (2 + len(MEASURES)) + "|"]
    for name, own in [*done["sets"].items(), ("pooled", done["pooled"])]:
        cells = []
        for m in MEASURES:
            gain, low, high = own["gain"][m]
            pair = f"{own['default'][m]:.3f}, {own['blend'][m]:.3f}"
            cells.append(f"{pair}, {gain:+.4f} [{low:+.4f}, {high:+.4f}]")
        lines.append(f"| {name} | {own['n']} | {' | '.join(cells)} |")
    lost = f"lower by more than {LOSS}: {', '.join(done['lost']) or 'none'}"
    gained = "excludes" if done["gained"] else "does not exclude"
    return [*lines, f"the pooled interval {gained} 0 from below; {lost}"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="The folder that holds beir/.")
    options.add_argument("--side", choices=("tune", "report"), required=True)
    options.add_argument("--only", choices=SETS, action="append")
    options.add_argument("--limit", type=int, help="The first questions of each set.")
    options.add_argument("--same-embedder", action="store_true", help="Both lines with one.")
    options.add_argument("--data-dir", type=Path, default=Path(".crag-eval"))
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    settings = GraphSettings(data_dir=given.data_dir)
    sets = {name: dataset(given.data, name, given.side) for name in given.only or SETS}
    plain = settings.embedder if given.same_embedder else PLAIN
    found = asyncio.run(measure(settings, sets, given.limit, plain))
    done = {"side": given.side} | report(found)
    print(json.dumps(done, indent=2) if given.json else "\n".join(table(done)))
    sys.exit(0 if done["gained"] and not done["lost"] else 1)


if __name__ == "__main__":
    main()
