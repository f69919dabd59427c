"""The options of one run: a client may tighten what the service set, never loosen it."""

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import ValidationError, create_model

from graph.adapters.calibration import load_calibration
from graph.settings import GraphSettings
from ingest.errors import InvalidRequest
from ingest.ports import KnowledgeBase
from ingest.scope import LOCAL, Scope
from nodes.context import Context

AT_MOST = ("rewrites", "chat_calls", "tokens", "deadline_s", "candidates", "keep", "sentences")
AT_LEAST = ("upper", "lower", "min_confidence")
SWITCHES = ("web", "clarify", "cache")
"""What the service has switched off stays off."""
FREE = ("fusion", "source_candidates", "exact", "rerank", "chat_rerank", "collapse", "per_document",
        "per_source", "latest", "mmr", "around", "parent", "strips", *SWITCHES, "query_filters",
        "parts", "route", "route_margin", "phrasings", "synonyms", "step_back", "hyde", "hops",
        "bridge", "merge", "corrections", "today")  # fmt: skip


def tightened(
    settings: GraphSettings, base: KnowledgeBase, scope: Scope, options: dict[str, Any]
) -> Context:
    """Raises InvalidRequest for an option that is unknown, out of range, or looser."""
    service = service_context(settings, base, scope)
    known = (*AT_MOST, *AT_LEAST, *FREE)
    for name in options:
        if name not in known:
            nearest = difflib.get_close_matches(name[:40], known, n=1, cutoff=0.0)
            raise InvalidRequest(f"unknown option {name[:40]!r}; did you mean {nearest[0]}?")
        if name not in FREE and isinstance(options[name], bool):  # else `true` would be 1
            raise InvalidRequest(f"option {name}: a number, not {str(options[name]).lower()}")
    try:
        context = Context.model_validate(service.model_dump() | options)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in problem["loc"])
        raise InvalidRequest(f"option {name}: {problem['msg']}") from None
    floors = _calibrated(settings) if {"upper", "lower"} & options.keys() else {}
    for name in options:
        bound = getattr(service, name)
        _check_not_looser(
            name, floors.get(name) if bound is None else bound, getattr(context, name)
        )
    return context.model_copy(
        update={name: getattr(service, name) and getattr(context, name) for name in SWITCHES}
    )


def as_one(bases: Sequence[KnowledgeBase]) -> KnowledgeBase:
    """What holds for a run that may search them all: the web only where each one opted in."""
    return replace(bases[0], web=all(base.web for base in bases))


def service_context(settings: GraphSettings, base: KnowledgeBase, scope: Scope) -> Context:
    """The service's own options for a run on this base."""
    return Context(
        tenant=scope.tenant,
        principals=scope.principals,
        candidates=settings.retrieve.candidates,
        fusion=settings.retrieve.fusion,
        source_candidates=settings.retrieve.source_candidates,
        exact=settings.retrieve.exact,
        keep=settings.rerank.keep,
        collapse=settings.rerank.collapse,
        per_document=settings.rerank.per_document,
        per_source=settings.rerank.per_source,
        latest=settings.rerank.latest,
        mmr=settings.rerank.mmr,
        upper=settings.grade.upper,
        lower=settings.grade.lower,
        min_confidence=settings.answer.confidence,
        clarify=settings.answer.clarify,
        sentences=settings.answer.sentences,
        around=settings.answer.around,
        parent=settings.answer.parent,
        query_filters=settings.query.filters,
        parts=settings.query.parts,
        route=settings.query.route,
        route_margin=settings.query.route_margin,
        phrasings=settings.query.phrasings,
        synonyms=settings.query.synonyms,
        step_back=settings.query.step_back,
        hyde=settings.query.hyde,
        hops=settings.query.hops,
        bridge=settings.query.bridge,
        merge=settings.query.merge,
        corrections=settings.query.corrections,
        strips=settings.answer.strips,
        web=base.web,
        rewrites=settings.budget.rewrites,
        chat_calls=settings.budget.chat_calls,
        tokens=settings.budget.tokens,
        cache=settings.cache.enabled,
        mask=settings.privacy.mask,
        deadline_s=settings.budget.deadline_s,
    )


def options_with_defaults(settings: GraphSettings) -> type[Context]:
    """Context with the service's settings as its defaults: the form that Studio shows. There who
    steps through a run wants all of its steps, and no kept answer."""
    no_base = KnowledgeBase("", "", "", "", "", web=False)
    service = service_context(settings, no_base, LOCAL).model_dump() | {"cache": False}
    fields: dict[str, Any] = {
        name: (Annotated[field.annotation, field], service[name])
        for name, field in Context.model_fields.items()
    }
    return create_model("Context", __base__=Context, __doc__=Context.__doc__, **fields)


def _calibrated(settings: GraphSettings) -> dict[str, float]:
    """The strictest thresholds of the calibration: where the service sets none, they hold."""
    models = load_calibration(
        settings.grade.calibration, embedder=settings.embedder
    ).answers.values()
    return {
        "upper": max(model.upper for model in models),
        "lower": max(model.lower for model in models),
    }


def _check_not_looser(name: str, service: Any, asked: Any) -> None:
    if service is None:
        return
    looser = asked is None or (
        (name in AT_MOST and asked > service) or (name in AT_LEAST and asked < service)
    )
    if name in (*AT_MOST, *AT_LEAST) and looser:
        bound = "at most" if name in AT_MOST else "at least"
        raise InvalidRequest(f"option {name}: {bound} {service} here; it may only be tightened")
