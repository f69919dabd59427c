"""What the styles and numbering of a Word document make of a paragraph."""

from dataclasses import dataclass, field
from typing import Any

from ingest.loaders.docx_package import W, WordPackage

_DEEPEST_LEVEL = 8
_DEEPEST = 20
"""Of a chain of styles that are based on each other, which may be a circle."""


@dataclass
class Styles:
    """Answers for one document, asked in reading order: numbered items are counted."""

    _styles: dict[str, Any] = field(default_factory=dict)
    _is_bullet: dict[tuple[str, int], bool] = field(default_factory=dict)
    _counters: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, package: WordPackage) -> "Styles":
        return cls(
            _styles_by_id(package.beside_document("styles.xml")),
            _bullets(package.beside_document("numbering.xml")),
        )

    def name(self, paragraph: Any) -> str:
        """The style's built-in English name in lower case, whatever Word's language."""
        chain = self._chain(paragraph)
        return _value(chain[1], "name").lower() if len(chain) > 1 else ""

    def heading_level(self, paragraph: Any) -> int:
        """1 to 6, or 0 for a paragraph that is no heading."""
        for definition in self._chain(paragraph):
            name = _value(definition, "name").lower()
            if name == "title":
                return 1
            if name.startswith("heading ") and name[8:].isdecimal():
                return min(int(name[8:]), 6)
            outline = _value(definition, "pPr", "outlineLvl")
            if outline.isdecimal():
                return min(int(outline) + 1, 6) if int(outline) < 9 else 0
        return 0

    def list_item(self, paragraph: Any) -> tuple[str, int]:
        """The bullet or number of a list item and its depth; nothing for other paragraphs."""
        number = level = ""
        for definition in self._chain(paragraph):
            number = number or _value(definition, "pPr", "numPr", "numId")
            level = level or _value(definition, "pPr", "numPr", "ilvl")
        if number in ("", "0"):
            return "", 0
        depth = min(int(level), _DEEPEST_LEVEL) if level.isdecimal() else 0
        if self._is_bullet.get((number, depth), True):
            return "- ", depth
        counters = self._counters.setdefault(number, [])
        del counters[depth + 1 :]
        counters += [0] * (depth + 1 - len(counters))
        counters[depth] += 1
        return f"{counters[depth]}. ", depth

    def _chain(self, paragraph: Any) -> list[Any]:
        """The paragraph itself, its style, the style that one is based on, and so on."""
        chain = [paragraph]
        style = self._styles.get(_value(paragraph, "pPr", "pStyle"))
        while style is not None and len(chain) < _DEEPEST:
            chain.append(style)
            style = self._styles.get(_value(style, "basedOn"))
        return chain


def _value(element: Any, *path: str) -> str:
    found = element.find("/".join(W + name for name in path))
    return str(found.get(f"{W}val", "")) if found is not None else ""


def _styles_by_id(tree: Any) -> dict[str, Any]:
    if tree is None:
        return {}
    return {style.get(f"{W}styleId", ""): style for style in tree.iterfind(f"{W}style")}


def _bullets(tree: Any) -> dict[tuple[str, int], bool]:
    """Whether a level of a numbering is a bullet; else it counts."""
    if tree is None:
        return {}
    abstract = {item.get(f"{W}abstractNumId"): item for item in tree.iterfind(f"{W}abstractNum")}
    found: dict[tuple[str, int], bool] = {}
    for number in tree.iterfind(f"{W}num"):
        definition = abstract.get(_value(number, "abstractNumId"))
        for level in definition.iterfind(f"{W}lvl") if definition is not None else ():
            depth = level.get(f"{W}ilvl", "")
            if depth.isdecimal():
                kind = _value(level, "numFmt")
                found[number.get(f"{W}numId", ""), int(depth)] = kind in ("bullet", "none", "")
    return found
