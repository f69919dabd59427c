"""Reads one file of any supported type as text, or says in one sentence why it cannot."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePath

from ingest.documents import LoadedDocument
from ingest.errors import LoadError, UnsupportedFile
from ingest.loaders.assembly import Extract
from ingest.loaders.normalise import counted_hidden, one_line

MAX_BYTES = 20 * 1024 * 1024

MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
SUPPORTED = tuple(MEDIA_TYPES)

_MAX_TITLE = 200


def load(path: Path) -> LoadedDocument:
    """The file as text. The only error is LoadError: one sentence, without the path."""
    _suffix(path.name)
    try:
        if not path.is_file():
            raise LoadError("It is no regular file, or it is gone.", code="broken")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is not valid"
        raise LoadError(f"It cannot be opened: {reason}.", code="broken") from error
    return load_bytes(path.name, data)


def load_bytes(name: str, data: bytes) -> LoadedDocument:
    """The content of a file called `name`, which decides how it is read. Raises LoadError."""
    suffix = _suffix(name)
    if len(data) > MAX_BYTES:
        raise LoadError(f"It is larger than {MAX_BYTES // 1024**2} MB.", code="too_large")
    if not data.strip():
        raise LoadError("It is empty.", code="empty")
    try:
        with counted_hidden() as hidden:
            document = _document(name, MEDIA_TYPES[suffix], _loader(suffix)(data))
        return replace(document, hidden=hidden.count)
    except LoadError:
        raise
    except Exception as error:
        # Parsers fail on damaged files in every way there is; this is the one place that knows.
        kind = suffix.removeprefix(".").upper()
        raise LoadError(f"It is damaged, or it is no real {kind} file.", code="broken") from error


def _suffix(name: str) -> str:
    suffix = PurePath(name).suffix.lower()
    if suffix not in MEDIA_TYPES:
        raise UnsupportedFile(
            f"There is no loader for this type; supported: {' '.join(SUPPORTED)}."
        )
    return suffix


def _loader(suffix: str) -> Callable[[bytes], Extract]:
    """Imported on demand: a folder without PDF files never pays for the PDF library."""
    match suffix:
        case ".md" | ".markdown":
            from ingest.loaders.markdown import load_markdown

            return load_markdown
        case ".html" | ".htm":
            from ingest.loaders.html import load_html

            return load_html
        case ".pdf":
            from ingest.loaders.pdf import load_pdf

            return load_pdf
        case ".docx":
            from ingest.loaders.docx import load_docx

            return load_docx
        case _:
            from ingest.loaders.text import load_text

            return load_text


def _document(name: str, media_type: str, extract: Extract) -> LoadedDocument:
    from ingest.loaders.language import detect_language

    assembly = extract.assembly
    text = assembly.text
    if not text.replace("\ufffd", "").strip():
        raise LoadError("It holds no readable text.", code="no_text")
    metadata = dict(extract.metadata)
    language = metadata.get("language") or detect_language(text)
    if language:
        metadata["language"] = language
    title = extract.title or assembly.first_h1 or extract.property_title or _title_of(name)
    return LoadedDocument(text, one_line(title)[:_MAX_TITLE], media_type, assembly.blocks, metadata)


def _title_of(name: str) -> str:
    """`billing-and-plans_v2.md` as "Billing and plans v2"."""
    words = " ".join(PurePath(name).stem.replace("_", " ").replace("-", " ").split())
    return words[:1].upper() + words[1:]
