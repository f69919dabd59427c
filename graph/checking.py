"""Opens the check of grounding that the settings name."""

from graph.adapters.claim_checker import Bands, SentenceChecker
from graph.adapters.claim_model import load_claim_model
from graph.adapters.claim_scorer import ClaimScorer, CombinedScorer, KeptVectors, RulesScorer
from graph.adapters.grounding import QuoteChecker
from graph.settings import GroundingSettings
from ingest.errors import ConfigurationError
from ingest.named_adapters import make_adapter
from ingest.ports import Embedder
from nodes.ports import GroundingChecker

KINDS = ("quotes", "rules", "combined", "cross_encoder", "chat")


def open_checker(
    settings: GroundingSettings,
    embedder: Embedder,
    vectors: KeptVectors | None = None,
    *,
    chat: bool,
) -> GroundingChecker:
    """The check without the judge that a chat model makes; `chat` says whether there is one.
    Passages whose `vectors` are kept are not embedded again.

    Loads no model. Raises ConfigurationError for a kind that is unknown or cannot work.
    """
    kind = settings.kind
    if kind == "chat" and not chat:
        raise ConfigurationError("CRAG_GROUNDING__KIND=chat needs CRAG_CHAT__MODEL")
    if kind in ("quotes", "chat"):
        return QuoteChecker()
    if ":" in kind:
        return _own_checker(kind, settings)
    if kind == "combined":
        fitted = load_claim_model(embedder=embedder.fingerprint).model
        bands = _bands(settings, Bands(fitted.lower, fitted.upper))
        return SentenceChecker(CombinedScorer(embedder, fitted, vectors), bands)
    return SentenceChecker(_scorer(settings), _bands(settings, UNCALIBRATED))


def claims_version(settings: GroundingSettings, embedder: str) -> str | None:
    """Of the calibration that sentences are judged by; None where the check has none."""
    if settings.kind != "combined":
        return None
    return load_claim_model(embedder=embedder).version


def _scorer(settings: GroundingSettings) -> ClaimScorer:
    if settings.kind == "rules":
        return RulesScorer()
    if settings.kind == "cross_encoder":
        from graph.adapters.claim_cross_encoder import CrossEncoderScorer

        return CrossEncoderScorer(settings.model)
    raise ConfigurationError(
        f"CRAG_GROUNDING__KIND: unknown {settings.kind!r}; "
        f"known: {', '.join(KINDS)}, package.module:Class"
    )


def _bands(settings: GroundingSettings, own: Bands) -> Bands:
    """The scorer's own where none are set."""
    upper = own.upper if settings.upper is None else settings.upper
    lower = min(own.lower, upper) if settings.lower is None else settings.lower
    if lower > upper:
        raise ConfigurationError(f"CRAG_GROUNDING__LOWER {lower:g} is above UPPER {upper:g}")
    return Bands(lower, upper)


UNCALIBRATED = Bands(lower=0.1, upper=0.9)
"""For the probability of a model whose calibration is not known here."""


def _own_checker(kind: str, settings: GroundingSettings) -> GroundingChecker:
    checker: GroundingChecker = make_adapter(
        "CRAG_GROUNDING__KIND", kind, settings, given="grounding", method="check"
    )
    return checker
