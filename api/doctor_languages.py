"""The embedding model, the language it was made for, and bases in other languages."""

from typing import Any

from ingest.errors import ServiceError
from ingest.terminal import counted

MADE_FOR = "en"
"""The language of the default embedder; in others its vectors order worse."""


def model_report(problems: list[str]) -> dict[str, Any]:
    from ingest.adapters.sentence_transformer import WEIGHTS_SHA256, check_model, packaged_model

    model = {"name": "all-MiniLM-L6-v2", "language": MADE_FOR}
    try:
        check_model(packaged_model())
    except ServiceError as error:
        problems.append(error.message)
        return {**model, "state": error.message, "sha256": None}
    state = "its files are those of this release"
    return {**model, "state": state, "sha256": WEIGHTS_SHA256}


def base_line(base: dict[str, Any]) -> str:
    """What a base holds; what of it is in another language than the model's is named."""
    documents = counted(base["documents"], "document")
    line = f"  {base['name']}: {documents}, {counted(base['chunks'], 'passage')}"
    others = [
        f"{count} in {language}"
        for language, count in base.get("languages", {}).items()
        if language != MADE_FOR
    ]
    return f"{line}; {', '.join(others)}: the model was made for {MADE_FOR}" if others else line
