"""Questions: the answer in one piece, or the run as it goes on."""

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent

from api.answer_schema import AnswerBody
from api.dependencies import RunOf, StreamedRunOf
from api.disconnect import unless_gone
from api.problems import problems
from api.stream import server_sent_events, unbuffered

router = APIRouter(tags=["ask"], responses=problems(409))


@router.post(
    "/ask",
    summary="Ask a question",
    response_description="The answer object. A refusal is one too, with its reason.",
    response_model=AnswerBody,
)
async def ask(request: Request, run: RunOf) -> JSONResponse:
    """Searches, grades, corrects and answers with citations, or says "I don't know" and why.

    The run ends when the client leaves.
    """
    return JSONResponse(await unless_gone(request, run.answer()))


STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `run, node, answer.delta, answer, error, done`; `id:` is the seq.",
        "content": {
            "text/event-stream": {
                "example": 'event: run\ndata: {"run_id": "4f0c…", "question": "…"}\nid: 1\n\n'
                'event: node\ndata: {"seq": 1, "node": "contextualize_question", …}\nid: 2\n\n'
                'event: answer\ndata: {"outcome": "answered", …}\nid: 12\n\n'
                'event: done\ndata: {"run_id": "4f0c…"}\nid: 13\n\n'
            }
        },
    }
}


@router.post(
    "/ask/stream",
    summary="Ask a question and watch the run",
    response_class=EventSourceResponse,
    responses=STREAM,
    dependencies=[Depends(unbuffered)],
)
async def ask_stream(run: StreamedRunOf) -> AsyncIterator[ServerSentEvent]:
    """One event for each node as it ends; the last `answer` is what `/v1/ask` returns.

    A stream that has to wait for its place is a 200 with heartbeats; where it gets none, `error`
    has the problem that would have been the status.
    """
    async for event in server_sent_events(run):
        yield event
