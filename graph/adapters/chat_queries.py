"""Questions and queries worded anew by a chat model."""

from collections.abc import Sequence

from graph.adapters.chat_model import ChatModel, NoVerdict
from nodes import prompts
from nodes.state import Turn

LONGEST = 400
"""Code points; a longer reply is no question."""


class ChatQueryWriter:
    """Raises NoVerdict for a reply that is no query, and what the chat model raises."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    async def standalone(self, question: str, history: Sequence[Turn]) -> str:
        return _line(await self._chat.text(prompts.standalone(question, history), max_tokens=120))

    async def rewritten(
        self, question: str, *, tried: Sequence[str], rejected: Sequence[str]
    ) -> str:
        messages = prompts.rewritten(question, tried, rejected)
        return _line(await self._chat.text(messages, max_tokens=60))

    async def parts(self, question: str) -> list[str]:
        reply = await self._chat.structured(prompts.parts(question), prompts.Parts, max_tokens=160)
        return [_line(part) for part in reply.questions if part.strip()][:3]


def _line(reply: str) -> str:
    line = next((line.strip(" \"'`") for line in reply.splitlines() if line.strip()), "")
    if not line or len(line) > LONGEST:
        raise NoVerdict("the chat model's reply is no query")
    return line
