"""Real files with trouble each give text or one clear error, and nothing else happens."""

import os
import warnings
from pathlib import Path

import pytest

from ingest.errors import LoadError
from ingest.loaders import load


def troubled_files() -> list[Path]:
    """The files of the evaluation data, or none where there is no such data."""
    beside = Path(__file__).parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("CRAG_TEST_DATA") or beside) / "docs" / "files"
    return sorted(folder.iterdir()) if folder.is_dir() else []


FILES = troubled_files()
needs_files = pytest.mark.skipif(not FILES, reason="no docs/files in CRAG_TEST_DATA")

EXPECTED = {
    "unstructured__empty.txt": "empty",
    "unstructured__fake-text-all-whitespace.txt": "empty",
    "unstructured__password.pdf": "encrypted",
    "sample-files__libreoffice-writer-password.pdf": "encrypted",
    "docling__2206.01062_pg3.pdf": "encrypted",
    "tika__testWORD_truncated.docx": "broken",
    "tika__testPDF_malformedXFA.pdf": "broken",
    "tika__testOCR.pdf": "no_text",
    "docling__ocr_test_rotated_180.pdf": "no_text",
    "unstructured__loremipsum-flat.pdf": "no_text",
    "markitdown__random.bin": "unsupported",
}


def outcome(path: Path) -> str:
    """ "text", or the code of the error."""
    try:
        document = load(path)
    except LoadError as error:
        assert error.message.endswith(".") and "\n" not in error.message
        assert path.name not in error.message and "Traceback" not in error.message
        return error.code
    assert document.text.strip() and document.title
    return "text"


@needs_files
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_troubled_file_gives_text_or_one_error(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = outcome(path)
    assert found == EXPECTED.get(path.name, found)
    assert capfd.readouterr() == ("", "")


@needs_files
def test_all_files_are_there_and_most_supported_ones_give_text() -> None:
    found = [outcome(path) for path in FILES]
    assert len(found) == 81
    assert found.count("text") == 39
