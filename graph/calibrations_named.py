"""Which calibrations a service answers with, in one line."""

from graph.adapters.calibration import Calibration
from graph.adapters.fitted_confidence import ConfidenceFile
from graph.checking import claims_version
from graph.settings import GraphSettings


def calibrations_named(
    settings: GraphSettings,
    passages: Calibration,
    confidence: ConfidenceFile | None,
    *,
    embedder: str,
) -> str:
    """As `passages:6c5f… claims:88a1… confidence:0d3e…`: the first digits of a hash of each, in
    this order; one that is not used is left out."""
    versions = {
        "passages": passages.version,
        "claims": claims_version(settings.grounding, embedder),
        "confidence": confidence.version if confidence else None,
    }
    return " ".join(f"{name}:{version}" for name, version in versions.items() if version)
