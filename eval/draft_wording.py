"""How a drafted question is worded: from a template, or by a chat model where there is one."""

import re

from eval.draft_facts import Fact
from eval.labels import holds_words, plain
from graph.adapters.chat_model import ChatModel, NoVerdict
from graph.adapters.question_signs import NEGATION
from ingest.errors import ServiceError
from nodes import prompts
from nodes.words import ALL_STOP_WORDS, literals

LONGEST = 300
"""Code points of a question that a chat model words."""

MOST_PHRASES = 4
"""Phrases of the sentence that a template takes over."""

MIN_WORD = 3
"""Letters of a word in them."""

MOST_FAILURES = 3
"""Calls that fail one after the other before the chat model is left alone."""

_TEMPLATES = {
    "en": {
        "duration": "how long is it, for {words}?",
        "date": "what date or time is stated, for {words}?",
        "money": "how much money is it, for {words}?",
        "percent": "what percentage is it, for {words}?",
        "count": "how many {unit} are stated, for {words}?",
        "code": "which code or setting is named, for {words}?",
        "name": "who or what is named, for {words}?",
        "cell": "what is the {head} of {row}?",
        "joint": "and",
    },
    "de": {
        "duration": "wie lange, bei {words}?",
        "date": "wann, bei {words}?",
        "money": "wie viel Geld, bei {words}?",
        "percent": "wie viel Prozent, bei {words}?",
        "count": "wie viele {unit}, bei {words}?",
        "code": "welcher Code oder welche Einstellung, bei {words}?",
        "name": "welcher Name, bei {words}?",
        "cell": "was steht unter {head} bei {row}?",
        "joint": "und",
    },
    "es": {
        "duration": "¿cuánto tiempo, para {words}?",
        "date": "¿cuándo, para {words}?",
        "money": "¿cuánto dinero, para {words}?",
        "percent": "¿qué porcentaje, para {words}?",
        "count": "¿cuántos {unit}, para {words}?",
        "code": "¿qué código o ajuste, para {words}?",
        "name": "¿qué nombre, para {words}?",
        "cell": "¿qué indica {head} para {row}?",
        "joint": "y",
    },
}
_TURNED = re.compile(
    r"(?P<subject>[A-Z][^,;:().]{1,60}?) (?P<verb>is|are|was|were|can|may|must|will|should) "
    r"(?P<middle>[^,;:().]*?)\b(?P<before>(?:within|after|for|up to|at least|at most|by|every"
    r"|about) )?$"
)
_SUBORDINATE = re.compile(
    r"(?:If|When|After|Before|Until|While|Where|For|In|On|At|From|With|It|They|This|That|These"
    r"|Those|There|And|But|Then)\b"
)
_RELATIVE = re.compile(r"\b(?:that|which|who|whose)\b")
_PROPERTIES = ("property", "parameter", "feature", "eigenschaft", "merkmal", "propiedad")
_WORD = re.compile(r"[^\W_][\w\-.]*[^\W_]|[^\W_]")


class Wording:
    """Words each fact once as a question; `by_chat` counts what the chat model worded."""

    def __init__(self, chat: ChatModel | None = None) -> None:
        self.by_chat = 0
        self._chat = chat
        self._failures = 0
        self._done: dict[Fact, str | None] = {}

    async def worded(self, fact: Fact) -> str | None:
        """None where no question can be made that does not give the answer away."""
        if fact not in self._done:
            self._done[fact] = await self._worded(fact)
        return self._done[fact]

    async def _worded(self, fact: Fact) -> str | None:
        question = template(fact)
        if self._chat is None or self._failures >= MOST_FAILURES:
            return question
        try:
            asked = prompts.drafted(fact.sentence, _place(fact), fact.value)
            reply = await self._chat.text(asked, max_tokens=120)
        except NoVerdict:
            return question
        except ServiceError:
            self._failures += 1
            return question
        self._failures = 0
        said = reply.splitlines()[0].strip(" \"'`")
        if not _asks(said, fact):
            return question
        self.by_chat += 1
        return said


def template(fact: Fact) -> str | None:
    """The question in the words of the heading and the sentence; None where it holds the value."""
    texts = _TEMPLATES.get(fact.language, _TEMPLATES["en"])
    turned = _turned(fact) if fact.language == "en" and not fact.cells else None
    if turned is None:
        unit = fact.value.split(maxsplit=1)[-1]
        *most, last = _words(fact)
        listed = f"{', '.join(most)} {texts['joint']} {last}" if most else last
        head, row = _cell(fact)
        turned = texts[fact.kind].format(words=listed, unit=unit, row=row, head=head)
    question = f"{_place(fact)}: {turned}"
    return question if _asks(question, fact) else None


def _asks(question: str, fact: Fact) -> bool:
    """Whether it is a question that neither tells the value nor copies the sentence."""
    bare = plain(fact.sentence).rstrip(".!?")
    return (
        question.endswith("?")
        and len(question) <= LONGEST
        and not holds_words(question, fact.value)
        and bare not in plain(question)
    )


def _turned(fact: Fact) -> str | None:
    """An English sentence turned round its number: `Refunds are paid within 5 days` becomes
    `within how many days are refunds paid`."""
    if fact.kind not in ("duration", "count", "percent") or _SUBORDINATE.match(fact.sentence):
        return None
    found = _TURNED.match(fact.sentence.split(fact.value)[0])
    if found is None or _RELATIVE.search(found["subject"]):
        return None
    unit = "" if fact.kind == "percent" else fact.value.partition(" ")[2]
    asked = f"how many {unit}" if unit else "what percentage"
    subject, middle = found["subject"], found["middle"].strip()
    if subject.split()[0].lower() in ALL_STOP_WORDS or not literals(subject.split()[0]):
        subject = subject[0].lower() + subject[1:]
    parts = [found["before"] or "", asked, found["verb"], subject, middle]
    return " ".join(part.strip() for part in parts if part.strip()) + "?"


def _words(fact: Fact) -> list[str]:
    """Phrases of the sentence, in its order: words that carry meaning and stand side by side."""
    phrases: list[str] = []
    end = -1
    sentence = fact.sentence.replace(fact.value, ";", 1)
    for match in _WORD.finditer(sentence):
        word = match.group()
        bare = word.lower() in ALL_STOP_WORDS and not NEGATION.fullmatch(word)
        if bare or len(word) < MIN_WORD:
            continue
        if sentence[end : match.start()] == " ":
            phrases[-1] += f" {word}"
        else:
            phrases.append(word)
        end = match.end()
    return list(dict.fromkeys(phrases))[:MOST_PHRASES] or [fact.title]


def _place(fact: Fact) -> str:
    leaf = re.sub(r"^\d+(?:\.\d+)*\.? ", "", fact.heading.split(" > ")[-1]).rstrip("?:. ")
    return f"{fact.title}, {leaf}" if leaf and plain(leaf) != plain(fact.title) else fact.title


def _cell(fact: Fact) -> tuple[str, str]:
    """What is asked for and what of: header and row, or the other way round where the rows are
    the properties of what the headers name."""
    head = next((head for head, cell in fact.cells if cell == fact.value), "")
    label, row = fact.cells[0] if fact.cells else ("", "")
    return (row, head) if plain(label) in _PROPERTIES else (head, row)
