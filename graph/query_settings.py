"""Settings of the queries: what is searched with, and in which knowledge bases."""

from pydantic import Field

from ingest.fusion import Merge
from ingest.settings import Listed, Section
from nodes.context import DEFAULTS
from nodes.state import Correction


class QuerySettings(Section):
    filters: bool = Field(
        False, description="Filter by a version, language, product or time that a question names."
    )
    parts: bool = Field(
        DEFAULTS.parts,
        description="Search the parts of a question that asks several things, and answer each.",
    )
    route: bool = Field(
        DEFAULTS.route, description="Of several bases, search first the one a question is for."
    )
    route_margin: float = Field(
        DEFAULTS.route_margin,
        ge=0,
        le=2,
        description="Lead that a base needs for that; unsure, all are searched.",
    )
    phrasings: int = Field(
        DEFAULTS.phrasings,
        ge=0,
        le=5,
        description="Other wordings that are searched beside the question, at most: of a chat "
        "model, without one its keywords.",
    )
    synonyms: bool = Field(
        DEFAULTS.synonyms,
        description="Search by its keywords with synonyms that a chat model gives, too.",
    )
    step_back: bool = Field(
        DEFAULTS.step_back, description="A chat model words a more general question beside it."
    )
    hyde: bool = Field(
        DEFAULTS.hyde, description="Search by the vector of a passage that a chat model makes up."
    )
    hops: int = Field(
        DEFAULTS.hops,
        ge=0,
        le=3,
        description="Look-ups of which a chat model puts one's answer into the next, from 2 on.",
    )
    bridge: bool = Field(
        DEFAULTS.bridge, description="Search once more with the names of the best passage."
    )
    merge: Merge = Field(
        DEFAULTS.merge, description="best: of several queries the best score; votes: their mean."
    )
    corrections: Listed[Correction] = Field(
        DEFAULTS.corrections,
        description="What a correction may search with: rephrased (a chat model), keywords, "
        "feedback (terms of the best passages), widened (the question without derived filters).",
    )
    kept_s: float = Field(
        300, ge=0, description="Seconds that a chat model's wording of a query is kept; 0: none."
    )
