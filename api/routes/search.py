"""Retrieval without an answer."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from api.dependencies import Asks, HoldsPlace, ServiceOf
from api.disconnect import unless_gone
from api.problems import problems
from api.schemas import SearchBody
from graph.search import search
from ingest.filters import parse_filters

router = APIRouter(tags=["ask"], responses=problems())

EXAMPLE: dict[str, Any] = {
    "question": "parental leave",
    "knowledge_base": "handbook",
    "candidates": 50,
    "results": [
        {
            "rank": 1,
            "chunk_id": "0d5f0a52-63d1-5a53-9ff6-3e7f1f1f7f10",
            "document_id": "6d0f6d3a2f5b5a0e9a3d1a7f3b2c1d0e",
            "revision": "9c2f41d07b3e5a18",
            "source": "hr/parental-leave.md",
            "status": "current",
            "title": "Parental leave",
            "heading": "Duration",
            "page": None,
            "start": 120,
            "end": 640,
            "text": "…",
            "scores": {"dense": 0.71, "bm25": 9.4, "fused": 0.98, "rerank": 0.97},
        }
    ],
    "degraded": [],
    "timings": {"retrieve_ms": 17.2, "rerank_ms": 40.1},
    "versions": {"index": "3f1d5a90c2b7"},
}


@router.post(
    "/search",
    summary="Search without an answer",
    responses={200: {"content": {"application/json": {"example": EXAMPLE}}}},
    dependencies=[HoldsPlace],
)
async def search_passages(
    body: SearchBody, request: Request, scope: Asks, service: ServiceOf
) -> JSONResponse:
    """The best passages with their scores by stage. Superseded documents are shown as such."""
    work = search(
        service,
        scope,
        body.knowledge_base,
        body.question,
        limit=body.limit,
        filters=parse_filters(body.filters),
    )
    return JSONResponse(await unless_gone(request, work))
