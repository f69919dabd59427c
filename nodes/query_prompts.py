"""The prompts that word questions and queries, beside the types of their output."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from nodes.prompts import DATA, Message, as_question, numbered, safe
from nodes.state import Turn

DONE = "DONE"


class Parts(BaseModel):
    """The questions that a question with several parts is made of."""

    questions: list[str] = Field(description="Two or three questions that each stand alone.")


class Phrasings(BaseModel):
    """A question in other words."""

    phrasings: list[str] = Field(description="The same question in other words, each once.")


class Synonyms(BaseModel):
    """Other words for the key words of a question."""

    synonyms: list[str] = Field(description="Words or short terms, in the question's language.")


def standalone(question: str, history: Sequence[Turn]) -> list[Message]:
    """Answered by one question."""
    system = (
        "You rewrite the last question of a conversation so that it can be understood alone: put "
        f"in what it, that, there and the like stand for. {DATA} Keep numbers, names and codes as "
        "they are. If it stands alone already, repeat it. Reply with the question only."
    )
    said = "\n".join(f"Q: {safe(t.question)}\nA: {safe(t.answer)[:400]}" for t in history[-4:])
    return [
        ("system", system),
        ("human", f"Q: Who runs the canteen?\nA: Mia Roth.\n{as_question('Since when?')}"),
        ("ai", "Since when does Mia Roth run the canteen?"),
        ("human", f"{said}\n{as_question(question)}"),
    ]


def rewritten(question: str, tried: Sequence[str], rejected: Sequence[str]) -> list[Message]:
    """Answered by one search query."""
    system = (
        "You write a search query for documents that a first search missed: other words for the "
        f"same thing, as a policy or a manual would say it. {DATA} Keep numbers, names and codes "
        "exactly as they are. Reply with the query only, at most fifteen words."
    )
    told = [f"Tried: {safe(text)}" for text in tried]
    told += [f"Found, but no answer there: {safe(text)}" for text in rejected]
    return [("system", system), ("human", "\n".join([as_question(question), *told]))]


def phrasings(question: str, count: int) -> list[Message]:
    """Answered as Phrasings."""
    system = (
        "You word a question anew for a search engine: the same meaning in other words, as "
        f"policies or manuals would say it. {DATA} Keep numbers, names and codes exactly as they "
        'are, and the language. Reply as JSON, such as {"phrasings": ["When is it open?"]}, with '
        f"{count} wordings."
    )
    return [("system", system), ("human", as_question(question))]


def synonyms(question: str) -> list[Message]:
    """Answered as Synonyms."""
    system = (
        "You name synonyms of the key words of a question for a search engine: words that a policy "
        f"or a manual may use for the same thing, in the question's language. {DATA} None for "
        'names, numbers and codes. Reply as JSON, such as {"synonyms": ["baggage", "fee"]}, with '
        "eight at most."
    )
    return [("system", system), ("human", as_question(question))]


def next_hop(question: str, asked: Sequence[str], passages: Sequence[str]) -> list[Message]:
    """Answered by one question, or DONE."""
    system = (
        "Some questions take several look-ups, one after another: what one finds is what the next "
        f"asks about. You write the next single question to look up. {DATA} Put the name that the "
        "passages state in place of its description. Keep names and codes. Reply with the question "
        f"only, or with {DONE} where one look-up is enough or all was asked."
    )
    owner = "Which team owns the build server?"
    asks = "Who leads the team that owns the build server?"
    return [
        ("system", system),
        ("human", _looked_up(asks, [], [])),
        ("ai", owner),
        ("human", _looked_up(asks, [owner], ["The build server belongs to Platform."])),
        ("ai", "Who leads the Platform team?"),
        ("human", _looked_up("Who leads the Platform team?", [], [])),
        ("ai", DONE),
        ("human", _looked_up(question, asked, passages)),
    ]


def step_back(question: str) -> list[Message]:
    """Answered by one question."""
    system = (
        "You ask one step more generally: for the rule, the process or the thing behind a "
        f"question, so that the answer tells what one has to know first. {DATA} Keep names, codes "
        "and the language. Reply with the question only."
    )
    return [
        ("system", system),
        ("human", as_question("May I take a taxi to the airport at 5 in the morning?")),
        ("ai", "What are the rules for taxis on business trips?"),
        ("human", as_question(question)),
    ]


def made_up(question: str) -> list[Message]:
    """Answered by a short passage."""
    system = (
        "You write two sentences of a document that would answer a question, in its language, as a "
        f"policy or a manual would say it. {DATA} Where you do not know a fact, make one up: the "
        "text is only used to search. Keep names and codes exactly. Reply with the sentences only."
    )
    return [("system", system), ("human", as_question(question))]


def parts(question: str) -> list[Message]:
    """Answered as Parts."""
    system = (
        f"You split a question that asks several things into single questions. {DATA} Reply as "
        'JSON, such as {"questions": ["When does it open?", "What does it cost?"]}.'
    )
    return [("system", system), ("human", as_question(question))]


def _looked_up(question: str, asked: Sequence[str], passages: Sequence[str]) -> str:
    told = [f"Looked up: {safe(one)}" for one in asked]
    return "\n".join([numbered(passages), as_question(question), *told]).strip()
