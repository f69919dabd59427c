"""What a server says once it is ready: where it is, and what to try with the bases that it has."""

import json

from graph.compose import Service
from ingest.scope import LOCAL, Scope

EXAMPLE, ITS_QUESTION = "handbook", "How long do refunds take?"
"""The base that `make run` fills, and a question that it answers."""


async def first_requests(service: Service, url: str, *, with_key: bool) -> str:
    """Lines for the operator's terminal. Where a key is needed its tenant is not known, so that a
    base of any tenant is named; without one those of this machine alone answer."""
    tenants = await service.corpus.bases.tenants() if with_key else [LOCAL.tenant]
    bases = [
        base
        for tenant in sorted(tenants, key=lambda one: one != LOCAL.tenant)
        for base in await service.corpus.bases.bases(Scope(tenant, manages=True))
    ]
    names = [base.name for base in bases]
    return "\n".join(_lines(url, EXAMPLE if EXAMPLE in names else next(iter(names), ""), with_key))


def _lines(url: str, base: str, with_key: bool) -> list[str]:
    ready = f"Ready on {url} (its documentation: {url}/docs)."
    if not base:
        return [f"{ready} It has no documents yet:", "  crag ingest PATH --kb NAME"]
    key = " -H 'Authorization: Bearer '\"$KEY\"" if with_key else ""
    question = ITS_QUESTION if base == EXAMPLE else "YOUR QUESTION"
    body = json.dumps({"question": question, "knowledge_base": base}, ensure_ascii=False)
    ask = f"-H 'Content-Type: application/json' -d '{body}'"
    return [
        f"{ready} Three requests to try:",
        f"  curl{key} {url}/v1/knowledge-bases",
        f"  curl{key} {url}/v1/ask {ask}",
        f"  curl -N{key} {url}/v1/ask/stream {ask}",
    ]
