"""The answer object as the OpenAPI document shows it; a test holds it to graph.answer.Answer."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from nodes.findings import Citation, ClaimVerdict, SourceSpan
from nodes.state import Degraded, Outcome, Reason, Technique, TraceEntry


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SentenceSupport(Shape):
    sentence: str
    supported: bool = Field(description="Whether the verdict is `supported`.")
    verdict: ClaimVerdict
    probability: float = Field(description="That it is supported, in [0, 1].")
    problem: str = Field(description="Why it is not supported; else empty.")
    span: SourceSpan | None = Field(description="The part of the source that decided.")


class Grounding(Shape):
    supported: bool | None = Field(description="Null where nothing was claimed.")
    sentences: list[SentenceSupport] = Field(description="The verdict on each sentence.")


class SearchedQuery(Shape):
    text: str
    technique: Technique
    loop: int
    embedded: str = Field(
        description="The passage whose vector was searched with, in place of the text's, if any."
    )


class Near(Shape):
    title: str
    heading: str
    page: int | None
    source: str = Field(description="The document's path in its folder, or a web address.")
    chunk_id: str
    document_id: str
    text: str = Field(description="Its beginning, with […] for what gives orders to a model.")
    grade: float | None = Field(description="A probability in [0, 1]; null where not graded.")


class Searched(Shape):
    queries: list[SearchedQuery]
    knowledge_bases: list[str]
    web: bool
    web_sent: str = Field(description="What was sent to the web search, word for word.")
    candidates: int = Field(description="Different passages seen over all loops.")
    graded: int
    best_grade: float | None = Field(description="A probability in [0, 1].")
    instruction_like: list[str] = Field(
        description="Chunk ids of graded passages with sentences that give orders to a model; "
        "those are never told."
    )
    nearest: list[Near] = Field(description="Where a person may look, best first, at most three.")


class Use(Shape):
    used: int
    limit: int


class Budget(Shape):
    rewrites: Use
    chat_calls: Use
    tokens: Use
    deadline_s: float | None
    usd: float = Field(description="Price of the chat calls; 0 where no price is set.")


class Timings(Shape):
    total_ms: float
    nodes: dict[str, float] = Field(description="Milliseconds by node, over all its executions.")


EXAMPLE: dict[str, Any] = {
    "run_id": "4f0c6a2e9b6d4d0e8d3c5a7b1e2f3a4b",
    "question": "How long do refunds take?",
    "outcome": "answered",
    "reason": None,
    "answer": "Refunds are paid within 14 days of the return. [1]",
    "confidence": 0.93,
    "choices": [],
    "suggestions": [],
    "citations": [
        {
            "n": 1,
            "kind": "document",
            "chunk_id": "0d5f0a52-63d1-5a53-9ff6-3e7f1f1f7f10",
            "document_id": "6d0f6d3a2f5b5a0e9a3d1a7f3b2c1d0e",
            "revision": "9c2f41d07b3e5a18",
            "title": "Refund policy",
            "page": None,
            "heading": "Payment",
            "start": 812,
            "end": 858,
            "quote": "Refunds are paid within 14 days of the return.",
            "quote_sha256": "5d9c…",
            "url": None,
            "source": "policies/refund-policy.md",
            "attributed": False,
            "knowledge_base": "handbook",
        }
    ],
    "grounding": {
        "supported": True,
        "sentences": [
            {
                "sentence": "Refunds are paid within 14 days of the return.",
                "supported": True,
                "verdict": "supported",
                "probability": 1.0,
                "problem": "",
                "span": {
                    "document_id": "6d0f6d3a2f5b5a0e9a3d1a7f3b2c1d0e",
                    "revision": "9c2f41d07b3e5a18",
                    "start": 812,
                    "end": 858,
                },
            }
        ],
    },
    "searched": {
        "queries": [
            {
                "text": "How long do refunds take?",
                "technique": "original",
                "loop": 0,
                "embedded": "",
            }
        ],
        "knowledge_bases": ["handbook"],
        "web": False,
        "web_sent": "",
        "candidates": 50,
        "graded": 5,
        "best_grade": 0.94,
        "instruction_like": [],
        "nearest": [],
    },
    "degraded": [],
    "budget": {
        "rewrites": {"used": 0, "limit": 3},
        "chat_calls": {"used": 0, "limit": 20},
        "tokens": {"used": 0, "limit": 60000},
        "deadline_s": 30.0,
        "usd": 0.0,
    },
    "timings": {"total_ms": 84.2, "nodes": {"retrieve": 17.3, "rerank": 41.0}},
    "trace": [],
    "versions": {
        "index": "3f1d5a90c2b7",
        "pipeline": "1",
        "calibration": "passages:7b4c claims:1f09 confidence:c2d8",
    },
}


class AnswerBody(Shape):
    """What a run ends in, the same on every way in. Every key is always there."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    run_id: str
    question: str
    outcome: Outcome
    reason: Reason | None = Field(description="Why, for a refusal; else null.")
    answer: str = Field(description="With citation numbers as `[n]`.")
    citations: list[Citation] = Field(
        description="`attributed`: the chat model named no source; this passage holds its words."
    )
    grounding: Grounding
    searched: Searched
    degraded: list[Degraded] = Field(description="Every fallback that was taken.")
    budget: Budget
    timings: Timings
    trace: list[TraceEntry] = Field(description="One entry for every execution of a node.")
    versions: dict[str, str] = Field(
        description="index, pipeline, calibration (of passages, claims and confidence)"
    )
    confidence: float | None = Field(
        description="Probability in [0, 1] that the answer is right and supported; null for what "
        "is no answer, and where no calibration holds."
    )
    choices: list[str] = Field(description="What an underspecified question may mean.")
    suggestions: list[str] = Field(description="What would help after a refusal.")
