"""A run as server-sent events, each with its `seq` as `id:`."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from fastapi import Response
from fastapi.sse import ServerSentEvent

from api.errors import problem_of
from api.queued_run import QueuedRun
from graph.runner import Event


def unbuffered(response: Response) -> None:
    """Against proxies that compress a stream, and so collect it until it is over.

    A dependency: the framework fixes the headers before the first event, and adds
    X-Accel-Buffering and no-cache itself.
    """
    response.headers["Cache-Control"] = "no-transform"


async def server_sent_events(queued: QueuedRun) -> AsyncIterator[ServerSentEvent]:
    """run, node, answer.delta, then answer or error, and done in every case.

    Each delta is a checked sentence of the answer, told as soon as it stands and never taken back;
    its `index` orders it among the others, and `answer` has them all. Where the run itself sent
    none, as for a refusal, its lines come just before `answer`. A run that waits for its place is
    silent until then; where it gets none, `error` says so.
    """
    seq, deltas, run_id = 0, False, None
    try:
        run = await queued.begun()
        run_id = run.run_id
        async for event in run.events():
            deltas = deltas or event.type == "answer.delta"
            for name, data in _named(event, deltas):
                seq += 1
                yield _sse(seq, name, data)
    except Exception as error:  # noqa: BLE001 - the edge: the status line is long gone
        seq += 1
        yield _sse(seq, "error", problem_of(error))
    yield _sse(seq + 1, "done", {"run_id": run_id})


def _named(event: Event, deltas: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    if event.type == "answer" and not deltas:
        for index, line in enumerate(event.data["answer"].splitlines()):
            yield "answer.delta", {"text": line, "index": index}
    yield event.type, event.data["entry"] if event.type == "node" else event.data


def _sse(seq: int, name: str, data: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(raw_data=json.dumps(data), event=name, id=str(seq))
