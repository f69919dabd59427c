"""A blend fitted on labels against the shipped one, cross-validated on tuning sides alone.

scifact is tuned on its train qrels, every other set where the sha256 of a question's id is even.
Nothing uses what is fitted: --out writes it for whoever looks.

python -m eval.benchmarks.learned_blend --data DIR [--data-dir .crag-eval] [--only NAME]
    [--limit N] [--out FILE]
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from eval.corpora import ensure_base
from eval.datasets import load_beir
from eval.learned_blend import SIGNS, Asked, cross_validated, fit, read
from eval.runner import deterministic
from eval.statistics import bootstrap_interval
from graph.compose import open_graph
from graph.settings import GraphSettings
from ingest.filters import Filters
from ingest.scope import LOCAL

SETS = ("anthropic_docs", "xquad-en", "multihop", "cacm", "scifact")
CHOICES = {
    "dense, BM25, late": SIGNS[:3],
    "and ranks": SIGNS[:8],
    "and words": (*SIGNS[:3], *SIGNS[8:10]),
    "and words, codes, names, kind": (*SIGNS[:3], *SIGNS[8:]),
    "all": SIGNS,
}
L2 = (0.001, 0.01)


async def gathered(
    settings: GraphSettings, data: Path, names: list[str], limit: int | None
) -> list[Asked]:
    found: list[Asked] = []
    async with open_graph(deterministic(settings)) as service:
        for name in names:
            train = {"split": "train"} if name == "scifact" else {"side": "tune"}
            dataset = load_beir(data / "beir" / name, **train)  # type: ignore[arg-type]
            base = await ensure_base(service.corpus, dataset)
            for question in dataset.questions[:limit]:
                candidates = await service.corpus.index.search(
                    LOCAL, base, question.text, [question.text],
                    limit=settings.retrieve.candidates, filters=Filters(), exact=True,
                )  # fmt: skip
                reranked = await service.services.reranker.rerank(question.text, candidates)
                found.append(read(name, question, reranked))
            print(f"{name}: {len(dataset.questions[:limit])} questions", file=sys.stderr)
    return found


def report(questions: list[Asked]) -> dict[str, Any]:
    """Each choice of signs: gain of nDCG@10 pooled over questions, its interval, and by set."""
    choices = []
    for name, signs in CHOICES.items():
        columns = [SIGNS.index(sign) for sign in signs]
        for l2 in L2:
            gains = cross_validated(questions, columns, l2=l2)
            pooled = [gain for own in gains.values() for gain in own]
            low, high = bootstrap_interval(pooled)
            choices.append(
                {
                    "signs": name,
                    "l2": l2,
                    "gain": round(float(np.mean(pooled)), 4),
                    "interval": [round(low, 4), round(high, 4)],
                    "by_set": {key: round(float(np.mean(own)), 4) for key, own in gains.items()},
                    "coefficients": dict(
                        zip(signs, fit(questions, columns, l2=l2).round(3).tolist(), strict=True)
                    ),
                }
            )
    counts = {name: sum(one.dataset == name for one in questions) for name in SETS}
    return {"fitted_on": {k: n for k, n in counts.items() if n}, "choices": choices}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="The folder that holds beir/.")
    options.add_argument("--data-dir", type=Path, default=Path(".crag-eval"))
    options.add_argument("--only", choices=SETS, action="append")
    options.add_argument("--limit", type=int, help="The first questions of each set.")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    settings = GraphSettings(data_dir=given.data_dir)
    names = list(given.only or SETS)
    found = report(asyncio.run(gathered(settings, given.data, names, given.limit)))
    text = json.dumps(found, indent=2)
    if given.out:
        given.out.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
