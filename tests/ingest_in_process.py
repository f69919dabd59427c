"""A process that ingests a folder slowly and prints each source once it is acknowledged."""

import asyncio
import sys
from pathlib import Path

from ingest.pipeline import FileResult, ingest
from ingest.scope import LOCAL
from tests.corpus import BASE, open_corpus
from tests.fakes import HashingEmbedder


def say(result: FileResult, total: int) -> None:
    if result.state in ("added", "updated"):
        print(result.source, flush=True)


async def main(data: Path, folders: list[Path]) -> None:
    async with open_corpus(data, HashingEmbedder(delay_s=0.001)) as corpus:
        print("open", flush=True)
        for folder in folders:
            await ingest(
                folder,
                scope=LOCAL,
                knowledge_base=BASE,
                index=corpus.index,
                writer=corpus.writer,
                on_result=say,
            )


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sorted(Path(sys.argv[2]).iterdir())))
