"""`crag eval ablation`: every technique on and off, on the same questions."""

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from eval.ablation_report import Rows, report
from eval.kept import Kept, key_of
from eval.techniques import Technique, with_overrides
from graph.compose import Service, open_graph, open_vectors, varied
from graph.settings import GraphSettings

BLOCK = 10
"""Questions that one variant is asked before the next one has its turn: what else the machine does
meanwhile then slows all of them alike."""

KEPT = "ablation.jsonl"
VERSION = "1"
"""Grows when the same run would be given other values."""


class Asked(Protocol):
    """What is asked, and how a run on it is valued."""

    name: str
    ids: Sequence[str]
    """A digest of each question with its labels."""

    def kind(self, technique: Technique) -> str:
        """How much of a run its values are of: "search" or "run"."""

    async def prepare(self, service: Service) -> str:
        """Brings the documents in, and gives a version of all they are answered from."""

    async def values(
        self, service: Service, kind: str, numbers: Sequence[int]
    ) -> tuple[dict[int, dict[str, float]], list[str]]:
        """Metrics, `ms`, `chat_calls` and `usd` of each question that ran, by its number, and a
        line for each that ended in an error."""


@dataclass(frozen=True)
class Variant:
    """One way to run, whichever techniques ask for it; `id` is a digest of it."""

    kind: str
    settings: GraphSettings
    id: str


async def ablation(
    settings: GraphSettings, asked: Asked, techniques: Sequence[Technique], *, code: str
) -> dict[str, Any]:
    """The report of each technique: means on and off, the paired gain, and what it costs.

    Each question's values are kept in the data folder, for this `code`, index and settings: what
    was cut short goes on. Errors are in no figure and counted.
    """
    needs = {t.name: why for t in techniques if (why := _missing(settings, t))}
    chosen = [t for t in techniques if t.name not in needs]
    sides = {t.name: _sides(settings, asked.kind(t), t) for t in chosen}
    variants = {v.id: v for pair in sides.values() for v in pair}
    errors: list[str] = []
    async with open_graph(settings) as service:
        await service.load()
        fingerprint = service.corpus.embedder.fingerprint
        version = key_of(VERSION, code, await asked.prepare(service))
        kept: Kept[dict[str, float]] = Kept(settings.data_dir / KEPT)
        async with _services(service, variants) as services:
            for start in range(0, len(asked.ids), BLOCK):
                numbers = range(start, min(start + BLOCK, len(asked.ids)))
                errors += await _block(asked, variants, services, kept, numbers, version)
                print(f"{asked.name}: {numbers.stop} of {len(asked.ids)} questions, "
                    f"{len(variants)} variants", file=sys.stderr, flush=True)  # fmt: skip
    rows: dict[str, Rows] = {
        v: {
            n: row
            for n in range(len(asked.ids))
            if (row := kept.get(key_of(version, v, asked.ids[n]))) is not None
        }
        for v in variants
    }
    pairs = [(t, rows[on.id], rows[off.id]) for t in chosen for on, off in [sides[t.name]]]
    return {
        "dataset": asked.name,
        "date": datetime.now(UTC).date().isoformat(),
        "embedder": fingerprint,
        "chat": settings.chat.model,
        "n": len(asked.ids),
        "techniques": [report(*pair) for pair in pairs],
        "left_out": needs,
        "errors": errors,
    }


async def _block(
    asked: Asked,
    variants: Mapping[str, Variant],
    services: Mapping[str, Service],
    kept: Kept[dict[str, float]],
    numbers: Sequence[int],
    version: str,
) -> list[str]:
    """Asks every variant what is not kept of it. What it reads is read once before, unmeasured:
    the first variant would else pay for all. Not so with a chat model, whose calls cost more than
    that."""
    keys = {(v, n): key_of(version, v, asked.ids[n]) for v in variants for n in numbers}
    todo = {v: [n for n in numbers if kept.get(keys[v, n]) is None] for v in variants}
    missing = {v: left for v, left in todo.items() if left}
    errors: list[str] = []
    cheap = [v for v in missing if variants[v].settings.chat.model is None]
    for v in cheap[:1]:
        await asked.values(services[v], variants[v].kind, missing[v])
    for v, left in missing.items():
        found, said = await asked.values(services[v], variants[v].kind, left)
        kept.put({keys[v, n]: row for n, row in found.items()})
        errors += said
    return errors


def _sides(settings: GraphSettings, kind: str, technique: Technique) -> tuple[Variant, Variant]:
    on, off = (with_overrides(settings, side) for side in (technique.on, technique.off))
    return _variant(kind, on), _variant(kind, off)


def _variant(kind: str, settings: GraphSettings) -> Variant:
    own = settings.model_dump_json(exclude={"data_dir", "threads", "database"})
    return Variant(kind, settings, key_of(kind, own))


def _missing(settings: GraphSettings, technique: Technique) -> str:
    if technique.needs == "chat" and settings.chat.model is None:
        return "needs a chat model, CRAG_CHAT__MODEL"
    if technique.needs == "bases":
        return "needs several knowledge bases: python -m eval.benchmarks.routing"
    if technique.needs == "web":
        return "what the web says changes from one run to the next"
    return ""


@asynccontextmanager
async def _services(
    service: Service, variants: Mapping[str, Variant]
) -> AsyncIterator[dict[str, Service]]:
    async with AsyncExitStack() as stack:
        vectors = open_vectors(service.settings, service.corpus)
        yield {
            key: await stack.enter_async_context(varied(service, v.settings, vectors))
            for key, v in variants.items()
        }
