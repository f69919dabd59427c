"""Parts YAML front matter from a Markdown file."""

import re

_FENCED = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"\A\s*[\w-]+[ \t]*:", re.ASCII)
_ACL = re.compile(r"^\s*['\"]?acl['\"]?[ \t]*:", re.IGNORECASE | re.MULTILINE)
_MAX = 20_000
"""Characters. YAML in pure Python is slow, and real front matter is a few lines."""


def split_front_matter(text: str) -> tuple[dict[str, object], str]:
    """The declared values and the rest of the text; broken YAML declares nothing
    but an `acl` that nobody understands.

    Values are strings and lists: `version: 1.10` stays `1.10`, a date stays as it was typed.
    """
    match = _FENCED.match(text[:_MAX])
    if match is None:
        return {}, text
    # A thematic break at the top also opens with three dashes; prose after it is kept.
    if match[1].strip() and not _KEY.match(match[1]):
        return {}, text
    return _parse(match[1]), text[match.end() :]


def _unread(source: str) -> dict[str, object]:
    """Who may read a document is not lost with the rest: it stays, and is not understood."""
    return {"acl": "broken front matter; write '*' with quotes"} if _ACL.search(source) else {}


def _parse(source: str) -> dict[str, object]:
    import yaml

    try:
        # BaseLoader makes no objects at all, and no floats of version numbers.
        declared = yaml.load(source, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return _unread(source)
    if not isinstance(declared, dict):
        return _unread(source)
    return {str(key): value for key, value in declared.items()}
