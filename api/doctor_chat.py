"""Which chat model is configured, and what is missing for it."""

import os
from typing import Any

from graph.settings import ChatSettings
from ingest.errors import ConfigurationError

KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google_genai": "GOOGLE_API_KEY",
}
"""Where the providers' own clients look for a key when CRAG_CHAT__API_KEY is not set."""


def chat_report(chat: ChatSettings, problems: list[str]) -> dict[str, Any]:
    """What is set, and whether its client can be made here; no model is called."""
    found: list[str] = []
    for name in filter(None, [chat.model, chat.lite_model if chat.model else None]):
        from graph.adapters.chat_model import ChatModel

        try:
            ChatModel(name, chat)
        except ConfigurationError as error:
            found.append(error.message)
    problems += found
    provider = (chat.model or "").partition(":")[0]
    return {
        "model": chat.model,
        "lite_model": chat.lite_model,
        "base_url": chat.base_url,
        "verdicts": chat.verdicts,
        "key": chat.api_key is not None or KEYS.get(provider, "") in os.environ,
        "state": "cannot be used, see below" if found else "its client is installed",
    }


def chat_line(chat: dict[str, Any]) -> str:
    """The report for a person."""
    if chat["model"] is None:
        return "off: CRAG_CHAT__MODEL is not set; answers are extracted"
    lite = f", lite {chat['lite_model']}" if chat["lite_model"] else ""
    where = f" at {chat['base_url']}" if chat["base_url"] else ""
    key = "key set" if chat["key"] else "no key"
    return f"{chat['model']}{lite}{where}, {chat['verdicts']} verdicts, {key}: {chat['state']}"
