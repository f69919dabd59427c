"""Checks sentences: quotations exactly, the clear ones by a scorer, the rest by a judge."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.adapters.claim_scorer import Claim, ClaimScore, ClaimScorer
from graph.adapters.claim_source import cited_parts
from graph.adapters.grounding import quoted_or_wrong
from graph.services import Loading
from nodes.ports import GroundingChecker, Sources
from nodes.state import ClaimVerdict, Sentence, Support

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

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        """Raises what the scorer and the judge raise: nothing is supported unchecked."""
        known = [quoted_or_wrong(sentence, sources) for sentence in sentences]
        open_ones = [s for s, support in zip(sentences, known, strict=True) if support is None]
        judged = iter(await self._judged(question, open_ones, sources) if open_ones else [])
        return [support if support is not None else next(judged) for support in known]

    async def _judged(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        claims = [Claim(s.text, cited_parts(s, sources)) for s in sentences]
        scores = await self._scorer.score(claims)
        supports = [
            _support(sentence, score, self._bands)
            for sentence, score in zip(sentences, scores, strict=True)
        ]
        unclear = [n for n, score in enumerate(scores) if _is_unclear(score, self._bands)]
        if self._judge is None or not unclear:
            return supports
        found = await self._judge.check(question, [sentences[n] for n in unclear], sources)
        for n, support in zip(unclear, found, strict=True):
            supports[n] = replace(support, span=support.span or scores[n].span)
        return supports


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
