"""Whether the process lives, and whether it can answer: two questions, never one."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from api.lifetime import Lifetime
from api.problems import only

router = APIRouter(tags=["health"])


@router.get("/livez", summary="Is the process alive?", responses=only(413))
async def livez() -> dict[str, str]:
    """Touches nothing: no store, no model, no lock."""
    return {"status": "alive"}


@router.get("/readyz", summary="Can it answer?", response_model=None, responses=only(413, 503))
async def readyz(request: Request) -> JSONResponse | dict[str, str]:
    """503 while the models load and once a shutdown has begun."""
    lifetime: Lifetime = request.app.state.lifetime
    lifetime.service  # noqa: B018 - raises NotReady
    return {"status": "ready"}
