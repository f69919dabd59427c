"""The verdict on each sentence: a checker's word, the bar it has to reach, and its citations."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import get_args

from nodes.bases import bases_of, text_of
from nodes.citations import citations_problem
from nodes.confidence import support_needed
from nodes.context import Context
from nodes.evidence import has_correct
from nodes.findings import ClaimVerdict, Rejected, Sentence, Support
from nodes.ports import GroundingChecker, Sources, SourceTexts, StagedChecker
from nodes.safe_sentences import unsafe
from nodes.state import State
from nodes.web_search import WEB_REVISION

STRICT = 0.9
"""Support that a sentence needs where only ambiguous evidence stands behind it, in [0, 1]."""

AGAINST = 400
"""Code points of a source that a repair reads against a sentence."""

NO_VERDICT = "the check gave no verdict"

Stage = Callable[[str, Sequence[Sentence], Sources], Awaitable[Sequence[Support | None]]]


def stages(checker: GroundingChecker) -> list[Stage]:
    """What is asked for verdicts, one after another: the last one may leave nothing open."""
    if isinstance(checker, StagedChecker):
        return [checker.settled, checker.check]
    return [checker.check]


async def judged(
    stage: Stage, state: State, context: Context, sentences: Sequence[Sentence], sources: Sources
) -> list[Support | None]:
    """The verdicts of a stage, None where it left a sentence open.

    Raises ValueError for what are no verdicts, or verdicts on other sentences than those it was
    given. An unknown verdict, or one without a probability, supports nothing. No checker's word
    stands for a citation: where it points is read here, every time.
    """
    found = list(await stage(state.standalone, sentences, sources))
    pairs = list(zip(found, sentences, strict=True))
    if not all(one is None or _is_on(one, sentence) for one, sentence in pairs):
        raise ValueError("the checker's verdicts are not on the sentences it was given")
    strict = 0.0 if has_correct(state.evidence) else STRICT
    bar = max(strict, support_needed(state, context))
    return [
        None if one is None else _decided(_enumerated(one, sentence), sentence, sources, bar)
        for one, sentence in pairs
    ]


def unjudged(sentence: Sentence) -> Support:
    """Not supported: nothing said that it is."""
    return Support(sentence.text, "unsupported", 0.0, NO_VERDICT)


async def sources_of(
    state: State, sentences: Sequence[Sentence], context: Context, texts: SourceTexts
) -> Sources:
    """The texts as they are stored now: a document deleted since retrieval is not among them."""
    cited = {(c.document_id, c.revision) for sentence in sentences for c in sentence.citations}
    passages = [e.candidate.chunk for e in state.evidence]
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
            else await text_of(texts, context.scope, bases_of(state), document, revision)
        )
        if text is not None:
            found[document, revision] = text
    return Sources(found, passages)


def rejected(sentence: Sentence, support: Support, sources: Sources) -> Rejected:
    """The sentence with what the checker read against it, or else what it cites."""
    span = support.span
    places = [(c.document_id, c.revision, c.start, c.end) for c in sentence.citations]
    if span is not None:
        places = [(span.document_id, span.revision, span.start, span.end)]
    read = [
        sources.texts.get((document, revision), "")[max(0, start) : max(0, end)]
        for document, revision, start, end in places
    ]
    against = " … ".join(dict.fromkeys(text for text in read if text))[:AGAINST]
    return Rejected(sentence.text, support.problem, against)


def _is_on(found: object, sentence: Sentence) -> bool:
    return isinstance(found, Support) and found.sentence == sentence.text


def _enumerated(found: Support, sentence: Sentence) -> Support:
    known = found.verdict in get_args(ClaimVerdict)
    number = isinstance(found.probability, int | float) and 0 <= found.probability <= 1
    return found if known and number else unjudged(sentence)


def _decided(support: Support, sentence: Sentence, sources: Sources, bar: float) -> Support:
    """Supported, or not and why: a sentence may fail on its citations, on what it says
    (an order, an address from nowhere) or on the stricter bar alone."""
    problem = citations_problem(sentence, sources) or unsafe(sentence, sources)
    if problem:
        return replace(support, verdict="unsupported", problem=problem)
    if not support.supported:
        return replace(support, problem=support.problem or "the check gave no reason")
    if support.probability >= bar:
        return support
    problem = f"its support, {support.probability:.2f}, is not the {bar:g} that is needed here"
    return replace(support, verdict="unsupported", problem=problem)
