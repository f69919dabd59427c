"""The cross-encoder on a real model of random weights: scale, batches, faults, and its start."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crag
from api.doctor import examine, report_lines
from api.settings import Settings
from graph.adapters import model_files
from graph.adapters.cross_encoder import CrossEncoderReranker
from graph.compose import open_graph
from graph.settings import GraphSettings, RerankSettings
from ingest.errors import ConfigurationError, DependencyError
from tests.fakes import a_candidate
from tests.runs import kinds, ports, run
from tests.tiny_models import save_cross_encoder, save_encoder

ROOT = Path(__file__).parents[2]
QUESTION = "How long do refunds take?"
FOUND = [a_candidate(f"c{n}", f"paid within {'days ' * n}", fused=1 - n / 100) for n in range(12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_cross_encoder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture
def reranker(folder: Path) -> Iterator[CrossEncoderReranker]:
    with closing(CrossEncoderReranker(RerankSettings(model=str(folder)))) as made:
        yield made


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of pairs of each call of the model from now on."""
    from sentence_transformers import CrossEncoder

    calls: list[int] = []
    predict = CrossEncoder.predict

    def counting(self: Any, pairs: Any, **more: Any) -> Any:
        calls.append(len(pairs))
        return predict(self, pairs, **more)

    monkeypatch.setattr(CrossEncoder, "predict", counting)
    return calls


async def test_scores_are_the_models_behind_a_sigmoid(
    folder: Path, reranker: CrossEncoderReranker
) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    raw = CrossEncoder(str(folder), activation_fn=torch.nn.Identity())
    logits = raw.predict([(QUESTION, c.chunk.embedded_text) for c in FOUND])
    expected = dict(zip([c.chunk.chunk_id for c in FOUND], 1 / (1 + np.exp(-logits)), strict=True))
    for candidate in await reranker.rerank(QUESTION, FOUND):
        score = candidate.scores["cross_encoder"]
        assert score == pytest.approx(expected[candidate.chunk.chunk_id], abs=1e-5)
        assert candidate.scores["rerank"] == pytest.approx((1 + score) / 2)
    assert len({round(float(score), 4) for score in expected.values()}) > 6


async def test_reads_the_first_ones_and_keeps_the_rest_behind(folder: Path) -> None:
    settings = RerankSettings(model=str(folder), depth=3)
    with closing(CrossEncoderReranker(settings)) as reranker:
        ordered = await reranker.rerank(QUESTION, FOUND)
    assert {c.chunk.chunk_id for c in ordered[:3]} == {"c0", "c1", "c2"}
    assert [c.chunk.chunk_id for c in ordered[3:]] == [f"c{n}" for n in range(3, 12)]
    assert ["cross_encoder" in c.scores for c in ordered] == [True] * 3 + [False] * 9


