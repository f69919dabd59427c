"""Asks the cases of a suite with the whole service, and keeps what each run did."""

import hashlib
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

from pydantic import BaseModel, ConfigDict, ValidationError

import graph
import ingest
import nodes
from eval.answer_metrics import ANSWERS
from eval.corpora import ingest_golden
from eval.kept import key_of
from eval.safety_cases import Case, Suite, passage_name
from graph.answer import Answer
from graph.compose import Service
from graph.runner import Ask
from graph.settings import GraphSettings
from ingest.documents import document_id
from ingest.errors import ConfigurationError, DependencyError, ServiceError
from ingest.filters import Condition, Filters
from ingest.scope import LOCAL
from nodes.state import Outcome, Reason, State, Turn

FILE = "note.txt"
"""Each passage is a file of its own folder, so that no title tells one from another."""
EVERY = 20
"""Runs between two lines of progress."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(_Frozen):
    """A sentence of an answer with its note, without citation numbers; `sources` are the names of
    the passages that it cites, `quotes` their words."""

    text: str
    sources: list[str]
    quotes: list[str]


class Ran(_Frozen):
    """What one run did. `shown` are the beginnings of passages that it names as the nearest;
    `confidence` that there is an answer, in [0, 1]; `ms` of wall time."""

    key: str
    suite: str
    case: str
    outcome: Outcome
    reason: Reason | None
    said: list[Said]
    shown: list[str]
    confidence: float
    loops: int
    chat_calls: int
    ms: float

    @property
    def answered(self) -> bool:
        """Any other outcome counts as a refusal."""
        return self.outcome in ANSWERS


class KeptRuns:
    """Runs in a file that grows line by line: what was cut short goes on from there."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._runs: dict[str, Ran] = {}
        content = file.read_text(encoding="utf-8") if file.exists() else ""
        for line in content.splitlines():
            try:
                ran = Ran.model_validate_json(line)
            except ValidationError:
                continue  # the line that an interruption cut, or one of an older version
            self._runs[ran.key] = ran
        if content and not content.endswith("\n"):
            self._append("")

    def get(self, key: str) -> Ran | None:
        return self._runs.get(key)

    def put(self, ran: Ran) -> None:
        self._runs[ran.key] = ran
        self._append(ran.model_dump_json())

    def _append(self, line: str) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


async def ensure_passages(service: Service, suite: Suite) -> None:
    """Brings the suite's base in line with its passages, ingested as files are.

    Raises ConfigurationError for passages that no loader reads: their cases would see less.
    """
    folder = service.corpus.folder.path / "safety" / suite.base
    shutil.rmtree(folder, ignore_errors=True)
    for text in suite.passages:
        file = folder / passage_name(text) / FILE
        file.parent.mkdir(parents=True)
        file.write_text(text + "\n", encoding="utf-8")
    await ingest_golden(service.corpus, folder, suite.base)
    held = {record.source for record in await service.corpus.index.documents(LOCAL, suite.base)}
    missing = len({f"{passage_name(text)}/{FILE}" for text in suite.passages} - held)
    if missing:
        raise ConfigurationError(f"{suite.name}: {missing} passages could not be ingested")


async def run_cases(
    service: Service, suite: Suite, cases: Sequence[Case], kept: KeptRuns
) -> tuple[list[tuple[Case, Ran]], list[str]]:
    """The cases that ran, and a line for each that ended in an error.

    An outage is an error too, and no refusal. Only what ran is kept.
    """
    version = await _version(service, suite.base)
    done: list[tuple[Case, Ran]] = []
    errors: list[str] = []
    for number, case in enumerate(cases, start=1):
        key = key_of(version, suite.name, repr(asdict(case)))
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
    seen = [document_id(LOCAL.tenant, suite.base, f"{passage_name(t)}/{FILE}") for t in case.sees]
    watched = _Last()
    ask = Ask(
        case.question,
        suite.base,
        history=[Turn(asked, told) for asked, told in case.history],
        filters=Filters([Condition("document_id", seen)] if seen else []),
        options={"web": False},
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
        loops=answer.budget["rewrites"]["used"],
        chat_calls=answer.budget["chat_calls"]["used"],
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
            sources=[citation.source.removesuffix(f"/{FILE}") for citation in sentence.citations],
            quotes=[citation.quote for citation in sentence.citations],
        )
        for sentence in state.draft
    ]


def _confidence(answer: Answer) -> float:
    return answer.searched["best_grade"] or 0.0


async def _version(service: Service, base: str) -> str:
    """All that a run depends on beside its case: code, settings, models, and the base's content."""
    settings: GraphSettings = service.settings
    own = settings.model_dump_json(exclude={"data_dir", "threads", "database", "web"})
    index = await service.corpus.index.version(LOCAL, base)
    code = code_version(ingest, nodes, graph)
    return key_of(own, index, code, service.corpus.embedder.fingerprint)


def code_version(*packages: ModuleType) -> str:
    """A digest of sources and data: what older code did stands for no newer."""
    digest = hashlib.sha256()
    for package in packages:
        root = Path(str(package.__file__)).parent
        for file in sorted(root.rglob("*")):
            if file.suffix in (".py", ".json"):
                digest.update(f"{file.relative_to(root)}\x00".encode() + file.read_bytes())
    return digest.hexdigest()
