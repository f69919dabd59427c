"""Opens the ZIP package of a Word document, within bounds, and parses its parts."""

import io
import zipfile
from pathlib import PurePosixPath
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from ingest.errors import LoadError

MAX_UNPACKED = 200 * 1024 * 1024
MAX_PART = 40 * 1024 * 1024
"""Bytes of one XML part; its tree takes some ten times as much memory."""

MAX_MEMBERS = 10_000

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
"""The namespace of Word's elements; the strict one is rewritten to it."""

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_DOCUMENT = "word/document.xml"


class WordPackage:
    """The parts of a DOCX file by name, each as an XML tree or None where it is missing."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):
            _refuse_ole(data)
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        members = self._archive.infolist()
        if len(members) > MAX_MEMBERS or sum(member.file_size for member in members) > MAX_UNPACKED:
            raise LoadError("It unpacks to more than this service reads.", code="too_large")
        if any(member.flag_bits & 1 for member in members):
            raise LoadError("It is encrypted and needs a password.", code="encrypted")
        self._names = {member.filename: member for member in members}
        self._document = self._main_part()

    def document(self) -> Any:
        tree = self.part(self._document)
        body = tree.find(f"{W}body") if tree is not None else None
        if body is None:
            raise LoadError("It is no Word document.", code="broken")
        return body

    def beside_document(self, name: str) -> Any:
        """A part in the folder of the main document, such as `styles.xml`."""
        return self.part(str(PurePosixPath(self._document).with_name(name)))

    def part(self, name: str) -> Any:
        member = self._names.get(name)
        if member is None:
            return None
        if member.file_size > MAX_PART:
            raise LoadError("It unpacks to more than this service reads.", code="too_large")
        source = self._archive.read(member).replace(_STRICT, W.strip("{}").encode())
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
        tree = etree.fromstring(source, parser)
        # Word writes none: entities are only there to expand to gigabytes, or to local files.
        if tree.getroottree().docinfo.internalDTD is not None:
            raise LoadError("It declares XML entities, as no Word document does.", code="broken")
        return tree

    def _main_part(self) -> str:
        relations = self.part("_rels/.rels")
        for relation in relations if relations is not None else ():
            if relation.get("Type", "").endswith("/officeDocument"):
                return str(relation.get("Target", "")).lstrip("/")
        return _DOCUMENT


def _refuse_ole(data: bytes) -> None:
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise LoadError("It is encrypted and needs a password.", code="encrypted")
    raise LoadError("It is an old Word file; save it as DOCX first.", code="broken")
