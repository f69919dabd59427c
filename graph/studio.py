"""The graph for LangGraph Studio: the same one, without a checkpointer of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph.builder import Graph, build
from graph.compose import compose_services
from graph.settings import GraphSettings
from ingest.compose import open_index


@asynccontextmanager
async def corrective_rag() -> AsyncIterator[Graph]:
    """Studio brings its own checkpointer. Opening loads no model."""
    async with open_index(GraphSettings()) as corpus:
        services, _ = compose_services(GraphSettings(), corpus)
        yield build(services)
