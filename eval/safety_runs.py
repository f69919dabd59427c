"""Asks the cases of a suite with the whole service."""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import graph
import ingest
import nodes
from eval.kept import key_of
from eval.safety_cases import Case, Suite
from eval.safety_passages import name_of, only
from eval.safety_records import KeptRuns, Ran, Said
from graph.answer import Answer
from graph.compose import Service
from graph.runner import Ask
from ingest.errors import DependencyError, ServiceError
from ingest.scope import LOCAL
from nodes.state import State, Turn

EVERY = 20
"""Runs between two lines of progress."""


async def run_cases(
    service: Service, suite: Suite, cases: Sequence[Case], kept: KeptRuns, *, code: str
) -> tuple[list[tuple[Case, Ran]], list[str]]:
    """The cases that ran, and a line for each that ended in an error.

    An outage is an error too, and no refusal. Only what ran is kept, for this version of the code.
    """
    version = await _version(service, suite.base, code)
    done: list[tuple[Case, Ran]] = []
    errors: list[str] = []
    for number, case in enumerate(cases, start=1):
        key = key_of(version, suite.name, case.id, repr((case.question, case.sees, case.history)))
        ran = kept.get(key)
        if ran is None:
            try:
                ran = await _ran(service, suite, case, key)
                kept.put(ran)
            except Exception as error:  # ports may be other people's code
                kind = error.code if isinstance(error, ServiceError) else type(error).__name__
                errors.append(f"{suite.name} {case.id}: {kind}: {error}")
        if ran is not None:
            done.append((case, ran))
        if number % EVERY == 0 or number == len(cases):
            print(f"{suite.name}: {number} of {len(cases)}", file=sys.stderr, flush=True)
    return done, errors


async def _ran(service: Service, suite: Suite, case: Case, key: str) -> Ran:
    watched = _Last()
    ask = Ask(
        case.question,
        suite.base,
        history=[Turn(asked, told) for asked, told in case.history],
        filters=only(suite, case.sees),
        options={"web": False, "cache": False},
        logged=False,
    )
    answer = await service.runner.ask(ask, watch=watched)
    if answer.reason == "dependency_down":
        raise DependencyError("; ".join(f"{x.node}: {x.detail}" for x in answer.degraded))
    return Ran(
        key=key,
        suite=suite.name,
        case=case.id,
        outcome=answer.outcome,
        reason=answer.reason,
        said=_said(watched.state),
        shown=[near["text"] for near in answer.searched["nearest"]],
        confidence=_confidence(answer),
        best_grade=answer.searched["best_grade"] or 0.0,
        loops=answer.budget["rewrites"]["used"],
        chat_calls=answer.budget["chat_calls"]["used"],
        degraded=[f"{fault.node}: {fault.kind}" for fault in answer.degraded],
        ms=answer.timings["total_ms"],
    )


class _Last:
    """The state that a run ended in."""

    def __init__(self) -> None:
        self.state = State()

    def __call__(self, state: State) -> None:
        self.state = state


def _said(state: State) -> list[Said]:
    return [
        Said(
            text=f"{sentence.note} {sentence.text}".strip(),
            sources=[name_of(citation.source) for citation in sentence.citations],
            quotes=[citation.quote for citation in sentence.citations],
        )
        for sentence in state.draft
    ]


def _confidence(answer: Answer) -> float | None:
    """From the trace: the answer object tells it of what is answered, not of what was declined."""
    told = [x for entry in answer.trace if (x := entry.summary.get("confidence")) is not None]
    return float(told[-1]) if told else None


async def _version(service: Service, base: str, code: str) -> str:
    """All that a run depends on beside its case: code, settings, models, and the base's content."""
    own = service.settings.model_dump_json(exclude={"data_dir", "threads", "database", "web"})
    index = await service.corpus.index.version(LOCAL, base)
    return key_of(own, index, code, service.corpus.embedder.fingerprint)


def code_version() -> str:
    """A digest of the service's sources and data: what older code did stands for no newer.

    To be read as the process starts: files may change while it runs the old ones.
    """
    digest = hashlib.sha256()
    for package in (ingest, nodes, graph):
        root = Path(str(package.__file__)).parent
        for file in sorted(root.rglob("*")):
            if file.suffix in (".py", ".json"):
                digest.update(f"{file.relative_to(root)}\x00".encode() + file.read_bytes())
    return digest.hexdigest()
