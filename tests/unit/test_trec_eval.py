"""Retrieval metrics agree with trec_eval, on its own test files and by its properties."""

import math
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.retrieval_metrics import CUTOFFS, NAMES, recall_curve, retrieval_values

Rankings = dict[str, list[str]]
Gains = dict[str, dict[str, int]]

SAID = {
    "P_5": "P@5",
    "P_10": "P@10",
    "recall_5": "R@5",
    "recall_10": "R@10",
    "recip_rank": "RR",
    "ndcg_cut_5": "nDCG@5",
    "ndcg_cut_10": "nDCG@10",
    "success_1": "hit@1",
    "success_5": "hit@5",
    "success_10": "hit@10",
    "P_3": "P@3",
}
"""trec_eval's names that stand in its test outputs, and ours."""

IDS = [f"d{n}" for n in range(12)]
RANKINGS = st.lists(st.sampled_from(IDS), unique=True)
RELEVANT = st.dictionaries(st.sampled_from(IDS), st.integers(1, 3), min_size=1)


@pytest.fixture(scope="module")
def files(test_data: Path) -> Path:
    folder = test_data / "trec_eval"
    if not folder.is_dir():
        pytest.skip(f"{folder} does not exist")
    return folder


def read_run(file: Path, depth: int | None = None) -> Rankings:
    """As trec_eval ranks: by score, ties by id descending; the rank column says nothing."""
    scored: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for line in file.read_text().splitlines():
        question, _, document, _, score = line.split()[:5]
        scored[question].append((float(score), document))
    return {key: [d for _, d in sorted(rows, reverse=True)][:depth] for key, rows in scored.items()}


def read_qrels(file: Path, level: int = 1) -> Gains:
    gains: Gains = defaultdict(dict)
    for line in file.read_text().splitlines():
        question, _, document, gain = line.split()
        gains.setdefault(question, {})
        if int(gain) >= level:
            gains[question][document] = int(gain)
    return dict(gains)


def read_output(file: Path) -> dict[tuple[str, str], str]:
    rows = (line.split() for line in file.read_text().splitlines())
    return {(name, question): value for name, question, value in rows}


def compared(rankings: Rankings, gains: Gains, output: Path, leaving: str = "-") -> int:
    """How many of trec_eval's values ours agree with, to its four decimals."""
    ours = retrieval_values(rankings, gains)
    checked = 0
    for (name, question), value in read_output(output).items():
        if name in SAID and question != "all" and not SAID[name].startswith(leaving):
            assert f"{ours[question][SAID[name]]:.4f}" == value, (name, question)
            checked += 1
    return checked


def test_every_question_agrees_with_trec_eval(files: Path) -> None:
    run, gains = read_run(files / "results.test"), read_qrels(files / "qrels.test")
    assert compared(run, gains, files / "out.test.aq") == 3 * 10
    assert compared(run, gains, files / "out.test.meas_params") >= 3 * 2


def test_the_means_agree_with_trec_eval(files: Path) -> None:
    run, gains = read_run(files / "results.test"), read_qrels(files / "qrels.test")
    ours = retrieval_values(run, gains)
    output = read_output(files / "out.test.a")
    for name in set(SAID) - {"P_3"}:
        mean = sum(values[SAID[name]] for values in ours.values()) / len(ours)
        assert f"{mean:.4f}" == output[name, "all"], name


@pytest.mark.parametrize(
    ("output", "depth"), [("out.test.aqc", None), ("out.test.aqcM", 100)], ids=["-c", "-c -M100"]
)
def test_a_question_without_results_counts_as_trec_eval_counts_it(
    files: Path, output: str, depth: int | None
) -> None:
    gains = read_qrels(files / "qrels.test")
    run = read_run(files / "results.trunc", depth)
    everyone = {question: run.get(question, []) for question in gains}
    assert compared(everyone, gains, files / output) == 3 * 10


def test_graded_judgements_agree_with_trec_eval(files: Path) -> None:
    """-l2 counts only gains of two and more; nDCG takes all of them at their worth."""
    run, file = read_run(files / "results.test"), files / "qrels.rel_level"
    output = files / "out.test.aql"
    assert compared(run, read_qrels(file, level=2), output, leaving="nDCG") == 3 * 8
    graded, said = retrieval_values(run, read_qrels(file)), read_output(output)
    for question, values in graded.items():
        for k in (5, 10):
            assert f"{values[f'nDCG@{k}']:.4f}" == said[f"ndcg_cut_{k}", question], question


