"""Which HTML attributes leave an element's text unseen."""

import re

_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|font-size\s*:\s*0*\.?0+(?:px|pt|em|rem|%)?\s*(?:;|!|$)"
    r"|(?:text-indent|left|top|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|(?<![-\w])color\s*:\s*transparent|clip\s*:\s*rect\(\s*(?:0|1px)\b",
    re.IGNORECASE,
)
_GIVEN = re.compile(r"\sstyle\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\s(?:hidden(?![\w-])|aria-hidden\s*=\s*[\"']?true)", re.IGNORECASE)


def hides(style: str) -> bool:
    """Whether an element of this style is there and not seen. An opacity of 0 is none of them:
    pages fade their text in."""
    return _STYLE.search(style) is not None


def tag_hides(tag: str) -> bool:
    """The same of a start tag as it is written."""
    styles = [double or single for double, single in _GIVEN.findall(tag)]
    return any(map(hides, styles)) or _ATTRIBUTE.search(_GIVEN.sub("", tag)) is not None
