"""What each run of a safety suite did: a line of records.jsonl."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from eval.answer_metrics import ANSWERS
from nodes.state import Outcome, Reason


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(_Frozen):
    """A sentence of an answer with its note, without citation numbers; `sources` are the names of
    the passages that it cites, `quotes` their words."""

    text: str
    sources: list[str]
    quotes: list[str]


class Ran(_Frozen):
    """What one run did. `shown` are the beginnings of passages that it names as the nearest.

    `confidence` is the run's own that its draft is right, in [0, 1], also where it was then
    declined; None without a draft. `best_grade`, of any passage, is in [0, 1]; `ms` are wall time;
    `degraded` are the fallbacks that were taken.
    """

    key: str
    suite: str
    case: str
    outcome: Outcome
    reason: Reason | None
    said: list[Said]
    shown: list[str]
    confidence: float | None
    best_grade: float
    loops: int
    chat_calls: int
    ms: float
    degraded: list[str] = []

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
