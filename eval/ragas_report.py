"""What ragas is shown of a run, and its figures as a report. Imports nothing of the service, as
ragas_run says."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

METRICS = ("faithfulness", "context_precision", "context_recall", "answer_relevancy")
OF_THE_ANSWER = ("faithfulness", "answer_relevancy")
LOWEST = {"answer_relevancy": -1.0}
"""A cosine; the others are shares."""
ROUNDING = 1e-6

Row = dict[str, Any]


class Misconfigured(Exception):
    """Exit code 2."""


@dataclass(frozen=True)
class Sample:
    """What ragas is shown of one record. `error`: why the run itself left nothing to judge."""

    pipeline: str
    id: str
    question: str
    conversation: str
    """The question after the turns before it: what it asks is not always in it."""
    answer: str
    passages: tuple[str, ...]
    reference: str
    answered: bool
    error: str = ""

    def asks_for(self, metric: str) -> bool:
        """A refusal has no answer to judge, and without a reference nothing says what to find."""
        if metric in OF_THE_ANSWER:
            return self.answered or bool(self.error)
        return bool(self.reference)


@dataclass(frozen=True)
class Score:
    """Either `value` or, where there is none, `failed`."""

    pipeline: str
    id: str
    metric: str
    value: float | None
    failed: str = ""


def sample_of(row: Row) -> Sample:
    golden, ran = row["golden"], row.get("ran") or {}
    turns = [said for turn in golden.get("history") or [] for said in _exchange(turn)]
    # Told sentence by sentence: without the marks of the citations, which ragas takes for claims.
    told = " ".join(sentence["text"] for sentence in ran.get("sentences") or [])
    return Sample(
        pipeline=row["pipeline"],
        id=golden["id"],
        question=golden["question"],
        conversation="\n".join([*turns, golden["question"]]),
        answer=told or ran.get("answer") or "",
        passages=tuple(ran.get("passages") or []),
        reference=(golden.get("answer") or "") if golden["answerable"] else "",
        answered=ran.get("outcome") == "answered",
        error=row.get("error") or ("" if ran else "the record has no run"),
    )


def _exchange(turn: Row) -> tuple[str, str]:
    return turn["question"], turn["answer"]


def read_samples(folder: Path, limit: int | None = None) -> list[Sample]:
    """The first `limit` questions of each pipeline."""
    file = folder / "records.jsonl"
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise Misconfigured(f"{file}: {why}; `crag eval run` writes it") from None
    samples: list[Sample] = []
    taken: Counter[str] = Counter()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            sample = sample_of(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Misconfigured(f"{file}:{number}: no record of `crag eval run`") from None
        if limit is None or taken[sample.pipeline] < limit:
            taken[sample.pipeline] += 1
            samples.append(sample)
    if not samples:
        raise Misconfigured(f"{file}: no records; `crag eval run` writes it")
    return samples


def summarise(samples: Sequence[Sample], scores: Sequence[Score], skipped: Row) -> Row:
    """For each pipeline and metric: mean of the n that have a score, failed, and not applicable."""
    figures: Row = {}
    for pipeline in dict.fromkeys(sample.pipeline for sample in samples):
        total = sum(sample.pipeline == pipeline for sample in samples)
        figures[pipeline] = {}
        for metric in METRICS:
            if metric in skipped:
                continue
            of = [s for s in scores if s.pipeline == pipeline and s.metric == metric]
            values = [s.value for s in of if s.value is not None]
            figures[pipeline][metric] = {
                "mean": math.fsum(values) / len(values) if values else None,
                "n": len(values),
                "failed": len(of) - len(values),
                "not_applicable": total - len(of),
            }
    return figures


def report(samples: Sequence[Sample], scores: Sequence[Score], used: Row, skipped: Row) -> Row:
    return {
        "advisory": True,
        "used": used,
        "skipped": skipped,
        "questions": len({sample.id for sample in samples}),
        "metrics": summarise(samples, scores, skipped),
        "scores": [
            {"pipeline": s.pipeline, "id": s.id, "metric": s.metric, "value": s.value}
            | ({"failed": s.failed} if s.failed else {})
            for s in scores
        ],
    }


def markdown(found: Row) -> str:
    used = ", ".join(f"{name} {value}" for name, value in found["used"].items() if value)
    lines = [
        "# ragas",
        "",
        "Advisory: a chat model judged, and nothing is gated on it. "
        f"{found['questions']} questions; {used}.",
        "",
        "| pipeline | metric | mean | n | failed | not applicable |",
        "|---|---|---|---|---|---|",
    ]
    for pipeline, metrics in found["metrics"].items():
        for metric, figures in metrics.items():
            mean = "–" if figures["mean"] is None else f"{figures['mean']:.3f}"
            counts = f"{figures['n']} | {figures['failed']} | {figures['not_applicable']}"
            lines.append(f"| {pipeline} | {metric} | {mean} | {counts} |")
    lines += ["", "A mean is that of the n with a score; a failed one is in no mean."]
    lines += [f"Skipped: {metric} ({why})." for metric, why in found["skipped"].items()]
    failures = Counter(s["failed"] for s in found["scores"] if "failed" in s)
    if failures:
        lines += ["", "Why they failed:", ""]
        lines += [f"- {times} × {why}" for why, times in failures.most_common(10)]
    return "\n".join(lines) + "\n"
