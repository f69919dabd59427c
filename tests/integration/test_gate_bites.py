"""The gate bites: each part that is broken on purpose fails it, on the metric that says so.

`crag eval run`, `accept` and `gate` as a build calls them, on a slice of the handbook, with one
part replaced. All runs share one data folder and every vector.
"""

import contextlib
import io
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

import crag
from graph import compose
from graph.services import Services
from ingest.adapters.embedders import MODELS
from ingest.adapters.transformer_embedder import TransformerEmbedder
from ingest.ports import Encoded, Role
from ingest.settings import IndexSettings
from tests import broken_parts as broken

pytestmark = pytest.mark.timeout(300)
"""The fixture counts as the first test's setup, and other workers may hold the cores."""

ROOT = Path(__file__).parents[2]
FOLDERS = ("archive", "finance", "policies")
ANSWERABLE = "024 035 038 040 064 066 068 069 071 074 077 113 114 128 139".split()
UNANSWERABLE = "176 178 179 181 185 187 189 193 194".split()

POLICY = """
[metrics]
correctness = { drop = 0.07 }
answered_wrong = { rise = 0.05 }
refusal_recall = { drop = 0.12 }
groundedness = { floor = 0.98 }
citation_coverage = { floor = 1.0 }
citation_validity = { floor = 1.0 }
[stages.retrieved]
"R@10" = { drop = 0.07 }
[stages.reranked]
"nDCG@10" = { drop = 0.07 }
"""
"""As eval/gate.toml, with drops of one question's worth on the slice."""

RETRIEVED, RERANKED = "stages.retrieved R@10 drop", "stages.reranked nDCG@10 drop"
CORRECT, WRONG = "metrics correctness drop", "metrics answered_wrong rise"
RECALL, VALIDITY = "metrics refusal_recall drop", "metrics citation_validity floor"

Parts = dict[str, Callable[[Services], Any]]
Replaced = Callable[[Parts], None]


class SharedEmbedder(TransformerEmbedder):
    """Computes a text once in all runs, and outlives them."""

    def __init__(self) -> None:
        super().__init__(MODELS[IndexSettings().embedder]())
        self._known: dict[tuple[Role, str], Encoded] = {}

    async def encode(
        self, texts: Sequence[str], *, role: Role = "passage", bulk: bool = False
    ) -> list[Encoded]:
        new = [text for text in dict.fromkeys(texts) if (role, text) not in self._known]
        encoded = await super().encode(new, role=role)
        self._known |= {(role, text): one for text, one in zip(new, encoded, strict=True)}
        return [self._known[role, text] for text in texts]

    def close(self) -> None:
        """The fixture ends it."""

    def end(self) -> None:
        super().close()


@dataclass
class Slice:
    """Some documents and questions of the handbook, its policy, and the accepted run `first`."""

    path: Path

    def crag(self, *arguments: object) -> tuple[int, str]:
        """The exit code, and what stands on standard output and standard error."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = crag.run([str(one) for one in arguments])
        return code, said.getvalue()

    def run(self, out: str, *more: object, golden: Path | None = None) -> tuple[int, str]:
        asked = golden or self.path / "golden.jsonl"
        where = ("--data-dir", self.path / "data", "--out", self.path / out)
        return self.crag("eval", "run", "--golden", asked, *where, *more)

    def gate(self, out: str, policy: str = POLICY, *more: object) -> tuple[int, str]:
        file = self.path / "gate.toml"
        file.write_text(policy, encoding="utf-8")
        of_run = ("--run", self.path / out, "--baseline", self.path / "baseline.json")
        return self.crag("eval", "gate", *of_run, "--policy", file, "--json", *more)

    def verdict(self, out: str, policy: str = POLICY) -> tuple[int, dict[str, str]]:
        """The gate's exit code and the state of each threshold by its name."""
        code, said = self.gate(out, policy)
        return code, {one["threshold"]: one["state"] for one in json.loads(said)["checks"]}

    def metrics(self, out: str) -> dict[str, Any]:
        return dict(json.loads((self.path / out / "metrics.json").read_text(encoding="utf-8")))

    def copy(self, out: str) -> Path:
        """The accepted run once more, to be spoilt."""
        return Path(shutil.copytree(self.path / "first", self.path / out))


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slice]:
    """After an untouched run that was accepted, and a second one."""
    path = tmp_path_factory.mktemp("gate-bites")
    for folder in FOLDERS:
        shutil.copytree(ROOT / "examples" / "handbook" / folder, path / "documents" / folder)
    lines = (ROOT / "eval" / "golden" / "handbook.jsonl").read_text(encoding="utf-8").splitlines()
    ids = {f"g-{number}" for number in (*ANSWERABLE, *UNANSWERABLE)}
    chosen = [line for line in lines if json.loads(line)["id"] in ids]
    (path / "golden.jsonl").write_text("\n".join(chosen), encoding="utf-8")
    embedder, slice = SharedEmbedder(), Slice(path)
    with pytest.MonkeyPatch.context() as patched:
        place = "ingest.adapters.embedders.open_embedder"
        patched.setattr(place, lambda name: embedder)
        for out, more in (("first", ["--documents", path / "documents"]), ("second", [])):
            code, said = slice.run(out, *more)
            assert code == 0, said
        run, file = path / "first", path / "baseline.json"
        assert slice.crag("eval", "accept", "--run", run, "--baseline", file)[0] == 0
        yield slice
    embedder.end()


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> Replaced:
    """Puts other parts into every service that is opened from here on."""

    def put(parts: Parts) -> None:
        whole = compose.compose_services

        def composed(*arguments: Any) -> tuple[Services, str]:
            services, version = whole(*arguments)
            return replace(services, **{n: made(services) for n, made in parts.items()}), version

        monkeypatch.setattr(compose, "compose_services", composed)

    return put


