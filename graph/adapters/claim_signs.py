"""What tells whether a source supports a claim: the embedder's token vectors, words and rules."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.adapters.claim_reading import EMPTY, read_text
from graph.adapters.claim_rules import Signs
from graph.adapters.claim_words import word_signs
from ingest.ports import Encoded, Vector
from ingest.sentences import sentence_spans

LONGEST = 3
"""Sentences of the source that may support a claim together."""
LONGER = 0.02
"""What another sentence must add to the claim's mean similarity to be taken into the window."""
LOST = 0.5
"""A word of the claim whose nearest in the source is less similar than this stands nowhere."""


Place = tuple[int, int, int]
"""A sentence: the number of its passage, and where it stands there."""


@dataclass(frozen=True)
class Passage:
    """A part of a source with the vectors of its tokens."""

    text: str
    encoded: Encoded


@dataclass(frozen=True)
class ClaimSigns:
    """`first` to `last` are the 1 to 3 sentences of the source that speak most of the claim."""

    signs: Signs
    first: Place
    last: Place


def statement(claim: str) -> tuple[int, str]:
    """What is claimed, and where it begins: of a question with its answer, the answer."""
    at = claim.rfind("?") + 1
    return (at, claim[at:]) if claim[at:].strip(" .!\"'") else (0, claim)


def claim_signs(claim: str, asked: Encoded, passages: Sequence[Passage]) -> ClaimSigns:
    """Cosines are in [-1, 1], shares in [0, 1]. `passages` in order, at least one."""
    spans = _sentences([p.text for p in passages])
    source = np.concatenate([p.encoded.tokens for p in passages]).astype(np.float32)
    place = _sentence_of_tokens(passages, spans)
    similar = asked.tokens.astype(np.float32) @ source.T
    by_sentence = np.stack(
        [similar[:, place == n].max(axis=1) if (place == n).any() else np.zeros(len(similar))
         for n in range(len(spans))], axis=1,
    )  # fmt: skip
    matter = _content_tokens(claim, asked)
    scores, windows = _windows(by_sentence[matter])
    best = int(np.argmax([s - LONGER * n for n, s in enumerate(scores)]))
    first, last = windows[best]
    inside = (place >= first) & (place < last)
    window = " ".join(passages[n].text[a:b] for n, a, b in spans[first:last])
    everything = " ".join(p.text for p in passages)
    model = {
        "late": float(similar.max(axis=1).mean()),
        **_spread("late", similar[matter].max(axis=1)),
        **_spread("near", by_sentence[matter][:, first:last].max(axis=1)),
        "window_1": scores[0],
        "window_2": scores[min(1, len(scores) - 1)],
        "window_3": scores[-1],
        "back": _back(similar, inside),
        "cosine": max(float(p.encoded.sentence @ asked.sentence) for p in passages),
        "cosine_window": _cosine(asked.sentence, source, inside),
        "cosine_sentence": max(
            _cosine(asked.sentence, source, place == n) for n in range(len(spans))
        ),
    }
    at, said = statement(claim)
    told = matter & (asked.offsets[:, 0] >= at)
    model |= _spread("said", similar[told].max(axis=1) if told.any() else np.ones(1, np.float32))
    signs = (
        model | word_signs(claim, said, window, everything) | {"sentences": np.log1p(len(spans))}
    )
    rounded = {name: round(float(value), 5) for name, value in signs.items()}
    return ClaimSigns(rounded, spans[first], spans[last - 1])


def window_by_words(claim: str, texts: Sequence[str]) -> tuple[Place, Place]:
    """The first and last of the sentences that share most words with the claim, without vectors."""
    spans = _sentences(texts)
    wanted = read_text(claim).stems
    shared = [
        {*wanted} & read_text(texts[n][start:end]).stems if wanted else set()
        for n, start, end in spans
    ]
    found = [
        (len(set().union(*shared[at : at + length])) - LONGER * length, -at, length)
        for at in range(len(spans))
        for length in range(1, min(LONGEST, len(spans) - at) + 1)
    ]
    _, at, length = max(found)
    return spans[-at], spans[-at + length - 1]


