"""The HTTP application: middleware, routes, problems, and what lives behind them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI

from api import errors
from api.audit_trail import Audited
from api.auth import credentials
from api.body_limit import BodyLimit
from api.dependencies import within_rate
from api.lifetime import Lifetime, OpenService, ignore, logged
from api.problems import Problem
from api.request_id import RequestId
from api.routes import ask, documents, health, knowledge_bases, runs, search, threads
from api.settings import Settings, check_exposure
from api.stored_keys import any_stored
from graph.compose import Service, open_graph

DESCRIPTION = """Answers questions from documents, with citations that are checked against the
stored text, or says "I don't know" and why. It measures its own retrieval, corrects it, and shows
every step in the trace. A refusal is a result with status 200; errors are problem+json with a
stable `code`."""


def create_app(
    settings: Settings,
    *,
    token: str | None = None,
    open_service: OpenService = open_graph,
    ready: Callable[[Service], Awaitable[None]] = ignore,
    failed: Callable[[Exception], None] = logged,
) -> FastAPI:
    """The app; it opens the service when it starts. `token` is a key for local commands.

    Raises ConfigurationError for a host that must not be served without keys.
    """
    check_exposure(settings, any_stored)
    lifetime = Lifetime(settings, open_service, ready=ready, failed=failed)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with lifetime.running():
            yield
        await app.state.credentials.close()

    app = FastAPI(title="Corrective RAG", description=DESCRIPTION, lifespan=lifespan)
    app.state.lifetime = lifetime
    app.state.settings = settings
    app.state.credentials = credentials(settings, token)
    app.include_router(health.router)
    for noun in (ask, search, runs, threads, knowledge_bases, documents):
        app.include_router(noun.router, prefix="/v1", dependencies=[Depends(within_rate)])
    errors.install(app)
    limits = settings.api
    app.add_middleware(BodyLimit, body_mb=limits.max_body_mb, upload_mb=limits.max_upload_mb)
    app.add_middleware(Audited, trail=lifetime.trail)
    app.add_middleware(RequestId)
    _describe_problems(app)
    return app


def _describe_problems(app: FastAPI) -> None:
    """Puts the schema that all error responses refer to into the OpenAPI document."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        document["components"]["schemas"].setdefault("Problem", Problem.model_json_schema())
        return document

    app.openapi = openapi  # type: ignore[method-assign]
