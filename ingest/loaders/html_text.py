"""What a reader sees of an HTML element, as text."""

import re
from typing import Any

from lxml.etree import iterwalk  # type: ignore[import-untyped]

from ingest.loaders.hiding import hides

BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset"
    " figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu"
    " ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
"""Elements that stand on lines of their own."""

_DROPPED = frozenset(
    "script style template noscript head title nav aside footer svg math iframe object canvas audio"
    " video button select textarea input datalist".split()
)
_DROPPED_ROLES = frozenset("navigation banner contentinfo search complementary".split())
_SPACE = re.compile(r"\s+")


def is_dropped(element: Any) -> bool:
    """Whether a reader does not see the element, or sees it on every page of the site."""
    if element.tag in ("html", "body"):  # hidden until a script has run
        return False
    if element.tag in _DROPPED or element.get("role") in _DROPPED_ROLES:
        return True
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    if element.tag == "header":
        return not _is_within(element, "main", "article") and element.find(".//h1") is None
    if element.tag in ("ul", "ol") and _is_within(element, "header"):
        return True
    return hides(element.get("style", ""))


def _is_within(element: Any, *tags: str) -> bool:
    return next(element.iterancestors(*tags), None) is not None


def spaced(text: str | None) -> str:
    """Text between tags, where a line end is only a space."""
    return _SPACE.sub(" ", text or "")


def visible_text(element: Any, *, keep_space: bool = False) -> str:
    """The text under an element; blocks inside it are parted by a space."""
    parts: list[str] = []
    # Not recursive: pages nest thousands deep, by mistake or on purpose.
    events = iterwalk(element, events=("start", "end"))
    for event, inner in events:
        if event == "start":
            if inner is not element and is_dropped(inner):
                events.skip_subtree()
                continue
            parts.append("\n" if inner.tag == "br" else "")
            parts.append(" " if inner.tag in BLOCKS and not keep_space else "")
            parts.append((inner.text or "") if keep_space else spaced(inner.text))
        elif inner is not element:
            parts.append(" " if inner.tag in BLOCKS and not keep_space else "")
            parts.append((inner.tail or "") if keep_space else spaced(inner.tail))
    return "".join(parts)
