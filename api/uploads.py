"""The files of an upload request: multipart, or one raw body with a name."""

import unicodedata
from collections.abc import AsyncIterator
from typing import Any

from fastapi import Request
from starlette.datastructures import UploadFile

from ingest.errors import InvalidRequest

MAX_FILES = 200
MAX_NAME = 500

BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "files": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "One or several files; a file's name is its source.",
                        }
                    },
                    "required": ["files"],
                }
            },
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


async def uploaded(request: Request, name: str | None) -> AsyncIterator[tuple[str, bytes]]:
    """(source, content) of each file. Raises InvalidRequest where there is none or a bad name."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "multipart/form-data":
        if name is None:
            raise InvalidRequest("send multipart/form-data, or a raw body with ?name=<file name>")
        yield source_name(name), await request.body()
        return
    async with request.form(max_files=MAX_FILES) as form:
        files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
        if not files:
            raise InvalidRequest("the form holds no file")
        sources = [source_name(file.filename or "") for file in files]
        for source, file in zip(sources, files, strict=True):
            yield source, await file.read()


def source_name(name: str) -> str:
    """The name as a relative path with `/`. Raises InvalidRequest for what leads elsewhere."""
    path = name.replace("\\", "/")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    odd = any(unicodedata.category(char) == "Cc" for char in path)
    if not "".join(parts).strip() or ".." in parts or odd or len(path) > MAX_NAME:
        raise InvalidRequest(
            f"a file needs a relative name of 1 to {MAX_NAME} characters without '..'"
        )
    return "/".join(parts)
