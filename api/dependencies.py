"""What routes ask for by name: the scope, the open service, a run."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.active_runs import ActiveRun, ActiveRuns
from api.auth import Credentials
from api.lifetime import Lifetime
from api.schemas import AskBody
from graph.compose import Service
from graph.runner import Ask
from ingest.filters import parse_filters
from ingest.scope import Scope
from nodes.state import Turn

bearer = HTTPBearer(auto_error=False, description="A key of CRAG_API__KEYS.")


def scope_of(
    request: Request,
    given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> Scope:
    """The one place where a request gets its scope. Raises Unauthorized."""
    credentials: Credentials = request.app.state.credentials
    return credentials.scope(
        given.credentials if given else None,
        request.url.hostname or "",
        request.headers.get("origin"),
    )


def service_of(request: Request, scope: "ScopeOf") -> Service:
    """Raises NotReady; a request without a valid key does not even learn that."""
    lifetime: Lifetime = request.app.state.lifetime
    return lifetime.service


def runs_of(request: Request, scope: "ScopeOf") -> ActiveRuns:
    lifetime: Lifetime = request.app.state.lifetime
    return lifetime.runs


ScopeOf = Annotated[Scope, Depends(scope_of)]
ServiceOf = Annotated[Service, Depends(service_of)]
RunsOf = Annotated[ActiveRuns, Depends(runs_of)]


async def started_run(
    body: AskBody, scope: ScopeOf, service: ServiceOf, runs: RunsOf
) -> AsyncIterator[ActiveRun]:
    """A run that has begun; it ends with the request, whether answered or abandoned."""
    async with runs.start(service.runner, _ask(body, scope)) as run:
        yield run


RunOf = Annotated[ActiveRun, Depends(started_run)]


def _ask(body: AskBody, scope: Scope) -> Ask:
    return Ask(
        question=body.question,
        knowledge_base=body.knowledge_base,
        scope=scope,
        history=[Turn(turn.question, turn.answer) for turn in body.history],
        filters=parse_filters(body.filters),
        thread_id=body.thread_id,
        options=body.options,
    )
