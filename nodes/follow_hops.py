"""A question whose parts lean on each other: the answer of one is put into the next."""

from langgraph.runtime import Runtime

from nodes.bridge import bridged
from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.literal_tokens import is_lookup, lost_words
from nodes.parts import parts_of
from nodes.ports import QueryWriter, Retriever
from nodes.retrieve import searched
from nodes.state import Degraded, Query, State, Update

NODE = "follow_hops"

READ = 3
"""Passages of a hop from which the next question is written."""

FOUND = 10
"""Hits of each arm of a hop's own search."""


def leads_on(state: State, context: Context, *, chat: bool) -> bool:
    """Whether it is asked in hops: not a lookup, nor a question of independent parts."""
    asked = context.bridge or (chat and context.hops > 1)
    return asked and not parts_of(state.queries) and not is_lookup(state.standalone)


async def follow_hops(
    state: State, runtime: Runtime[Context], *, index: Retriever, writer: QueryWriter | None
) -> Update:
    """The hops as queries beside the question, each searched, graded and answered like a part; none
    where one look-up is enough, or the model or a search fails: then the question is asked plainly.
    At most `hops` searches, and a chat call before each.

    Without hops the `bridge` is one more query of the whole question.
    """
    context = runtime.context or DEFAULTS
    hops: list[str] = []
    faults: list[Degraded] = []
    if writer is not None and context.hops > 1:
        hops, faults = await or_fallback(
            _followed(state, context, index, writer), hops, node=NODE, fallback="asked plainly"
        )
    bridge = ""
    if context.bridge and not hops:
        bridge, more = await or_fallback(
            _bridged(state, context, index), bridge, node=NODE, fallback="asked plainly"
        )
        faults = [*faults, *more]
    queries = [*(Query(text, "hop") for text in hops), *([Query(bridge, "bridge")] * bool(bridge))]
    return {
        "queries": [*state.queries, *queries],
        "degraded": [*state.degraded, *faults],
        "summary": {"hops": hops, **({"bridge": bridge} if bridge else {})},
    }


async def _bridged(state: State, context: Context, index: Retriever) -> str:
    question = state.standalone
    found = await searched(index, state, context, question, [question], limit=context.candidates)
    return bridged(question, found[0].chunk.text) if found else ""


async def _followed(
    state: State, context: Context, index: Retriever, writer: QueryWriter
) -> list[str]:
    asked: list[str] = []
    read: list[str] = []
    for _ in range(context.hops):
        text = await writer.next_hop(state.standalone, asked, read)
        if not text or text.casefold() in {one.casefold() for one in (*asked, state.standalone)}:
            break
        asked.append(text)
        if len(asked) < context.hops:
            found = await searched(index, state, context, text, [text], limit=FOUND)
            read += [one.chunk.text for one in found[:READ]]
    if len(asked) < 2:
        return []
    lost = lost_words(state.standalone, " ".join(asked))
    return [*asked[:-1], " ".join([asked[-1], *lost])]
