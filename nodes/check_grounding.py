"""Checks every sentence against the text it cites, tells those that stand, and decides whether
they may be the answer."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from nodes.answer_type import expected_type, holds_type
from nodes.citations import citation_faults, renumbered
from nodes.context import DEFAULTS, Context
from nodes.evidence import has_correct
from nodes.fallback import or_fallback
from nodes.findings import Sentence, Support
from nodes.layout import unmarked
from nodes.notes import not_found
from nodes.parts import unanswered
from nodes.ports import GroundingChecker, Sources, SourceTexts
from nodes.safe_sentences import plain
from nodes.state import Degraded, State, Update
from nodes.verdicts import judged, rejected, sources_of, stages, unjudged
from nodes.words import content_words

REPAIRS = 1

NODE = "check_grounding"

NUMBERED = re.compile(r"\[(\d[\d\s,;–-]*)\]")


async def check_grounding(
    state: State,
    runtime: Runtime[Context],
    *,
    checker: GroundingChecker,
    texts: SourceTexts,
) -> Update:
    """Outcome answered or answered_partially where what stands answers. What fails is rejected, for
    one repair, and dropped where that fails too; what stands is kept.

    A sentence is told as soon as it stands, and stays in the answer: none is told before one that
    stands could be the answer. A check that cannot run fails closed: what it left open is dropped.
    """
    context = runtime.context or DEFAULTS
    draft = _fresh(state)
    telling = _Telling(state, draft, runtime)
    read, faults = await or_fallback(
        sources_of(state, draft, context, texts), None, node=NODE, fallback="declined"
    )
    sources = read or Sources()
    verdicts: dict[int, Support] = {}
    for stage in stages(checker):
        left = [n for n in range(len(draft)) if n not in verdicts]
        if not left or faults:
            break
        found, faults = await or_fallback(
            judged(stage, state, context, [draft[n] for n in left], sources),
            [],
            node=NODE,
            fallback="what was not judged is not told",
        )
        verdicts |= {n: v for n, v in zip(left, found, strict=False) if v is not None}
        telling.tell(verdicts)
    supports = [verdicts.get(n) or unjudged(sentence) for n, sentence in enumerate(draft)]
    return _decided(state, draft, supports, sources, faults, telling)


def shown(sentence: Sentence) -> str:
    """A sentence as it is read: its note, its text without marks of layout, its citation numbers. A
    number in brackets that its text has of its own would point at a source of this answer: `[3]`
    becomes `(3)`."""
    note = f"({sentence.note}) " if sentence.note else ""
    text = NUMBERED.sub(r"(\1)", plain(note + unmarked(sentence.text)))
    return text + "".join(f" [{c.n}]" for c in sentence.citations)


def answers(question: str, sentences: Sequence[Sentence]) -> bool:
    """Whether one of them holds the kind of answer that the question, or its part of it, asks for:
    what is left of a draft need not."""
    return any(
        holds_type(sentence.text, expected_type(asked), asked)
        for sentence in sentences
        for asked in sentence.parts or [question]
    )


class _Telling:
    """Streams what stands, each sentence once, as soon as it cannot be taken back any more."""

    def __init__(self, state: State, draft: Sequence[Sentence], runtime: Runtime[Context]) -> None:
        self._state = state
        self._draft = draft
        self._write = runtime.stream_writer
        self._told: set[int] = set()
        self._first = len(state.kept) + len(state.rejected)
        if answers(state.standalone, state.kept):
            self._told |= set(range(len(state.kept)))

    def tell(self, verdicts: Mapping[int, Support], *, final: bool = False) -> None:
        """All that stand so far, where they answer or the answer is `final`. `index` orders the
        sentences; it counts those that were dropped."""
        standing = dict(enumerate(self._state.kept))
        standing |= {self._first + n: self._draft[n] for n, v in verdicts.items() if v.supported}
        if not final and not answers(self._state.standalone, list(standing.values())):
            return
        for index in sorted(standing.keys() - self._told):
            text = shown(standing[index])
            self._write({"type": "answer.delta", "text": text, "index": index})
            self._told.add(index)

    def tell_missing(self, parts: Sequence[str]) -> None:
        """The last line of an answer to some parts of a question, which names the others."""
        if parts:
            index = self._first + len(self._draft)
            self._write({"type": "answer.delta", "text": not_found(parts), "index": index})


def _fresh(state: State) -> list[Sentence]:
    """The draft; of a repair, what says more than is kept, with citation numbers of its own."""
    if not state.kept:
        return state.draft
    known = [_meaning(sentence.text) for sentence in state.kept]
    more = [s for s in state.draft if not any(_meaning(s.text) <= said for said in known)]
    return renumbered(more, beside=state.kept)


def _meaning(text: str) -> set[str]:
    return {*content_words(text), *re.findall(r"\d+", text)} or {text}


def _decided(
    state: State,
    draft: Sequence[Sentence],
    supports: Sequence[Support],
    sources: Sources,
    faults: Sequence[Degraded],
    telling: _Telling,
) -> Update:
    pairs = list(zip(draft, supports, strict=True))
    failed = [(sentence, support) for sentence, support in pairs if not support.supported]
    kept = [*state.kept, *(sentence for sentence, support in pairs if support.supported)]
    standing = [*state.supports, *(support for support in supports if support.supported)]
    update: Update = {
        "kept": kept,
        "supports": standing,
        "degraded": [*state.degraded, *faults],
        "summary": _summary(draft, supports, sources, faults),
    }
    may_repair = bool(draft) and not faults and state.repairs < REPAIRS
    if (draft and not failed) or (not may_repair and answers(state.standalone, kept)):
        missing = unanswered(state.queries, kept)
        telling.tell(dict(enumerate(supports)), final=True)
        telling.tell_missing(missing)
        partial = faults or state.reservations or missing or not has_correct(state.evidence)
        update["outcome"] = "answered_partially" if partial else "answered"
        update["draft"] = kept
        return update
    if faults:
        update["failed"] = "the answer could not be checked"
        update["summary"]["error"] = update["failed"]
        return update
    if not draft:
        update["summary"]["failed"] = "no sentence answers"
    update["rejected"] = [*state.rejected, *(rejected(*pair, sources) for pair in failed)]
    update["repairs"] = state.repairs + 1
    return update


def _summary(
    draft: Sequence[Sentence],
    supports: Sequence[Support],
    sources: Sources,
    faults: Sequence[Degraded],
) -> dict[str, Any]:
    # Where the texts could not be read, nothing is known of the citations.
    read = [] if faults and not sources.texts else draft
    counted = Counter(fault for one in read for fault in citation_faults(one, sources))
    return {
        "supported": sum(support.supported for support in supports),
        "failed": [
            {"sentence": s.sentence, "problem": s.problem} for s in supports if not s.supported
        ],
        **({"citation_faults": dict(counted)} if counted else {}),
    }