async def test_questions_that_wait_share_a_call(
    reranker: CrossEncoderReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    await reranker.load()
    calls = counted(monkeypatch)
    await asyncio.gather(*(reranker.rerank(f"{n} days?", FOUND) for n in range(16)))
    assert sum(calls) == 16 * len(FOUND)
    assert len(calls) < 8


async def test_the_event_loop_goes_on_meanwhile(
    reranker: CrossEncoderReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    await reranker.load()
    free = threading.Event()

    def held(model: Any, pairs: Any) -> Any:
        assert free.wait(10), "the event loop stood still"
        return [0.5] * len(pairs)

    monkeypatch.setattr(reranker, "_predict", held)
    waiting = asyncio.create_task(reranker.rerank(QUESTION, FOUND))
    await asyncio.sleep(0.01)
    free.set()
    assert len(await waiting) == len(FOUND)


async def test_a_run_goes_on_in_the_order_of_retrieval_where_it_fails(
    reranker: CrossEncoderReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    await reranker.load()
    monkeypatch.setattr(reranker, "_predict", lambda model, pairs: [float("nan")] * len(pairs))
    with pytest.raises(DependencyError, match="no numbers"):
        await reranker.rerank(QUESTION, FOUND)
    state = await run(ports(reranker=reranker))
    assert kinds(state) == [("rerank", "dependency_down")]
    assert state.outcome == "answered"


async def test_a_model_of_several_scores_is_refused_at_start(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "m", labels=3)
    made = CrossEncoderReranker(RerankSettings(model=str(folder)))
    with closing(made) as reranker, pytest.raises(ConfigurationError, match="3 scores for a pair"):
        await reranker.load()


async def test_a_model_off_the_scale_is_refused_at_start(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "m", bias=float("nan"))
    made = CrossEncoderReranker(RerankSettings(model=str(folder)))
    with closing(made) as reranker, pytest.raises(ConfigurationError, match=r"not in \[0, 1\]"):
        await reranker.load()


async def test_a_model_that_asks_for_raw_logits_gets_a_sigmoid(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "m", bias=9.0)
    config = json.loads((folder / "config.json").read_text())
    config["sentence_transformers"] = {"activation_fn": "torch.nn.modules.linear.Identity"}
    (folder / "config.json").write_text(json.dumps(config))
    with closing(CrossEncoderReranker(RerankSettings(model=str(folder)))) as reranker:
        scores = [c.scores["cross_encoder"] for c in await reranker.rerank(QUESTION, FOUND)]
    assert 0.9 < min(scores) <= max(scores) <= 1


def test_an_embedding_model_is_no_cross_encoder(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no cross-encoder: its architecture is BertModel"):
        CrossEncoderReranker(RerankSettings(model=str(save_encoder(tmp_path / "m"))))


@pytest.mark.parametrize("name", ["BAAI/bge-reranker-base", "/not/there", "no name at all", None])
def test_a_model_that_is_not_here_is_refused_without_a_download(name: str | None) -> None:
    with pytest.raises(ConfigurationError, match=r"CRAG_RERANK__MODEL.*crag models pull"):
        CrossEncoderReranker(RerankSettings(model=name))


def test_an_empty_folder_and_broken_json_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds no model"):
        model_files.find_model(str(tmp_path))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ConfigurationError, match="cannot read"):
        model_files.find_model(str(tmp_path))


async def test_broken_weights_are_told_at_start(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "m")
    (folder / "model.safetensors").write_bytes(b"no weights")
    made = CrossEncoderReranker(RerankSettings(model=str(folder)))
    with closing(made) as reranker, pytest.raises(ConfigurationError, match="cannot be loaded"):
        await reranker.load()


@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_a_backend_without_its_package_is_told(
    folder: Path, backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=rf"CRAG_RERANK__BACKEND={backend}.*\[{backend}\]"):
        CrossEncoderReranker(RerankSettings(model=str(folder), backend=backend))


async def test_the_service_opens_with_it_loads_it_and_closes_it(
    folder: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rerank = RerankSettings(kind="cross_encoder", model=str(folder))
    async with open_graph(GraphSettings(data_dir=store_path / "crag", rerank=rerank)) as service:

        async def loaded() -> None:
            """The embedder's weights take seconds."""

        monkeypatch.setattr(service.corpus.embedder, "load", loaded)
        calls = counted(monkeypatch)
        await service.load()
        assert len(calls) == 2, "the probes at start, and the one that asked for them"
        reranker = service.services.reranker
    with pytest.raises(RuntimeError, match="closed"):
        await reranker.rerank(QUESTION, FOUND)


def test_doctor_tells_which_reranker_and_what_is_missing(folder: Path, tmp_path: Path) -> None:
    def report(model: str) -> dict[str, Any]:
        rerank = RerankSettings(kind="cross_encoder", model=model)
        return examine(Settings(data_dir=tmp_path / "crag", rerank=rerank))

    found = report(str(folder))
    assert f"Reranker     cross_encoder: {folder}, torch" in report_lines(found)
    assert found["problems"] == []
    (problem,) = report("org/absent")["problems"]
    assert "org/absent is no folder" in problem


def test_serve_reads_the_weights_at_start_and_ends_with_one_line_and_2(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "m")
    (folder / "model.safetensors").write_bytes(b"no weights")
    done = subprocess.run(
        [sys.executable, "-m", "crag", "serve", "--port", "0"],
        cwd=ROOT,
        env=os.environ
        | {
            "CRAG_DATA_DIR": str(tmp_path / "crag"),
            "CRAG_RERANK__KIND": "cross_encoder",
            "CRAG_RERANK__MODEL": str(folder),
        },
        capture_output=True,
        text=True,
        timeout=90,
    )
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("crag: ")]
    assert (done.returncode, "cannot be loaded" in line) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


def test_ask_without_its_model_ends_with_one_line_and_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / "crag"))
    monkeypatch.setenv("CRAG_RERANK__KIND", "cross_encoder")
    monkeypatch.setenv("CRAG_RERANK__MODEL", "BAAI/bge-reranker-base")
    assert crag.run(["ask", "Why?", "--kb", "kb"]) == 2
    opening, line = capsys.readouterr().err.splitlines()
    assert opening.startswith("opening the data folder")
    assert "not in this machine's model cache" in line
