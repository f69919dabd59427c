"""A policy says what could fail; one that could not is a configuration error."""

from pathlib import Path

import pytest

from eval.policy import Threshold, load_policy
from ingest.errors import ConfigurationError

ROOT = Path(__file__).parents[2]


def policy(folder: Path, content: str) -> list[Threshold]:
    file = folder / "gate.toml"
    file.write_text(content, encoding="utf-8")
    return load_policy(file)


def test_every_limit_is_a_threshold_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = policy(
        tmp_path,
        """
        [metrics]
        correctness = { floor = 0.5, drop = 0.1 }
        answered_wrong = { ceiling = 0.2, rise = 0.05 }
        loops = { ceiling = 2.5 }
        [stages.reranked]
        "nDCG@10" = { drop = 0.1 }
        [tags.near_miss]
        answered_wrong = { ceiling = 0.3 }
        [gain]
        answered_wrong = { at_most = -0.1 }
        correctness = { at_least = 0.0 }
        """,
    )
    assert [(one.name, one.limit) for one in found] == [
        ("metrics correctness floor", 0.5),
        ("metrics correctness drop", 0.1),
        ("metrics answered_wrong ceiling", 0.2),
        ("metrics answered_wrong rise", 0.05),
        ("metrics loops ceiling", 2.5),
        ("stages.reranked nDCG@10 drop", 0.1),
        ("tags.near_miss answered_wrong ceiling", 0.3),
        ("gain answered_wrong at_most", -0.1),
        ("gain correctness at_least", 0.0),
    ]
    assert [one.rows for one in found[4:8]] == ["metrics", "stages.reranked", "metrics", "metrics"]
    assert [one.tag for one in found[5:8]] == [None, "near_miss", None]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "it has no threshold, so nothing could fail"),
        ("[metrics]", "metrics is empty: name a metric and its threshold"),
        ("metrics = 1", "metrics must be a table, not 1"),
        ("[metrics]\ncorrectness = {}", "correctness has no threshold; give floor or drop"),
        ("[metrics]\ncorrectness = 0.5", "correctness has no threshold; give floor or drop"),
        ("[metrics]\nanswered_wrong = {}", "has no threshold; give ceiling or rise"),
        ("[gain]\nanswered_wrong = {}", "has no threshold; give at_most or at_least"),
        ("[metric]\ncorrectness = { floor = 1 }", "'metric'; did you mean 'metrics'?"),
        ("[metrics]\ncorectness = { floor = 1 }", "'corectness'; did you mean 'correctness'?"),
        ("[metrics]\ncorrectness = { flor = 1 }", "'flor'; did you mean 'floor'?"),
        ("[metrics]\ncorrectness = { ceiling = 1 }", "It takes floor and drop"),
        ("[metrics]\nanswered_wrong = { floor = 0.1 }", "It takes ceiling and rise"),
        ("[stages.ranked]\n'P@5' = { floor = 0.1 }", "'ranked'; did you mean 'reranked'?"),
        ("[stages.graded]\ncorrectness = { floor = 0.1 }", "unknown metric in stages.graded"),
        ("[stages]\ngraded = 1", "stages.graded must be a table"),
        ("[metrics]\ncorrectness = { floor = true }", "floor must be a number, not True"),
        ("[metrics]\ncorrectness = { floor = '0.5' }", "floor must be a number"),
        ("[metrics]\ncorrectness = { floor = nan }", "floor must be a number"),
        ("[metrics]\ncorrectness = { floor = 0 }", "could never fail, or never hold"),
        ("[metrics]\ncorrectness = { floor = 1.5 }", "could never fail, or never hold"),
        ("[metrics]\ncorrectness = { drop = 1 }", "could never fail, or never hold"),
        ("[metrics]\ncorrectness = { drop = 0 }", "could never fail, or never hold"),
        ("[metrics]\nanswered_wrong = { ceiling = 1 }", "could never fail, or never hold"),
        ("[gain]\nanswered_wrong = { at_most = 0.1 }", "could never fail, or never hold"),
        ("[gain]\ncorrectness = { at_least = -0.1 }", "could never fail, or never hold"),
        ("[metrics", "not TOML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^policy .*gate\.toml: ") as raised:
        policy(tmp_path, content)
    assert said in raised.value.message


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.toml: No such file"):
        load_policy(tmp_path / "none.toml")
    (tmp_path / "utf16.toml").write_text("[metrics]", encoding="utf-16")
    with pytest.raises(ConfigurationError, match=r"utf16\.toml: not TOML"):
        load_policy(tmp_path / "utf16.toml")


def test_the_shipped_policy_holds_every_part_of_a_run() -> None:
    found = load_policy(ROOT / "eval" / "gate.toml")
    parts = {one.section.partition(".")[0] for one in found}
    assert parts == {"metrics", "stages", "tags", "gain"}
    held = {one.metric for one in found if one.section == "metrics"}
    assert {"correctness", "answered_wrong", "refusal_recall", "citation_validity"} <= held
