"""Makes a follow-up question stand alone, by the words of the turns before it."""

from langgraph.runtime import Runtime

from nodes.context import Context
from nodes.fallback import or_fallback
from nodes.follow_up import stand_alone
from nodes.literal_tokens import is_lookup, lost_words
from nodes.plan_queries import intent_of
from nodes.ports import QueryWriter
from nodes.state import Degraded, State, Turn, Update
from nodes.words import literals, without_capitals


async def contextualize_question(
    state: State, runtime: Runtime[Context], *, writer: QueryWriter | None = None
) -> Update:
    """The standalone question. Without history it is the question itself.

    A chat model words it where there is one, and what it lost of the literal tokens is put back. A
    code alone is not worded anew.
    """
    history = [*state.turns, *state.history]
    question = without_capitals(state.question.strip())
    standalone = question if _answered_directly(question) else stand_alone(question, history)
    faults: list[Degraded] = []
    if writer is not None and history and not _as_it_is(question):
        standalone, faults = await or_fallback(
            _written(writer, question, history),
            standalone,
            node="contextualize_question",
            fallback="the question with words of the conversation",
        )
    worded = standalone != state.question.strip()
    summary = {"standalone": standalone} if worded else {"history": len(history)}
    return {
        "standalone": standalone,
        "degraded": [*state.degraded, *faults],
        "summary": summary,
    }


async def _written(writer: QueryWriter, question: str, history: list[Turn]) -> str:
    written = await writer.standalone(question, history)
    lost = lost_words(question, written)
    return f"{written} ({' '.join(lost)})" if lost else written


def _answered_directly(question: str) -> bool:
    return intent_of(question) in ("greeting", "arithmetic", "about_service")


def _as_it_is(question: str) -> bool:
    return _answered_directly(question) or (is_lookup(question) and bool(literals(question)))
