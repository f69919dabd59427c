"""What a chat model no longer reads, and which answers are lost with it, when strips are graded.

Over the answerable questions of a golden set whose `must_contain` stands in the evidence of a run:
the share of its text that is left, and how many of the answers still stand in that. No chat model
is asked; what strips change in its answers is seen by two runs of `crag eval run`, one of them with
CRAG_ANSWER__STRIPS=false.

python -m eval.benchmarks.strips --golden FILE --documents DIR [--split dev] [--data-dir DIR]
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from eval.corpora import ingest_golden
from eval.golden import GoldenQuestion, load_golden_set
from eval.labels import holds_words
from eval.runner import deterministic
from graph.compose import Service, open_graph
from graph.runner import Ask
from graph.settings import GraphSettings
from nodes.evidence import usable
from nodes.findings import Evidence
from nodes.state import State
from nodes.strips import refined


@dataclass(frozen=True)
class Kept:
    """Counts over the questions that were asked; `text` is a share of code points, in [0, 1]."""

    questions: int = 0
    strips: int = 0
    dropped: int = 0
    text: float = 1.0
    answers: int = 0
    answers_lost: int = 0


async def kept(service: Service, questions: Sequence[GoldenQuestion]) -> Kept:
    states = [(question, await _ended(service, question)) for question in questions]
    return counted([(question, usable(state)) for question, state in states])


def counted(found: Sequence[tuple[GoldenQuestion, Sequence[Evidence]]]) -> Kept:
    strips = dropped = whole = left = answers = lost = 0
    for question, evidence in found:
        result = refined(evidence)
        strips += result.kept + result.dropped
        dropped += result.dropped
        before = "\n".join(one.candidate.chunk.text for one in evidence)
        after = "\n".join(map(_read, result.evidence))
        whole, left = whole + len(before), left + len(after)
        if question.must_contain and all(holds_words(before, t) for t in question.must_contain):
            answers += 1
            lost += not all(holds_words(after, text) for text in question.must_contain)
    return Kept(len(found), strips, dropped, left / max(1, whole), answers, lost)


def _read(one: Evidence) -> str:
    text = one.candidate.chunk.text
    if one.strips is None:
        return text
    return "\n".join(text[strip.start : strip.end] for strip in one.strips)


async def _ended(service: Service, question: GoldenQuestion) -> State:
    states: list[State] = []
    ask = Ask(
        question.question,
        question.knowledge_base,
        options={"web": False, "cache": False},
        logged=False,
    )
    await service.runner.ask(ask, watch=states.append)
    return states[-1]


async def _measured(given: argparse.Namespace) -> Kept:
    questions = [
        q for q in load_golden_set(given.golden) if q.split == given.split and q.answerable
    ]
    async with open_graph(deterministic(GraphSettings(data_dir=given.data_dir))) as service:
        for base in dict.fromkeys(question.knowledge_base for question in questions):
            await ingest_golden(service.corpus, given.documents, base)
        return await kept(service, questions)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--golden", type=Path, required=True)
    options.add_argument("--documents", type=Path, required=True)
    options.add_argument("--split", default="dev")
    options.add_argument("--data-dir", type=Path, default=Path(".crag-eval"))
    print(json.dumps(asdict(asyncio.run(_measured(options.parse_args()))), indent=2))


if __name__ == "__main__":
    main()
