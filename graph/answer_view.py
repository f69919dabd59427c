"""The answer object and search results as lines for a person."""

import textwrap
from collections.abc import Iterator
from typing import Any

from ingest.terminal import counted

WIDTH = 96
REASONS = {
    "no_evidence": "nothing that was found answers the question",
    "ungrounded": "no answer stood up to the check against the documents",
    "conflicting": "the documents contradict each other",
    "out_of_scope": "the documents are about something else",
    "budget": "the time or the calls of this run were spent",
    "dependency_down": "a part that is needed did not respond",
}


def answer_lines(answer: dict[str, Any]) -> list[str]:
    """The answer, then its citations; where it is partial or refused, why and what was tried."""
    lines = [answer["answer"]]
    several = len(answer["searched"]["knowledge_bases"]) > 1
    lines += _sources(answer["citations"], with_base=several)
    if answer.get("confidence") is not None:
        lines += ["", f"Confidence: {answer['confidence']:.2f}"]
    if answer["outcome"] in ("answered_partially", "refused"):
        lines += ["", *_reason(answer), *_searched(answer["searched"])]
    for fault in answer["degraded"]:
        lines.append(f"Degraded: {fault['node']}: {fault['detail']} ({fault['fallback']})")
    return lines


def search_lines(found: dict[str, Any]) -> list[str]:
    """One block for each passage: rank, place, scores, the beginning of its text."""
    if not found["results"]:
        return ["nothing found"]
    lines = []
    for hit in found["results"]:
        status = f" ({hit['status']})" if hit["status"] not in ("", "current") else ""
        lines.append(f"{hit['rank']:>3}  {_place(hit)}{status}  {hit['source']}")
        lines.append("     " + "  ".join(f"{k} {v:g}" for k, v in hit["scores"].items()))
        lines.append("     " + textwrap.shorten(hit["text"], WIDTH - 5, placeholder=" …"))
    timings = found["timings"]
    candidates = counted(found["candidates"], "candidate")
    lines.append(
        f"{candidates}; retrieved in {timings['retrieve_ms']:.0f} ms, "
        f"reranked in {timings['rerank_ms']:.0f} ms"
    )
    return lines


def _sources(citations: list[dict[str, Any]], *, with_base: bool) -> Iterator[str]:
    seen = {citation["n"]: citation for citation in citations}
    if seen:
        yield "\nSources"
    for n, citation in sorted(seen.items()):
        base = f"{citation['knowledge_base']}: " if with_base else ""
        where = f" <{citation['url']}>" if citation["url"] else f"  {base}{citation['source']}"
        found = "  (found by its words, not named)" if citation["attributed"] else ""
        yield f"[{n}] {_place(citation)}{where}".rstrip() + found
        yield from textwrap.wrap(
            f'"{citation["quote"]}"', WIDTH, initial_indent="    ", subsequent_indent="    "
        )


def _place(passage: dict[str, Any]) -> str:
    place = " > ".join(part for part in (passage["title"], passage["heading"]) if part)
    return f"{place}, page {passage['page']}" if passage["page"] is not None else place


def _reason(answer: dict[str, Any]) -> Iterator[str]:
    if answer["outcome"] == "refused":
        reason = answer["reason"]
        yield f"Refused: {reason}: {REASONS.get(reason, '')}".rstrip(": ")
    else:
        yield "Partial: the evidence is ambiguous, divided or not on every part; see the notes"


def _searched(searched: dict[str, Any]) -> Iterator[str]:
    bases = ", ".join(searched["knowledge_bases"]) or "nothing"
    web = f"; the web with {searched['web_sent']!r}" if searched["web"] else "; not the web"
    best = searched["best_grade"]
    grade = f", best grade {best:.2f}" if best is not None else ""
    seen = counted(searched["candidates"], "passage")
    yield f"Searched: {bases}{web}; {seen} seen{grade}"
    if searched["instruction_like"]:
        ordering = counted(len(searched["instruction_like"]), "passage")
        yield f"  in {ordering}: orders to a model, which are not followed or told"
    for query in searched["queries"]:
        yield f"  query: {query['text']}  ({query['technique']})"
