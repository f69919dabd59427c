"""What the words of a claim and its source tell, beside the rules: overlap, order, and opinions."""

import numpy as np

from graph.adapters.claim_reading import ReadText, read_text
from graph.adapters.claim_rules import Signs, rule_signs
from graph.adapters.claim_terms import OPINION, PERSON
from nodes.words import literals, words


def word_signs(claim: str, said: str, window: str, everything: str) -> Signs:
    """Shares in [0, 1]; lengths and what is missing as logarithms of counts.

    `said` is the part of the claim that is asserted, `window` the sentences of the source nearest
    to it. `person` and `opinion` are words about a speaker that the source does not have.
    """
    read = [read_text(text) for text in (claim, window, everything)]
    mine, near, all_ = read
    answer = read_text(said)
    rules = rule_signs(mine, near, all_)
    spoken = [w.text for w in mine.words]
    own = [word for word in spoken if word not in {w.text for w in all_.words}]
    names = _names(claim)
    there, around = set(words(everything)), set(words(window))
    return rules | {
        "coverage": _share(mine.stems, all_.stems),
        "coverage_window": _share(mine.stems, near.stems),
        "coverage_said": _share(answer.stems, all_.stems),
        "back_words": _share(near.stems, mine.stems),
        "pairs": _share(_pairs(mine), _pairs(all_)),
        "pairs_window": _share(_pairs(mine), _pairs(near)),
        "run": _longest_run(mine, near) / max(1, len(mine.content)),
        "missing": np.log1p(len(mine.stems - all_.stems)),
        "missing_window": np.log1p(len(mine.stems - near.stems)),
        "names_missing": 1 - _share(names, there),
        "names_away": 1 - _share(names, around),
        "coverage_all": 1 - len(set(own)) / max(1, len(set(spoken))),
        "person": sum(word in PERSON for word in own) / max(1, len(spoken)),
        "opinion": sum(word in OPINION for word in own) / max(1, len(spoken)),
        "asks": float(claim.strip().endswith("?")),
        "ratio": np.log((1 + len(mine.words)) / (1 + len(near.words))),
        "source_length": np.log1p(len(all_.words)),
        "swapped_near": rules["swapped"] * _share(mine.stems, near.stems),
    }


def _share(wanted: frozenset[str] | set[str], there: frozenset[str] | set[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 1.0


def _pairs(read: ReadText) -> set[str]:
    return {f"{a.stem} {b.stem}" for a, b in zip(read.content, read.content[1:], strict=False)}


def _longest_run(claim: ReadText, window: ReadText) -> int:
    """The most content words that follow each other in both."""
    mine, its = [w.stem for w in claim.content], [w.stem for w in window.content]
    best, before = 0, [0] * (len(its) + 1)
    for one in mine:
        now = [0] * (len(its) + 1)
        for n, other in enumerate(its, start=1):
            if one == other:
                now[n] = before[n - 1] + 1
                best = max(best, now[n])
        before = now
    return best


def _names(claim: str) -> set[str]:
    """Words that begin with a capital, but for the first of the text, and codes."""
    _, _, rest = claim.strip().partition(" ")
    capital = {word for part in rest.split() if part[:1].isupper() for word in words(part)}
    return capital | {word for literal in literals(claim) for word in words(literal)}
