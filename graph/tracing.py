"""One trace entry for every execution of a node, in the state and on the stream as it happens."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from langgraph.runtime import Runtime

from nodes.budget import added, metered
from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.masking import masked_json
from nodes.prompts import PROMPT_VERSION
from nodes.state import Degraded, Spent, State, Status, TraceEntry, Update, begun

Node = Callable[[State, Runtime[Context]], Awaitable[Update]]


def traced(
    name: str, node: Node, *, begins: bool = False
) -> Callable[..., Awaitable[dict[str, Any]]]:
    """The node with its trace. A node that raises fails the run closed: it declines.

    `decline` itself has nothing to fall back to, so its errors pass. The node that `begins` a run
    empties what an earlier one left on the thread.
    """

    async def execute(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
        state = begun(state) if begins else state
        started, clock = datetime.now(UTC), time.perf_counter()
        faults: list[Degraded] = []
        context = runtime.context or DEFAULTS
        with metered(state, context) as meter:
            if name == "decline":
                update = await node(state, runtime)
            else:
                failed: Update = {
                    "failed": f"{name} failed",
                    "summary": {"error": f"{name} failed"},
                }
                # Not cut: the node's own calls are, one by one, and it goes on without them.
                update, faults = await or_fallback(
                    node(state, runtime), failed, node=name, fallback="declined", cut=False
                )
        changes: dict[str, Any] = {key: value for key, value in update.items() if key != "summary"}
        degraded = [*changes.get("degraded", state.degraded), *faults]
        summary = {**update.get("summary", {}), **_spent(meter.spent)}
        entry = TraceEntry(
            seq=len(state.trace) + 1,
            node=name,
            attempt=1 + sum(earlier.node == name for earlier in state.trace),
            started_at=started.isoformat(timespec="milliseconds"),
            ms=round(1000 * (time.perf_counter() - clock), 3),
            status=_status(update, len(degraded) > len(state.degraded)),
            summary=masked_json(summary) if context.mask else summary,
        )
        runtime.stream_writer({"type": "node", "entry": asdict(entry)})
        changes["spent"] = added(changes.get("spent", state.spent), meter.spent)
        emptied = vars(state) if begins else {}
        return {**emptied, **changes, "degraded": degraded, "trace": [*state.trace, entry]}

    execute.__name__ = name
    return execute


def _spent(spent: Spent) -> dict[str, Any]:
    if not spent.chat_calls:
        return {}
    return {"chat_calls": spent.chat_calls, "tokens": spent.tokens, "prompts": PROMPT_VERSION}


def _status(update: Update, fell_back: bool) -> Status:
    if update.get("failed"):
        return "error"
    return "fallback" if fell_back else "ok"
