"""Runs a question through the graph: the one way in behind HTTP, the command line and CI."""

import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from graph.answer import Answer, answer_from
from graph.builder import Graph, recursion_limit
from graph.options import as_one, tightened
from graph.run_log import RunLog
from graph.settings import GraphSettings
from ingest.errors import NotFound
from ingest.filters import Filters
from ingest.index import Index
from ingest.live import LiveBases
from ingest.loaders.normalise import printable
from ingest.ports import KnowledgeBase
from ingest.scope import LOCAL, Scope
from nodes.context import Context
from nodes.fallback import or_fallback
from nodes.state import Degraded, State, Turn

PIPELINE_VERSION = "9"
"""Grows when the same settings could give another answer."""

TURNS = 10
"""Exchanges that a thread remembers: a follow-up leans on the last few."""

Alone = Callable[[str], AbstractAsyncContextManager[None]]
Watch = Callable[[State], None]


@dataclass(frozen=True)
class Ask:
    """A question with its options; `knowledge_base` is a name, names by commas, or `auto`, which
    stands for all that the scope may read. `options` are names of Context; they may only tighten.
    An evaluation's runs are not `logged`: the log is of what people asked.

    Whatever the way in, question and history are made printable here."""

    question: str
    knowledge_base: str
    scope: Scope = LOCAL
    history: list[Turn] = field(default_factory=list)
    filters: Filters = field(default_factory=Filters)
    thread_id: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    logged: bool = True
    degraded: list[Degraded] = field(default_factory=list)
    """What was done without before the run began."""

    def __post_init__(self) -> None:
        said = [Turn(printable(turn.question), printable(turn.answer)) for turn in self.history]
        object.__setattr__(self, "question", printable(self.question))
        object.__setattr__(self, "history", said)


@dataclass(frozen=True)
class Event:
    """One event of a stream: run, node, answer.delta, answer. `seq` counts from 1."""

    seq: int
    type: Literal["run", "node", "answer.delta", "answer"]
    data: dict[str, Any]


