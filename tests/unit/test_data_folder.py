"""The data folder: one process at a time, a known format, and a lock that a crash frees."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ingest.data_folder import DataFolder, Holder, holder_of, is_held
from ingest.errors import ConfigurationError, DataFolderHeld, UnknownDataFormat

HOLD = """
import sys
from pathlib import Path
from ingest.data_folder import DataFolder
folder = DataFolder(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
folder.close()
"""


@contextmanager
def another_process(path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the folder until its input is closed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.communicate()


def test_a_second_process_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with another_process(tmp_path) as process:
        assert is_held(tmp_path)
        with pytest.raises(DataFolderHeld, match=f"process {process.pid}") as error:
            DataFolder(tmp_path)
    assert "CRAG_DATA_DIR" in str(error.value)
    assert not is_held(tmp_path)
    DataFolder(tmp_path).close()


def test_a_server_that_holds_it_is_named_by_its_address(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.announce(Holder(os.getpid(), "http://127.0.0.1:8000", "secret-token"))
    with pytest.raises(DataFolderHeld, match="serving http://127") as error:
        DataFolder(tmp_path)
    assert "secret-token" not in str(error.value)
    assert holder_of(tmp_path) == Holder(os.getpid(), "http://127.0.0.1:8000", "secret-token")
    folder.close()


def test_a_killed_process_frees_the_lock(tmp_path: Path) -> None:
    with another_process(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert not is_held(tmp_path)
        DataFolder(tmp_path).close()


def test_a_shorter_announcement_leaves_nothing_of_the_longer_one(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.announce(Holder(1, "http://somewhere:8000" * 5, "t"))
    folder.announce(Holder(2))
    assert holder_of(tmp_path) == Holder(2)
    folder.close()
    assert holder_of(tmp_path) is None


def test_a_new_folder_is_open_to_its_owner_alone(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "new")
    folder.close()
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0


def test_the_lock_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    assert (tmp_path / "lock").stat().st_mode & 0o077 == 0
    folder.close()


@pytest.mark.parametrize("found", [b"3\n", b"", b"1.0", b"\xff\xfe\x00"])
def test_an_unknown_format_is_refused_and_not_held(tmp_path: Path, found: bytes) -> None:
    DataFolder(tmp_path).close()
    (tmp_path / "format").write_bytes(found)
    with pytest.raises(UnknownDataFormat, match="CRAG_DATA_DIR"):
        DataFolder(tmp_path)
    assert (tmp_path / "format").read_bytes() == found
    (tmp_path / "format").write_text("2\n")
    DataFolder(tmp_path).close()


def test_an_earlier_format_becomes_the_present_one(tmp_path: Path) -> None:
    DataFolder(tmp_path).close()
    (tmp_path / "format").write_text("1\n")
    (tmp_path / "format.new").write_text("of a process that was killed")
    DataFolder(tmp_path).close()
    assert (tmp_path / "format").read_text() == "2\n"


def test_a_process_killed_while_it_makes_the_folder_leaves_one_that_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(file: Path, text: str) -> None:
        file.touch()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            DataFolder(tmp_path)
    DataFolder(tmp_path).close()
    assert (tmp_path / "format").read_text() == "2\n"


def test_a_folder_of_something_else_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "thesis.docx").write_text("mine")
    with pytest.raises(UnknownDataFormat, match="not empty"):
        DataFolder(tmp_path)
    assert not (tmp_path / "format").exists()


def test_a_folder_that_is_missing_is_made(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / "format").read_text() == "2\n"
    folder.close()


def test_a_path_that_cannot_be_a_folder_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigurationError, match="data folder"):
        DataFolder(tmp_path / "file")
    with pytest.raises(ConfigurationError, match="data folder"):
        DataFolder(tmp_path / "file" / "below")


def test_a_lock_file_with_nonsense_names_nobody(tmp_path: Path) -> None:
    for nonsense in ("", "[]", "{", '{"pid": 1, "more": 2}', "null"):
        (tmp_path / "lock").write_text(nonsense)
        assert holder_of(tmp_path) is None
    assert holder_of(tmp_path / "missing") is None
    assert not is_held(tmp_path / "missing")