def _sentences(texts: Sequence[str]) -> list[Place]:
    found = [(n, start, end) for n, text in enumerate(texts) for start, end in sentence_spans(text)]
    return found or [(0, 0, len(texts[0]))]


def _windows(nearest: Vector) -> tuple[list[float], list[tuple[int, int]]]:
    """The best window of each length: its mean over the claim's tokens, and its sentences."""
    count = nearest.shape[1]
    scores, windows = [], []
    running = nearest
    for length in range(1, min(LONGEST, count) + 1):
        if length > 1:
            running = np.maximum(running[:, :-1], nearest[:, length - 1 :])
        means = running.mean(axis=0)
        first = int(np.argmax(means))
        scores.append(float(means[first]))
        windows.append((first, first + length))
    return scores, windows


def _sentence_of_tokens(
    passages: Sequence[Passage], spans: Sequence[tuple[int, int, int]]
) -> NDArray[np.int64]:
    """The number of the sentence that each token of all passages is in."""
    found = []
    for n, passage in enumerate(passages):
        own = [(k, start) for k, (p, start, _) in enumerate(spans) if p == n]
        if not own:
            found.append(np.full(len(passage.encoded.tokens), -1))
            continue
        starts = np.array([start for _, start in own])
        inside = np.searchsorted(starts, passage.encoded.offsets[:, 0], side="right") - 1
        found.append(own[0][0] + np.clip(inside, 0, None))
    return np.concatenate(found)


def _content_tokens(claim: str, asked: Encoded) -> NDArray[np.bool_]:
    """Tokens of words that carry meaning; all of them where none does."""
    pieces = [claim[a:b].lower() for a, b in asked.offsets]
    found = np.array([p not in EMPTY and any(c.isalnum() for c in p) for p in pieces], dtype=bool)
    return found if found.any() else np.ones(len(pieces), dtype=bool)


def _spread(name: str, nearest: Vector) -> Signs:
    ordered = np.sort(nearest)
    third = max(1, len(ordered) // 3)
    return {
        f"{name}_mean": ordered.mean(),
        f"{name}_weakest": ordered[0],
        f"{name}_low": ordered[:third].mean(),
        f"{name}_lost": (ordered < LOST).mean(),
    }


def _back(similar: Vector, inside: NDArray[np.bool_]) -> float:
    return float(similar[:, inside].max(axis=0).mean()) if inside.any() else 0.0


def _cosine(asked: Vector, source: Vector, inside: NDArray[np.bool_]) -> float:
    if not inside.any():
        return 0.0
    mean = source[inside].mean(axis=0)
    return float(mean @ asked / max(float(np.linalg.norm(mean)), 1e-12))


_FALLS = frozenset(
    """late_lost near_lost said_lost numbers_missing numbers_away number_clash bound unbound
    unattached opposite exclusive negation negation_added quantifier only_added only_lost
    except_lost condition_lost condition_added swapped swapped_near missing missing_window
    names_missing names_away person opinion asks""".split()
)
_RISES = frozenset(
    """late late_mean late_weakest late_low near_mean near_weakest near_low said_mean said_weakest
    said_low window_1 window_2 window_3 cosine cosine_window cosine_sentence coverage
    coverage_window coverage_said coverage_all pairs pairs_window run""".split()
)
_EITHER = frozenset("back back_words ratio source_length sentences".split())
FITTED = tuple(sorted(_FALLS | _RISES | _EITHER))
"""What a calibration is fitted on. The length of a claim alone is not among it: in a data set it
tells who wrote the claim, in an answer nothing."""


def direction(sign: str) -> int:
    """1 where more of it can only speak for a claim, -1 where only against, else 0."""
    return (sign in _RISES) - (sign in _FALLS)
