"""A blend fitted on labels: it finds the sign that tells, and is never judged on what it saw."""

import numpy as np

from eval.datasets import Question
from eval.learned_blend import SIGNS, Asked, cross_validated, fit, ordered, read
from tests.fakes import a_candidate

FIRST = [SIGNS.index("dense"), SIGNS.index("bm25")]


def asked(n: int, telling: str, seed: int = 0) -> Asked:
    """Five candidates; the relevant one has the highest score of `telling`, and others nothing."""
    chance = np.random.default_rng((seed, n))
    relevant = int(chance.integers(5))
    candidates = []
    for i in range(5):
        scores = {"dense": float(chance.random()), "bm25": float(chance.random())}
        scores[telling] += 2.0 * (i == relevant)
        one = a_candidate(f"q{n}c{i}", late_interaction=0.0, fused=0.5, **scores)
        one.chunk.metadata["source"] = f"d{i}"
        candidates.append(one)
    return read("set", Question(f"q{n}", "what is it", {f"d{relevant}": 1}), candidates)


def test_the_sign_that_tells_gets_the_weight() -> None:
    for telling, other in (("dense", "bm25"), ("bm25", "dense")):
        weights = fit([asked(n, telling) for n in range(40)], FIRST, l2=0.001)
        by_name = dict(zip(("dense", "bm25"), weights, strict=True))
        assert by_name[telling] > 3
        assert by_name[telling] > 5 * abs(by_name[other])


def test_signs_that_tell_nearly_all_do_not_throw_the_fit_off() -> None:
    """Among fifty candidates a full Newton step goes too far: the weights turned against the sign
    that tells."""
    questions = []
    for n in range(60):
        chance = np.random.default_rng(n)
        candidates = []
        for i in range(50):
            own = {"dense": float(chance.random()), "bm25": float(chance.random())}
            own["dense"] += 3.0 * (i == 7 or (n == 0 and i < 7))
            one = a_candidate(f"q{n}c{i}", late_interaction=0.0, fused=0.5, **own)
            one.chunk.metadata["source"] = f"d{i}"
            candidates.append(one)
        questions.append(read("set", Question(f"q{n}", "what is it", {"d7": 1}), candidates))
    weights = fit(questions, FIRST, l2=0.001)
    assert weights[0] > 3 and weights[0] > 5 * abs(weights[1])
    gains = cross_validated(questions, FIRST, l2=0.001)["set"]
    assert np.mean(gains) > 0.5


def test_the_gain_is_that_of_questions_which_were_not_fitted_on() -> None:
    gains = cross_validated([asked(n, "bm25") for n in range(40)], FIRST, l2=0.001)["set"]
    assert len(gains) == 40
    assert 0.2 < np.mean(gains) < 0.6
    noise = [asked(n, ("dense", "bm25")[n % 2], seed=1) for n in range(40)]
    unlearnt = cross_validated(noise, [SIGNS.index("kind")], l2=0.001)["set"]
    assert abs(np.mean(unlearnt)) < 0.2


def test_the_fit_is_where_the_loss_is_least() -> None:
    questions = [asked(n, "dense") for n in range(30)]

    def loss(weights: np.ndarray) -> float:
        scores = [one.signs[:, FIRST] @ weights for one in questions]
        chosen = [
            np.log(np.exp(s).sum()) - one.gains @ s
            for s, one in zip(scores, questions, strict=True)
        ]
        return float(np.mean(chosen) + 0.01 * weights @ weights)

    found = fit(questions, FIRST, l2=0.01)
    for step in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]):
        assert loss(found) < loss(found + np.array(step))


def test_signs_are_shares_and_words_of_the_question_count() -> None:
    question = Question("q", "Which code is E-4102 of Berlin?", {"d": 1})
    held = a_candidate("a", "E-4102: Berlin", dense=0.5, bm25=3.0, late_interaction=0.4)
    other = a_candidate("b", "Nothing", dense=0.6, bm25=0.0, late_interaction=0.2)
    signs = read("set", question, [held, other]).signs
    assert ((signs >= 0) & (signs <= 1 + 1e-9)).all()
    by_name = dict(zip(SIGNS, signs.T, strict=True))
    assert by_name["literals"].tolist() == [1, 0]
    assert by_name["rank_dense"].tolist() == [0.5, 1]
    assert by_name["best_rank"].tolist() == [1, 1]
    assert by_name["coverage"][0] > by_name["coverage"][1] == 0


def test_equal_scores_are_ordered_by_id() -> None:
    one = asked(1, "dense")
    order = ordered(one, np.zeros(2), FIRST)
    keys = [candidate.chunk.chunk_id for candidate in order]
    assert keys == sorted(keys)