def test_every_cutoff_agrees_with_the_judgements_trec_eval_prints(files: Path) -> None:
    """Its relstring says which of the first ten are relevant: hit, P and R at any k follow."""
    run, gains = read_run(files / "results.test"), read_qrels(files / "qrels.test")
    ours, said = retrieval_values(run, gains), read_output(files / "out.test.aq")
    for question, values in ours.items():
        judged = said["relstring", question].strip("'")
        for k in CUTOFFS:
            found = judged[:k].count("1")
            assert values[f"hit@{k}"] == float(found > 0)
            assert values[f"P@{k}"] == pytest.approx(found / k)
            assert values[f"R@{k}"] == pytest.approx(found / int(said["num_rel", question]))


def test_the_recall_curve_agrees_with_trec_eval(files: Path) -> None:
    run, gains = read_run(files / "results.test"), read_qrels(files / "qrels.test")
    depths, said = (5, 10, 20, 100, 500), read_output(files / "out.test.a")
    curve = recall_curve(run, gains, depths)
    assert [f"{value:.4f}" for value in curve] == [said[f"recall_{k}", "all"] for k in depths]


@given(RANKINGS, RELEVANT)
def test_values_keep_their_ranges_and_grow_with_k(
    ranking: list[str], gains: dict[str, int]
) -> None:
    values = retrieval_values({"q": ranking}, {"q": gains})["q"]
    assert set(values) == set(NAMES)
    assert all(0.0 <= value <= 1.0 + 1e-9 for value in values.values())
    for name in ("hit", "R"):
        at_k = [values[f"{name}@{k}"] for k in CUTOFFS]
        assert at_k == sorted(at_k)
    assert {values[f"hit@{k}"] for k in CUTOFFS} <= {0.0, 1.0}
    assert values["P@1"] == values["hit@1"]


@given(RANKINGS, RELEVANT)
def test_the_first_relevant_one_decides_rr(ranking: list[str], gains: dict[str, int]) -> None:
    places = [place for place, one in enumerate(ranking, start=1) if one in gains]
    values = retrieval_values({"q": ranking}, {"q": gains})["q"]
    assert values["RR"] == pytest.approx(1 / places[0] if places else 0.0)


@given(RELEVANT, st.lists(st.sampled_from(["x", "y", "z"]), unique=True))
def test_the_ideal_order_has_an_ndcg_of_1(gains: dict[str, int], rest: list[str]) -> None:
    ideal = sorted(gains, key=lambda one: -gains[one])
    values = retrieval_values({"q": ideal + rest}, {"q": gains})["q"]
    assert all(values[f"nDCG@{k}"] == pytest.approx(1.0) for k in CUTOFFS)


@given(st.permutations(IDS), st.sampled_from(IDS))
def test_the_place_is_the_score_whatever_the_ids_are(order: list[str], wanted: str) -> None:
    """trec_eval would put ties in the order of their ids."""
    values = retrieval_values({"q": order}, {"q": {wanted: 1}})["q"]
    assert values["RR"] == pytest.approx(1 / (order.index(wanted) + 1))


def test_ndcg_is_its_formula_with_linear_gains() -> None:
    # gains 1, 0, 3 of an ideal 3, 1
    values = retrieval_values({"q": ["low", "none", "high"]}, {"q": {"high": 3, "low": 1}})["q"]
    assert values["nDCG@3"] == pytest.approx((1 + 3 / 2) / (3 + 1 / math.log2(3)))
    assert values["nDCG@1"] == pytest.approx(1 / 3)


def test_precision_divides_by_k_however_few_were_found() -> None:
    values = retrieval_values({"q": ["a"]}, {"q": {"a": 1}})["q"]
    assert (values["P@1"], values["P@5"]) == (1.0, pytest.approx(0.2))


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_a_question_that_found_nothing_has_zeros_and_stays(found: list[bool]) -> None:
    rankings = {f"q{n}": ["a"] if hit else [] for n, hit in enumerate(found)}
    gains = {name: {"a": 1} for name in rankings}
    values = retrieval_values(rankings, gains)
    assert [row["hit@1"] for row in values.values()] == [float(hit) for hit in found]
    mean = sum(found) / len(found)
    assert recall_curve(rankings, gains, [1, 5]) == [pytest.approx(mean)] * 2


def test_no_questions_have_no_values() -> None:
    assert retrieval_values({}, {}) == {}
    assert recall_curve({}, {}, [1]) == [0.0]
