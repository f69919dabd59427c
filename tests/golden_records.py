"""Golden questions and records of runs, as small as a test needs them."""

from typing import Any

from eval.golden import GoldenQuestion, Label
from eval.records import Cited, Pipeline, Ran, Record, Stage, Told

QUOTE = "Refunds are paid within five days."


def a_label(quote: str = QUOTE, document: str = "refunds.md") -> Label:
    return Label(document=document, quote=quote)


def a_question(name: str = "q1", **changed: Any) -> GoldenQuestion:
    """Answerable, of the base kb; `answerable=False` has no label."""
    fields: dict[str, Any] = {
        "id": name,
        "knowledge_base": "kb",
        "question": f"When are refunds paid, asked by {name}?",
        "answerable": True,
        "relevant": [a_label()] if changed.get("answerable", True) else [],
    }
    return GoldenQuestion(**(fields | changed))


def a_cited(quote: str = QUOTE, problem: str = "", chunk: str = "c1") -> Cited:
    return Cited(chunk_id=chunk, document="refunds.md", quote=quote, problem=problem)


def told(text: str = QUOTE, *citations: Cited, supported: bool | None = True) -> Told:
    return Told(text=text, supported=supported, citations=list(citations))


def a_run(outcome: str = "answered", answer: str = QUOTE, **changed: Any) -> Ran:
    """One sentence with one citation that nothing is wrong with."""
    fields: dict[str, Any] = {
        "outcome": outcome,
        "answer": answer,
        "sentences": [told(answer, a_cited())],
        "stages": {},
        "passages": [QUOTE],
        "total_ms": 10.0,
    }
    return Ran(**(fields | changed))


def a_refusal(outcome: str = "refused", answer: str = "I don't know.", **changed: Any) -> Ran:
    fields: dict[str, Any] = {"reason": "no_evidence", "sentences": [told(answer)], "passages": []}
    return a_run(outcome, answer, **(fields | changed))


def a_record(
    pipeline: Pipeline,
    question: GoldenQuestion,
    ran: Ran | None,
    ranking: list[str] | None = None,
    relevant: list[str] | None = None,
) -> Record:
    """`ranking` is that of every stage; without a run it is an error."""
    if relevant is None:
        relevant = ["c1"] if question.answerable else []
    if ran is None:
        return Record(pipeline=pipeline, golden=question, relevant=relevant, error="x: broke")
    if ranking is not None:
        names: list[Stage] = ["retrieved"]
        if pipeline == "corrective":
            names += ["reranked", "graded", "corrected"]
        ran = ran.model_copy(update={"stages": dict.fromkeys(names, ranking)})
    return Record(pipeline=pipeline, golden=question, relevant=relevant, ran=ran)
