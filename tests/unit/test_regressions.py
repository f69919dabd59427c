"""Faults that a breaker or a newcomer once found: each test is one that must not come back."""

import asyncio
import math
import random
import shutil
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from api.active_runs import ActiveRun, ActiveRuns
from api.auth import credentials
from api.errors import Cancelled, NotReady, Unauthorized
from api.identity import OPERATOR
from api.settings import Settings
from graph.adapters.late_interaction import LateInteractionReranker
from graph.adapters.question_signs import read_question
from graph.adapters.sentence_signs import sentence_signs
from graph.adapters.sqlite_threads import check_readable
from graph.adapters.token_vectors import TokenVectors
from graph.compose import open_reranker
from graph.runner import Ask, Event
from graph.settings import GraphSettings, RerankSettings
from ingest.adapters.memory import MemoryStore
from ingest.data_folder import FEWEST_FREE, DataFolder, check_space
from ingest.documents import Candidate
from ingest.errors import ConfigurationError, DependencyError, InvalidFilter
from ingest.filters import Condition, Filters, parse_filters
from ingest.named_adapters import load_adapter
from ingest.pipeline import files_below
from ingest.ports import Encoded
from ingest.sentences import sentence_spans
from nodes.evidence import usable
from nodes.fallback import or_fallback
from nodes.findings import Evidence
from nodes.state import State
from tests.corpus import OpenCorpus, open_corpus
from tests.fakes import HashingEmbedder, a_candidate, a_chunk, a_grade, a_run_log

MB = 2**20
HERE = "tests.unit.test_regressions"


# Signs


def test_a_long_word_is_read_in_linear_time() -> None:
    words = ["x" * 4000, "A" * 4000, "x-" * 2000, "_" * 4000]
    started = time.monotonic()
    for word in words:
        sentence_signs(read_question(word), a_chunk("a", " ".join(words)), None)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("title", ["Refund Policy", "# Refund Policy", "**refund policy.**"])
def test_the_title_itself_answers_nothing(title: str) -> None:
    chunk = a_chunk("a", f"{title}\n\nWarehouses pay within five days.", title="Refund Policy")
    signs = sentence_signs(read_question("Who pays?"), chunk, None)
    assert [one.eligible for one in signs] == [False, True]


def test_a_heading_itself_answers_nothing() -> None:
    chunk = a_chunk("a", "Late Returns\n\nWarehouses pay.", heading="Policy > Late Returns")
    signs = sentence_signs(read_question("Who pays?"), chunk, None)
    assert [one.eligible for one in signs] == [False, True]


@pytest.mark.parametrize("name", ["Quendrel Inc. (Columbus)", "Quendrel Ltd. Group"])
def test_the_stop_of_a_company_ends_no_sentence(name: str) -> None:
    text = f"It was built by {name} for the port."
    assert sentence_spans(text) == [(0, len(text))]
    assert sentence_spans(name) == [(0, len(name))]


class TokenlessQuestions(HashingEmbedder):
    """No text without a letter has a token, as in a model that drops what it does not know."""

    def _encode(self, texts: list[str]) -> list[Encoded]:
        none = (np.zeros((0, 384), np.float32), np.zeros((0, 2), np.int32))
        found = super()._encode(texts)
        return [
            one if any(char.isalpha() for char in text) else Encoded(one.sentence, *none)
            for text, one in zip(texts, found, strict=True)
        ]


@pytest.mark.parametrize("fused", [True, False])
async def test_a_question_without_tokens_has_finite_scores(fused: bool) -> None:
    embedder = TokenlessQuestions()
    reranker = LateInteractionReranker(TokenVectors(embedder, megabytes=1), weight=0.5)
    scores = [{"fused": 0.2}, {"fused": 0.9}] if fused else [{"dense": 0.2}, {"dense": 0.9}]
    candidates = [a_candidate(name, **one) for name, one in zip("ab", scores, strict=True)]
    ranked = await reranker.rerank("🙂", candidates)
    embedder.close()
    assert all(math.isfinite(value) for c in ranked for value in c.scores.values())
    assert [c.chunk.chunk_id for c in ranked] == (["b", "a"] if fused else ["a", "b"])


# What comes from outside


@pytest.mark.parametrize("value", ["\ud800", "en\udfff", ["en", "a\udc80b"]])
def test_a_lone_surrogate_in_a_filter_is_refused(value: Any) -> None:
    with pytest.raises(InvalidFilter, match="language"):
        parse_filters({"language": value})


@pytest.mark.parametrize("origin", ["http://[::1", "http://[", "http://[x]/", "null", "//"])
async def test_a_malformed_origin_is_unauthorized(origin: str, tmp_path: Path) -> None:
    keyless = credentials(Settings(data_dir=tmp_path), None)
    assert await keyless.identity(None, "localhost", "http://[::1]:8000") == OPERATOR
    with pytest.raises(Unauthorized):
        await keyless.identity(None, "localhost", origin)
    await keyless.close()


