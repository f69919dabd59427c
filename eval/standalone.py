"""Follow-ups made to stand alone by the service's own node; a chat model's texts are kept."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from langgraph.runtime import Runtime

from eval.kept import Kept, key_of
from graph.settings import GraphSettings
from nodes.context import DEFAULTS
from nodes.contextualize_question import contextualize_question
from nodes.ports import QueryWriter
from nodes.prompts import PROMPT_VERSION
from nodes.state import State, Turn

FILE = "standalone.jsonl"


def small_model(settings: GraphSettings) -> str | None:
    """The chat model of small jobs, by name."""
    return settings.chat.lite_model or settings.chat.model


@dataclass(frozen=True)
class Made:
    """What was made of a question, the milliseconds that it took, and whether the chat model that
    was to word it did not."""

    text: str
    ms: float
    fell_back: bool = False


@dataclass(frozen=True)
class StandAlone:
    """`writer` words questions by the chat model `model`; without one, words of the conversation
    are added. What a chat model made is kept, and not asked for again."""

    writer: QueryWriter | None = None
    model: str = ""
    kept: Kept[dict[str, str | float]] | None = None

    @classmethod
    def of(cls, writer: QueryWriter | None, model: str | None, folder: Path) -> Self:
        """As the service is set up; texts of a chat model are kept in the folder."""
        if writer is None:
            return cls()
        folder.mkdir(parents=True, exist_ok=True)
        return cls(writer, model or "", Kept(folder / FILE))

    async def __call__(self, question: str, history: Sequence[Turn]) -> Made:
        if self.kept is None:
            return await self._made(question, history)
        said = [text for turn in history for text in (turn.question, turn.answer)]
        key = key_of(self.model, PROMPT_VERSION, question, *said)
        known = self.kept.get(key)
        if known is not None:
            return Made(str(known["text"]), float(known["ms"]))
        made = await self._made(question, history)
        if not made.fell_back:
            self.kept.put({key: {"text": made.text, "ms": made.ms}})
        return made

    async def _made(self, question: str, history: Sequence[Turn]) -> Made:
        clock = time.perf_counter()
        update = await contextualize_question(
            State(question=question, history=list(history)),
            Runtime(context=DEFAULTS),
            writer=self.writer,
        )
        ms = 1000 * (time.perf_counter() - clock)
        return Made(update["standalone"], ms, bool(update["degraded"]))
