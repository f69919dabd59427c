"""`crag eval draft`: golden questions proposed from a knowledge base, for a person to correct."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.draft_facts import Fact, facts_of, spread
from eval.draft_misses import Stored, swapped
from eval.draft_wording import Wording, template
from eval.golden import GoldenQuestion
from eval.labels import plain
from eval.relevance import read_document, relevant_chunks
from graph.adapters.chat_model import ChatModel
from graph.run_log import open_runs
from graph.settings import ChatSettings, GraphSettings
from ingest.compose import open_index
from ingest.errors import ConfigurationError
from ingest.index import Index
from ingest.ports import DocumentRecord
from ingest.scope import LOCAL

LIMIT = 30
"""Questions, where nobody says how many: as many as a person corrects at a sitting."""

MISSES = 1 / 3
"""Share of questions that no document answers, where so many are found."""

MOST_OF_ONE = 2
"""Near misses that exchange the same name."""

CHECK = "drafted: check the wording"


@dataclass(frozen=True)
class Drafted:
    questions: list[GoldenQuestion]
    by_chat: int = 0


async def draft(
    settings: GraphSettings, base: str, out: Path, *, limit: int, feedback: bool, force: bool
) -> dict[str, Any]:
    """Writes the file; what it holds. Raises ConfigurationError where there is nothing to ask,
    or the file exists already and may not be replaced, and UnknownKnowledgeBase."""
    async with open_index(settings) as corpus:
        await corpus.index.documents(LOCAL, base)
        if feedback:
            runs = open_runs(settings, corpus.folder.path)
            try:
                drafted = Drafted(from_runs(await runs.bad(LOCAL, base), base, limit))
            finally:
                runs.close()
        else:
            await corpus.embedder.load()
            drafted = await _with_chat(settings.chat, corpus.index, base, limit)
            await relevant_chunks(corpus.index, LOCAL, base, drafted.questions)
    if not drafted.questions:
        wanted = "run that was refused, partial or degraded" if feedback else "sentence to ask for"
        raise ConfigurationError(f"{base} has no {wanted}; nothing was written")
    _write(out, drafted.questions, force)
    answerable = sum(question.answerable for question in drafted.questions)
    return {
        "out": str(out),
        "knowledge_base": base,
        "n": len(drafted.questions),
        "answerable": answerable,
        "not_answerable": len(drafted.questions) - answerable,
        "chat_wordings": drafted.by_chat,
    }


async def from_documents(index: Index, base: str, limit: int, wording: Wording) -> Drafted:
    """Questions over documents and passages as varied as the base has them, and near misses."""
    documents = await index.documents(LOCAL, base)
    facts = await _varied(index, base, documents, limit)
    stored = Stored([await _all_text(index, base, document) for document in documents])
    asked: dict[str, GoldenQuestion] = {}
    misses = await _misses(facts, base, round(limit * MISSES), stored, wording)
    for fact in facts:
        if len(asked) == limit - len(misses):
            break
        question = await wording.worded(fact)
        if question is not None and plain(question) not in asked:
            name = f"draft-{len(asked) + 1:03d}"
            asked[plain(question)] = _answerable(name, base, question, fact)
    missed = [miss for miss in misses if plain(miss.question) not in asked]
    return Drafted([*asked.values(), *missed], wording.by_chat)


def from_runs(runs: Sequence[dict[str, Any]], base: str, limit: int) -> list[GoldenQuestion]:
    """Each question of a bad run once. Whether it can be answered is for a person to say."""
    found: dict[str, GoldenQuestion] = {}
    for run in runs:
        key = plain(run["question"])
        if not key or key in found or len(found) == limit:
            continue
        how = {"refused": "refused", "answered_partially": "answered in part"}
        found[key] = GoldenQuestion(
            id=f"feedback-{len(found) + 1:03d}",
            knowledge_base=base,
            question=run["question"],
            answerable=False,
            relevant=[],
            split="dev",
            note=f"was {how.get(run['outcome'], 'degraded')}: decide",
        )
    return list(found.values())


async def _with_chat(chat: ChatSettings, index: Index, base: str, limit: int) -> Drafted:
    if chat.model is None:
        return await from_documents(index, base, limit, Wording())
    model = ChatModel(chat.model, chat)
    try:
        return await from_documents(index, base, limit, Wording(model))
    finally:
        await model.close()


async def _varied(
    index: Index, base: str, documents: Sequence[DocumentRecord], limit: int
) -> list[Fact]:
    """Facts of current documents, one of each document in turn: more than are asked for."""
    current = [d for d in documents if d.status == "current" and d.duplicate_of is None]
    most = max((document.chunks for document in documents), default=0)
    found: list[list[Fact]] = []
    for document in sorted(current, key=lambda d: spread(d.source)):
        if len(found) >= 2 * limit:
            break
        text, chunks = await read_document(index, LOCAL, base, document, most)
        ordered = sorted(chunks, key=lambda chunk: chunk.ordinal)
        facts = [fact for fact in facts_of(document, text, ordered) if template(fact)]
        if facts:
            found.append(facts)
    longest = max(map(len, found), default=0)
    return [facts[turn] for turn in range(longest) for facts in found if turn < len(facts)]


async def _all_text(index: Index, base: str, document: DocumentRecord) -> str:
    text = await index.text(LOCAL, base, document.document_id, document.revision)
    return f"{document.source}\n{document.title}\n{text or ''}"


async def _misses(
    facts: Sequence[Fact], base: str, limit: int, stored: Stored, wording: Wording
) -> list[GoldenQuestion]:
    """One of each document first, then more; the template where the chat model left the name out
    that is exchanged."""
    found: dict[str, GoldenQuestion] = {}
    replaced: Counter[str] = Counter()
    for fact in facts:
        by_template = template(fact)
        if len(found) == limit:
            break
        planned = swapped(by_template, stored) if by_template else None
        if by_template is None or planned is None or replaced[planned[1]] >= MOST_OF_ONE:
            continue
        said = await wording.worded(fact) or by_template
        exchanged = swapped(said, stored) or planned
        if exchanged is None or plain(exchanged[0]) in found:
            continue
        question, old, new = exchanged
        replaced[old] += 1
        found[plain(question)] = GoldenQuestion(
            id=f"draft-miss-{len(found) + 1:03d}",
            knowledge_base=base,
            question=question,
            answerable=False,
            relevant=[],
            split="dev",
            tags=["near_miss"],
            note=f"{CHECK}; {new} stands in no document, {old} does ({fact.document})",
        )
    return list(found.values())


def _answerable(name: str, base: str, question: str, fact: Fact) -> GoldenQuestion:
    return GoldenQuestion.model_validate(
        {
            "id": name,
            "knowledge_base": base,
            "question": question,
            "answerable": True,
            "relevant": [{"document": fact.document, "quote": fact.sentence}],
            "must_contain": [fact.value],
            "split": "dev",
            "tags": ["lookup"],
            "note": CHECK,
        }
    )


def _write(out: Path, questions: Sequence[GoldenQuestion], force: bool) -> None:
    lines = [question.model_dump_json(exclude_unset=True) + "\n" for question in questions]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
    except FileExistsError:
        raise ConfigurationError(f"{out} exists; --force replaces it") from None
    except OSError as error:
        raise ConfigurationError(f"{out} cannot be written: {error.strerror}") from None
