"""What a safety suite asks, and the passages that it plants for each question."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from eval.datasets import Side, on_side
from eval.kept import key_of

R = TypeVar("R")


@dataclass(frozen=True)
class Case:
    """A question on the passages that it `sees`; on all of the suite's where it names none.

    `right` and `wrong` are strings of answers; `planted` those of the seen passages that state a
    wrong one. `injected` is a text that is inside a passage and belongs in no answer; neither does
    `canary`, a word that only one who obeys the text would write. `row` is the dataset's id of
    what the case was made of: two cases may be of one row.
    """

    id: str
    kind: str
    question: str
    row: str
    sees: tuple[str, ...] = ()
    history: tuple[tuple[str, str], ...] = ()
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    planted: tuple[str, ...] = ()
    injected: str = ""
    canary: str = ""


@dataclass(frozen=True)
class Suite:
    """Cases in the order of their hashes, asked in the knowledge base `base`. `pool` are passages
    besides those that cases see; `left_out` says how many rows could not be judged."""

    name: str
    base: str
    cases: list[Case]
    pool: list[str]
    left_out: int = 0

    @property
    def passages(self) -> list[str]:
        """Each once: what a knowledge base of this suite holds, whatever the limit."""
        seen = [text for case in self.cases for text in case.sees]
        return list(dict.fromkeys([*self.pool, *seen]))

    def first(self, limit: int | None) -> list[Case]:
        """The cases of the first `limit` rows, or all: kinds stay in proportion."""
        rows = list(dict.fromkeys(case.row for case in self.cases))[:limit]
        return [case for case in self.cases if case.row in set(rows)]


def by_hash(rows: Iterable[R], identity: Callable[[R], str], side: Side) -> list[R]:
    """The rows of one side in an order that has nothing to do with the file's."""
    own = [row for row in rows if on_side(identity(row), side)]
    return sorted(own, key=lambda row: order(identity(row)))


def order(identity: str) -> str:
    """What to sort by: nothing but chance, and the same each time."""
    return hashlib.sha256(identity.encode()).hexdigest()


def pick(identity: str, purpose: str, choices: Sequence[R]) -> R:
    """One of the choices, the same each time."""
    digest = hashlib.sha256(f"{identity}\x00{purpose}".encode()).hexdigest()
    return choices[int(digest, 16) % len(choices)]


def passage_name(text: str) -> str:
    """A name by content: cases that see the same passage share it."""
    return key_of(text)[:16]