# What an answer says of a fault


async def detail_of(message: str) -> str:
    async def failing() -> str:
        raise OSError(message)

    result, (degraded,) = await or_fallback(failing(), "instead", node="n", fallback="f")
    assert result == "instead"
    return degraded.detail


@pytest.mark.parametrize(
    "message",
    [
        "cannot read /home/someone/crag/chunks/1.bin",
        "[Errno 2] No such file: '/var/lib/crag/runs.sqlite'",
        'File "/opt/crag/graph/x.py", line 3',
        "(/srv/crag/models/)",
        "path=/srv/crag/models",
        "/srv/crag/a: failed, /srv/crag/b: failed",
    ],
)
async def test_a_path_of_this_machine_is_hidden(message: str) -> None:
    detail = await detail_of(message)
    assert "(a file)" in detail
    assert not any(name in detail for name in ("home", "someone", "var", "opt", "srv", "crag"))


@pytest.mark.parametrize(
    "message",
    [
        "no answer from http://host/a/b",
        "https://api.example.org:8443/v1/search?q=a/b refused",
        "and/or 3/4 km/h on 1/2/2026",
        "timed out after 8 s",
        "",
    ],
)
async def test_addresses_and_plain_text_are_kept(message: str) -> None:
    assert await detail_of(message) == message


# Files and folders


@pytest.fixture
def corrupt(tmp_path: Path) -> Callable[[str], Path]:
    def write(name: str) -> Path:
        path = tmp_path / name
        path.write_bytes(random.Random(0).randbytes(4096))
        return path

    return write


def test_a_corrupt_run_log_is_a_configuration_error(corrupt: Callable[[str], Path]) -> None:
    path = corrupt("runs.sqlite")
    with pytest.raises(ConfigurationError, match="move the file away") as error:
        a_run_log(path)
    assert str(path) in str(error.value)


def test_corrupt_conversations_are_a_configuration_error(corrupt: Callable[[str], Path]) -> None:
    path = corrupt("threads.sqlite")
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match="move the file away"):
        check_readable(path)
    assert path.read_bytes() == before


def test_new_and_sound_conversations_are_no_error(tmp_path: Path) -> None:
    for _ in range(2):
        check_readable(tmp_path / "threads.sqlite")


def test_a_link_that_leads_outside_is_left_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "files", tmp_path / "outside"
    (root / "deep").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (root / "a.md").write_text("a")
    (root / "inside.md").symlink_to(root / "a.md")
    (root / "deep" / "up.md").symlink_to("../a.md")
    (root / "leak.md").symlink_to(outside / "secret.md")
    (root / "relative.md").symlink_to("../outside/secret.md")
    (root / "folder").symlink_to(outside)
    (root / "broken.md").symlink_to(root / "gone.md")
    expected = ["a.md", "deep/up.md", "inside.md"]
    assert [name for name, _ in files_below(root)] == expected
    (tmp_path / "linked").symlink_to(root)
    assert [name for name, _ in files_below(tmp_path / "linked")] == expected


def test_a_full_disk_is_a_configuration_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=MB))
    with pytest.raises(ConfigurationError, match="has 1 MB left"):
        check_space(tmp_path)
    with pytest.raises(ConfigurationError, match="has 1 MB left"):
        DataFolder(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=FEWEST_FREE))
    DataFolder(tmp_path).close()


# Passages that the store lost


