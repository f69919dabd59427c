"""Refines passages to the strips that matter: knowledge refinement of corrective RAG.

Source: Yan et al., "Corrective Retrieval Augmented Generation" (2024), section 4.4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.sentences import sentence_spans
from nodes.findings import Evidence, Stated

LONGEST = 3
"""Sentences of a strip, at most."""

NEAR = 2.0
"""Log odds below the best strip of its passage from which a strip is kept. On the tuning questions
of the handbook it drops 125 of 632 strips, and with them 1 of 59 answers."""


@dataclass(frozen=True)
class Refined:
    """The evidence with its strips, how many strips of it were kept and dropped, and how many
    passages of it are read with what stands around them."""

    evidence: list[Evidence]
    kept: int = 0
    dropped: int = 0
    wider: int = 0


def refined(evidence: Sequence[Evidence]) -> Refined:
    """Each passage with the strips that survive, in order; the best of a passage always does.

    A passage whose grader does not judge sentences stays whole, as one that no sentence of was
    found to be able to answer.
    """
    found: list[Evidence] = []
    kept = dropped = 0
    for one in evidence:
        strips = strips_of(one.candidate.chunk.text, one.grade.sentences or [])
        best = max((strip.probability for strip in strips), default=0.0)
        surviving = [s for s in strips if _log_odds(s.probability) >= _log_odds(best) - NEAR]
        if not best:
            found.append(one)
            continue
        found.append(replace(one, strips=surviving))
        kept += len(surviving)
        dropped += len(strips) - len(surviving)
    return Refined(found, kept, dropped)


def strips_of(text: str, judged: Sequence[Stated]) -> list[Stated]:
    """All strips of a text, in order: up to LONGEST sentences of one line, or a row, or an item.

    The probability of a strip is that of its best sentence; 0 where none of them was judged.
    """
    strips: list[list[tuple[int, int]]] = []
    for start, end in sentence_spans(text):
        last = strips[-1] if strips else []
        goes_on = last and "\n" not in text[last[-1][1] : start] and len(last) < LONGEST
        if goes_on:
            last.append((start, end))
        else:
            strips.append([(start, end)])
    return [_strip(spans[0][0], spans[-1][1], judged) for spans in strips]


def _strip(start: int, end: int, judged: Sequence[Stated]) -> Stated:
    inside = [one.probability for one in judged if start <= one.start and one.end <= end]
    return Stated(start, end, max(inside, default=0.0))


def _log_odds(probability: float) -> float:
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(inside / (1 - inside))
