"""Answers what no document is needed for: greetings, arithmetic, the service itself."""

import ast
import math
import operator
import re
from collections.abc import Callable

from langgraph.runtime import Runtime

from nodes.context import Context
from nodes.findings import Sentence
from nodes.plan_queries import ARITHMETIC, intent_of
from nodes.state import State, Update
from nodes.words import guess_language

GREETINGS = {
    "en": "Hello. Ask me a question about the documents.",
    "de": "Hallo. Stellen Sie mir eine Frage zu den Dokumenten.",
    "es": "Hola. Hazme una pregunta sobre los documentos.",
}
ABOUT = (
    "I answer questions from the documents of a knowledge base: I search them, check whether what "
    "I found answers the question, search again in other words if it does not, and cite every "
    "sentence. Where the documents hold no answer I say so."
)
UNCLEAR = "I need a little more to search for: what is the question about?"

_OPERATORS: dict[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,  # of floats: what is too large is an error, and never a long computation
}
MAX_EXPRESSION = 100
"""Code points of an arithmetic expression."""


async def answer_directly(state: State, runtime: Runtime[Context]) -> Update:
    """Outcome no_retrieval, or needs_clarification where there is nothing to search for."""
    intent = intent_of(state.standalone)
    text = _text(intent, state.standalone)
    outcome = "needs_clarification" if intent == "unclear" else "no_retrieval"
    return {
        "draft": [Sentence(text, [])],
        "outcome": outcome,  # type: ignore[typeddict-item]
        "summary": {"intent": intent},
    }


def _text(intent: str, question: str) -> str:
    if intent == "unclear":
        return UNCLEAR
    if intent == "about_service":
        return ABOUT
    if intent == "arithmetic":
        return _computed(question)
    return GREETINGS[_greeting_language(question)]


def _greeting_language(greeting: str) -> str:
    """A greeting alone has no stop words to guess by."""
    words_of = {"de": ("hallo", "guten", "danke", "tschüss"), "es": ("hola", "buen", "grac", "adi")}
    for language, beginnings in words_of.items():
        if re.match(rf"\W*(?:{'|'.join(beginnings)})", greeting, re.IGNORECASE):
            return language
    return guess_language(greeting)


def _computed(question: str) -> str:
    match = ARITHMETIC.match(question)
    expression = match["expression"].strip() if match else ""
    normal = expression.replace("×", "*").replace("÷", "/").replace("^", "**")
    try:
        if len(normal) > MAX_EXPRESSION:
            raise ValueError
        value = _value(ast.parse(normal, mode="eval").body)
    except (ValueError, SyntaxError, ZeroDivisionError, OverflowError, RecursionError):
        return f"I cannot compute {expression}."
    return f"{expression} = {value:.12g}"


def _value(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
        return _value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError
