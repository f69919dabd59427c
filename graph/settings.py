"""Settings of the run: each a name, a unit and a reason. The defaults of what is an option of a
run, too, stand in nodes/context.py."""

from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from graph.query_settings import QuerySettings as QuerySettings
from ingest.fusion import Fusion
from ingest.settings import HttpAddress, IndexSettings, Listed, Section
from nodes.context import DEFAULTS

MAX_DAYS = 36_500
"""Of what is kept for a time; beyond it there is "for ever"."""


class RetrieveSettings(Section):
    candidates: int = Field(DEFAULTS.candidates, ge=1, le=200, description="Hits of each arm.")
    fusion: Fusion = DEFAULTS.fusion
    """The min-max blend was ahead of RRF on both sets that eval/BENCHMARKS.md compares them on."""
    source_candidates: int | None = Field(
        DEFAULTS.source_candidates,
        ge=1,
        le=25,
        description="Hits of each arm in each folder of a base; None: in all of it as one.",
    )
    exact: bool = Field(DEFAULTS.exact, description="Search without the approximate index.")


class RerankSettings(Section):
    kind: str = Field(
        "late_interaction",
        description="late_interaction, cross_encoder, chat_pointwise, chat_listwise, none or "
        "package.module:Class.",
    )
    model: str | None = Field(None, description="Of a cross-encoder: a folder, or a cached name.")
    backend: Literal["torch", "onnx", "openvino"] = Field("torch", description="What runs it.")
    batch: int = Field(32, ge=1, le=512, description="Pairs of one forward pass.")
    max_length: int = Field(512, ge=16, description="Tokens of a pair; longer ones are cut.")
    depth: int = Field(50, ge=1, le=400, description="Candidates that a cross-encoder reads.")
    """It reads each one for each question, where late interaction keeps what it has read."""
    chat_depth: int = Field(8, ge=1, le=50, description="Candidates that a chat model orders.")
    keep: int = Field(DEFAULTS.keep, ge=1, le=20, description="Candidates graded in a loop.")
    collapse: bool = Field(
        DEFAULTS.collapse, description="Near duplicates count once, all are cited."
    )
    per_document: int | None = Field(
        DEFAULTS.per_document,
        ge=1,
        le=20,
        description="Candidates of one document that come first; None: all.",
    )
    per_source: int | None = Field(
        DEFAULTS.per_source,
        ge=1,
        le=50,
        description="Candidates of one folder of a base that come first; None: all.",
    )
    latest: bool = Field(
        DEFAULTS.latest, description="Versions of a document that another replaces: last."
    )
    mmr: float = Field(
        DEFAULTS.mmr,
        ge=0,
        le=1,
        description="Weight of relevance against being new; 1: relevance alone.",
    )
    weight: float = Field(1 / 3, ge=0, le=1, description="Share of late interaction in the order.")
    cache_mb: int = Field(512, ge=1, description="Token vectors kept in memory, in MB.")


class GradeSettings(Section):
    upper: float | None = Field(None, ge=0, le=1, description="Correct from this probability.")
    lower: float | None = Field(None, ge=0, le=1, description="Incorrect below it.")
    sure: float = Field(
        0.9, ge=0, le=1, description="Correct from this probability without asking a chat model."
    )
    calibration: str | None = Field(None, description="A calibration file; None: the shipped one.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.upper is not None and self.lower is not None and self.lower > self.upper:
            raise ValueError(f"LOWER {self.lower:g} is above UPPER {self.upper:g}")
        return self


class GroundingSettings(Section):
    kind: str = Field(
        "combined",
        description="What judges a sentence that is no quotation: quotes (none stands), rules, "
        "combined (rules and the embedder, calibrated), cross_encoder, chat or package:Class.",
    )
    model: str | None = Field(
        None, description="Of a cross-encoder, NLI or fact-checking: a folder, or a cached name."
    )
    upper: float | None = Field(
        None, ge=0, le=1, description="Supported from this probability; None: the calibration's."
    )
    lower: float | None = Field(
        None, ge=0, le=1, description="Unsupported below it; between, a chat model is asked."
    )


class AnswerSettings(Section):
    sentences: int = Field(
        DEFAULTS.sentences, ge=1, le=10, description="Sentences of an extractive answer."
    )
    around: int = Field(
        DEFAULTS.around,
        ge=0,
        le=4_000,
        description="Code points around a passage that a generator reads, too, in whole sentences.",
    )
    parent: int = Field(
        DEFAULTS.parent,
        ge=0,
        le=20_000,
        description="Code points of a passage's section that a generator reads with it, at most.",
    )
    """For passages that are cut small, such as CRAG_SPLIT__MAX_TOKENS=64."""
    strips: bool = Field(
        DEFAULTS.strips, description="Chat models read graded strips, not whole passages."
    )
    confidence: float = Field(
        DEFAULTS.min_confidence,
        ge=0,
        le=1,
        description="Declined below this probability of a right answer.",
    )
    """Cross-validated on the tuning questions, .42 keeps the risk among answers at .30, .58 at .20
    and .79 at .10."""
    in_scope: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="A refusal says out of scope below this best cosine; -1: never; None: the "
        "calibration's.",
    )
    clarify: bool = Field(
        DEFAULTS.clarify, description="Ask back where a question may mean several things."
    )
    calibration: str | None = Field(
        None, description="A file of the probability of a right answer; None: the shipped one."
    )


