"""Ingestion's throughput against the bare encoder, and what a changed file costs.

Ingestion reads, splits, embeds, writes and builds the index; the encoder gets the same chunks in
one call and sorts them by length. They take turns in one process.

python -m eval.benchmarks.ingestion [--json] [--folder examples/handbook] [--pairs 3]
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eval.benchmarks.bare_encoder import BATCH, bare_encoder
from eval.benchmarks.report import Figure, figure, finish
from ingest.compose import Corpus, open_index
from ingest.pipeline import IngestReport, ingest
from ingest.ports import Encoded
from ingest.scope import LOCAL
from ingest.settings import IndexSettings

BASE = "bench"
RATIO = 0.90
CHANGE = "\n\nOne more paragraph, so that this file is another one than before.\n"


async def measure(folder: Path, pairs: int, scratch: Path) -> list[Figure]:
    encode = bare_encoder()
    ours: list[float] = []
    bare: list[float] = []
    ratios: list[float] = []
    for n in range(pairs + 1):
        seconds, texts = await _ingestion(folder, scratch / f"data-{n}")
        clock = time.perf_counter()
        encode(texts)
        alone = time.perf_counter() - clock
        print(f"pair {n}: {len(texts)} chunks, {seconds:.1f} s, {alone:.1f} s", file=sys.stderr)
        if n:  # the first pair warms both up
            ours.append(len(texts) / seconds)
            bare.append(len(texts) / alone)
            ratios.append(alone / seconds)
    return [
        figure("encoder alone", bare, "chunks/s"),
        figure("ingestion", ours, "chunks/s"),
        figure("ingestion over encoder, by pairs", ratios, "times", at_least=RATIO),
        await _changed_file(folder, scratch),
    ]


async def _ingestion(folder: Path, data: Path) -> tuple[float, list[str]]:
    """Seconds into an empty base and the texts it embedded; the model has run before."""
    async with open_index(IndexSettings(data_dir=data)) as corpus:
        await corpus.embedder.embed(["a passage of some length " * 40] * (2 * BATCH))
        await corpus.writer.create_knowledge_base(LOCAL, BASE)
        with _embedded(corpus) as texts:
            clock = time.perf_counter()
            await _ingest(corpus, folder)
            return time.perf_counter() - clock, texts


async def _changed_file(folder: Path, scratch: Path) -> Figure:
    """Texts embedded after one file changed, for each chunk of it: 1 where no other is."""
    copy = scratch / "copy"
    shutil.copytree(folder, copy)
    async with open_index(IndexSettings(data_dir=scratch / "changed")) as corpus:
        await corpus.writer.create_knowledge_base(LOCAL, BASE)
        await _ingest(corpus, copy)
        file = sorted(copy.rglob("*.md"))[0]
        file.write_text(file.read_text(encoding="utf-8") + CHANGE, encoding="utf-8")
        with _embedded(corpus) as texts:
            report = await _ingest(corpus, copy)
    (changed,) = [result for result in report.files if result.state == "updated"]
    print(f"{changed.source} has {changed.chunks} chunks", file=sys.stderr)
    return figure(
        "embedded after one file changed, per chunk of it",
        [len(texts) / changed.chunks],
        "times",
        at_most=1.0,
        at_least=1.0,
    )


async def _ingest(corpus: Corpus, folder: Path) -> IngestReport:
    return await ingest(
        folder, scope=LOCAL, knowledge_base=BASE, index=corpus.index, writer=corpus.writer
    )


@contextmanager
def _embedded(corpus: Corpus) -> Iterator[list[str]]:
    """The texts that are embedded from here on."""
    embedder: Any = corpus.embedder
    encode, texts = embedder.encode, list[str]()

    async def noted(more: Sequence[str], **how: Any) -> list[Encoded]:
        texts.extend(more)
        encoded: list[Encoded] = await encode(more, **how)
        return encoded

    embedder.encode = noted
    try:
        yield texts
    finally:
        embedder.encode = encode


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--folder", type=Path, default=Path("examples/handbook"))
    options.add_argument("--pairs", type=int, default=3)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        figures = asyncio.run(measure(given.folder, given.pairs, Path(scratch)))
    finish("ingestion", figures, {"folder": given.folder.name}, as_json=given.json)


if __name__ == "__main__":
    main()
