"""From a folder to a base: what changed is embedded, what failed is a line, no crash loses any."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ingest.errors import InvalidRequest
from ingest.pipeline import IngestReport, files_below
from ingest.scope import LOCAL
from tests.corpus import BASE, OpenCorpus, open_corpus
from tests.fakes import HashingEmbedder

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def corpus(store_path: Path, embedder: HashingEmbedder) -> AsyncIterator[OpenCorpus]:
    async with open_corpus(store_path / "crag", embedder) as corpus:
        yield corpus


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("# Alpha\n\nAlpha is the first letter.\n")
    (folder / "b.txt").write_text("Beta is the second letter.\n")
    (folder / "deep" / "c.md").write_text("# Gamma\n\nGamma is the third letter.\n")
    return folder


def states(report: IngestReport) -> dict[str, str]:
    return {result.source: result.state for result in report.files}


async def test_reads_every_file_below_a_folder(corpus: OpenCorpus, folder: Path) -> None:
    report = await corpus.ingest(folder)
    assert states(report) == dict.fromkeys(["a.md", "b.txt", "deep/c.md"], "added")
    assert report.exit_code == 0
    assert (await corpus.sources("gamma third"))[0] == "deep/c.md"


async def test_an_unchanged_folder_embeds_nothing(
    corpus: OpenCorpus, folder: Path, embedder: HashingEmbedder
) -> None:
    await corpus.ingest(folder)
    before = (len(embedder.batches), await corpus.chunks())
    report = await corpus.ingest(folder)
    assert states(report) == dict.fromkeys(["a.md", "b.txt", "deep/c.md"], "unchanged")
    assert (len(embedder.batches), await corpus.chunks()) == before


async def test_only_what_changed_is_embedded(
    corpus: OpenCorpus, folder: Path, embedder: HashingEmbedder
) -> None:
    await corpus.ingest(folder)
    embedder.batches.clear()
    (folder / "a.md").write_text("# Alpha\n\nAlpha has changed.\n")
    report = await corpus.ingest(folder)
    assert states(report) == {"a.md": "updated", "b.txt": "unchanged", "deep/c.md": "unchanged"}
    assert [len(batch) for batch in embedder.batches] == [1]


async def test_touching_a_file_changes_nothing(corpus: OpenCorpus, folder: Path) -> None:
    await corpus.ingest(folder)
    os.utime(folder / "a.md", (1, 1))
    assert states(await corpus.ingest(folder))["a.md"] == "unchanged"


async def test_a_missing_file_is_deleted_only_when_asked(corpus: OpenCorpus, folder: Path) -> None:
    await corpus.ingest(folder)
    (folder / "a.md").unlink()
    assert "a.md" not in states(await corpus.ingest(folder))
    assert "a.md" in await corpus.sources("alpha first")
    assert states(await corpus.ingest(folder, delete_missing=True))["a.md"] == "deleted"
    assert "a.md" not in await corpus.sources("alpha first")
    assert await corpus.chunks() == 2


async def test_a_bad_file_is_one_line_and_stops_nothing(corpus: OpenCorpus, folder: Path) -> None:
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "empty.md").write_text("")
    (folder / "what.bin").write_bytes(bytes(range(256)))
    report = await corpus.ingest(folder)
    failed = {r.source: r for r in report.files if r.state == "failed"}
    assert set(failed) == {"bad.pdf", "empty.md", "what.bin"}
    assert all(r.error and "\n" not in r.error and r.code for r in failed.values())
    assert report.count("added") == 3
    assert report.exit_code == 3


async def test_an_unreadable_name_is_one_line_and_stops_nothing(
    corpus: OpenCorpus, folder: Path
) -> None:
    (folder / os.fsdecode(b"bad\xff.md")).write_text("# Bad name\n\nGood text.\n")
    report = await corpus.ingest(folder)
    assert report.count("failed") == 1
    assert report.count("added") == 3
    (failed,) = [r for r in report.files if r.state == "failed"]
    failed.source.encode()


async def test_a_file_that_became_bad_goes_on_answering_as_it_was(
    corpus: OpenCorpus, folder: Path
) -> None:
    await corpus.ingest(folder)
    (folder / "a.md").write_text("")
    report = await corpus.ingest(folder, delete_missing=True)
    assert states(report)["a.md"] == "failed"
    assert "a.md" in await corpus.sources("alpha first")


async def test_a_folder_of_bad_files_only_is_a_failure(corpus: OpenCorpus, tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.bin").write_bytes(b"\x00\x01")
    assert (await corpus.ingest(tmp_path / "bad")).exit_code == 1


async def test_copies_in_one_folder_are_aliases(corpus: OpenCorpus, folder: Path) -> None:
    (folder / "z.md").write_bytes((folder / "a.md").read_bytes())
    report = await corpus.ingest(folder)
    by_source = {r.source: r for r in report.files}
    assert by_source["z.md"].duplicate_of == by_source["a.md"].document_id
    assert by_source["a.md"].duplicate_of is None


def test_hidden_files_are_left_out_and_one_file_is_enough(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    (folder / ".DS_Store").write_text("x")
    assert [name for name, _ in files_below(folder)] == ["a.md", "b.txt", "deep/c.md"]
    assert files_below(folder / "a.md") == [("a.md", folder / "a.md")]


async def test_nothing_there_is_an_invalid_request(corpus: OpenCorpus, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="no file or folder"):
        await corpus.ingest(tmp_path / "missing")


def versions_of(path: Path, rounds: int = 3, files: int = 6) -> None:
    """Folders that are ingested one after the other: the same files, each time changed."""
    for turn in range(rounds):
        (path / str(turn)).mkdir(parents=True)
        for n in range(files):
            body = f"File{n} says version{turn} here. " * 30
            (path / str(turn) / f"{n}.md").write_text(f"# File {n}\n\n{body}\n")


@pytest.mark.parametrize("seed", range(4))
async def test_a_kill_loses_nothing_acknowledged_and_doubles_nothing(
    store_path: Path, tmp_path: Path, seed: int
) -> None:
    data, files = store_path / "crag", tmp_path / "rounds"
    versions_of(files)
    acknowledged = await asyncio.to_thread(killed_after, data, files, random.Random(seed))
    async with open_corpus(data, HashingEmbedder()) as corpus:
        documents = {d.source: d for d in await corpus.index.documents(LOCAL, BASE)}
        assert acknowledged.keys() <= documents.keys()
        assert await corpus.chunks() == sum(d.chunks for d in documents.values())
        assert await corpus.vectors.count(LOCAL.tenant, BASE) == await corpus.chunks()
        assert corpus.records.unfinished() == []
        for source, turn in acknowledged.items():
            await check_whole(corpus, source, turn)
        report = await corpus.ingest(files / "2")
        assert report.count("failed") == 0
        assert await corpus.chunks() == sum(r.chunks for r in report.files)


def killed_after(data: Path, files: Path, chance: random.Random) -> dict[str, int]:
    """Kills an ingesting process after some lines and a moment; how often each source was said."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.ingest_in_process", str(data), str(files)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    lines = [process.stdout.readline() for _ in range(chance.randint(0, 13))]
    try:
        process.wait(chance.uniform(0, 0.05))  # somewhere in the middle of the next step
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    said = [line.strip() for line in [*lines, *process.stdout] if line.endswith("\n")]
    process.wait()
    process.stdout.close()
    return {source: said.count(source) - 1 for source in said}


async def check_whole(corpus: OpenCorpus, source: str, turn: int) -> None:
    """At least as new as was acknowledged, all of one version, each chunk where it says."""
    found = [
        c.chunk
        for c in await corpus.found(f"file{source[0]} says version{turn} here")
        if c.chunk.metadata["source"] == source
    ]
    assert found
    versions = {word for chunk in found for word in chunk.text.split() if "version" in word}
    assert len(versions) == 1
    assert int(versions.pop().removeprefix("version")) >= turn
    for chunk in found:
        text = await corpus.index.text(LOCAL, BASE, chunk.document_id, chunk.revision)
        assert text is not None
        assert text[chunk.start : chunk.end] == chunk.text