class CacheSettings(Section):
    enabled: bool = Field(True, description="Keep answers for who may see the same.")
    ttl_s: float = Field(
        86_400, gt=0, le=MAX_DAYS * 86_400, description="Seconds that an answer is kept."
    )
    megabytes: float = Field(64, gt=0, description="Of this process; the least used go first.")
    similarity: float = Field(
        0.95, ge=-1, le=1, description="Cosine of two questions with one meaning, at least."
    )
    """The meaning keeps apart what no cosine does: of 70 near misses written for it (open half) 15
    are at .985 or above. Of the 46 paraphrases there .95 gives up 3, as .78 does with
    all-MiniLM-L6-v2, whose cosines are wider."""


class BudgetSettings(Section):
    rewrites: int = Field(DEFAULTS.rewrites, ge=0, le=3, description="Loops of rewriting.")
    chat_calls: int = Field(DEFAULTS.chat_calls, ge=0)
    tokens: int = Field(DEFAULTS.tokens, ge=0)
    deadline_s: float | None = Field(DEFAULTS.deadline_s, gt=0, description="Seconds of wall time.")


class WebSettings(Section):
    tavily_api_key: SecretStr | None = None
    base_url: HttpAddress = Field(None, description="Another address for the Tavily protocol.")
    timeout_s: float = Field(8.0, gt=0, le=60, description="Seconds for one search.")
    results: int = Field(5, ge=1, le=20, description="Results asked for.")
    allow: Listed[str] = Field([], description="Only these domains; empty: all.")
    deny: Listed[str] = Field([], description="Never these domains.")


class ChatSettings(Section):
    model: str | None = Field(
        None, description="provider:name, such as openai:gpt-5-mini; None: answers are extracted."
    )
    lite_model: str | None = Field(None, description="A cheaper one for grading and rewriting.")
    base_url: HttpAddress = Field(None, description="An OpenAI-compatible server, or Ollama's.")
    api_key: SecretStr | None = None
    verdicts: Literal["batched", "logprob"] = Field(
        "batched",
        description="Judge passages and sentences in one structured call, or each by one token.",
    )
    timeout_s: float = Field(20.0, gt=0, le=600, description="Seconds for one call.")
    retries: int = Field(1, ge=0, le=5, description="Of a call that failed; no other layer adds.")
    context_tokens: int = Field(6_000, ge=500, description="Tokens of a prompt, at most.")
    answer_tokens: int = Field(400, ge=50, description="Tokens of an answer, at most.")
    extractive_fallback: bool = Field(
        True, description="Answer in the documents' own words where the chat model fails."
    )
    usd_per_million_input: float = Field(0.0, ge=0, description="Price of tokens sent.")
    usd_per_million_output: float = Field(0.0, ge=0, description="Price of tokens received.")


class PrivacySettings(Section):
    mask: bool = Field(
        DEFAULTS.mask,
        description="Mask secrets and e-mail addresses in traces, the log of runs and log lines.",
    )


class ThreadSettings(Section):
    ttl_days: float = Field(
        30, ge=0, le=MAX_DAYS, description="Kept after the last run; 0: for ever."
    )


class RunSettings(Section):
    ttl_days: float = Field(
        30, ge=0, le=MAX_DAYS, description="Kept in the log of runs; 0: for ever."
    )
    """They hold questions and what was answered."""


class RedisSettings(Section):
    """What several processes share: counts and caches; without `url` each has its own."""

    url: SecretStr | None = Field(None, description="redis://…; unset: in the process.")
    prefix: str = Field("crag", pattern=r"^[A-Za-z0-9_-]{1,32}$", description="Of all its keys.")
    timeout_s: float = Field(1.0, gt=0, le=30, description="Seconds to connect, and of one call.")


class GraphSettings(IndexSettings):
    retrieve: RetrieveSettings = RetrieveSettings()
    query: QuerySettings = QuerySettings()
    rerank: RerankSettings = RerankSettings()
    grade: GradeSettings = GradeSettings()
    grounding: GroundingSettings = GroundingSettings()
    answer: AnswerSettings = AnswerSettings()
    cache: CacheSettings = CacheSettings()
    budget: BudgetSettings = BudgetSettings()
    web: WebSettings = WebSettings()
    chat: ChatSettings = ChatSettings()
    privacy: PrivacySettings = PrivacySettings()
    threads: ThreadSettings = ThreadSettings()
    runs: RunSettings = RunSettings()
    redis: RedisSettings = RedisSettings()
