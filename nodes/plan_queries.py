"""Decides whether the corpus is asked at all, with which query and which derived filters."""

import re
from typing import Literal

from langgraph.runtime import Runtime

from ingest.filters import Condition, Filters
from nodes.asked_time import asks_for_old
from nodes.bases import bases_of
from nodes.context import DEFAULTS, Context
from nodes.expand_query import expanded
from nodes.fallback import or_fallback
from nodes.filters_from_question import filters_from_question
from nodes.literal_tokens import kept_words
from nodes.parts import SEVERAL, split
from nodes.ports import Documents, QueryWriter
from nodes.state import Degraded, Query, State, Update
from nodes.words import content_words, literals, words

Intent = Literal["greeting", "arithmetic", "about_service", "unclear", "search"]

GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?(?: you)?(?: very much)?|bye"
    r"|goodbye|hallo|guten (?:morgen|tag|abend)|danke(?: schön)?|tschüss|hola|buenos d[ií]as"
    r"|gracias|adi[oó]s)(?: there| everyone| all| zusammen)?\W*$",
    re.IGNORECASE,
)
ARITHMETIC = re.compile(
    # Possessive throughout: with backtracking, 4,000 spaces would take minutes.
    r"^[^\w(+\-.]*+(?:what(?:'s| is)|how much is|(?P<told>calculate|compute|berechne|calcula)"
    r"|was ist|wie viel ist|cu[aá]nto es)?"
    r"(?P<expression>[\d.\s()+\-*/×÷^]++)\W*+$",
    re.IGNORECASE,
)
OPERATION = re.compile(
    r"\d[\s)]*+(?:[+*×÷^]|[\-/](?=\s)|(?<=\s)[\-/]|/(?=\()|(?<=\))/)[\s(+\-*/×÷^.]*+\d"
)
"""A hyphen or a slash right between two digits is none: 2026-05-14, 404-2, 24/7, 0341/555."""
TIGHT_OPERATION = re.compile(r"\d[\s)]*+[+\-*/×÷^][\s(+\-*/×÷^.]*+\d")
NO_ARITHMETIC = re.compile(
    r"(?<![\d.])0\d"  # a phone number, the month of a date
    r"|\d[\s()]++\d"  # groups of digits, as in a phone number
    r"|\d\.\d++\."  # a version, a date with dots
    r"|\b(?:19|20)\d\d\s*+([\-/])\s*+\d\d?\s*+\1\s*+\d\d?(?!\d)"  # 2026 - 10 - 14
    r"|(?<!\d)\d\d?\s*+([\-/])\s*+\d\d?\s*+\2\s*+(?:19|20)\d\d\b"  # 14 / 10 / 2026
)
ABOUT_SERVICE = re.compile(
    r"^\W*(?:who are you|what are you|what can you do|how do you work|are you (?:a bot|an ai|human)"
    r"|wer bist du|was kannst du|wie funktionierst du|qui[eé]n eres|qu[eé] puedes hacer)\W*$",
    re.IGNORECASE,
)
SHOWN = 3
"""Documents of a filter that the trace names."""

NOT_CURRENT = Condition("status", ["superseded", "draft"], exclude=True)


async def plan_queries(
    state: State,
    runtime: Runtime[Context],
    *,
    writer: QueryWriter | None = None,
    documents: Documents | None = None,
) -> Update:
    """The original question as the first query; superseded documents are left out at first.

    A question that asks several things is split, by a chat model where there is one: each part is
    searched beside the whole.
    """
    question = state.standalone
    intent = intent_of(question)
    if intent != "search":
        return {"queries": [], "summary": {"intent": intent}}
    derived = derived_filters(question, state.filters)
    context = (runtime and runtime.context) or DEFAULTS
    parts, faults = await _parts(question, writer) if context.parts else ([], [])
    more, failed = await expanded(question, context, writer)
    faults = [*faults, *failed]
    named = Filters()
    if context.query_filters and documents is not None:
        named, failed = await or_fallback(
            _named(state, context, documents), named, node="plan_queries", fallback="no filters"
        )
        faults = [*faults, *failed]
    summary = {
        "intent": intent,
        "queries": [question, *parts],
        **({"beside": [_told(query) for query in more]} if more else {}),
        "literals": kept_words(question),
        "filters": [_shown(c) for c in (state.filters + derived + named).conditions],
    }
    return {
        "queries": [Query(question), *(Query(part, "part") for part in parts), *more],
        "derived_filters": derived,
        "question_filters": named,
        "degraded": [*state.degraded, *faults],
        "summary": summary,
    }


async def _parts(question: str, writer: QueryWriter | None) -> tuple[list[str], list[Degraded]]:
    """None of a question that asks one thing."""
    parts, faults = split(question), list[Degraded]()
    if writer is not None and SEVERAL.search(question):
        parts, faults = await or_fallback(
            writer.parts(question), parts, node="plan_queries", fallback="split by rules"
        )
        # Models repeat themselves, and give a question that has one part back as its only one.
        parts = list(dict.fromkeys(parts))
    return parts if len(parts) > 1 else [], faults


async def _named(state: State, context: Context, documents: Documents) -> Filters:
    """What the question names beside the filters that were given."""
    bases = bases_of(state)
    held = [d for base in bases for d in await documents.documents(context.scope, base)]
    given = {condition.key for condition in state.filters.conditions}
    found = filters_from_question(state.standalone, held, today=context.day(state.started_at))
    return Filters([one for one in found.conditions if one.key not in given])


def derived_filters(question: str, given: Filters) -> Filters:
    """Leaves out what is not current, unless the question or the given filters speak of that."""
    asked = {condition.key for condition in given.conditions}
    return Filters([] if asks_for_old(question) or "status" in asked else [NOT_CURRENT])


def intent_of(question: str) -> Intent:
    """Everything is searched but greetings, arithmetic, questions about the service itself, and
    what has no word to search for."""
    if GREETING.match(question):
        return "greeting"
    if _is_arithmetic(question):
        return "arithmetic"
    if ABOUT_SERVICE.match(question):
        return "about_service"
    if not content_words(question) and not literals(question) and len(words(question)) < 4:
        return "unclear"
    return "search"


def _is_arithmetic(question: str) -> bool:
    asked = ARITHMETIC.match(question)
    if not asked or NO_ARITHMETIC.search(asked["expression"]):
        return False
    operation = TIGHT_OPERATION if asked["told"] else OPERATION
    return operation.search(asked["expression"]) is not None


def _told(query: Query) -> dict[str, str]:
    return {"technique": query.technique, "query": query.embedded or query.text}


def _shown(condition: Condition) -> str:
    if condition.is_range:
        return f"{condition.key} in {condition.within}"
    named = ", ".join(condition.values)
    if condition.key == "document_id" and len(condition.values) > SHOWN:
        named = f"{len(condition.values)} documents"
    return f"{condition.key} {'not ' if condition.exclude else ''}in {named}"