@pytest.fixture
async def filled(store_path: Path, tmp_path: Path) -> AsyncIterator[tuple[OpenCorpus, Path]]:
    """Two files that were ingested into a store that then lost all of it."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.md").write_text("# Alpha\n\nAlpha is the first letter.\n")
    (folder / "b.txt").write_text("Beta is the second letter.\n")
    embedder = HashingEmbedder()
    store = MemoryStore()
    async with open_corpus(store_path / "crag", embedder, store) as corpus:
        assert await corpus.found("alpha first") == []
        assert (await corpus.ingest(folder)).count("added") == 2
        await store.close()
        yield corpus, folder
    embedder.close()


async def test_lost_passages_are_an_error(filled: tuple[OpenCorpus, Path]) -> None:
    corpus, _ = filled
    with pytest.raises(DependencyError, match="ingest its folder again"):
        await corpus.found("alpha first")


async def test_lost_passages_are_embedded_again(filled: tuple[OpenCorpus, Path]) -> None:
    corpus, folder = filled
    report = await corpus.ingest(folder)
    assert report.count("failed") == report.count("unchanged") == 0
    assert await corpus.chunks() == sum(file.chunks for file in report.files) == 2
    assert (await corpus.sources("alpha first"))[0] == "a.md"
    assert (await corpus.ingest(folder)).count("unchanged") == 2


async def test_no_hit_is_no_error_while_passages_are_there(
    filled: tuple[OpenCorpus, Path],
) -> None:
    corpus, folder = filled
    await corpus.ingest(folder)
    assert await corpus.found("alpha", Filters([Condition("language", ["xx"])])) == []


# Rerankers of the user's


class WithoutArguments:
    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        return list(candidates)


class NotAsync:
    def __init__(self, settings: RerankSettings) -> None: ...

    def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        return list(candidates)


class WithoutRerank:
    def __init__(self, settings: RerankSettings) -> None: ...


class Failing:
    def __init__(self, settings: RerankSettings) -> None:
        raise OSError("no weights")


class Working(WithoutArguments):
    def __init__(self, settings: RerankSettings) -> None: ...


def own_reranker(name: str) -> Any:
    settings = GraphSettings(rerank=RerankSettings(kind=f"{HERE}:{name}"))
    return open_reranker(settings, None)


@pytest.mark.parametrize(
    "name", ["WithoutArguments", "NotAsync", "WithoutRerank", "Failing", "Missing"]
)
def test_a_reranker_that_cannot_work_is_a_configuration_error(name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        own_reranker(name)


@pytest.mark.parametrize(
    ("module", "content", "reason"),
    [
        ("", None, "ValueError"),
        (".foo", None, "TypeError"),
        ("not there", None, "ModuleNotFoundError"),
        ("written_wrong", "def (:", "SyntaxError"),
        ("raises", "raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("leaves", "raise SystemExit(3)", "SystemExit: 3"),
        ("has_no_class", "", "AttributeError"),
    ],
)
def test_an_adapter_that_cannot_be_imported_is_a_configuration_error(
    module: str,
    content: str | None,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    if content is not None:
        (tmp_path / f"{module}.py").write_text(content)
    with pytest.raises(ConfigurationError, match=reason):
        load_adapter(f"{module}:X")


def test_a_reranker_that_can_work_is_made() -> None:
    assert type(own_reranker("Working")).__name__ == "Working"


# Evidence that counts

CURRENT = Filters([Condition("status", ["superseded"], exclude=True)])


def used(*evidence: str, derived: Filters = CURRENT) -> list[str]:
    """`correct old` is evidence of that verdict and age; those that may be used, in order."""
    return [
        e.candidate.chunk.chunk_id
        for e in usable(State(evidence=[piece(one) for one in evidence], derived_filters=derived))
    ]


def piece(name: str) -> Evidence:
    verdict, age = name.split()
    status = {"old": "superseded", "current": "current"}[age]
    chunk = a_chunk(name, metadata={"status": status})
    return Evidence(Candidate(chunk, {}), a_grade(verdict), 0)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (["correct old", "correct current"], ["correct current"]),
        (["correct old", "ambiguous current"], ["correct old"]),
        (["correct old"], ["correct old"]),
        (["ambiguous old"], []),
        (["ambiguous old", "ambiguous current"], ["ambiguous current"]),
        (["ambiguous current"], ["ambiguous current"]),
        (["ambiguous current", "correct current"], ["correct current"]),
        ([], []),
    ],
)
def test_weak_and_old_is_no_evidence(evidence: list[str], expected: list[str]) -> None:
    assert used(*evidence) == expected


def test_without_derived_filters_no_age_matters() -> None:
    everything = Filters()
    assert used("ambiguous old", derived=everything) == ["ambiguous old"]
    both = ["correct old", "correct current"]
    assert used(*both, "ambiguous current", derived=everything) == both


# Runs that end early


class Waiting:
    """Gives its first event and then waits for ever."""

    async def stream(self, ask: Ask) -> AsyncIterator[Event]:
        yield Event(1, "run", {"run_id": "r"})
        await asyncio.Event().wait()


async def read(run: ActiveRun) -> None:
    async for _ in run.events():
        pass


async def test_a_service_that_goes_down_says_so_to_readers() -> None:
    runs = ActiveRuns(queue=4, stall_s=1)
    async with runs.start(Waiting(), Ask("q", "kb")) as run:  # type: ignore[arg-type]
        reader = asyncio.create_task(read(run))
        await asyncio.sleep(0)
        await asyncio.wait_for(runs.close(), 2)
        with pytest.raises(NotReady):
            await asyncio.wait_for(reader, 2)


async def test_a_cancelled_run_is_told_as_cancelled() -> None:
    runs = ActiveRuns(queue=4, stall_s=1)
    ask = Ask("q", "kb")
    async with runs.start(Waiting(), ask) as run:  # type: ignore[arg-type]
        reader = asyncio.create_task(read(run))
        await asyncio.sleep(0)
        await asyncio.wait_for(runs.cancel(ask.scope, run.run_id), 2)
        with pytest.raises(Cancelled):
            await asyncio.wait_for(reader, 2)
