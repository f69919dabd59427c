"""Looks for a kept answer to the same question, before anything is planned or searched."""

import asyncio
import hashlib
import json
import time
from dataclasses import asdict, dataclass
from typing import Protocol

from langgraph.runtime import Runtime

from nodes.bases import bases_of, text_of
from nodes.check_grounding import shown
from nodes.citations import citations_problem
from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.kept_answer import FoundAnswer, KeptAnswer, restored
from nodes.ports import AnswerCache, KnownVersion, Sources, SourceTexts
from nodes.question_meaning import meaning
from nodes.state import State, Update

NODE = "check_cache"

NO_MATTER = frozenset(("tenant", "principals", "mask", "deadline_s", "cache"))
"""Options that are in the scope, or that change no answer: what a deadline cut is not kept."""


class CachedIndex(KnownVersion, SourceTexts, Protocol):
    """What a kept answer is held against: the index as it is now."""


@dataclass(frozen=True)
class _Looked:
    key: str = ""
    found: FoundAnswer | None = None
    problem: str = ""


async def check_cache(
    state: State, runtime: Runtime[Context], *, cache: AnswerCache | None, index: CachedIndex
) -> Update:
    """The kept answer, with outcome answered, where each of its citations still stands for who
    asks; else nothing but the key to keep this run's own answer under. A cache fails open, and a
    run whose cache failed keeps nothing."""
    context = runtime.context or DEFAULTS
    if cache is None:
        return {"summary": {"hit": False}}
    looked, faults = await or_fallback(
        _look(state, context, cache, index), _Looked(), node=NODE, fallback="answered anew"
    )
    if looked.found is None or looked.problem:
        stale = {"stale": looked.problem} if looked.problem else {}
        return {
            "cache_key": looked.key,
            "degraded": [*state.degraded, *faults],
            "summary": {"hit": False, **stale},
        }
    kept = looked.found.answer
    for index_, sentence in enumerate(kept.draft):
        text = shown(sentence)
        runtime.stream_writer({"type": "answer.delta", "text": text, "index": index_})
    return {
        **restored(kept),
        "summary": {
            "hit": True,
            "age_s": round(max(0.0, time.time() - kept.kept_at), 1),
            "similarity": round(looked.found.similarity, 3),
        },
    }


def cache_key(state: State, context: Context, index_version: str) -> str:
    """One key for all that decides the answer to a question in a run: who asks, where, over which
    state of the index, with which options, filters and history, and what is asked."""
    options = context.model_dump(mode="json", exclude=set(NO_MATTER))
    if context.query_filters or context.latest:
        # "last month" is another one tomorrow, and a version comes into force.
        options["today"] = context.day(state.started_at).isoformat()
    parts = [
        context.scope.fingerprint,
        bases_of(state),
        index_version,
        options,
        asdict(state.filters),
        [asdict(turn) for turn in (*state.turns, *state.history)],
        meaning(state.standalone),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


async def _look(state: State, context: Context, cache: AnswerCache, index: CachedIndex) -> _Looked:
    versions = [await index.version(context.scope, base) for base in bases_of(state)]
    version = " ".join(versions)
    key = cache_key(state, context, version)
    found = await cache.find(key, state.standalone)
    problem = "" if found is None else await _problem(found.answer, state, context, index)
    return _Looked(key, found, problem)


async def _problem(kept: KeptAnswer, state: State, context: Context, texts: SourceTexts) -> str:
    """Why a kept answer may not be served now, or nothing: each document that it was read from is
    there for this scope, and each quotation stands in it."""
    read = await asyncio.gather(
        *(
            text_of(texts, context.scope, bases_of(state), document, revision)
            for document, revision in kept.documents
        )
    )
    if any(text is None for text in read):
        return "a document behind it is changed, deleted or withheld"
    places = zip(kept.documents, read, strict=True)
    sources = Sources({place: text for place, text in places if text is not None})
    problems = (citations_problem(sentence, sources) for sentence in kept.draft)
    return next(filter(None, problems), "")
