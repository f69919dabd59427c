"""What routes ask for by name: the scope, the open service, a run.

Every route asks for one of Asks, Reads, Ingests and Administers: who may call it, and what is seen.
"""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.active_runs import ActiveRun, ActiveRuns
from api.audit import note
from api.auth import Credentials
from api.body_limit import ALLOWED, Allowed
from api.disconnect import unless_gone
from api.errors import nothing_here
from api.identity import Identity
from api.keys import KeyScope
from api.lifetime import Lifetime
from api.limits import check_question
from api.queued_run import Begin, QueuedRun, queued
from api.schemas import AskBody, SearchBody
from api.settings import Settings
from graph.compose import Service
from graph.runner import Ask
from ingest.errors import ServiceError
from ingest.filters import parse_filters
from ingest.scope import Scope
from nodes.masking import masked
from nodes.state import Degraded, Turn

bearer = HTTPBearer(auto_error=False, description="An API key, or a token of the issuer.")

log = logging.getLogger("crag.api")


async def identity_of(
    request: Request,
    given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> Identity:
    """The one place where a request gets its identity. Raises Unauthorized."""
    credentials: Credentials = request.app.state.credentials
    return await credentials.identity(
        given.credentials if given else None,
        request.url.hostname or "",
        request.headers.get("origin"),
    )


IdentityOf = Annotated[Identity, Depends(identity_of)]


class Needs:
    """The scope of a request whose credential may do one of these; as a manager's or a reader's.

    Raises NotFound as for an address where there is nothing: a credential learns nothing of what
    it may not do.
    """

    def __init__(self, *scopes: KeyScope, manages: bool) -> None:
        self._scopes = scopes
        self._manages = manages

    async def __call__(self, identity: IdentityOf, request: Request) -> Scope:
        if not identity.may & set(self._scopes):
            needed = " or ".join(self._scopes)
            log.info("%s refused to %s: it needs %s", request.url.path, identity.label, needed)
            raise nothing_here()
        return identity.managing if self._manages else identity.scope


needs_ask = Needs("ask", manages=False)
needs_any = Needs("ask", "ingest", "admin", manages=True)
needs_ingest = Needs("ingest", manages=True)
needs_admin = Needs("admin", manages=True)
NEEDS = (needs_ask, needs_any, needs_ingest, needs_admin)

Asks = Annotated[Scope, Depends(needs_ask)]
Reads = Annotated[Scope, Depends(needs_any)]
Ingests = Annotated[Scope, Depends(needs_ingest)]
Administers = Annotated[Scope, Depends(needs_admin)]


async def service_of(request: Request, identity: IdentityOf) -> Service:
    """Raises NotReady; a request without a valid key does not even learn that."""
    lifetime: Lifetime = request.app.state.lifetime
    return lifetime.service


async def runs_of(request: Request, identity: IdentityOf) -> ActiveRuns:
    lifetime: Lifetime = request.app.state.lifetime
    return lifetime.runs


ServiceOf = Annotated[Service, Depends(service_of)]
RunsOf = Annotated[ActiveRuns, Depends(runs_of)]


async def within_rate(request: Request, identity: IdentityOf) -> None:
    """Counts a request under /v1, and says for the audit trail whose it is. Raises RateLimited."""
    lifetime: Lifetime = request.app.state.lifetime
    endpoint, path = request.scope["endpoint"].__name__, request.path_params
    note(
        request,
        action=endpoint,
        tenant=identity.scope.tenant,
        who=identity.who,
        knowledge_base=path.get("knowledge_base", ""),
        target=" ".join(value for name, value in path.items() if name != "knowledge_base"),
    )
    await lifetime.admission.request(identity)


async def within_upload(request: Request, identity: IdentityOf) -> None:
    """Before a byte of it is read. Raises HTTPException 413."""
    lifetime: Lifetime = request.app.state.lifetime
    allowed: Allowed = request.scope[ALLOWED]
    allowed.narrow(lifetime.admission.limits(identity).upload_mb)


async def begin_of(
    body: AskBody, request: Request, scope: Asks, service: ServiceOf, identity: IdentityOf
) -> Begin:
    """Begins the run that is asked for, once it has its place; leaving that context ends it."""
    lifetime: Lifetime = request.app.state.lifetime
    check_question(body.question, lifetime.admission.limits(identity))
    _note_question(request, body)

    @asynccontextmanager
    async def begin(waits: Callable[[], None]) -> AsyncIterator[ActiveRun]:
        try:
            async with AsyncExitStack() as held:
                place = lifetime.admission.run(identity, waits=waits)
                ask = _ask(body, request, scope, await held.enter_async_context(place))
                async with lifetime.runs.start(service.runner, ask) as run:
                    # Once it has ended: until then it may spend.
                    spend = lifetime.admission.spend
                    held.push_async_callback(lambda: spend(identity, run.took.tokens))
                    note(request, target=run.run_id)
                    try:
                        yield run
                    finally:
                        note(request, outcome=run.took.outcome or "cancelled")
        except ServiceError as error:  # of a stream that waited nobody else hears of it
            note(request, outcome=error.code)
            raise

    return begin


BeginOf = Annotated[Begin, Depends(begin_of)]


async def started_run(request: Request, begin: BeginOf) -> AsyncIterator[ActiveRun]:
    """A run that has its place; it ends with the request, answered or abandoned."""
    async with AsyncExitStack() as held:
        yield await unless_gone(request, held.enter_async_context(begin(lambda: None)))


async def streamed_run(request: Request, begin: BeginOf) -> AsyncIterator[QueuedRun]:
    """The same, but it may still wait: what is refused at once is refused with its status."""
    async with queued(begin) as run:
        if not await unless_gone(request, run.decided()):
            note(request, outcome="cancelled")  # unless it begins, and ends otherwise
        yield run


async def place_of_search(
    body: SearchBody, request: Request, scope: Asks, identity: IdentityOf
) -> AsyncIterator[None]:
    """A search takes the place of a run, for as long as the request lasts."""
    lifetime: Lifetime = request.app.state.lifetime
    check_question(body.question, lifetime.admission.limits(identity))
    _note_question(request, body)
    async with AsyncExitStack() as held:
        place = lifetime.admission.run(identity)
        await unless_gone(request, held.enter_async_context(place))
        yield


RunOf = Annotated[ActiveRun, Depends(started_run)]
StreamedRunOf = Annotated[QueuedRun, Depends(streamed_run)]
HoldsPlace = Depends(place_of_search)


def _wants_fresh(request: Request) -> bool:
    """Whether its Cache-Control says no-store or no-cache: no kept answer, and none is kept."""
    given = request.headers.get("cache-control", "").lower()
    return any(one.strip() in ("no-store", "no-cache") for one in given.split(","))


def _note_question(request: Request, body: AskBody | SearchBody) -> None:
    settings: Settings = request.app.state.settings
    text = masked(body.question) if settings.privacy.mask else body.question
    asked = {"question": text} if settings.audit.questions else {}
    bases = body.bases if isinstance(body, AskBody) else body.knowledge_base
    note(request, knowledge_base=bases, **asked)


def _ask(body: AskBody, request: Request, scope: Scope, degraded: list[Degraded]) -> Ask:
    return Ask(
        question=body.question,
        knowledge_base=body.bases,
        scope=scope,
        history=[Turn(turn.question, turn.answer) for turn in body.history],
        filters=parse_filters(body.filters),
        thread_id=body.thread_id,
        options=body.options | {"cache": False} if _wants_fresh(request) else body.options,
        degraded=degraded,
    )
