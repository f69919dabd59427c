"""The trace as a person reads it: each node when it ends, with what it saw and decided."""

from collections.abc import Callable, Iterator
from typing import IO, Any

from ingest.loaders.normalise import printable
from ingest.terminal import counted
from nodes.context import DEFAULTS

Entry = dict[str, Any]
Line = tuple[str, str]
"""(text, style of rich)"""

STATUS_STYLE = {"ok": "green", "fallback": "bold yellow", "error": "bold red"}
VERDICT_STYLE = {"correct": "green", "ambiguous": "yellow", "incorrect": "dim"}
SCORES = ("dense", "bm25", "fused", "late_interaction", "cross_encoder", "chat", "rerank")


def trace_printer(file: IO[str]) -> Callable[[Entry], None]:
    """Prints one entry at a time, in colour on a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=file, highlight=False, soft_wrap=True)

    def show(entry: Entry) -> None:
        head = Text(printable(f"{entry['seq']:>3}  {entry['node']:<22}"), style="bold")
        head.append(f"{entry['ms']:>9.1f} ms  ", style="dim")
        head.append(entry["status"], style=STATUS_STYLE.get(entry["status"], ""))
        console.print(head)
        for text, style in lines_of(entry):
            console.print(Text(printable(f"       {text}"), style=style))

    return show


def lines_of(entry: Entry) -> list[Line]:
    """What the node's summary says, one thought in a line."""
    summary = entry["summary"]
    say = SAYS.get(entry["node"], _anything)
    lines = list(say(summary))
    if "error" in summary:
        lines.append((f"degraded: {summary['error']}", STATUS_STYLE["error"]))
    elif entry["status"] == "fallback":
        lines.append(("degraded: a fallback was taken; see `degraded`", STATUS_STYLE["fallback"]))
    return lines


def _contextualize(summary: Entry) -> Iterator[Line]:
    if "standalone" in summary:
        yield f"read as: {summary['standalone']}", ""


def _cache(summary: Entry) -> Iterator[Line]:
    if summary.get("hit"):
        age, similarity = summary.get("age_s", 0), summary.get("similarity", 0)
        yield f"kept answer, {age:g} s old, to a question {similarity:.3f} near", "green"
    if summary.get("stale"):
        yield f"a kept answer was not served: {summary['stale']}", "yellow"


def _stored(summary: Entry) -> Iterator[Line]:
    yield "the answer is kept" if summary.get("kept") else "the answer is not kept", ""


def _route(summary: Entry) -> Iterator[Line]:
    searched = ", ".join(summary.get("searched", []))
    lead = f"; the first leads by {summary['lead']:.3f}" if "lead" in summary else ""
    yield f"searched: {searched}, of {counted(summary.get('of', 0), 'knowledge base')}{lead}", ""


def _hops(summary: Entry) -> Iterator[Line]:
    for number, hop in enumerate(summary.get("hops", []), start=1):
        yield f"hop {number}: {hop}", ""
    if summary.get("bridge"):
        yield f"bridge: {summary['bridge']}", ""
    elif not summary.get("hops"):
        yield "one look-up is enough", ""


def _plan(summary: Entry) -> Iterator[Line]:
    if summary.get("intent") != "search":
        yield f"intent: {summary.get('intent')}; nothing to search", ""
    for query in summary.get("queries", []):
        yield f"query: {query}", ""
    for beside in summary.get("beside", []):
        yield f"{beside['technique']}: {beside['query']}", ""
    if summary.get("literals"):
        yield f"kept word for word: {', '.join(summary['literals'])}", ""
    for condition in summary.get("filters", []):
        yield f"filter: {condition}", "dim"


def _retrieve(summary: Entry) -> Iterator[Line]:
    for query in summary.get("queries", []):
        yield f"query: {query}", ""
    yield counted(summary.get("candidates", 0), "candidate"), ""
    if summary.get("sources"):
        each = ", ".join(f"{name} {n}" for name, n in summary["sources"].items())
        yield f"each source on its own: {each}", ""
    for name, usual in (("fusion", DEFAULTS.fusion), ("merge", DEFAULTS.merge)):
        if summary.get(name, usual) != usual:
            yield f"{name}: {summary[name]}", ""
    yield from _top(summary)


def _rerank(summary: Entry) -> Iterator[Line]:
    if summary.get("left"):
        yield f"left in {summary['left']}", ""
    if summary.get("no_verdict"):
        yield f"{summary['no_verdict']} passages got no verdict", STATUS_STYLE["fallback"]
    if summary.get("collapsed"):
        yield f"{summary['collapsed']} near duplicates, cited with what stands for them", ""
    if summary.get("older"):
        older = counted(summary["older"], "passage")
        yield f"{older} of a version that another replaces, after the others", ""
    if summary.get("moved"):
        yield f"{summary['moved']} moved, so that others come before the same again", ""
    yield from _top(summary)


