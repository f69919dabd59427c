"""What making follow-ups stand alone brings a search: recall as asked, and as the service asks."""

import sys
from pathlib import Path
from typing import Any

from eval.benchmark import latency, means, parts, searched
from eval.corpora import ensure_base
from eval.datasets import Question, Side, load_beir, sampled
from eval.retrieval import Pipeline, Ranked, retrieval_values
from eval.runner import deterministic
from eval.standalone import Made, StandAlone, small_model
from graph.compose import open_graph
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError
from nodes.state import Turn

EVERY = 20
"""Questions between two lines of progress."""


async def benchmark_follow_ups(
    settings: GraphSettings,
    folder: Path,
    pipeline: Pipeline,
    *,
    split: str = "test",
    side: Side = "all",
    limit: int | None = None,
    sample: int | None = None,
) -> dict[str, Any]:
    """The questions of a BEIR folder that have a history, each searched for twice: as it was asked
    and made to stand alone, by a chat model where one is set; its texts are kept in the data
    folder.

    `metrics` are of the questions that stand alone, `gain_over_as_asked` is paired. Raises
    ConfigurationError where no question has a history, and for whole runs: they do it themselves.
    """
    if pipeline == "corrective":
        raise ConfigurationError("whole runs make follow-ups stand alone by themselves")
    dataset = load_beir(folder, split=split, side=side)
    follow_ups = [question for question in dataset.questions if question.history][:limit]
    asked = sampled(follow_ups, sample)
    if not asked:
        raise ConfigurationError(f"{folder} has no judged question with a history, side {side}")
    before: list[Ranked] = []
    after: list[Ranked] = []
    made: list[Made] = []
    async with open_graph(deterministic(settings)) as service:
        base = await ensure_base(service.corpus, dataset)
        await service.corpus.embedder.load()
        model = small_model(settings)
        stand_alone = StandAlone.of(service.services.writer, model, settings.data_dir)
        for n, question in enumerate(asked, start=1):
            made.append(await stand_alone(question.text, turns_of(question)))
            before.append(await searched(service, base, question, pipeline))
            alone = Question(question.id, made[-1].text, question.relevant)
            after.append(await searched(service, base, alone, pipeline))
            if n % EVERY == 0 or n == len(asked):
                print(f"{n} of {len(asked)} follow-ups", file=sys.stderr, flush=True)
        described = await parts(service, base, pipeline)
    values, plain = retrieval_values(after), retrieval_values(before)
    gains = {name: [b - a for a, b in zip(plain[name], own, strict=True)]
             for name, own in values.items()}  # fmt: skip
    return {
        "dataset": dataset.name,
        "pipeline": f"{pipeline}, follow-ups made to stand alone",
        "n": len(asked),
        "fell_back": sum(one.fell_back for one in made),
        **means(values),
        "gain_over_as_asked": means(gains),
        "latency_ms": latency([one.ms for one in made]),
        "parts": described | {"chat_model": model, "split": {"qrels": split, "side": side}},
    }


def turns_of(question: Question) -> list[Turn]:
    return [Turn(asked, told) for asked, told in question.history]
