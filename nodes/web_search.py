"""Searches the web where the base has no answer and has opted in; results are graded like any."""

import hashlib
import re

from langgraph.runtime import Runtime

from ingest.documents import Candidate, Chunk, chunk_id
from ingest.errors import DependencyError
from ingest.loaders.normalise import counted_hidden, one_line, printable
from nodes.confidence import too_unsure
from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.masking import PRIVATE
from nodes.ports import WebResult, WebSearch
from nodes.state import State, Update

MAYBE_PRIVATE = re.compile(
    r"\b(?=\w*\d)(?=\w*[A-Za-z])\w{24,}\b"  # a long random token
    r"|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,}(?: ?[A-Z0-9]{1,3})?\b"  # an IBAN, mistyped or not
    r"|\b\d(?:[ \-]?\d){11,}\b"  # an account or card number
)
"""What is not sent though nothing proves it: a question loses little without it."""

MAX_SENT = 300
"""Code points sent to a search engine."""

MAX_PASSAGE = 1_200
"""Code points of one web passage: about a chunk."""

WEB_REVISION = "web"

NOT_SENT = ("not_configured", "nothing_to_send")
"""Failures before anything left this machine; after any other the question is out."""


async def web_search(state: State, runtime: Runtime[Context], *, web: WebSearch) -> Update:
    """Web passages as the new candidates; none, and a recorded fallback, where it fails. Where
    the draft was too unsure to be told, what it was made of is set aside for them."""
    sent = without_private(state.standalone)
    candidates, faults = await or_fallback(
        _search(web, sent), [], node="web_search", fallback="went on without the web"
    )
    if faults and faults[0].kind in NOT_SENT:
        sent = ""
    summary = {
        "sent": sent,
        "results": [{"title": c.chunk.title, "url": c.url} for c in candidates],
        **({"error": faults[0].detail} if faults else {}),
    }
    context = runtime.context or DEFAULTS
    unsure = bool(candidates) and too_unsure(state, context)
    seen = list(dict.fromkeys([*state.candidates_seen, *(c.chunk.chunk_id for c in candidates)]))
    return {
        "web_searched": True,
        "web_sent": sent,
        "candidates": candidates,
        "candidates_seen": seen,
        "evidence": [] if unsure else state.evidence,
        "degraded": [*state.degraded, *faults],
        "summary": summary,
    }


def without_private(text: str) -> str:
    """The question without e-mail addresses, keys, passwords and long numbers."""
    return re.sub(r"\s+", " ", MAYBE_PRIVATE.sub(" ", PRIVATE.sub(" ", text))).strip()[:MAX_SENT]


async def _search(web: WebSearch, query: str) -> list[Candidate]:
    if web.missing:
        raise DependencyError(web.missing, code="not_configured")
    if not query:
        raise DependencyError("nothing was left to send", code="nothing_to_send")
    results = await web.search(query)
    by_page = {result.url: result for result in reversed(results) if _can_be_shown(result)}
    return [_candidate(result, rank) for rank, result in enumerate(reversed(by_page.values()))]


def _can_be_shown(result: WebResult) -> bool:
    """An address with a control character or a space is none."""
    address = result.url
    return address.isprintable() and " " not in address and bool(printable(result.text).strip())


def _candidate(result: WebResult, rank: int) -> Candidate:
    with counted_hidden() as hidden:
        text = printable(result.text)[:MAX_PASSAGE]
    digest = hashlib.sha256(text.encode()).hexdigest()
    identity = chunk_id(result.url, WEB_REVISION, int(digest, 16))
    chunk = Chunk(
        chunk_id=identity,
        document_id=result.url,
        revision=WEB_REVISION,
        ordinal=rank,
        text=text,
        start=0,
        end=len(text),
        title=one_line(printable(result.title)),
        metadata={"hidden_characters": str(hidden.count)} if hidden.count else {},
    )
    return Candidate(chunk, {}, url=result.url)
