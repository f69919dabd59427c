"""Questions and queries worded anew by a chat model."""

from collections.abc import Sequence

from graph.adapters.chat_model import ChatModel, NoVerdict
from nodes import query_prompts
from nodes.safe_sentences import dictated
from nodes.state import Turn

LONGEST = 400
"""Code points; a longer reply is no question."""


class ChatQueryWriter:
    """Raises NoVerdict for a reply that is no query, and what the chat model raises."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    async def standalone(self, question: str, history: Sequence[Turn]) -> str:
        said = await self._chat.text(query_prompts.standalone(question, history), max_tokens=120)
        return _line(said, question, *(f"{turn.question}\n{turn.answer}" for turn in history))

    async def rewritten(
        self, question: str, *, tried: Sequence[str], rejected: Sequence[str]
    ) -> str:
        messages = query_prompts.rewritten(question, tried, rejected)
        return _line(await self._chat.text(messages, max_tokens=60), question)

    async def parts(self, question: str) -> list[str]:
        reply = await self._chat.structured(
            query_prompts.parts(question), query_prompts.Parts, max_tokens=160
        )
        return [_line(part, question) for part in reply.questions if part.strip()][:3]

    async def phrasings(self, question: str, count: int) -> list[str]:
        messages = query_prompts.phrasings(question, count)
        reply = await self._chat.structured(
            messages, query_prompts.Phrasings, max_tokens=60 * count
        )
        return [_line(one, question) for one in reply.phrasings if one.strip()][:count]

    async def synonyms(self, question: str) -> list[str]:
        reply = await self._chat.structured(
            query_prompts.synonyms(question), query_prompts.Synonyms, max_tokens=100
        )
        return [_line(one, question) for one in reply.synonyms if one.strip()]

    async def next_hop(self, question: str, asked: Sequence[str], passages: Sequence[str]) -> str:
        messages = query_prompts.next_hop(question, asked, passages)
        said = _line(await self._chat.text(messages, max_tokens=60), question)
        return "" if said.strip(".!").upper() == query_prompts.DONE else said

    async def step_back(self, question: str) -> str:
        said = await self._chat.text(query_prompts.step_back(question), max_tokens=80)
        return _line(said, question)

    async def made_up(self, question: str) -> str:
        return " ".join(
            (await self._chat.text(query_prompts.made_up(question), max_tokens=160)).split()
        )


def _line(reply: str, *given: str) -> str:
    line = next((line.strip(" \"'`") for line in reply.splitlines() if line.strip()), "")
    if not line or len(line) > LONGEST:
        raise NoVerdict("the chat model's reply is no query")
    if dictated(line, *given):
        raise NoVerdict(
            "the chat model's query is an order, or holds an address nobody asked about"
        )
    return line
