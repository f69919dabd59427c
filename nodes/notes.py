"""What an answer says of its own sentences, in the question's language."""

from collections.abc import Sequence
from typing import Literal

from ingest.documents import Candidate
from nodes.nearest import label
from nodes.words import guess_language

Text = Literal["version", "date", "superseded", "draft", "older", "side", "replaces", "missing"]

TEXTS: dict[str, dict[Text, str]] = {
    "en": {
        "version": "version {}",
        "date": "of {}",
        "superseded": "no longer current, from {}",
        "draft": "draft, from {}",
        "older": "before, from {}",
        "side": "the documents disagree, {count} of {total} say this",
        "replaces": "newer than {older}, which says “{said}”",
        "missing": "I found nothing on: {}",
    },
    "de": {
        "version": "Version {}",
        "date": "vom {}",
        "superseded": "nicht mehr gültig, aus {}",
        "draft": "Entwurf, aus {}",
        "older": "früher, aus {}",
        "side": "die Dokumente widersprechen sich, {count} von {total} sagen dies",
        "replaces": "neuer als {older}; dort steht „{said}“",
        "missing": "Dazu habe ich nichts gefunden: {}",
    },
    "es": {
        "version": "versión {}",
        "date": "del {}",
        "superseded": "ya no vigente, de {}",
        "older": "antes, de {}",
        "draft": "borrador, de {}",
        "side": "los documentos se contradicen, {count} de {total} dicen esto",
        "replaces": "más reciente que {older}, que dice «{said}»",
        "missing": "No encontré nada sobre esto: {}",
    },
}


def named(candidate: Candidate, question: str = "") -> str:
    """A source as a note names it: with its version and its date, where it has them."""
    texts, metadata = _texts(question), candidate.chunk.metadata
    version, date = (label(metadata.get(key, "")) for key in ("version", "effective"))
    parts = [
        _title(candidate),
        texts["version"].format(version) if version else "",
        texts["date"].format(date) if date else "",
    ]
    return ", ".join(part for part in parts if part)


def status_note(candidate: Candidate, question: str) -> str:
    """What a reader must know of a document that is not current, or nothing."""
    texts, metadata = _texts(question), candidate.chunk.metadata
    version, title = label(metadata.get("version", "")), _title(candidate)
    source = f"{title}, {texts['version'].format(version)}" if version else title
    status = metadata.get("status")
    if status == "superseded":
        return texts["superseded"].format(source)
    return texts["draft"].format(source) if status == "draft" else ""


def older_note(candidate: Candidate, question: str) -> str:
    """Of what is told since the question is of what was; its status, where that says so already."""
    older = _texts(question)["older"].format(named(candidate, question))
    return status_note(candidate, question) or older


def side_note(count: int, total: int, source: str, question: str) -> str:
    """Of an answer that others deny; `source` names where it has a date, or is empty."""
    said = _texts(question)["side"].format(count=count, total=total)
    return f"{said}: {source}" if source else said


def replaces_note(older: Candidate, said: str, question: str) -> str:
    return _texts(question)["replaces"].format(older=named(older, question), said=said)


def not_found(parts: Sequence[str]) -> str:
    """A line that names the parts without an answer, in their language; empty without any."""
    listed = "; ".join(parts)
    return _texts(listed)["missing"].format(listed) if parts else ""


def _title(candidate: Candidate) -> str:
    """No reader checks a note against a source: what a title has no need of is not in it."""
    chunk = candidate.chunk
    return label(chunk.title) or label(chunk.metadata.get("source", "")) or "…"


def _texts(question: str) -> dict[Text, str]:
    return TEXTS[guess_language(question)]
