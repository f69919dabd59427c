"""Chat ports of the real composition against a fake server, and what each call was for."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from graph.adapters.chat_model import ChatModel
from graph.chat_ports import with_chat
from graph.services import Connection, Services
from graph.settings import ChatSettings, GradeSettings, GraphSettings
from nodes.state import Turn
from tests.fake_chat import FakeChat, Fault, Reply, fake_chat
from tests.fake_chat_wire import Body
from tests.fakes import FakeGrader, FakeIndex, a_candidate
from tests.runs import ports

OPEN: list[Connection] = []
"""What the test that runs now has opened."""

USES = ("contextualize", "parts", "grade", "rewrite", "generate", "ground")
NODES = dict(
    zip(
        USES,
        (
            "contextualize_question",
            "plan_queries",
            "grade_documents",
            "rewrite_query",
            "generate",
            "check_grounding",
        ),
        strict=True,
    )
)
REFUNDS = "Refunds take 5 business days. They go to the card that paid."
SHIPPING = "Shipping is free for orders above 50 euros."
ASKED = "How long do they take and what does shipping cost?"
HISTORY = [Turn("Do you give refunds?", "Yes.")]
TOLD = "A refund arrives after 5 business days."


def use_of(body: Body) -> str:
    """One of USES, or what an option asks for, by the schema or else by the instruction."""
    form = (body.get("response_format") or {}).get("json_schema", {}).get("name")
    by_form = {
        "Answering": "grade",
        "Supported": "ground",
        "Parts": "parts",
        "Phrasings": "phrasings",
        "Synonyms": "synonyms",
    }
    if form in by_form:
        return by_form[form]
    system = body["messages"][0]["content"]
    starts = {
        "You judge whether a passage states": "grade",
        "You judge whether passages support": "ground",
        "You answer questions": "generate",
        "You rewrite the last": "contextualize",
        "You write a search query": "rewrite",
        "You ask one step more generally": "step_back",
        "You write two sentences": "made_up",
        "Some questions take several": "hop",
    }
    return next(use for start, use in starts.items() if system.startswith(start))


def says(**changed: str | Reply | Callable[[Body], str | Reply]) -> Callable[[Body], str | Reply]:
    """A script by use. Unchanged, everything goes well and the answer is in the model's words."""
    lines: dict[str, Any] = {
        "contextualize": "How long do refunds take and what does shipping cost?",
        "parts": json.dumps({"questions": ["How long do refunds take?", "What costs shipping?"]}),
        "grade": lambda body: _verdict(body, "answering"),
        "rewrite": "refund duration",
        "generate": f"{TOLD} [1]",
        "phrasings": json.dumps({"phrasings": ["When is money back?", "refund duration"]}),
        "synonyms": json.dumps({"synonyms": ["reimbursement", "refunds", "3 weeks"]}),
        "step_back": "What are the rules for refunds?",
        "made_up": "Refunds arrive\nafter a week.",
        "hop": "DONE",
        "ground": lambda body: _verdict(body, "supported"),
        **changed,
    }

    def script(body: Body) -> str | Reply:
        line = lines[use_of(body)]
        said: str | Reply = line(body) if callable(line) else line
        return said

    return script


def _verdict(body: Body, name: str) -> str | Reply:
    """Yes to the first, in the way that was asked for."""
    if body.get("logprobs"):
        yes = 0.95 if "5 business days" in body["messages"][-1]["content"] else 0.05
        return Reply("Yes" if yes > 0.5 else "No", {"Yes": yes, "No": 1 - yes})
    return json.dumps({name: [1]})


def only(use: str, fault: Fault) -> Callable[[Body], Fault | None]:
    """The fault at each call for this use, and at no other."""
    return lambda body: fault if use_of(body) == use else None


def uses(chat: FakeChat) -> list[str]:
    return [use_of(request.body) for request in chat.requests]


@pytest.fixture
async def chat() -> AsyncIterator[FakeChat]:
    """The fake server, its script going well; the clients of the test are closed at its end."""
    with fake_chat() as server:
        server.script = says()
        yield server
        while OPEN:
            await OPEN.pop().close()


def chat_model(chat: FakeChat, **settings: Any) -> ChatModel:
    """The real client, without retries."""
    plain = {"model": "openai:fake", "base_url": chat.url, "retries": 0, "timeout_s": 10.0}
    given = ChatSettings(**(plain | settings))
    made = ChatModel(str(given.model), given)
    OPEN.append(made)
    return made


def chat_ports(
    chat: FakeChat,
    *,
    verdicts: Any = "batched",
    grade: GradeSettings | None = None,
    inner: Services | None = None,
    **settings: Any,
) -> Services:
    """The ports of `inner`, else of two ambiguous passages, with the chat model before them."""
    plain = {"base_url": chat.url, "retries": 0, "timeout_s": 10.0}
    given = ChatSettings(model="openai:fake", verdicts=verdicts, **(plain | settings))
    chosen = GraphSettings(chat=given, grade=grade or GradeSettings())
    services = with_chat(chosen, inner or two_passages())
    OPEN.append(services)
    return services


def two_passages(**changed: Any) -> Services:
    found = [a_candidate("a", REFUNDS), a_candidate("b", SHIPPING)]
    scorer = FakeGrader({"a": "ambiguous", "b": "ambiguous"})
    return replace(ports(index=FakeIndex(found), grader=scorer), **changed)


def found_by_rewriting() -> Services:
    """The first search finds what is hopeless, the second the passages."""
    found = [a_candidate("a", REFUNDS), a_candidate("b", SHIPPING)]
    index = FakeIndex([a_candidate("z", "Nothing of that kind.")], found)
    return two_passages(index=index)
