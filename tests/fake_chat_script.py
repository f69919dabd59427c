"""What the fake chat model says when a test does not script it: from the last message alone."""

import json
import re
from typing import Any

from tests.fake_chat_wire import Body

ENOUGH = 0.5  # of the content words of the question or statement, for a yes
SURE, UNSURE = 0.95, 0.05
YES_NO = re.compile(r"\byes\b.{0,20}\bno\b", re.I | re.S)
ASKED = re.compile(
    r"^(?:question|statement|claim|sentence|answer)\s*:[ \t]*([^\n]+)"
    r"|<(?:question|statement|claim|sentence)[^>]*>(.*?)</",
    re.I | re.M | re.S,
)
PASSAGE = re.compile(
    r"<(?:passage|document|source)[^>]*>(.*?)</(?:passage|document|source)[^>]*>"
    r"|^\[\d+\][ \t]*([^\n]+)"
    r"|^(?:passage|document|context|evidence)\s*\d*\s*:[ \t]*([^\n]+)",
    re.I | re.M | re.S,
)
STOP = set(
    "the and for are was were can could does did how what when where which who why with from that "
    "this has have had you your not its may much many long there".split()
)


def default_script(body: Body) -> tuple[str, dict[str, float]]:
    """The text and the probabilities of its first token.

    JSON schema: a least valid instance. Yes or no: whether the passage has enough of the words
    asked about. Else the first sentence of the first passage, cited as [1].
    """
    if schema := _schema(body):
        return json.dumps(least_instance(schema)), {}
    messages = body.get("messages") or [{}]
    last = _text(messages[-1])
    passages = [next(filter(None, found.groups()), "").strip() for found in PASSAGE.finditer(last)]
    if YES_NO.search("\n".join(_text(message) for message in messages)):
        yes = SURE if _shared(asked(last), " ".join(passages) or last) >= ENOUGH else UNSURE
        return ("Yes" if yes > 0.5 else "No"), {"Yes": yes, "No": 1 - yes}
    if not passages:
        return "I don't know.", {}
    first = re.split(r"(?<=[.!?])\s", passages[0])[0]
    return f"{first} [1]", {}


def asked(message: str) -> str:
    """The last question or statement of the message, else its last line."""
    found = [next(filter(None, match.groups()), "") for match in ASKED.finditer(message)]
    return found[-1] if found else message.strip().rpartition("\n")[2]


def least_instance(schema: Body, root: Body | None = None) -> Any:
    """The smallest value that the JSON schema allows."""
    root = root or schema
    if "$ref" in schema:
        target: Any = root
        for key in schema["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        return least_instance(target, root)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return least_instance(schema[key][0], root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object" if "properties" in schema else "null")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        wanted: Any = schema.get("required", properties)
        return {name: least_instance(properties[name], root) for name in wanted}
    if kind == "array":
        return [least_instance(schema["items"], root) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number"):
        return schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    return {"string": "x" * schema.get("minLength", 0), "boolean": False}.get(kind)


def _schema(body: Body) -> Body:
    wanted = body.get("response_format") or {}
    schema: Body = wanted.get("json_schema", {}).get("schema", {})
    return schema or ({"type": "object"} if wanted.get("type") == "json_object" else {})


def _text(message: Body) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _shared(question: str, passage: str) -> float:
    """How many of the question's content words the passage has, in [0, 1]."""
    words = _words(question)
    return len(words & _words(passage)) / len(words) if words else 0.0


def _words(text: str) -> set[str]:
    """Content words by their first six letters, so that a plural is the same word."""
    found = re.findall(r"[a-z0-9]+", text.lower())
    return {word[:6].rstrip("s") for word in found if len(word) > 2 and word not in STOP}
