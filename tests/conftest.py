"""Fixtures that many tests share."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from ingest.adapters.minilm import MiniLM
from ingest.adapters.multilingual_e5 import MultilingualE5
from ingest.adapters.transformer_embedder import TransformerEmbedder
from ingest.settings import QdrantSettings
from tests.chat_runs import chat as chat
from tests.fake_qdrant import FakeQdrant
from tests.fakes import HashingEmbedder
from tests.local_chat import local_chat_url as local_chat_url
from tests.postgres import Postgres, needed_binaries, postgres
from tests.redis_server import RedisServer, program, redis_server

# A slow example on a busy machine is no fault of the code.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")

MEMORY = Path("/dev/shm")


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own CRAG_* names do not change what a test sees."""
    for name in list(os.environ):
        if name.startswith("CRAG_") and not name.startswith("CRAG_TEST_"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The evaluation data: CRAG_TEST_DATA, else ../shared/data."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CRAG_TEST_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(f"no evaluation data: CRAG_TEST_DATA is not set and {beside} does not exist")
    return folder


@pytest.fixture
def store_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is room: the engine syncs to disk at every step."""
    if not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < 1_000_000_000:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="crag-test-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """One server for a worker's tests, which take a database each; none of them stops it."""
    with postgres(needed_binaries()) as server:
        yield server


@pytest.fixture
def qdrant(monkeypatch: pytest.MonkeyPatch) -> QdrantSettings:
    """Of a Qdrant server that all services of the test share; a stand-in, in this process."""
    fake = FakeQdrant()
    monkeypatch.setattr("ingest.adapters.qdrant_server.connect", lambda settings: fake.client())
    return QdrantSettings(url="http://qdrant.test:6333")


@pytest.fixture(scope="session")
def redis() -> Iterator[RedisServer]:
    """One server for a worker's tests; a test that stops it starts it again."""
    found = program()
    if found is None:
        pytest.skip("no Redis server: install the package redis-server")
    with redis_server(found) as server:
        yield server


@pytest.fixture
def embedder() -> Iterator[HashingEmbedder]:
    embedder = HashingEmbedder()
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def e5() -> Iterator[TransformerEmbedder]:
    """The default model, loaded once per worker; some seconds."""
    embedder = TransformerEmbedder(MultilingualE5())
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def minilm() -> Iterator[TransformerEmbedder]:
    """The smaller model, loaded once per worker; some seconds."""
    embedder = TransformerEmbedder(MiniLM())
    yield embedder
    embedder.close()