class Runner:
    """Raises UnknownKnowledgeBase and InvalidRequest; everything else ends in an Answer."""

    def __init__(
        self,
        *,
        graph: Graph,
        index: Index,
        bases: LiveBases,
        runs: RunLog,
        settings: GraphSettings,
        calibration: str,
        alone: Alone | None = None,
    ) -> None:
        """`alone` is entered with the name of a thread for as long as a run is on it."""
        self._graph = graph
        self._threadless = graph.copy({"checkpointer": None})
        self._alone = alone or _anyone
        self._index = index
        self._bases = bases
        self._runs = runs
        self._settings = settings
        self.calibration = calibration

    async def ask(self, ask: Ask, *, watch: Watch | None = None) -> Answer:
        """The answer of the whole run. `watch` sees the state after each step: an evaluation
        reads there what no answer tells."""
        answer = None
        async for item in self._run(ask, watch):
            if isinstance(item, Answer):
                answer = item
        if answer is None:
            raise RuntimeError("the run ended without an answer")
        return answer

    async def stream(self, ask: Ask) -> AsyncIterator[Event]:
        """Events as the run goes on; the last one, `answer`, holds the whole answer."""
        seq = 0
        async for item in self._run(ask):
            seq += 1
            if isinstance(item, Answer):
                yield Event(seq, "answer", item.as_json())
            else:
                yield Event(seq, item.pop("type"), item)

    async def delete_thread(self, scope: Scope, thread_id: str) -> None:
        """Forgets what was said on a thread. Raises NotFound."""
        threads: Any = self._graph.checkpointer
        name = _thread(scope, thread_id)
        async with self._alone(name):
            if await threads.aget_tuple({"configurable": {"thread_id": name}}) is None:
                raise NotFound("no such thread")
            await threads.adelete_thread(name)

    async def _run(
        self, ask: Ask, watch: Watch | None = None
    ) -> AsyncIterator[Answer | dict[str, Any]]:
        bases = await self._bases.named(ask.scope, ask.knowledge_base)
        context = tightened(self._settings, as_one(bases), ask.scope, ask.options)
        thread = _thread(ask.scope, ask.thread_id) if ask.thread_id else None
        # Closed before the thread is free: a reader that leaves may not leave a run behind.
        async with (
            self._alone(thread) if thread else nullcontext(),
            aclosing(self._run_on(thread, ask, context, bases, watch)) as items,
        ):
            async for item in items:
                yield item

    async def _run_on(
        self,
        thread: str | None,
        ask: Ask,
        context: Context,
        bases: list[KnowledgeBase],
        watch: Watch | None,
    ) -> AsyncGenerator[Answer | dict[str, Any], None]:
        versions = {
            "index": await self._version(ask.scope, [base.name for base in bases]),
            "pipeline": PIPELINE_VERSION,
            "calibration": self.calibration,
        }
        run_id = uuid.uuid4().hex
        clock = time.perf_counter()
        yield {"type": "run", "run_id": run_id, "question": ask.question}
        state: State | None = None
        async for mode, item in self._steps(thread, ask, context):
            if mode == "custom":
                yield dict(item)
            else:
                state = _state(item)
                if watch is not None:
                    watch(state)
        if state is None:
            raise RuntimeError("the graph gave no state")
        answer = answer_from(
            state,
            context,
            run_id=run_id,
            versions=versions,
            total_ms=1000 * (time.perf_counter() - clock),
        )
        if thread and self._graph.checkpointer:
            await self._remember(thread, state.turns, Turn(ask.question, answer.answer))
        yield await self._logged(ask, answer) if ask.logged else answer

    async def _version(self, scope: Scope, bases: list[str]) -> str:
        """Of one base its own, of several each with its name."""
        versions = {base: await self._index.version(scope, base) for base in bases}
        if len(versions) == 1:
            return versions[bases[0]]
        return " ".join(f"{base}:{version}" for base, version in versions.items())

    def _steps(
        self, thread: str | None, ask: Ask, context: Context
    ) -> AsyncIterator[tuple[str, Any]]:
        """What the graph streams; a run without a thread leaves nothing behind."""
        graph: Any = self._graph if thread else self._threadless
        kept = {"durability": "exit"} if graph.checkpointer else {}
        steps: AsyncIterator[tuple[str, Any]] = graph.astream(
            fresh_state(ask),
            context=context,
            stream_mode=["custom", "values"],
            config={
                "recursion_limit": recursion_limit(self._graph, context.rewrites),
                "configurable": {"thread_id": thread},
            },
            **kept,
        )
        return steps

    async def _logged(self, ask: Ask, answer: Answer) -> Answer:
        _, faults = await or_fallback(
            self._runs.add(ask.scope, ask.knowledge_base, answer),
            None,
            node="run_log",
            fallback="the run is not in the log",
        )
        return replace(answer, degraded=[*answer.degraded, *faults])

    async def _remember(self, thread: str, turns: list[Turn], turn: Turn) -> None:
        """Only what was said stays on a thread; the run's working fields are emptied."""
        await self._graph.aupdate_state(
            {"configurable": {"thread_id": thread}},
            _working_fields(State()) | {"turns": [*turns, turn][-TURNS:]},
            as_node="decline",  # a last node: nothing is left to run
        )


def _anyone(thread: str) -> AbstractAsyncContextManager[None]:
    return nullcontext()


def fresh_state(ask: Ask) -> dict[str, Any]:
    """Every field of State but `turns`: nothing of the last run on a thread is left."""
    state = State(
        question=ask.question,
        knowledge_base=ask.knowledge_base,
        history=ask.history,
        filters=ask.filters,
        started_at=time.time(),
        degraded=ask.degraded,
    )
    return _working_fields(state)


def _working_fields(state: State) -> dict[str, Any]:
    return {f.name: getattr(state, f.name) for f in fields(state) if f.name != "turns"}


def _state(values: Any) -> State:
    return values if isinstance(values, State) else State(**values)


def _thread(scope: Scope, thread_id: str) -> str:
    """A thread belongs to who began it: another one's id finds nothing."""
    return scope.conversation(thread_id)
