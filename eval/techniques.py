"""The techniques of a run that can be switched: what turns each on and off, and when to use it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from graph.settings import GraphSettings
from ingest.errors import ConfigurationError
from nodes.context import DEFAULTS

Overrides = Mapping[str, Mapping[str, Any]]
"""Settings by section, such as {"rerank": {"kind": "none"}}."""


@dataclass(frozen=True)
class Technique:
    """`changes` says where it shows: in the order of the first search, or only in whole runs.

    `needs` is what must be configured before it does anything.
    """

    name: str
    on: Overrides
    off: Overrides
    changes: Literal["search", "run"]
    when: str
    needs: Literal["", "chat", "web", "bases"] = ""

    @property
    def shipped(self) -> bool:
        """Whether the defaults have it on; what no setting switches is off."""
        if not self.on:
            return False
        plain = GraphSettings.model_construct()
        return with_overrides(plain, self.on) == plain


def _one(section: str, name: str, on: Any, off: Any) -> tuple[Overrides, Overrides]:
    return {section: {name: on}}, {section: {name: off}}


def _corrects(by: str) -> tuple[Overrides, Overrides]:
    """Corrections with it, and by the others alone."""
    all_of_them = list(DEFAULTS.corrections)
    return _one("query", "corrections", all_of_them, [c for c in all_of_them if c != by])


TECHNIQUES = (
    Technique(
        "route", *_one("query", "route", True, False), "search",
        "Several bases on different matters, asked together; on, the one that is surely meant "
        "comes first, unsure all.", needs="bases",
    ),
    Technique(
        "filters", *_one("query", "filters", True, False), "search",
        "Questions that name the version, language, product or time of the documents they mean.",
    ),
    Technique(
        "parts", *_one("query", "parts", True, False), "search",
        "Questions that ask several things; off, they are searched and answered as one.",
    ),
    Technique(
        "multi-query", *_one("query", "phrasings", 3, 0), "search",
        "Questions in other words than the documents'; a chat model words three more, without one "
        "the keywords are the one other query.",
    ),
    Technique(
        "multi-query-votes", {"query": {"phrasings": 3, "merge": "votes"}},
        {"query": {"phrasings": 0, "merge": "best"}}, "search",
        "The same where single wordings lead astray: on, what most of them find comes first.",
    ),
    Technique(
        "synonyms", *_one("query", "synonyms", True, False), "search",
        "Documents that have other words for the same thing; on, its keywords with synonyms "
        "search, too.",
        needs="chat",
    ),
    Technique(
        "step-back", *_one("query", "step_back", True, False), "search",
        "Questions about one case whose rule is written down in general.", needs="chat",
    ),
    Technique(
        "hyde", *_one("query", "hyde", True, False), "search",
        "Short questions and long prose; on, the vector of a made-up answer searches, too.",
        needs="chat",
    ),
    Technique(
        "bridge", *_one("query", "bridge", True, False), "search",
        "Questions that need a second passage which the first one names, without a chat model.",
    ),
    Technique(
        "hops", *_one("query", "hops", 3, 0), "search",
        "Questions that ask of something by what it is; on, two or three look-ups in a row.",
        needs="chat",
    ),
    Technique(
        "dense", *_one("retrieve", "fusion", "blend", "bm25"), "search",
        "Questions in other words than the documents'.",
    ),
    Technique(
        "bm25", *_one("retrieve", "fusion", "blend", "dense"), "search",
        "Names, codes and rare words; languages that the embedder does not know.",
    ),
    Technique(
        "blend", *_one("retrieve", "fusion", "blend", "rrf"), "search",
        "Where one arm is much surer than the other; off, ranks are fused (RRF).",
    ),
    Technique(
        "wide", *_one("retrieve", "candidates", 50, 10), "search",
        "Bases in which many passages are near a question; off, 10 candidates of each arm.",
    ),
    Technique(
        "source-budgets", *_one("retrieve", "source_candidates", 15, None), "search",
        "Bases of several folders of which a small one may hold the answer; on, 15 candidates of "
        "each arm in each of them.",
    ),
    Technique(
        "late-interaction", *_one("rerank", "kind", "late_interaction", "none"), "search",
        "Questions with several conditions; off, the order of retrieval stays.",
    ),
    Technique(
        "chat-pointwise", *_one("rerank", "kind", "chat_pointwise", "late_interaction"), "search",
        "Where each passage must be read with care, and calls cost little; on, one call for each.",
        needs="chat",
    ),
    Technique(
        "chat-listwise", *_one("rerank", "kind", "chat_listwise", "late_interaction"), "search",
        "Where passages must be weighed against each other; on, one call in a loop.",
        needs="chat",
    ),
    Technique(
        "collapse", *_one("rerank", "collapse", True, False), "search",
        "Bases that hold the same text many times; every copy is cited.",
    ),
    Technique(
        "per-document", *_one("rerank", "per_document", 2, None), "search",
        "Questions that need several documents; on, two passages of each come first.",
    ),
    Technique(
        "per-source", *_one("rerank", "per_source", 3, None), "search",
        "Bases of several folders of which one says much; on, three passages of each come first.",
    ),
    Technique(
        "latest", *_one("rerank", "latest", True, False), "search",
        "Bases that keep several versions of a document; the newest in force comes before others.",
    ),
    Technique(
        "mmr", *_one("rerank", "mmr", 0.7, 1.0), "search",
        "Questions that need several sides of a topic; costs where one passage answers.",
    ),
    Technique(
        "grading", {"grade": {"upper": None, "lower": None}}, {"grade": {"upper": 0, "lower": 0}},
        "run", "Where a wrong answer costs more than none; off, every passage counts.",
    ),
    Technique(
        "correction", *_one("budget", "rewrites", 3, 0), "run",
        "Questions in other words than the documents', and answers in superseded ones.",
    ),
    Technique(
        "rephrasing", *_corrects("rephrased"), "run",
        "Questions that a model words better than their keywords.", needs="chat",
    ),
    Technique(
        "keywords", *_corrects("keywords"), "run",
        "Long questions, whose story is near the wrong passages; on, a correction may search by "
        "their rarest words.",
    ),
    Technique(
        "feedback-terms", *_corrects("feedback"), "run",
        "Questions that come near the answer but lack its words; on, terms of the best passages "
        "search, too.",
    ),
    Technique(
        "widening", *_corrects("widened"), "run",
        "Answers that only a superseded document or a far passage has; off, derived filters stay.",
    ),
    Technique(
        "confidence-bar", *_one("answer", "confidence", DEFAULTS.min_confidence, 0.0), "run",
        "Where a wrong answer costs more than none; off, every draft that stands is told.",
    ),
    Technique(
        "clarify", *_one("answer", "clarify", True, False), "run",
        "People who can be asked back; off for programs that cannot answer.",
    ),
    Technique(
        "strips", *_one("answer", "strips", True, False), "run",
        "Long passages and a chat model; off, it reads them whole.", needs="chat",
    ),
    Technique(
        "neighbours", *_one("answer", "around", 600, 0), "run",
        "Texts in which a sentence leans on those before it; on, 600 code points on each side.",
        needs="chat",
    ),
    Technique(
        "small-to-big", *_one("answer", "parent", 1_000, 0), "run",
        "Passages cut small, `CRAG_SPLIT__MAX_TOKENS=64`; on, 1,000 code points of their sections.",
        needs="chat",
    ),
    Technique(
        "batched-verdicts", *_one("chat", "verdicts", "batched", "logprob"), "run",
        "Models that follow a schema; off, each passage is judged by one token.", needs="chat",
    ),
    Technique(
        "web", {}, {}, "run", "Bases that opted in, for questions that their documents may not "
        "answer.", needs="web",
    ),
)  # fmt: skip
"""In the order in which a question meets them."""


def with_overrides(settings: GraphSettings, overrides: Overrides) -> GraphSettings:
    """Raises ValidationError for a name or a value that there is not."""
    changed = {}
    for section, values in overrides.items():
        now = getattr(settings, section)
        changed[section] = type(now).model_validate({**dict(now), **values})
    return settings.model_copy(update=changed)


def named(names: str | None, *, searches_alone: bool) -> list[Technique]:
    """Those of a list by commas, in the order of TECHNIQUES; without one all of them, or all that
    change the first search. Raises ConfigurationError for a name that there is not."""
    if names is None:
        return [t for t in TECHNIQUES if t.changes == "search" or not searches_alone]
    wanted = [name.strip() for name in names.split(",")]
    known = [technique.name for technique in TECHNIQUES]
    for name in wanted:
        if name not in known:
            raise ConfigurationError(f"unknown technique {name!r}; known: {', '.join(known)}")
    return [technique for technique in TECHNIQUES if technique.name in wanted]


def switched_by(technique: Technique) -> list[str]:
    """The names of the settings that switch it, as the environment has them."""
    return [
        f"CRAG_{section}__{name}".upper()
        for section, values in technique.on.items()
        for name in values
    ]