def _top(summary: Entry) -> Iterator[Line]:
    for rank, hit in enumerate(summary.get("top", []), start=1):
        scores = "  ".join(f"{name} {hit[name]:.3f}" for name in SCORES if name in hit)
        yield f"{rank}. {_place(hit)}  {scores}", "dim"


def _grade(summary: Entry) -> Iterator[Line]:
    for graded in summary.get("graded", []):
        probability = graded["probability"]
        shown = "    -" if probability is None else f"{probability:.3f}"
        verdict = graded["verdict"]
        yield f"{shown}  {verdict:<9}  {_place(graded)}", VERDICT_STYLE.get(verdict, "")
    for passage in summary.get("instruction-like", []):
        yield f"instruction-like, not told: {passage['place']}", STATUS_STYLE["fallback"]
    if not summary.get("graded"):
        yield "nothing new to grade", ""
    if summary.get("no_verdict"):
        yield (
            f"{counted(summary['no_verdict'], 'passage')} got no verdict",
            STATUS_STYLE["fallback"],
        )


def _rewrite(summary: Entry) -> Iterator[Line]:
    if "because" in summary:
        yield f"because: {summary['because']}", ""
    if "query" in summary:
        yield f"{summary['technique']}: {summary['query']}", ""
    if summary.get("now in"):
        yield f"searched now: {', '.join(summary['now in'])}", ""
    if summary.get("dropped"):
        yield f"filters dropped: {', '.join(summary['dropped'])}", ""
    for place in summary.get("rejected", []):
        yield f"not good enough: {place}", "dim"
    if "loops_over" in summary:
        yield f"no more loops: {summary['loops_over']}", ""


def _web(summary: Entry) -> Iterator[Line]:
    if summary.get("sent"):
        yield f"sent to the web: {summary['sent']}", "bold"
    for result in summary.get("results", []):
        yield f"{result['title']}  {result['url']}", "dim"


def _generate(summary: Entry) -> Iterator[Line]:
    strips = summary.get("strips") or {}
    dropped = f", {counted(strips['dropped'], 'strip')} not read" if strips.get("dropped") else ""
    yield f"from {counted(summary.get('evidence', 0), 'passage')}{dropped}", ""
    if summary.get("around"):
        yield f"{summary['around']} of them with what stands around them", ""
    if summary.get("sections"):
        yield f"{summary['sections']} of them with the section that they are of", ""
    if summary.get("disagreement"):
        yield str(summary["disagreement"]), "yellow"
    if summary.get("older"):
        yield f"{counted(summary['older'], 'older answer')} not told", ""
    for sentence in summary.get("sentences", []):
        yield f"draft: {sentence}", ""


def _confidence(summary: Entry) -> Iterator[Line]:
    if summary.get("confidence") is not None:
        yield f"{summary['confidence']:.3f}; {summary.get('needed', 0):g} is needed", ""


def _ground(summary: Entry) -> Iterator[Line]:
    yield f"{counted(summary.get('supported', 0), 'sentence')} supported", ""
    failed = summary.get("failed", [])
    for sentence in failed if isinstance(failed, list) else []:
        yield f"not supported: {sentence['sentence']} ({sentence['problem']})", "yellow"
    if isinstance(failed, str):
        yield failed, "yellow"
    for fault, n in summary.get("citation_faults", {}).items():
        yield f"citations {fault}: {n}", "yellow"


def _decline(summary: Entry) -> Iterator[Line]:
    detail = f": {summary['detail']}" if summary.get("detail") else ""
    yield f"refused: {summary.get('reason')}{detail}", "yellow"
    for suggestion in summary.get("suggestions", []):
        yield suggestion, "dim"


def _anything(summary: Entry) -> Iterator[Line]:
    """A node that has no view of its own yet."""
    for name, value in summary.items():
        if name != "error":
            yield f"{name}: {value}", ""


def _place(passage: Entry) -> str:
    return " > ".join(part for part in (passage.get("title"), passage.get("heading")) if part)


SAYS: dict[str, Callable[[Entry], Iterator[Line]]] = {
    "contextualize_question": _contextualize,
    "route_question": _route,
    "check_cache": _cache,
    "plan_queries": _plan,
    "follow_hops": _hops,
    "retrieve": _retrieve,
    "rerank": _rerank,
    "grade_documents": _grade,
    "rewrite_query": _rewrite,
    "web_search": _web,
    "generate": _generate,
    "estimate_confidence": _confidence,
    "check_grounding": _ground,
    "store_answer": _stored,
    "decline": _decline,
}
