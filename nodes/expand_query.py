"""Other queries beside the question, before anything was searched."""

import asyncio
from collections.abc import Awaitable

from nodes.context import Context
from nodes.fallback import or_fallback
from nodes.literal_tokens import is_lookup, kept_words, lost_words
from nodes.ports import QueryWriter
from nodes.state import Degraded, Query, Technique
from nodes.words import content_words, guess_language, literals, stems, words

MOST_SYNONYMS = 8
LONGEST_TERM = 3
"""Words: a longer one is a sentence, and would outweigh the keywords."""


async def expanded(
    question: str, context: Context, writer: QueryWriter | None
) -> tuple[list[Query], list[Degraded]]:
    """Phrasings, synonyms, a step back and a made-up passage, as the options ask for them: at most
    one chat call each, all at once. What fails is left out; without a chat model the keywords are
    the one other phrasing. A lookup is searched as it is."""
    if is_lookup(question):
        return [], []
    work: list[Awaitable[tuple[list[Query], list[Degraded]]]] = []
    if writer is not None and context.phrasings:
        work.append(_tried(_phrasings(question, context.phrasings, writer), "phrasings"))
    if writer is not None and context.synonyms:
        work.append(_tried(_synonyms(question, writer), "synonyms"))
    if writer is not None and context.step_back:
        work.append(_tried(_step_back(question, writer), "step back"))
    if writer is not None and context.hyde:
        work.append(_tried(_made_up(question, writer), "made-up passage"))
    done = await asyncio.gather(*work)
    queries = [query for found, _ in done for query in found]
    if writer is None and context.phrasings:
        queries = [Query(keywords(question), "keywords")]
    searched = {question.casefold()}
    fresh = []
    for query in queries:
        if query.embedded or query.text.strip().casefold() not in searched | {""}:
            fresh.append(query)
            searched.add(query.text.strip().casefold())
    return fresh, [fault for _, faults in done for fault in faults]


def keywords(question: str) -> str:
    """The content words in their own order, what must be kept first and as it was written."""
    kept = kept_words(question)
    covered = {word for one in kept for word in content_words(one)}
    return " ".join([*kept, *(word for word in content_words(question) if word not in covered)])


async def _tried(work: Awaitable[list[Query]], name: str) -> tuple[list[Query], list[Degraded]]:
    return await or_fallback(work, [], node="plan_queries", fallback=f"searched without {name}")


async def _phrasings(question: str, count: int, writer: QueryWriter) -> list[Query]:
    found = await writer.phrasings(question, count)
    return [_mended(question, text, "phrasing") for text in found[:count]]


async def _synonyms(question: str, writer: QueryWriter) -> list[Query]:
    """The keywords with the words that the question does not have already; no number among them,
    which would be another one. Nothing where the model knows no other word."""
    language = guess_language(question)
    said = set(stems(question, language))
    others: list[str] = []
    for term in await writer.synonyms(question):
        new = set(stems(term, language)) - said
        if new and len(words(term)) <= LONGEST_TERM and not any(c.isdigit() for c in term):
            others.append(term.strip())
            said |= new
    told = [keywords(question), *others[:MOST_SYNONYMS]]
    return [Query(" ".join(told), "synonyms")] if others else []


async def _step_back(question: str, writer: QueryWriter) -> list[Query]:
    """More general, it may go without the numbers of the case, but not without a code."""
    text = await writer.step_back(question)
    codes = [one for one in lost_words(question, text) if one in literals(question)]
    return [Query(" ".join([text, *codes]), "step_back")]


async def _made_up(question: str, writer: QueryWriter) -> list[Query]:
    return [Query(question, "hyde", embedded=await writer.made_up(question))]


def _mended(question: str, text: str, technique: Technique) -> Query:
    """The literal tokens stay, whatever the model makes of the rest."""
    return Query(" ".join([text, *lost_words(question, text)]), technique)
