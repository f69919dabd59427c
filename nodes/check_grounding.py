"""Checks every sentence against the text it cites, and decides whether the answer may be given."""

from dataclasses import dataclass, replace

from langgraph.runtime import Runtime

from nodes.citations import citations_problem
from nodes.context import DEFAULTS, Context
from nodes.evidence import has_correct
from nodes.fallback import or_fallback
from nodes.ports import GroundingChecker, Sources, SourceTexts
from nodes.state import Sentence, State, Support, Update
from nodes.web_search import WEB_REVISION

STRICT = 0.9
"""Support that a sentence needs where only ambiguous evidence stands behind it, in [0, 1]."""

REPAIRS = 1


@dataclass(frozen=True)
class Judged:
    """The verdicts in the order of the sentences, and the sentences that failed."""

    supports: list[Support]
    failed: list[str]


async def check_grounding(
    state: State,
    runtime: Runtime[Context],
    *,
    checker: GroundingChecker,
    texts: SourceTexts,
) -> Update:
    """Outcome answered or answered_partially where every sentence stands; else what failed is
    rejected, for one repair. A check that cannot run fails closed."""
    context = runtime.context or DEFAULTS
    judged, faults = await or_fallback(
        _judge(state, context, checker, texts), None, node="check_grounding", fallback="declined"
    )
    degraded = [*state.degraded, *faults]
    if judged is None:
        failed = "the answer could not be checked"
        return {"failed": failed, "degraded": degraded, "summary": {"error": failed}}
    summary = {
        "supported": len(judged.supports) - len(judged.failed),
        "failed": [
            {"sentence": s.sentence, "problem": s.problem}
            for s in judged.supports
            if not s.supported
        ],
    }
    if state.draft and not judged.failed:
        whole = has_correct(state.evidence) and not state.reservations
        outcome = "answered" if whole else "answered_partially"
        for sentence in state.draft:
            runtime.stream_writer({"type": "answer.delta", "text": shown(sentence)})
        return {
            "supports": judged.supports,
            "outcome": outcome,  # type: ignore[typeddict-item]
            "summary": summary,
        }
    return {
        "supports": judged.supports,
        "rejected": [*state.rejected, *judged.failed],
        "repairs": state.repairs + 1,
        "summary": summary | ({} if state.draft else {"failed": "no sentence answers"}),
    }


def shown(sentence: Sentence) -> str:
    """A sentence as it is read: its note, its text, its citation numbers."""
    note = f"({sentence.note}) " if sentence.note else ""
    return note + sentence.text + "".join(f" [{c.n}]" for c in sentence.citations)


async def _judge(
    state: State, context: Context, checker: GroundingChecker, texts: SourceTexts
) -> Judged:
    sources = await _sources(state, context, texts)
    supports = await checker.check(state.standalone, state.draft, sources)
    if [s.sentence for s in supports] != [s.text for s in state.draft]:
        raise ValueError("the checker's verdicts are not on the sentences it was given")
    verified = [
        _verified(support, sentence, sources)
        for support, sentence in zip(supports, state.draft, strict=True)
    ]
    bar = 0.0 if has_correct(state.evidence) else STRICT
    judged = [support if _stands(support, bar) else _failed(support, bar) for support in verified]
    return Judged(judged, [s.sentence for s in judged if not s.supported])


def _stands(support: Support, bar: float) -> bool:
    return support.supported and support.probability >= bar


def _failed(support: Support, bar: float) -> Support:
    """Not supported, and why: a sentence may fail on the stricter bar alone."""
    if not support.supported:
        return replace(support, problem=support.problem or "the check gave no reason")
    problem = f"its support, {support.probability:.2f}, is not the {bar:g} that is needed here"
    return replace(support, verdict="unsupported", problem=problem)


def _verified(support: Support, sentence: Sentence, sources: Sources) -> Support:
    """No checker's word stands for a citation: where it points is read here, every time."""
    problem = citations_problem(sentence, sources)
    return replace(support, verdict="unsupported", problem=problem) if problem else support


async def _sources(state: State, context: Context, texts: SourceTexts) -> Sources:
    """The texts as they are stored now: a document deleted since retrieval is not among them."""
    cited = {(c.document_id, c.revision) for sentence in state.draft for c in sentence.citations}
    web = {
        (e.candidate.chunk.document_id, WEB_REVISION): e.candidate.chunk.text
        for e in state.evidence
        if e.candidate.url
    }
    found: dict[tuple[str, str], str] = {}
    for document, revision in cited:
        text = (
            web.get((document, revision))
            if revision == WEB_REVISION
            else await texts.text(context.scope, state.knowledge_base, document, revision)
        )
        if text is not None:
            found[document, revision] = text
    return Sources(found)
