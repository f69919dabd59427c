"""The calibration of claims: how probable it is, by its signs, that a source supports a claim."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from graph.adapters.calibration_file import read_calibration, shipped


class Node(BaseModel):
    """A branch, `sign` <= `threshold` to the left, or a leaf, whose `value` is in log-odds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sign: int = -1
    threshold: FiniteFloat = 0.0
    left: int = 0
    right: int = 0
    value: FiniteFloat = 0.0


class ClaimModel(BaseModel):
    """Boosted trees over named signs (Friedman, "Greedy Function Approximation", 2001).

    A claim is supported from `upper`, not supported below `lower`; what is between is not clear.
    `model` names the embedder whose vectors the signs were made of.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    signs: list[str]
    bias: FiniteFloat
    trees: list[list[Node]]
    upper: float = Field(ge=0, le=1)
    lower: float = Field(ge=0, le=1)
    fitted_on: dict[str, object]
    measured: dict[str, object]

    @model_validator(mode="after")
    def _can_work(self) -> "ClaimModel":
        if not self.lower <= self.upper:
            raise ValueError("lower <= upper does not hold")
        for tree in self.trees:
            for n, node in enumerate(tree):
                branches = (node.left, node.right) if node.sign >= 0 else ()
                if node.sign >= len(self.signs) or any(not n < b < len(tree) for b in branches):
                    raise ValueError("a tree has a branch that leads nowhere")
            if not tree:
                raise ValueError("a tree is empty")
        return self

    def probability(self, values: Mapping[str, float]) -> float:
        """In [0, 1]. Raises KeyError where a sign is not there."""
        row = [values[name] for name in self.signs]
        odds = self.bias + sum(_leaf(tree, row) for tree in self.trees)
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


@dataclass(frozen=True)
class ClaimCalibration:
    version: str
    model: ClaimModel


def load_claim_model(path: Path | None = None, *, embedder: str | None = None) -> ClaimCalibration:
    """The one at `path`, else the shipped one of the embedder with this fingerprint. Raises
    ConfigurationError."""
    file = path or shipped("claims", embedder)
    model, version = read_calibration(file, ClaimModel, "calibration")
    return ClaimCalibration(version, model)


def _leaf(tree: list[Node], row: list[float]) -> float:
    node = tree[0]
    while node.sign >= 0:
        node = tree[node.left if row[node.sign] <= node.threshold else node.right]
    return node.value
