"""Checks sentences: quotations exactly, the clear ones by a scorer, the rest by a judge."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.adapters.claim_scorer import Claim, ClaimScore, ClaimScorer
from graph.adapters.claim_source import cited_parts
from graph.adapters.grounding import quoted_or_wrong
from graph.services import Loading
from nodes.findings import ClaimVerdict, Sentence, Support
from nodes.ports import GroundingChecker, Sources

UNCLEAR = "it is not clear that the passages it cites say this"
UNSAID = "the passages it cites do not say this"


@dataclass(frozen=True)
class Bands:
    """Probabilities: supported from `upper`, unsupported below `lower`, unclear between."""

    lower: float
    upper: float


class SentenceChecker:
    """What stands word for word where it is cited is supported with probability 1, and no model
    is asked. Of the rest the scorer decides the clear ends; what it finds unclear goes to the
    judge, all in one round. Without a judge the unclear is unsupported."""

    def __init__(
        self, scorer: ClaimScorer, bands: Bands, judge: GroundingChecker | None = None
    ) -> None:
        self._scorer = scorer
        self._bands = bands
        self._judge = judge

    def with_judge(self, judge: GroundingChecker) -> "SentenceChecker":
        return SentenceChecker(self._scorer, self._bands, judge)

    async def load(self) -> None:
        """Reads the scorer's weights, where it has any. Raises ConfigurationError."""
        if isinstance(self._scorer, Loading):
            await self._scorer.load()

    def close(self) -> None:
        if isinstance(self._scorer, Loading):
            self._scorer.close()

    async def settled(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support | None]:
        """All but what is for the judge."""
        supports, unclear = await self._scored(sentences, sources)
        return [None if n in unclear else support for n, support in enumerate(supports)]

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        """Raises what the scorer and the judge raise: nothing is supported unchecked."""
        supports, unclear = await self._scored(sentences, sources)
        if self._judge is None or not unclear:
            return supports
        found = await self._judge.check(question, [sentences[n] for n in unclear], sources)
        for n, support in zip(unclear, found, strict=True):
            supports[n] = replace(support, span=support.span or supports[n].span)
        return supports

    async def _scored(
        self, sentences: Sequence[Sentence], sources: Sources
    ) -> tuple[list[Support], list[int]]:
        """The verdicts without the judge, and the places of those that it may decide instead."""
        known = [quoted_or_wrong(sentence, sources) for sentence in sentences]
        left = [n for n, support in enumerate(known) if support is None]
        claims = [Claim(sentences[n].text, cited_parts(sentences[n], sources)) for n in left]
        scores = await self._scorer.score(claims) if claims else []
        scored = dict(zip(left, scores, strict=True))
        supports = [
            support or _support(sentences[n], scored[n], self._bands)
            for n, support in enumerate(known)
        ]
        unclear = [n for n, score in scored.items() if _is_unclear(score, self._bands)]
        return supports, unclear if self._judge is not None else []


def _is_unclear(score: ClaimScore, bands: Bands) -> bool:
    if not bands.lower <= score.probability:  # also where it is no number
        return False
    return bool(score.objection) or score.probability < bands.upper


def _support(sentence: Sentence, score: ClaimScore, bands: Bands) -> Support:
    if score.probability >= bands.upper and not score.objection:
        return Support(sentence.text, "supported", score.probability, span=score.span)
    problem = score.objection or (UNCLEAR if _is_unclear(score, bands) else UNSAID)
    verdict: ClaimVerdict = "contradicted" if score.against else "unsupported"
    return Support(sentence.text, verdict, score.probability, problem, score.span)
