"""Runs: the finished ones in the log, and the ones that go on now."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from api.active_runs import ActiveRun
from api.answer_schema import AnswerBody
from api.dependencies import Asks, RunsOf, ServiceOf
from api.problems import problems
from ingest.errors import NotFound
from nodes.state import Outcome, Reason

router = APIRouter(tags=["runs"])


class FinishedRun(BaseModel):
    run_id: str
    knowledge_base: str
    created_at: str
    outcome: Outcome
    reason: Reason | None
    question: str
    total_ms: float


class RunningRun(BaseModel):
    run_id: str
    knowledge_base: str
    started_at: str
    question: str
    thread_id: str | None


class RunList(BaseModel):
    runs: list[FinishedRun]
    running: list[RunningRun]


class CancelledRun(BaseModel):
    run_id: str
    state: Literal["cancelled", "finished"]


@router.get("/runs", summary="List runs", responses=problems())
async def list_runs(
    scope: Asks,
    service: ServiceOf,
    runs: RunsOf,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> RunList:
    """Finished runs, newest first, and those that go on now."""
    finished = await service.runs.recent(scope, limit=limit)
    return RunList(
        runs=[FinishedRun(**run) for run in finished],
        running=[_running(run) for run in runs.running(scope)],
    )


@router.get(
    "/runs/{run_id}",
    summary="Read a run",
    responses={200: {"model": AnswerBody}, **problems()},
)
async def read_run(run_id: str, scope: Asks, service: ServiceOf) -> dict[str, Any]:
    """The answer object of a finished run, with its whole trace.

    One that cites what may no longer be read is not there either.
    """
    answer = await service.runs.get(scope, run_id)
    cited = [citation["document_id"] for citation in answer["citations"]]
    for base in answer["searched"]["knowledge_bases"]:
        if await service.corpus.bases.withheld(scope, base, cited):
            raise NotFound("no such run")
    return answer


@router.post("/runs/{run_id}/cancel", summary="Cancel a run", responses=problems())
async def cancel_run(run_id: str, scope: Asks, service: ServiceOf, runs: RunsOf) -> CancelledRun:
    """Returns once the run has ended. A run that had finished before stays as it is."""
    try:
        await runs.cancel(scope, run_id)
    except NotFound:
        await service.runs.get(scope, run_id)
        return CancelledRun(run_id=run_id, state="finished")
    return CancelledRun(run_id=run_id, state="cancelled")


def _running(run: ActiveRun) -> RunningRun:
    return RunningRun(
        run_id=run.run_id,
        knowledge_base=run.ask.knowledge_base,
        started_at=run.started_at,
        question=run.ask.question,
        thread_id=run.ask.thread_id,
    )
