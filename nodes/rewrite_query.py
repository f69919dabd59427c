"""Another query for the next loop: the technique that fits why the grading fell short."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from langgraph.runtime import Runtime

from ingest.documents import Candidate
from ingest.filters import Filters
from nodes.bases import narrowed_route
from nodes.context import DEFAULTS, Context
from nodes.evidence import has_correct
from nodes.fallback import or_fallback
from nodes.literal_tokens import is_lookup, lost_words
from nodes.nearest import place
from nodes.parts import for_part, parts_of
from nodes.ports import QueryWriter
from nodes.state import Degraded, Query, State, Technique, Update
from nodes.words import content_words, guess_language, literals, stem, words

FEEDBACK_PASSAGES = 5
FEEDBACK_TERMS = 6
"""Passages read and terms added, as in the RM3 of Lv and Zhai (CIKM 2009), far fewer terms: the
original question stays an arm of the search and needs no interpolation."""

Shortfall = Literal["nothing near", "near but not answering", "half answered"]
"""What the grading of the loops so far lacked."""

NEAR = 0.3
"""Probability of the best passage. Of the handbook's answerable dev questions that the first search
left open, its document was a right one for 14 of 22 above this, for 1 of 9 below."""

MAX_KEYWORDS = 12
"""Content words of a distilled query; a long story is cut to its rarest words."""


async def rewrite_query(
    state: State, runtime: Runtime[Context], *, writer: QueryWriter | None = None
) -> Update:
    """The next technique that gives a query not tried before; else the looping is over.

    Which comes next follows from what the grading lacked; where a part of the question is answered
    already, the query is made of the others.

    With a chat model the first is its own wording, in the place of keywords: a loop is left for
    a wider search; a lookup has no other wording. Where the model fails, the ladder goes on without
    it. Where all that the filters let through was graded, no wording finds more: the wider search
    comes at once. None is used that the option `corrections` leaves out.
    """
    allowed = ((runtime and runtime.context) or DEFAULTS).corrections
    tried = {query.text.lower() for query in state.queries}
    used = {query.technique for query in state.queries} | (set(TECHNIQUES) - set(allowed))
    if "rephrased" in used:
        used.add("keywords")
    exhausted = not state.new_chunks and not emptied(state) and not narrowed_route(state)
    if exhausted and held_back(state) and "widened" in allowed:
        return _next(state, "widened", widened(state))
    faults: list[Degraded] = []
    asked = "rephrased" in used or any(f.node == "rewrite_query" for f in state.degraded)
    if (
        writer is not None
        and "rephrased" in allowed
        and not asked
        and not is_lookup(state.standalone)
    ):
        text, faults = await or_fallback(
            _rephrased(writer, state), "", node="rewrite_query", fallback="keywords instead"
        )
        if text and text.lower() not in tried:
            return _next(state, "rephrased", text)
    update = _by_ladder(state, tried, used)
    return update if not faults else {**update, "degraded": [*state.degraded, *faults]}


async def _rephrased(writer: QueryWriter, state: State) -> str:
    """The literal tokens stay, whatever the model makes of the rest. A query that the grader has
    proposed already costs no call."""
    text = state.proposed or await writer.rewritten(
        state.standalone, tried=[q.text for q in state.queries], rejected=_rejected(state)
    )
    return " ".join([text, *lost_words(state.standalone, text)])


def held_back(state: State) -> bool:
    """Whether filters that nobody asked for may keep passages out, and no search was without."""
    return bool(state.derived_filters.conditions) and not state.wide


def emptied(state: State) -> bool:
    """Whether filters of the question's own left nothing: the correction drops them."""
    return not state.candidates and bool(state.question_filters.conditions)


def _by_ladder(state: State, tried: set[str], used: set[Technique]) -> Update:
    lack = shortfall(state)
    for technique in LADDERS[lack]:
        if technique in used:
            continue
        text = TECHNIQUES[technique](state)
        fresh = text.strip().lower() not in tried or technique == "widened"
        if text.strip() and fresh:
            return _next(state, technique, text.strip())
    return {
        "loops_over": "no technique left",
        "summary": {"tried": sorted(tried), "loops_over": "no technique left"},
    }


def shortfall(state: State) -> Shortfall:
    """By the grades of all loops so far: a part that has correct evidence while another has none,
    a passage that may be of the matter, or none."""
    if missing_parts(state):
        return "half answered"
    probabilities = [one.grade.probability for one in state.evidence]
    near = any(p is None or p >= NEAR for p in probabilities)
    return "near but not answering" if near else "nothing near"


