"""The error responses of a route, for the OpenAPI document."""

from typing import Any

from pydantic import BaseModel, Field

from api.errors import TITLES

EXAMPLES = {
    401: ("unauthorized", "send a valid key: Authorization: Bearer <key>"),
    404: ("unknown_knowledge_base", "no knowledge base 'handbok'"),
    409: ("thread_busy", "this thread has a run that has not ended; wait for it or cancel it"),
    413: ("too_large", "the body is larger than 25 MB"),
    422: ("invalid_request", "question: String should have at most 4000 characters"),
    429: ("rate_limited", "8 runs of this key go on and 32 wait; try again in 5 s"),
    503: ("not_ready", "the service is loading its models; try again in a few seconds"),
}


class Problem(BaseModel):
    """RFC 9457, with a `code` that programs can rely on."""

    type: str = "about:blank"
    title: str
    status: int
    code: str = Field(description="Stable; what to switch on.")
    detail: str = Field(description="One sentence for a person.")
    errors: list[dict[str, str]] | None = Field(
        None, description="Each invalid field, for `invalid_request`."
    )
    retry_after_s: int | None = Field(
        None, description="Seconds until another try is worth it, for `rate_limited`."
    )


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """These, and the ones that any route under /v1 may answer: a key that may not use a route is
    told that nothing is there, and any request may bring too large a body."""
    return only(401, 404, *statuses, 413, 422, 429, 503)


def only(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: _response(status) for status in statuses}


def _response(status: int) -> dict[str, Any]:
    code, detail = EXAMPLES[status]
    title = TITLES[status]
    body = {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail}
    return {
        "description": title,
        "content": {
            "application/problem+json": {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "example": body,
            }
        },
    }
