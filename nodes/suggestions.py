"""What would help after a refusal: another base, no filter, another spelling, a name, the web."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from nodes.context import Context
from nodes.named_things import ALIKE
from nodes.state import Reason, State
from nodes.words import content_words, guess_language, literals, stem, words

MOST = 3
"""Suggestions of one refusal: more would be read by nobody."""

SHORTEST = 5
"""Letters of a word whose spelling is doubted: shorter words are too often alike."""

FEW = 3
"""Content words of a question that may lack the name of what it asks about."""

NAME = re.compile(r"(?<=[\w,] )[A-ZÁÉÍÓÚÑ]\w+")
"""A name in the middle of a question; in German every noun would be one."""

TEXTS = {
    "en": {
        "again": "Ask again in a moment.",
        "elsewhere": "Another knowledge base may have it: {names}.",
        "emptied": "No document passes the filter {filters}: ask without it.",
        "filtered": "Only documents with {filters} were searched: ask without this filter.",
        "language": "What was found is in {found}: ask in {found}.",
        "spelling": "“{word}” stands nowhere in what was found: did you mean “{near}”?",
        "name": "Name the product, version, place or person that you mean.",
        "web": "The web was not searched.",
    },
    "de": {
        "again": "Fragen Sie gleich noch einmal.",
        "elsewhere": "Eine andere Wissensbasis könnte es enthalten: {names}.",
        "emptied": "Kein Dokument passt zum Filter {filters}: Fragen Sie ohne ihn.",
        "filtered": "Nur Dokumente mit {filters} wurden durchsucht: Fragen Sie ohne diesen Filter.",
        "language": "Was gefunden wurde, ist auf {found}: Fragen Sie auf {found}.",
        "spelling": "„{word}“ steht in keiner der Fundstellen: Meinen Sie „{near}“?",
        "name": "Nennen Sie das Produkt, die Version, den Ort oder die Person.",
        "web": "Im Web wurde nicht gesucht.",
    },
    "es": {
        "again": "Vuelva a preguntar en un momento.",
        "elsewhere": "Otra base de conocimiento podría tenerlo: {names}.",
        "emptied": "Ningún documento pasa el filtro {filters}: pregunte sin él.",
        "filtered": "Solo se buscó en documentos con {filters}: pregunte sin este filtro.",
        "language": "Lo encontrado está en {found}: pregunte en {found}.",
        "spelling": "«{word}» no aparece en nada de lo encontrado: ¿quiso decir «{near}»?",
        "name": "Nombre el producto, la versión, el lugar o la persona.",
        "web": "No se buscó en la web.",
    },
}


LANGUAGE_NAMES = {
    "en": {"de": "German", "es": "Spanish", "fr": "French", "it": "Italian"},
    "de": {"en": "Englisch", "es": "Spanisch", "fr": "Französisch", "it": "Italienisch"},
    "es": {"en": "inglés", "de": "alemán", "fr": "francés", "it": "italiano"},
}


def suggestions(
    state: State, context: Context, reason: Reason, elsewhere: Sequence[str]
) -> list[str]:
    """At most MOST sentences in the question's language, the most likely help first.

    `elsewhere` are knowledge bases that seem to have an answer.
    """
    texts = TEXTS[guess_language(state.standalone)]
    if reason == "dependency_down":
        return [texts["again"]]
    if reason not in ("no_evidence", "ungrounded", "out_of_scope"):
        return []
    found = [
        (kind, values)
        for kind, values in _found(state, context, elsewhere)
        if (reason, kind) != ("out_of_scope", "name")
    ]
    return [texts[kind].format(**values) for kind, values in found][:MOST]


def _found(
    state: State, context: Context, elsewhere: Sequence[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    if elsewhere:
        yield "elsewhere", {"names": ", ".join(elsewhere)}
    if state.filters.conditions:
        kind = "filtered" if state.candidates_seen else "emptied"
        yield kind, {"filters": _shown(state)}
    for language in _other_language(state):
        yield "language", {"found": language}
    for word, near in misspelt(state):
        yield "spelling", {"word": word, "near": near}
    if _may_lack_a_name(state.standalone):
        yield "name", {}
    if not state.web_searched and not context.web:
        yield "web", {}


def _other_language(state: State) -> Iterator[str]:
    """The language of what was found where nothing of it is in the question's, as its reader calls
    it: words reach across no language, and vectors of a model that was made for one badly."""
    asked = guess_language(state.standalone)
    found = Counter(filter(None, (c.chunk.metadata.get("language") for c in state.candidates)))
    if found and asked not in found:
        commonest = found.most_common(1)[0][0]
        if commonest in LANGUAGE_NAMES[asked]:
            yield LANGUAGE_NAMES[asked][commonest]


def _may_lack_a_name(question: str) -> bool:
    named = literals(question) or (guess_language(question) != "de" and NAME.search(question))
    return not named and len(content_words(question)) <= FEW


def misspelt(state: State) -> list[tuple[str, str]]:
    """Words of the question that no candidate has, each with a word of theirs that is like it."""
    if not state.candidates:
        return []
    language = guess_language(state.standalone)
    known = {
        word
        for candidate in state.candidates
        for word in words(
            f"{candidate.chunk.title} {candidate.chunk.heading} {candidate.chunk.text}"
        )
    }
    stems = {stem(word, language) for word in known}
    pairs = []
    for word in content_words(state.standalone):
        if len(word) < SHORTEST or word.isdigit() or stem(word, language) in stems:
            continue
        alike = [k for k in known if k[0] == word[0] and abs(len(k) - len(word)) <= 2]
        near = difflib.get_close_matches(word, sorted(alike), n=1, cutoff=ALIKE)
        if near and not _same_word(word, near[0]):
            pairs.append((word, near[0]))
    return pairs


def _same_word(one: str, other: str) -> bool:
    """An ending more or less is grammar, no misspelling."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short)


def _shown(state: State) -> str:
    return ", ".join(f"{c.key} = {c.within}" for c in state.filters.conditions)