def test_the_untouched_run_passes(handbook: Slice) -> None:
    code, states = handbook.verdict("second")
    assert code == 0
    assert set(states.values()) == {"pass"}


def test_two_runs_agree(handbook: Slice) -> None:
    first, second = handbook.metrics("first"), handbook.metrics("second")
    assert first.pop("latency_ms").keys() == second.pop("latency_ms").keys()
    assert first == second


def test_the_slice_has_something_to_lose(handbook: Slice) -> None:
    ours = handbook.metrics("first")["metrics"]["corrective"]
    assert ours["correctness"] >= 0.5
    assert ours["refusal_recall"] >= 0.75


@dataclass(frozen=True)
class Break:
    """The parts that are broken, the thresholds that fail, and some that must hold.

    `checked` leaves the run its own check of citations. A run that answers nothing has no citation
    to measure, so that thresholds on these fail too.
    """

    parts: Parts
    fail: set[str]
    hold: set[str]
    checked: bool = True


BREAKS = {
    "the reranker orders backwards, so that the grader sees the worst": Break(
        {"reranker": lambda services: broken.Reversed(services.reranker)},
        {RERANKED, CORRECT},
        {RETRIEVED, WRONG, RECALL},
    ),
    "the grader lets everything pass, and nothing doubts the draft": Break(
        {"grader": lambda services: broken.Open(), "confidence": lambda services: None},
        {RECALL, WRONG},
        {RETRIEVED, RERANKED, VALIDITY},
    ),
    "the grader lets everything pass, and the confidence stops the run": Break(
        {"grader": lambda services: broken.Open()},
        {CORRECT},
        {RETRIEVED, RERANKED, WRONG, RECALL},
    ),
    "the grader lets nothing pass, so that all is refused": Break(
        {"grader": lambda services: broken.Shut()},
        {CORRECT, VALIDITY},
        {RETRIEVED, RERANKED, WRONG, RECALL},
    ),
    "citations point beside their words": Break(
        {"generator": lambda services: broken.Shifted(services.generator)},
        {VALIDITY},
        {RETRIEVED, RERANKED, CORRECT, WRONG, RECALL},
        checked=False,
    ),
    "citations point beside their words, and the run stops them": Break(
        {"generator": lambda services: broken.Shifted(services.generator)},
        {CORRECT},
        {RETRIEVED, RERANKED, WRONG, RECALL},
    ),
    "citations are those of another answer": Break(
        {"generator": lambda services: broken.Elsewhere(services.generator)},
        {VALIDITY},
        {RETRIEVED, RERANKED, CORRECT, WRONG, RECALL},
        checked=False,
    ),
    "stale text is told": Break(
        {"index": lambda services: broken.Stale(services.index)},
        {VALIDITY},
        {RETRIEVED, RECALL},
        checked=False,
    ),
    "stale text is found, and the run stops it": Break(
        {"index": lambda services: broken.Stale(services.index)},
        {CORRECT},
        {RETRIEVED, RECALL, VALIDITY},
    ),
}


@pytest.mark.parametrize("case", BREAKS.values(), ids=BREAKS.keys())
def test_a_broken_part_fails_the_metric_that_says_so(
    handbook: Slice, replaced: Replaced, monkeypatch: pytest.MonkeyPatch, case: Break
) -> None:
    replaced(case.parts)
    if not case.checked:
        replaced({"checker": lambda services: broken.Blind()})
        monkeypatch.setattr("nodes.verdicts.citations_problem", lambda *read: "")
    assert handbook.run("broken")[0] == 0
    code, states = handbook.verdict("broken")
    assert code == 1
    assert {name: states[name] for name in case.fail} == dict.fromkeys(case.fail, "regression")
    assert {name: states[name] for name in case.hold} == dict.fromkeys(case.hold, "pass")