def missing_parts(state: State) -> list[str]:
    """The parts without correct evidence, where others have it."""
    parts = parts_of(state.queries)
    missing = [part for part in parts if not has_correct(for_part(state.evidence, part))]
    return missing if len(missing) < len(parts) else []


def keywords(state: State) -> str:
    """The content words of what is sought, in its own order; literal tokens as they were
    written."""
    sought = _sought(state)
    kept = literals(sought)
    covered = {word for literal in kept for word in content_words(literal)}
    plain = [word for word in content_words(sought) if word not in covered]
    return " ".join([*kept, *_rarest(plain, state.candidates)])


def feedback_terms(state: State) -> str:
    """The keywords, and the terms that set the best passages apart from the other candidates."""
    passages = [e.candidate for e in state.evidence] or state.candidates
    said = _stems(state.standalone, guess_language(state.standalone))
    weights: dict[str, float] = defaultdict(float)
    rarity = _rarity(state.candidates)
    for passage in passages[:FEEDBACK_PASSAGES]:
        terms = Counter(_repeated(passage.chunk.text))
        total = sum(terms.values()) or 1
        for term, count in terms.items():
            if len(term) > 2 and stem(term) not in said:
                weights[term] += count / total * rarity(term)
    best = sorted(weights, key=lambda term: (-weights[term], term))[:FEEDBACK_TERMS]
    return " ".join([keywords(state), *best]) if best else ""


def widened(state: State) -> str:
    """The question as it was asked, for a wider search without derived filters."""
    return state.standalone


TECHNIQUES: dict[Technique, Callable[[State], str]] = {
    "keywords": keywords,
    "feedback": feedback_terms,
    "widened": widened,
}
LADDERS: dict[Shortfall, tuple[Technique, ...]] = {
    "nothing near": ("keywords", "widened", "feedback"),
    "near but not answering": ("feedback", "keywords", "widened"),
    "half answered": ("keywords", "feedback", "widened"),
}
"""Terms of passages that are not near lead further away: there they come last. Those of passages
that are near, and graded ambiguous, come first."""


def _sought(state: State) -> str:
    return " ".join(missing_parts(state)) or state.standalone


def _next(state: State, technique: Technique, text: str) -> Update:
    number = state.spent.rewrites + 1
    query = Query(text, technique, loop=number)
    lack = shortfall(state)
    dropped = state.question_filters if lack == "nothing near" else Filters()
    return {
        "queries": [*state.queries, query],
        "wide": technique == "widened",
        "routed": state.bases,
        "question_filters": Filters() if dropped.conditions else state.question_filters,
        "spent": replace(state.spent, rewrites=number),
        "summary": {
            "because": lack,
            "technique": technique,
            "query": text,
            "tried": [q.text for q in state.queries],
            "rejected": _rejected(state),
            **({"now in": state.bases} if narrowed_route(state) else {}),
            **({"dropped": [c.key for c in dropped.conditions]} if dropped.conditions else {}),
        },
    }


def _rejected(state: State) -> list[str]:
    """Where the best passages stand that did not answer."""
    graded = [c for c in state.candidates if c.chunk.chunk_id in state.graded]
    return [place(c) or c.chunk.chunk_id for c in graded[:5]]


def _repeated(text: str) -> list[str]:
    """Content words with their repeats, for counting."""
    meaningful = set(content_words(text))
    return [word for word in words(text) if word in meaningful]


def _rarest(plain: list[str], candidates: Sequence[Candidate]) -> list[str]:
    if len(plain) <= MAX_KEYWORDS:
        return plain
    rarity = _rarity(candidates)
    kept = set(sorted(plain, key=lambda word: -rarity(word))[:MAX_KEYWORDS])
    return [word for word in plain if word in kept]


def _rarity(candidates: Sequence[Candidate]) -> Callable[[str], float]:
    """Inverse document frequency among the candidates."""
    frequency: Counter[str] = Counter()
    for candidate in candidates:
        frequency.update({stem(word) for word in content_words(candidate.chunk.text)})
    n = len(candidates)
    return lambda term: math.log((n + 1) / (frequency[stem(term)] + 0.5))


def _stems(text: str, language: str) -> set[str]:
    return {stem(word, language) for word in content_words(text)}
