"""Measures how a follow-up question is made to stand alone, against rewrites by people.

Elgohary et al., "Can You Unpack That? Learning to Rewrite Questions-in-Context" (EMNLP 2019).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from eval.benchmark import latency
from eval.clustered import Weights, clustered_interval
from eval.datasets import Side, on_side, sampled
from eval.labelled_rows import read_rows
from eval.standalone import Made, StandAlone, small_model
from graph.compose import open_graph
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError
from nodes.state import Turn
from nodes.words import words

SYSTEM = "[system] "
"""How CAsT marks an answer among the turns before a question."""

TITLED = "canard"
"""The dataset whose history begins with the title and the section that is talked about, and then
has questions and answers in turn."""


class Rewrite(BaseModel):
    """`rewrite` is what a person made of the question, so that it stands without its history."""

    dataset: str
    id: str
    history: list[str]
    question: str = Field(min_length=1)
    rewrite: str = Field(min_length=1)


NEW = ("new_word_recall", "new_word_precision")

_NAME = re.compile(r"(?<=[\w,;:\"(] )[^\W\d_a-z][\w'’-]+|\b\w*\d\w*")


@dataclass(frozen=True)
class Rewritten:
    """What was made of a question."""

    row: Rewrite
    made: Made

    @property
    def text(self) -> str:
        return self.made.text


async def benchmark_rewrites(
    settings: GraphSettings,
    file: Path,
    *,
    side: Side = "all",
    limit: int | None = None,
    sample: int | None = None,
) -> dict[str, Any]:
    """The report on all rows, and on those of each dataset; by a chat model where one is set.

    Raises ConfigurationError for a bad row, and where none is left.
    """
    rows = [row for row in read_rows(file, Rewrite) if on_side(row.id, side)][:limit]
    rows = sampled(rows, sample)
    if not rows:
        raise ConfigurationError(f"{file} has no row on side {side}")
    if settings.chat.model is None:
        made = [await _rewritten(row, StandAlone()) for row in rows]
    else:
        async with open_graph(settings) as service:
            worded = StandAlone.of(
                service.services.writer, small_model(settings), settings.data_dir
            )
            made = [await _rewritten(row, worded) for row in rows]
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    return {
        "dataset": "+".join(datasets),
        "pipeline": "contextualize_question",
        "n": len(made),
        "fell_back": sum(one.made.fell_back for one in made),
        **measured(made),
        "latency_ms": latency([one.made.ms for one in made]),
        "by_dataset": {
            name: {"n": len(own), **measured(own)}
            for name in datasets
            if (own := [one for one in made if one.row.dataset == name])
        },
        "parts": {
            "chat_model": small_model(settings),
            "side": side,
            "sacrebleu": version("sacrebleu"),
        },
    }


def turns_of(row: Rewrite) -> list[Turn]:
    """The history as the service is given it: questions, each with its answer if it is known."""
    if row.dataset == TITLED:
        pairs = zip(row.history[::2], [*row.history[1::2], ""], strict=False)
        return [Turn(asked, told) for asked, told in pairs]
    turns: list[Turn] = []
    for said in row.history:
        if not said.startswith(SYSTEM):
            turns.append(Turn(said, ""))
        elif turns:
            turns[-1] = Turn(turns[-1].question, said.removeprefix(SYSTEM))
    return turns


def measured(made: Sequence[Rewritten]) -> dict[str, Any]:
    """All in [0, 1] but BLEU in [0, 100]; intervals are over conversations.

    BLEU and word_f1 compare with the person's rewrite; BLEU_copy is the question as it was asked.
    name_recall is the share of the names and figures of a person's rewrite that are there.
    new_word_recall and new_word_precision are of the words that a person, or the service, added;
    left_alone is the share left as it was of the questions to which a person added no word.
    """
    conversations = [conversation(one.row) for one in made]
    columns = {
        name: np.array([_words(one)[name] for one in made], dtype=float)
        for name in ("word_f1", "name_recall", *NEW, "left_alone")
    }
    measures: dict[str, Any] = {
        "BLEU": _Bleu([one.text for one in made], [one.row.rewrite for one in made]),
        "BLEU_copy": _Bleu([one.row.question for one in made], [one.row.rewrite for one in made]),
        **{name: _Mean(column) for name, column in columns.items()},
    }
    once = np.ones(len(made), dtype=np.int64)
    return {
        "metrics": {name: _rounded(measure(once)) for name, measure in measures.items()},
        "intervals": {
            name: [_rounded(end) for end in clustered_interval(conversations, measure)]
            for name, measure in measures.items()
        },
    }


def conversation(row: Rewrite) -> str:
    """The id without its turn: C_1a_0:3 and 2019_32_3 are the third of theirs."""
    head = row.id.rpartition(":" if ":" in row.id else "_")[0]
    return f"{row.dataset}/{head or row.id}"


async def _rewritten(row: Rewrite, stand_alone: StandAlone) -> Rewritten:
    return Rewritten(row, await stand_alone(row.question, turns_of(row)))


def _words(one: Rewritten) -> dict[str, float]:
    """NaN where a measure does not apply to the row."""
    asked, wanted, made = (
        Counter(words(text)) for text in (one.row.question, one.row.rewrite, one.text)
    )
    needed, added = wanted - asked, made - asked
    common, new = (wanted & made).total(), (needed & added).total()
    return {
        "word_f1": 2 * common / max(1, wanted.total() + made.total()),
        "name_recall": _recalled(names(one.row.rewrite), names(one.text)),
        "new_word_recall": new / needed.total() if needed else float("nan"),
        "new_word_precision": new / added.total() if added else float("nan"),
        "left_alone": float("nan") if needed else float(not added),
    }


def names(text: str) -> Counter[str]:
    """What is written with a capital inside a sentence, or holds a digit: named entities as far as
    spelling tells."""
    return Counter(found.casefold() for found in _NAME.findall(text))


def _recalled(wanted: Counter[str], told: Counter[str]) -> float:
    return (wanted & told).total() / wanted.total() if wanted else float("nan")


class _Mean:
    def __init__(self, values: NDArray[np.float64]) -> None:
        self._known = ~np.isnan(values)
        self._values = np.where(self._known, values, 0.0)

    def __call__(self, weights: Weights) -> float:
        rows = float(weights @ self._known)
        return float(weights @ self._values) / rows if rows else float("nan")


class _Bleu:
    """BLEU of the rows that are drawn, from counts that are made once (Papineni et al., 2002)."""

    def __init__(self, texts: Sequence[str], references: Sequence[str]) -> None:
        from sacrebleu.metrics.bleu import BLEU

        self._bleu = BLEU()
        sentence = BLEU(effective_order=True)
        scores = [
            sentence.sentence_score(text, [reference])
            for text, reference in zip(texts, references, strict=True)
        ]
        self._counts = np.array(
            [[*s.counts, *s.totals, s.sys_len, s.ref_len] for s in scores], dtype=np.int64
        )

    def __call__(self, weights: Weights) -> float:
        *grams, sys_len, ref_len = (weights @ self._counts).tolist()
        half = len(grams) // 2
        score = self._bleu.compute_bleu(
            grams[:half], grams[half:], sys_len, ref_len, smooth_method="exp"
        )
        return float(score.score)


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 4)
