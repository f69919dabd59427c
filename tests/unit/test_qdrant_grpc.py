"""The Qdrant server's adapter over gRPC: what it sends is taken, and what fails is named."""

import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
import numpy as np
import pytest
from qdrant_client import grpc as q

from ingest.adapters.qdrant_server import QdrantServerStore, connect
from ingest.documents import chunk_id
from ingest.errors import DependencyError, DependencyTimeout
from ingest.filters import Condition, Filters
from ingest.ports import Encoders, QueryVectors, SparseVector, StoredChunk
from ingest.scope import EVERYONE, Scope
from ingest.settings import QdrantSettings
from tests.fakes import a_chunk

CHUNK = a_chunk(chunk_id("d", "r1", 0), "text", document_id="d", ordinal=0)
NO_TERMS = SparseVector([], [])
STORED = StoredChunk(CHUNK, "local", "kb", [EVERYONE], np.ones(2, np.float32), NO_TERMS)
QUERY = QueryVectors(np.ones(2, np.float32), SparseVector([1], [1.0]))
CODE = grpc.StatusCode


class GrpcServer(grpc.GenericRpcHandler):
    """Takes every call; `faults` come first, a status code each. An empty message says yes."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.sent: dict[str, bytes] = {}
        self.faults: list[grpc.StatusCode] = []
        self.made = False

    def service(self, details: Any) -> Any:
        name = details.method.rpartition("/")[2]

        async def answer(request: bytes, context: grpc.aio.ServicerContext) -> bytes:
            self.calls.append(name)
            self.sent[name] = request
            if self.faults:
                await context.abort(self.faults.pop(0), "a fault")
            if name == "Get" and not self.made:
                await context.abort(CODE.NOT_FOUND, "Not found: Collection `x` doesn't exist!")
            self.made = self.made or name == "Create"
            return _info() if name == "Get" else ANSWERS.get(name, b"")

        return grpc.unary_unary_rpc_method_handler(answer)


DONE = q.UpdateResult(status=q.UpdateStatus.Completed)
ANSWERS: dict[str, bytes] = {
    "CreateFieldIndex": q.PointsOperationResponse(result=DONE).SerializeToString(),
    "Upsert": q.PointsOperationResponse(result=DONE).SerializeToString(),
    "Scroll": q.ScrollResponse(
        result=[q.RetrievedPoint(id=q.PointId(uuid=CHUNK.chunk_id))]
    ).SerializeToString(),
    "UpdateBatch": q.UpdateBatchResponse(result=[DONE, DONE]).SerializeToString(),
    "QueryBatch": q.QueryBatchResponse(
        result=[q.BatchResult(), q.BatchResult()]
    ).SerializeToString(),
}


def _info() -> bytes:
    said = {"embedder": "e", "sparse": "b"}
    config = q.CollectionConfig(
        metadata={key: q.Value(string_value=value) for key, value in said.items()},
        params=q.CollectionParams(),
        wal_config=q.WalConfigDiff(wal_capacity_mb=32, wal_segments_ahead=0),
        hnsw_config=q.HnswConfigDiff(m=16, ef_construct=100, full_scan_threshold=10_000),
        optimizer_config=q.OptimizersConfigDiff(
            deleted_threshold=0.2,
            vacuum_min_vector_number=1000,
            default_segment_number=0,
            flush_interval_sec=5,
        ),
    )
    info = q.CollectionInfo(status=q.CollectionStatus.Green, config=config)
    return bytes(q.GetCollectionInfoResponse(result=info).SerializeToString())


@pytest.fixture
async def server() -> AsyncIterator[tuple[GrpcServer, QdrantServerStore]]:
    handler = GrpcServer()
    running = grpc.aio.server()
    running.add_generic_rpc_handlers((handler,))
    port = running.add_insecure_port("127.0.0.1:0")
    await running.start()
    settings = QdrantSettings(
        url="http://127.0.0.1:1", grpc_port=port, prefer_grpc=True, timeout_s=2
    )
    store = QdrantServerStore(connect(settings), settings, Encoders("e", "b", 2))
    yield handler, store
    await store.close()
    await running.stop(0)


async def test_all_that_it_does_goes_over_grpc(
    server: tuple[GrpcServer, QdrantServerStore],
) -> None:
    handler, store = server
    await store.upsert([STORED])
    filters = Filters([Condition("language", ["de"], exclude=True)])
    assert await store.search(Scope("local"), "kb", QUERY, limit=5, filters=filters) == []
    await store.score(Scope("local"), "kb", QUERY, [CHUNK.chunk_id])
    await store.delete_revision("local", "kb", "d", "r1")
    assert await store.count("local", "kb") == 0
    await store.delete_knowledge_base("local", "kb")
    made = q.CreateCollection.FromString(handler.sent["Create"])
    assert made.strict_mode_config.enabled
    assert made.metadata["embedder"].string_value == "e"
    tenant = q.CreateFieldIndexCollection.FromString(handler.sent["CreateFieldIndex"])
    assert tenant.wait
    assert handler.calls.count("CreateFieldIndex") == 8
    assert handler.calls.index("Upsert") > handler.calls.index("UpdateAliases")


@pytest.mark.parametrize("code", [CODE.UNAVAILABLE, CODE.RESOURCE_EXHAUSTED, CODE.INTERNAL])
async def test_what_passes_is_tried_again(
    server: tuple[GrpcServer, QdrantServerStore], code: grpc.StatusCode
) -> None:
    handler, store = server
    await store.upsert([STORED])
    handler.faults = [code, code]
    assert await store.count("local", "kb") == 0
    handler.faults = [code] * 9
    with pytest.raises(DependencyError, match=f"{code.name} a fault"):
        await store.count("local", "kb")
    assert len(handler.faults) == 6


async def test_what_does_not_pass_is_not_tried_again(
    server: tuple[GrpcServer, QdrantServerStore],
) -> None:
    handler, store = server
    await store.upsert([STORED])
    handler.faults = [CODE.UNAUTHENTICATED] * 2
    with pytest.raises(DependencyError, match="UNAUTHENTICATED"):
        await store.count("local", "kb")
    handler.faults = [CODE.DEADLINE_EXCEEDED]
    with pytest.raises(DependencyTimeout):
        await store.count("local", "kb")


async def test_nobody_answers() -> None:
    settings = QdrantSettings(url="http://127.0.0.1:1", grpc_port=1, prefer_grpc=True, timeout_s=2)
    store = QdrantServerStore(connect(settings), settings, Encoders("e", "b", 2))
    started = time.monotonic()
    with pytest.raises(DependencyError, match="UNAVAILABLE"):
        await store.count("local", "kb")
    assert time.monotonic() - started < 2
    await store.close()
