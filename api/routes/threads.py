"""Threads: conversations that a later question may lean on."""

from typing import Annotated

from fastapi import APIRouter, Path

from api.dependencies import Asks, RunsOf, ServiceOf
from api.problems import problems
from graph.asking import THREAD_ID

router = APIRouter(tags=["threads"])


@router.delete(
    "/threads/{thread_id}",
    status_code=204,
    summary="Forget a thread",
    responses=problems(409),
)
async def delete_thread(
    thread_id: Annotated[str, Path(pattern=f"^{THREAD_ID}$")],
    scope: Asks,
    service: ServiceOf,
    runs: RunsOf,
) -> None:
    """Deletes what was said on it. The runs themselves stay in the log."""
    with runs.thread(scope, thread_id):
        await service.runner.delete_thread(scope, thread_id)