def test_a_run_that_never_refuses_fails_on_its_refusals(
    handbook: Slice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.builder.decline", broken.nearest)
    assert handbook.run("broken")[0] == 0
    code, states = handbook.verdict("broken")
    assert code == 1
    assert (states[RECALL], states[WRONG]) == ("regression", "regression")
    assert (states[RETRIEVED], states[RERANKED], states[VALIDITY]) == ("pass", "pass", "pass")


def test_an_outage_of_one_question_is_incomplete(handbook: Slice, replaced: Replaced) -> None:
    """It ends in a refusal, and the question has no answer: counted, it would be right."""
    only = handbook.path / "outage.jsonl"
    lines = (handbook.path / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    only.write_text("\n".join([*lines[:1], lines[-1]]), encoding="utf-8")
    asked = json.loads(lines[-1])["question"]
    replaced({"index": lambda services: broken.Down(services.index, asked)})
    assert handbook.run("outage", golden=only)[0] == 0
    run, file = handbook.path / "outage", handbook.path / "outage-baseline.json"
    code, said = handbook.crag("eval", "accept", "--run", run, "--baseline", file)
    assert code == 4
    assert "dependency_down" in said
    assert not file.exists()


def test_a_missing_threshold_is_a_configuration_error(handbook: Slice) -> None:
    without = POLICY.replace("correctness = { drop = 0.07 }", "correctness = {}")
    code, said = handbook.gate("second", without)
    assert code == 2
    assert "metrics: correctness has no threshold; give floor or drop" in said


def test_a_verdict_of_before_does_not_stand_for_one_that_failed(handbook: Slice) -> None:
    files = [handbook.path / "reports" / name for name in ("junit.xml", "summary.md")]
    reports = ("--junit", files[0], "--summary", files[1])
    assert handbook.gate("second", POLICY, *reports)[0] == 0
    suite = Xml.parse(files[0]).find("testsuite")
    assert suite is not None
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert files[1].read_text(encoding="utf-8").startswith("## Quality gate passed")
    assert handbook.gate("second", "", *reports)[0] == 2
    assert [file.exists() for file in files] == [False, False]


def test_two_runs_are_compared(handbook: Slice) -> None:
    code, said = handbook.crag("eval", "compare", handbook.path / "first", handbook.path / "second")
    assert code == 0
    n = len(ANSWERABLE) + len(UNANSWERABLE)
    assert f"{n} questions in both; 0 only before, 0 only after" in said
    assert "no longer right" not in said


def test_stale_labels_exit_3_from_the_run_and_from_the_gate(handbook: Slice) -> None:
    line = json.loads((handbook.path / "golden.jsonl").read_text(encoding="utf-8").splitlines()[0])
    line["relevant"][0]["quote"] = "This sentence was never in it."
    stale = handbook.path / "stale.jsonl"
    stale.write_text(json.dumps(line), encoding="utf-8")
    for code, said in (handbook.run("stale", golden=stale), handbook.gate("stale")):
        assert code == 3
        assert f"{line['id']}: {line['relevant'][0]['document']}: 'This sentence" in said


def errored(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [record | {"ran": None, "error": "dependency_down: the disk is gone"}]


def not_a_number(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [record | {"ran": record["ran"] | {"best_grade": float("nan")}}]


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (errored, "(corrective): dependency_down: the disk is gone"),
        (not_a_number, "(corrective): best_grade is no number"),
        (lambda record: [], "(corrective): no record"),
        (lambda record: [record, record], "(corrective): 2 records"),
    ],
    ids=["error", "NaN", "missing", "double"],
)
def test_a_row_that_is_none_is_incomplete_and_never_a_pass(
    handbook: Slice,
    request: pytest.FixtureRequest,
    spoilt: Callable[[dict[str, Any]], list[dict[str, Any]]],
    said: str,
) -> None:
    out = request.node.callspec.id
    file = handbook.copy(out) / "records.jsonl"
    first, *rest = file.read_text(encoding="utf-8").splitlines()
    lines = [*map(json.dumps, spoilt(json.loads(first))), *rest]
    file.write_text("\n".join(lines), encoding="utf-8")
    code, found = handbook.gate(out)
    assert code == 4
    assert f"{json.loads(first)['golden']['id']} {said}" in found
