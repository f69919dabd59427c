"""The embedding model, the language it was made for, and bases in other languages."""

from typing import Any

from ingest.errors import ServiceError
from ingest.terminal import counted

MANY = "many"
"""In place of a language: the model was made for many."""


def model_report(name: str, problems: list[str]) -> dict[str, Any]:
    from ingest.adapters.embedders import MODELS

    model = MODELS[name]()
    report = {"name": name, "language": model.language or MANY}
    try:
        model.check()
    except ServiceError as error:
        problems.append(error.message)
        return {**report, "state": error.message, "sha256": None}
    state = f"its files are those of this release, sha256 {model.sha256[:12]}…"
    return {**report, "state": state, "sha256": model.sha256}


def base_line(base: dict[str, Any], *, made_for: str) -> str:
    """What a base holds; what of it is in another language than the model's is named."""
    documents = counted(base["documents"], "document")
    line = f"  {base['name']}: {documents}, {counted(base['chunks'], 'passage')}"
    others = [
        f"{count} in {language}"
        for language, count in base.get("languages", {}).items()
        if made_for not in (MANY, language)
    ]
    return f"{line}; {', '.join(others)}: the model was made for {made_for}" if others else line
