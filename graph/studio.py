"""The graph for LangGraph Studio: the same one, without a checkpointer of its own."""

import asyncio
from contextlib import AsyncExitStack

from graph.builder import Graph, build
from graph.compose import compose_services
from graph.options import options_with_defaults
from graph.settings import GraphSettings
from ingest.compose import open_index

_opening = asyncio.Lock()
_opened: list[tuple[Graph, AsyncExitStack]] = []


async def corrective_rag() -> Graph:
    """Opened once, at the first request, and held until the process ends: Studio asks for it at
    every request, and the data folder has one holder. Opening loads no model."""
    async with _opening:
        if not _opened:
            stack = AsyncExitStack()
            settings = GraphSettings()
            corpus = await stack.enter_async_context(open_index(settings))
            services, _ = await asyncio.to_thread(compose_services, settings, corpus)
            graph = build(services, options=options_with_defaults(settings))
            _opened.append((graph, stack))
    return _opened[0][0]
