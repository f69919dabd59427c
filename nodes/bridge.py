"""A second query by what the best passage names: where no chat model says what to look up next."""

import re

from nodes.words import words

NAMES = 4
"""Names that are added, at most; more would drown the question."""

_NAME = re.compile(r"\b[A-ZÄÖÜÁÉÍÓÚÑ][\w'’-]+(?: [A-ZÄÖÜÁÉÍÓÚÑ][\w'’-]+)*")


def bridged(question: str, passage: str) -> str:
    """The question with the names of the passage that it lacks, in their order; empty where there
    are none. Words that begin a sentence pass for names, too."""
    said = set(words(question))
    found = dict.fromkeys(match.group() for match in _NAME.finditer(passage))
    new = [name for name in found if not set(words(name)) <= said]
    return " ".join([question, *new[:NAMES]]) if new else ""
