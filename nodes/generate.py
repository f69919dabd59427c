"""Writes the answer from the evidence: the correct passages, or else the ambiguous ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from langgraph.runtime import Runtime

from ingest.documents import Candidate
from nodes.bases import bases_of
from nodes.citations import renumbered
from nodes.context import DEFAULTS, Context
from nodes.copies import with_copies
from nodes.evidence import before, usable
from nodes.fallback import or_fallback
from nodes.findings import Evidence, Sentence
from nodes.neighbours import Texts, read_around, widened
from nodes.notes import older_note
from nodes.parts import covers, for_part, parts_of
from nodes.ports import Draft, Generator, SourceTexts
from nodes.settle import Settled, settle
from nodes.state import Degraded, State, Update
from nodes.strips import Refined, refined

NODE = "generate"


@dataclass(frozen=True)
class _Written:
    """What was written for the parts of a question, or for the whole of one that has none."""

    sentences: list[Sentence]
    settled: list[Settled]
    read: list[Refined]
    drafts: list[Draft]


async def generate(
    state: State,
    runtime: Runtime[Context],
    *,
    generator: Generator,
    texts: SourceTexts | None = None,
) -> Update:
    """A draft of cited sentences; empty where the evidence holds no answer. In a repair, what takes
    the place of the rejected ones: empty also where that cannot be written.

    Without `texts`, and where they cannot be read, the passages are read alone.
    """
    context = runtime.context or DEFAULTS
    documents: Texts = {}
    unread: list[Degraded] = []
    if (context.around or context.parent) and texts is not None:
        documents, unread = await or_fallback(
            read_around(texts, context.scope, bases_of(state), state.evidence),
            {},
            node=NODE,
            fallback="passages alone",
        )
    written, faults = await or_fallback(
        _written(generator, state, context, documents),
        _Written([], [], [], []) if state.kept else None,
        node=NODE,
        fallback="no repair" if state.kept else "declined",
    )
    if written is None:
        failed = "the answer could not be written"
        return {
            "failed": failed,
            "degraded": [*state.degraded, *unread, *faults],
            "summary": {"error": failed},
        }
    disagreement = next((s.reservation for s in written.settled if s.reservation), "")
    before = state.reservations if state.kept else []
    notes = [Degraded(NODE, d.kind, d.degraded, "") for d in written.drafts if d.degraded]
    return {
        "draft": with_copies(written.sentences, state.copies, beside=state.kept),
        "reservations": [*dict.fromkeys([*before, *filter(None, [disagreement])])],
        "degraded": [*dict.fromkeys([*state.degraded, *unread, *faults, *notes])],
        "summary": {
            "sentences": [s.text for s in written.sentences],
            "evidence": sum(len(read.evidence) for read in written.read),
            "strips": {
                "kept": sum(read.kept for read in written.read),
                "dropped": sum(read.dropped for read in written.read),
            },
            "sections" if context.parent else "around": sum(read.wider for read in written.read),
            "without": [one.sentence for one in state.rejected],
            "disagreement": disagreement,
            "older": sum(settled.older for settled in written.settled),
        },
    }


async def _written(
    generator: Generator, state: State, context: Context, documents: Texts
) -> _Written:
    """Each part from its own evidence, one after the other: what one told is not told again."""
    written = _Written([], [], [], [])
    parts = parts_of(state.queries)
    for part in parts or [""]:
        evidence = usable(state, part)
        if parts and not evidence:
            continue
        asked = part or state.standalone
        evidence, old = before(asked, evidence, context.day(state.started_at))
        read = refined(evidence) if context.strips else Refined(evidence)
        if documents:
            wider = widened(read.evidence, documents, context.around, parent=context.parent)
            grown = sum(a is not b for a, b in zip(read.evidence, wider, strict=True))
            read = replace(read, evidence=wider, wider=grown)
        kept = [sentence for sentence in state.kept if not parts or part in sentence.parts]
        limit = math.ceil(context.sentences / max(1, len(parts)))
        draft = await _drafted(generator, state, asked, read.evidence, limit, kept)
        settled = settle(
            asked,
            [*kept, *draft.sentences],
            for_part(state.evidence, part),
            by_date=bool(state.derived_filters.conditions),
            rejected=[one.sentence for one in state.rejected],
        )
        known = {one.text for one in kept}
        told = [_of_then(asked, s, old) for s in settled.sentences if s.text not in known]
        written.sentences.extend(replace(s, parts=[part]) if parts else s for s in told)
        written.settled.append(settled)
        written.read.append(read)
        written.drafts.append(draft)
    return replace(written, sentences=_once(written.sentences, parts)) if parts else written


def _of_then(asked: str, sentence: Sentence, old: Mapping[str, Candidate]) -> Sentence:
    """Says that it was so, where nothing else says it."""
    cited = next((old[c.document_id] for c in sentence.citations if c.document_id in old), None)
    return replace(sentence, note=sentence.note or older_note(cited, asked)) if cited else sentence


async def _drafted(
    generator: Generator,
    state: State,
    asked: str,
    evidence: Sequence[Evidence],
    limit: int,
    kept: Sequence[Sentence],
) -> Draft:
    """Raises ValueError for what is no draft."""
    draft = await generator.generate(
        asked, evidence, limit=limit, rejected=state.rejected, kept=kept
    )
    if not isinstance(draft, Draft) or not all(isinstance(s, Sentence) for s in draft.sentences):
        raise ValueError("the generator gave no draft")
    return draft


def _once(sentences: Sequence[Sentence], parts: Sequence[str]) -> list[Sentence]:
    """Numbered as they are read; what answers two parts is told once, for both."""
    told: dict[str, Sentence] = {}
    for one in sentences:
        first = told.get(one.text, one)
        also = [part for part in parts if part in one.parts or covers(one, part)]
        told[one.text] = replace(first, parts=[*dict.fromkeys([*first.parts, *also])])
    return renumbered(list(told.values()))
