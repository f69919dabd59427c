"""The tables of settings in docs/ name settings that there are, with their defaults."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from api.settings import Settings

HEAD = re.compile(r"\| setting, `CRAG_(\w+)__…` \| default \|")
DOCS = Path("docs")


def documented() -> Iterator[tuple[str, str, str]]:
    """The group, the name and the default of each row that names a setting."""
    for page in sorted(DOCS.glob("*.md")):
        group = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            head = HEAD.match(line)
            group = head[1] if head else group if line.startswith("|") else ""
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            names = re.findall(r"`([A-Z_]+)`", cells[0]) if group and not head else []
            defaults = cells[1].split(", ") if len(names) > 1 else cells[1:2]
            for n, name in enumerate(names):
                yield group, name, defaults[n] if n < len(defaults) else ""


def default_of(group: str, name: str) -> Any:
    field = Settings.model_fields[group.lower()]
    for part in name.lower().split("__"):
        model = field.annotation
        assert isinstance(model, type) and issubclass(model, BaseModel)
        field = model.model_fields[part]
    made = field.get_default(call_default_factory=True)
    return None if made is PydanticUndefined else made


@pytest.mark.parametrize(("group", "name", "told"), list(documented()))
def test_a_documented_setting_has_its_default(group: str, name: str, told: str) -> None:
    default = default_of(group, name)
    if isinstance(default, bool):
        assert told == str(default).lower()
    elif isinstance(default, int | float):
        assert float(told.replace("_", "")) == default
    elif isinstance(default, list | tuple):
        assert told == ", ".join(map(str, default))
    elif default:
        assert told == str(default)
    else:  # words say what holds instead
        assert not re.fullmatch(r"[\d.]+|true|false", told)


def test_tables_are_found() -> None:
    assert len(list(documented())) > 20
