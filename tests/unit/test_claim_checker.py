"""The scorer decides the clear ends; the middle goes to the judge in one round, or falls."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.adapters.calibration_file import shipped
from graph.adapters.claim_checker import Bands, SentenceChecker
from graph.adapters.claim_model import load_claim_model
from graph.adapters.claim_scorer import Claim, ClaimScore, CombinedScorer, RulesScorer
from graph.adapters.claim_signs import FITTED
from graph.adapters.claim_source import AROUND, cited_parts
from graph.adapters.token_vectors import TokenVectors
from graph.checking import open_checker
from graph.settings import GroundingSettings
from ingest.errors import ConfigurationError, DependencyError
from nodes.findings import Sentence, SourceSpan, Support
from nodes.ports import Sources
from tests.fakes import FakeChecker, HashingEmbedder, a_chunk, a_citation

TEXT = "Refunds are issued within fourteen days of cancellation."
CHUNK = a_chunk("a", TEXT)
SOURCES = Sources({(CHUNK.document_id, CHUNK.revision): TEXT})
SPAN = SourceSpan("doc-a", "r1", 0, 7)
BANDS = Bands(lower=0.2, upper=0.8)


class Scores:
    """Gives what it is told, claim by claim."""

    def __init__(self, *scores: ClaimScore) -> None:
        self.scores = scores
        self.claims: list[Claim] = []

    async def score(self, claims: Sequence[Claim]) -> list[ClaimScore]:
        self.claims += claims
        return list(self.scores)


def says(text: str) -> Sentence:
    return Sentence(text, [a_citation(CHUNK)])


async def checked(
    scorer: Any, *texts: str, judge: FakeChecker | None = None, sources: Sources = SOURCES
) -> list[Support]:
    checker = SentenceChecker(scorer, BANDS, judge)
    return await checker.check("?", [says(text) for text in texts], sources)


async def test_a_quotation_is_supported_without_the_scorer() -> None:
    scorer = Scores()
    (support,) = await checked(scorer, TEXT)
    assert (support.verdict, support.probability, scorer.claims) == ("supported", 1.0, [])
    assert support.span == SourceSpan("doc-a", "r1", 0, len(TEXT))


async def test_clear_ends_are_decided_and_the_middle_falls_without_a_judge() -> None:
    given = [ClaimScore(0.8, SPAN), ClaimScore(0.5), ClaimScore(0.1), ClaimScore(0.1, against=True)]
    found = await checked(Scores(*given), "a", "b", "c", "d")
    assert [s.verdict for s in found] == ["supported", *["unsupported"] * 2, "contradicted"]
    assert [bool(s.problem) for s in found] == [False, True, True, True]
    assert found[0].span == SPAN


async def test_an_objection_outweighs_the_probability() -> None:
    (support,) = await checked(Scores(ClaimScore(0.99, objection="another number")), "a")
    assert (support.verdict, support.problem) == ("unsupported", "another number")


async def test_a_probability_that_is_no_number_supports_nothing() -> None:
    (support,) = await checked(Scores(ClaimScore(float("nan"))), "a")
    assert not support.supported


async def test_only_the_middle_goes_to_the_judge_and_in_one_round() -> None:
    judge = FakeChecker()
    asked: list[list[str]] = []
    check = judge.check

    async def watched(question: str, sentences: Any, sources: Any) -> Any:
        asked.append([s.text for s in sentences])
        return await check(question, sentences, sources)

    judge.check = watched  # type: ignore[method-assign]
    given = [ClaimScore(0.9), ClaimScore(0.5, SPAN), ClaimScore(0.1), ClaimScore(0.6)]
    found = await checked(Scores(*given), "a", "b", "c", "d", judge=judge)
    assert asked == [["b", "d"]]
    assert [s.supported for s in found] == [True, True, False, True]
    assert found[1].span == SPAN


async def test_where_the_scorer_or_the_judge_is_down_nothing_is_supported() -> None:
    class Down:
        async def score(self, claims: Any) -> Any:
            raise DependencyError("down")

    with pytest.raises(DependencyError):
        await checked(Down(), "a")
    judge = FakeChecker(error=DependencyError("down"))
    with pytest.raises(DependencyError):
        await checked(Scores(ClaimScore(0.5)), "a", judge=judge)


async def test_a_citation_that_does_not_hold_is_not_scored() -> None:
    scorer = Scores()
    (support,) = await checked(scorer, "a", sources=Sources({}))
    assert not support.supported and scorer.claims == []


async def test_rules_alone_never_support_a_paraphrase() -> None:
    texts = ["Refunds come after you cancel.", "Refunds take 30 days."]
    found = await checked(RulesScorer(), *texts)
    assert [s.verdict for s in found] == ["unsupported", "contradicted"]
    assert TEXT[found[1].span.start : found[1].span.end] == TEXT  # type: ignore[union-attr]


async def test_a_claim_is_read_once_and_never_passes_by_another_models_vectors() -> None:
    embedder = HashingEmbedder()
    scorer = CombinedScorer(embedder, load_claim_model().model)
    for _ in range(2):
        (support,) = await checked(scorer, "Refunds come within two weeks of cancelling.")
        assert (support.verdict, support.probability) == ("unsupported", 0.5)
    assert len(embedder.batches) == 1


async def test_passages_of_the_evidence_are_not_embedded_again_and_all_sentences_at_once() -> None:
    embedder = HashingEmbedder()
    vectors = TokenVectors(embedder, megabytes=1)
    other = a_chunk("b", "Lunch is served at noon. It is free.", heading="Canteen")
    await vectors.passages([CHUNK, other])
    embedder.batches.clear()
    texts = {(c.document_id, c.revision): c.text for c in (CHUNK, other)}
    sentences = [
        says("Cancellation gives refunds within fourteen days."),
        Sentence("At noon they serve lunch.", [a_citation(other)]),
    ]
    checker = SentenceChecker(CombinedScorer(embedder, load_claim_model().model, vectors), BANDS)
    found = await checker.check("?", sentences, Sources(texts, [CHUNK, other]))
    assert embedder.batches == [[sentence.text for sentence in sentences]]
    spans = [support.span for support in found]
    assert spans[1] == SourceSpan("doc-b", "r1", 0, len("Lunch is served at noon."))
    assert spans[0] == SourceSpan("doc-a", "r1", 0, len(TEXT))


def test_a_passage_that_is_stored_otherwise_by_now_is_not_read() -> None:
    changed = Sources(
        {(CHUNK.document_id, CHUNK.revision): TEXT.replace("fourteen", "15")}, [CHUNK]
    )
    (part,) = cited_parts(says("Refunds take a while."), changed)
    assert part.chunk is None and "fourteen" not in part.text
    (part,) = cited_parts(says("Refunds take a while."), replace(SOURCES, passages=[CHUNK]))
    assert part.chunk == CHUNK and part.text == TEXT


def test_overlapping_citations_are_read_as_one_part() -> None:
    text = "x" * 5000
    chunk = a_chunk("a", text)
    two = [a_citation(chunk, start=at, end=at + 10, quote=text[:10]) for at in (1000, 1900)]
    far = a_citation(chunk, start=4500, end=4510, quote=text[:10])
    parts = cited_parts(
        Sentence("s", [*two, far]), Sources({(chunk.document_id, chunk.revision): text})
    )
    assert [(p.start, len(p.text)) for p in parts] == [
        (1000 - AROUND, 1910 + AROUND - (1000 - AROUND)), (4500 - AROUND, 5000 - (4500 - AROUND))
    ]  # fmt: skip


def test_the_shipped_calibration_knows_the_signs() -> None:
    model = load_claim_model().model
    assert set(model.signs) <= set(FITTED)
    assert model.lower < 0.5 < model.upper
    flat = dict.fromkeys(model.signs, 0.0)
    assert 0 < model.probability(flat) < 1


@pytest.mark.parametrize(
    "changed", [{"upper": 2}, {"lower": 0.99, "upper": 0.5}, {"trees": [[{"sign": 0, "left": 9}]]}]
)
def test_a_broken_calibration_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    file = tmp_path / "claims.json"
    file.write_text(json.dumps(json.loads(shipped("claims").read_text()) | changed))
    with pytest.raises(ConfigurationError, match="calibration"):
        load_claim_model(file)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"kind": "guess"}, "unknown 'guess'"),
        ({"kind": "chat"}, "needs CRAG_CHAT__MODEL"),
        ({"kind": "cross_encoder"}, "needs CRAG_GROUNDING__MODEL"),
        ({"kind": "rules", "lower": 0.9, "upper": 0.5}, "above UPPER"),
        ({"kind": "tests.fakes:Nothing"}, "cannot load"),
        ({"kind": "tests.fakes:FakeGrader"}, "async def check"),
    ],
)
def test_a_kind_that_cannot_work_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        open_checker(GroundingSettings(**settings), None, chat=False)  # type: ignore[arg-type]
