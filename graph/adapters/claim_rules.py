"""Compares what a claim and a source say by rules: what clashes, and what is missing."""

from graph.adapters.claim_number_rules import number_signs
from graph.adapters.claim_reading import ReadText
from graph.adapters.claim_terms import EXCLUSIVE

Signs = dict[str, float]

OBJECTIONS = (
    ("number_clash", "the source has another number or date there", True),
    ("numbers_missing", "a number or date of it is not in what it cites", False),
    ("bound", "the source bounds the number the other way", True),
    ("unattached", "the source says the number of something else", False),
    ("exclusive", "the source names another one of the kind", True),
    ("opposite", "the source says the opposite", True),
    ("quantifier", "it says more of them than the source does", True),
    ("negation_added", "it denies what the source does not deny", False),
)
"""By sign, in the order that they are told; they hold where the sign is 1."""
_BY_SHARE = ("number_clash", "numbers_missing", "bound", "unattached")
"""Signs that are shares of a claim's numbers: one is enough."""


def rule_signs(claim: ReadText, window: ReadText, everything: ReadText) -> Signs:
    """What speaks against a claim, each in [0, 1]: 0 where the rule finds nothing.

    `window` are the sentences that speak of it, `everything` the source that they stand in.
    """
    polar, turned = _polar_clash(claim, window)
    return {
        **number_signs(claim, window, everything),
        "opposite": polar,
        "exclusive": _exclusive_clash(claim, window),
        "negation": 0.0 if turned else float(bool(claim.negators) != bool(window.negators)),
        "negation_added": float(claim.negators > 0 and not window.negators and not turned),
        "quantifier": _quantifier_clash(claim, window),
        "only_added": float("only" in claim.quantifiers - window.quantifiers),
        "only_lost": float("only" in window.quantifiers - claim.quantifiers),
        "except_lost": float("except" in window.quantifiers - claim.quantifiers),
        "condition_lost": float(window.conditions > 0 and not claim.conditions),
        "condition_added": float(claim.conditions > 0 and not window.conditions),
        "swapped": _swapped(claim, window),
    }


def objection(signs: Signs) -> tuple[str, bool]:
    """What a rule holds against a claim, or nothing; and whether the source says otherwise."""
    for name, said, against in OBJECTIONS:
        if signs[name] >= 1 or (signs[name] > 0 and name in _BY_SHARE):
            return said, against
    return "", False


def _polar_clash(claim: ReadText, window: ReadText) -> tuple[float, bool]:
    """The share of the claim's concepts that stand the other way in the source; and whether one
    agrees although only one of both is negated: `not allowed` is `forbidden`."""
    concepts = {concept for concept, _, _ in claim.polar}
    clashes, spoken, explained = 0, 0, False
    for concept in concepts:
        mine = {side for name, side, _ in claim.polar if name == concept}
        its = {side for name, side, _ in window.polar if name == concept}
        if not its:
            continue
        spoken += 1
        clashes += not mine & its
        turns = {t for name, _, t in claim.polar if name == concept}
        turned = {t for name, _, t in window.polar if name == concept}
        explained |= bool(mine & its) and turns != turned
    return (clashes / spoken if spoken else 0.0), explained


def _exclusive_clash(claim: ReadText, window: ReadText) -> float:
    for group in EXCLUSIVE:
        mine = {group[w.stem] for w in claim.words if w.stem in group}
        its = {group[w.stem] for w in window.words if w.stem in group}
        if mine - its and its:
            return 1.0
    return 0.0


def _quantifier_clash(claim: ReadText, window: ReadText) -> float:
    """1 where the claim says all and the source most, some or except; .5 where it says nothing."""
    if "all" in claim.quantifiers and "all" not in window.quantifiers:
        return 1.0 if window.quantifiers & {"most", "some", "except", "only"} else 0.5
    if "most" in claim.quantifiers and "some" in window.quantifiers - claim.quantifiers:
        return 1.0
    if claim.quantifiers & {"most", "some"} and window.quantifiers & {"all"} - claim.quantifiers:
        return 0.5
    return 0.0


def _swapped(claim: ReadText, window: ReadText) -> float:
    """The share of pairs of shared words that stand in another order; 0 where the voice differs."""
    if claim.passive != window.passive:
        return 0.0
    first: dict[str, int] = {}
    for place, word in enumerate(window.content):
        first.setdefault(word.stem, place)
    order = [first[s] for s in dict.fromkeys(w.stem for w in claim.content) if s in first]
    pairs = [(a, b) for n, a in enumerate(order) for b in order[n + 1 :]]
    return sum(a > b for a, b in pairs) / len(pairs) if pairs else 0.0
