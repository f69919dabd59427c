"""Makes a follow-up question stand alone, by the words of the turns before it."""

import re

from langgraph.runtime import Runtime

from nodes.context import Context
from nodes.fallback import or_fallback
from nodes.plan_queries import intent_of
from nodes.ports import QueryWriter
from nodes.state import Degraded, State, Turn, Update
from nodes.words import content_words, literals

FOLLOW_UP = re.compile(
    r"^\W*(?:and|but|so|then|also|what about|how about|und|aber|dann|auch|was ist mit"
    r"|y|pero|también)\b"
    r"|\b(?:it|its|they|them|their|that|this|those|these|there|he|she|him|her|one|ones|same"
    r"|er|sie|dies\w*|(?-i:das(?! [A-ZÄÖÜ]))|dort|dafür|davon|damit|eso|esto|ese|esa|ellos|allí)\b",
    re.IGNORECASE,
)
SHORT = 3
"""Content words; a question with fewer leans on what was said before."""

MAX_TERMS = 8
"""Words taken over from the conversation: more would drown the question."""


async def contextualize_question(
    state: State, runtime: Runtime[Context], *, writer: QueryWriter | None = None
) -> Update:
    """The standalone question. Without history it is the question itself.

    A chat model words it where there is one; what it makes of it counts only while every literal
    token is kept.
    """
    history = [*state.turns, *state.history]
    question = state.question.strip()
    standalone = _standalone(question, history)
    faults: list[Degraded] = []
    if writer is not None and history and not _answered_directly(question):
        standalone, faults = await or_fallback(
            _written(writer, question, history),
            standalone,
            node="contextualize_question",
            fallback="the question with words of the conversation",
        )
    summary = {"standalone": standalone} if standalone != question else {"history": len(history)}
    return {
        "standalone": standalone,
        "degraded": [*state.degraded, *faults],
        "summary": summary,
    }


async def _written(writer: QueryWriter, question: str, history: list[Turn]) -> str:
    written = await writer.standalone(question, history)
    lost = [one for one in literals(question) if one.casefold() not in written.casefold()]
    return f"{written} ({' '.join(lost)})" if lost else written


def _standalone(question: str, history: list[Turn]) -> str:
    if not history or _answered_directly(question) or not _leans_on_history(question):
        return question
    said = set(content_words(question))
    terms: list[str] = []
    for turn in reversed(history):
        earlier = [*literals(turn.question), *content_words(turn.question)]
        terms += [t for t in earlier if t.lower() not in said and t not in terms]
        if len(terms) >= MAX_TERMS or not _leans_on_history(turn.question):
            break
    return f"{question} ({' '.join(terms[:MAX_TERMS])})" if terms else question


def _answered_directly(question: str) -> bool:
    return intent_of(question) in ("greeting", "arithmetic", "about_service")


def _leans_on_history(question: str) -> bool:
    return bool(FOLLOW_UP.search(question)) or len(content_words(question)) < SHORT
