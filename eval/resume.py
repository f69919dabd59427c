"""Going on with a run that was cut short: what it asked, and the records that still hold."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.golden import GoldenQuestion
from eval.records import Record, read_records
from eval.results import ASKED, RECORDS
from graph.caching import NOT_DECIDING
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError

DECIDING = (set(GraphSettings.model_fields) - NOT_DECIDING - {"web", "qdrant"}) | {"budget"}
"""Settings that change a record: an evaluation does not search the web, and the version of an index
stands for where it is kept."""

WAITING = {"api_key", "timeout_s", "retries"}
"""Of the chat model, and deciding nothing: a run that timed out may resume with more patience."""


def asked_of(
    about: dict[str, Any], indexes: dict[str, str], settings: GraphSettings
) -> dict[str, Any]:
    """What decides a record, as it stands beside them; `indexes` are versions by base."""
    deciding = settings.model_dump_json(include=DECIDING, exclude={"chat": WAITING})
    return {
        **{name: about[name] for name in ("golden", "versions", "settings")},
        "all_settings": hashlib.sha256(deciding.encode()).hexdigest(),
        "indexes": indexes,
    }


def kept_records(
    out: Path, asked: dict[str, Any], questions: Sequence[GoldenQuestion]
) -> list[Record]:
    """The records in the folder that a run of these questions need not make again: an error does
    not stand for one. None where there is no file of them. Raises ConfigurationError where they
    are of something else than `asked`, and for a line that is no record."""
    file = out / RECORDS
    if not file.exists():
        return []
    if not _goes_on(_read(out / ASKED), asked):
        raise ConfigurationError(
            f"{file} is of another golden set, of other settings or of another version "
            f"({ASKED} differs); run without --resume to begin again"
        )
    ids = {question.id for question in questions}
    found = read_records(file, cut_short=True)
    return [record for record in found if record.ran and record.golden.id in ids]


def _goes_on(before: Any, now: dict[str, Any]) -> bool:
    """Whether all is the same; a larger sample may ask other bases as well."""
    if not isinstance(before, dict) or before.keys() != now.keys():
        return False
    was, is_now = before.pop("indexes"), now["indexes"]
    if not (was.keys() <= is_now.keys() or was.keys() >= is_now.keys()):
        return False
    same = all(was[base] == is_now[base] for base in was.keys() & is_now.keys())
    return same and before == {name: value for name, value in now.items() if name != "indexes"}


def _read(file: Path) -> Any:
    """None where it is missing or broken."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
