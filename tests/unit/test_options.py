"""Options of one run: a client may tighten what the service set, never loosen it."""

from typing import Any

import pytest
from pydantic import ValidationError

from graph.options import AT_LEAST, AT_MOST, options_with_defaults, service_context, tightened
from graph.settings import (
    BudgetSettings,
    CacheSettings,
    GradeSettings,
    GraphSettings,
    RerankSettings,
)
from ingest.errors import InvalidRequest
from ingest.ports import KnowledgeBase
from ingest.scope import LOCAL, Scope
from nodes.context import Context

SETTINGS = GraphSettings(
    grade=GradeSettings(upper=0.6, lower=0.2),
    budget=BudgetSettings(rewrites=2, deadline_s=10.0),
    rerank=RerankSettings(keep=4),
)


def base(web: bool = False) -> KnowledgeBase:
    return KnowledgeBase("kb", "", "2026-01-01", "e", "s", web)


def context(options: dict[str, Any], *, web: bool = False) -> Context:
    return tightened(SETTINGS, base(web), LOCAL, options)


def test_the_service_and_a_run_have_the_same_defaults() -> None:
    assert service_context(GraphSettings(), base(), LOCAL) == Context()


def test_a_cache_that_is_off_stays_off() -> None:
    off = SETTINGS.model_copy(update={"cache": CacheSettings(enabled=False)})
    assert not tightened(off, base(), LOCAL, {"cache": True}).cache
    assert context({"cache": True}).cache
    assert not context({"cache": False}).cache


def test_without_options_the_service_decides() -> None:
    found = context({})
    assert (found.upper, found.lower, found.rewrites, found.deadline_s) == (0.6, 0.2, 2, 10.0)


@pytest.mark.parametrize(
    "options",
    [
        {"upper": 0.7},
        {"lower": 0.3},
        {"rewrites": 0},
        {"deadline_s": 1.0},
        {"keep": 1},
        {"candidates": 1},
        {"tokens": 0},
        {"chat_calls": 0},
        {"sentences": 1},
        {"upper": 0.6, "rewrites": 2},
        {"fusion": "rrf", "exact": True},
        {"strips": False},
    ],
)
def test_tighter_and_free_options_are_taken(options: dict[str, Any]) -> None:
    found = context(options)
    assert {name: getattr(found, name) for name in options} == options


@pytest.mark.parametrize(
    "options",
    [
        {"upper": 0.5},
        {"upper": None},
        {"lower": 0.1},
        {"lower": None},
        {"rewrites": 3},
        {"deadline_s": 11},
        {"deadline_s": None},
        {"keep": 5},
        {"candidates": 51},
        {"tokens": 60_001},
        {"chat_calls": 21},
        {"sentences": 6},
    ],
)
def test_a_looser_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="tightened"):
        context(options)


@pytest.mark.parametrize(
    "options",
    [
        {"rewrites": -1},
        {"upper": 2},
        {"upper": float("nan")},
        {"fusion": "sum"},
        {"deadline_s": 0},
        {"keep": "many"},
        {"tenant": "other"},
        {"principals": ["boss"]},
        {"nonsense": 1},
        {"x" * 500: 1},
    ],
)
def test_a_wrong_or_unknown_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest) as error:
        context(options)
    assert len(error.value.message) < 300


@pytest.mark.parametrize("name", [*AT_MOST, *AT_LEAST])
@pytest.mark.parametrize("value", [True, False])
def test_a_truth_value_is_no_number(name: str, value: bool) -> None:
    with pytest.raises(InvalidRequest) as error:
        context({name: value})
    assert error.value.message == f"option {name}: a number, not {str(value).lower()}"


@pytest.mark.parametrize("options", [{"upper": 0.0}, {"lower": 0.0}, {"upper": 0.0, "lower": 0.0}])
def test_the_thresholds_of_the_calibration_cannot_be_loosened(options: dict[str, Any]) -> None:
    """The service sets none of its own by default; then the calibration's are the service's."""
    with pytest.raises(InvalidRequest):
        tightened(GraphSettings(), base(), LOCAL, options)


@pytest.mark.parametrize(
    ("of_base", "asked", "allowed"),
    [(True, None, True), (True, False, False), (False, True, False), (False, None, False)],
)
def test_the_web_needs_the_base_and_the_client(
    of_base: bool, asked: bool | None, allowed: bool
) -> None:
    options = {} if asked is None else {"web": asked}
    assert context(options, web=of_base).web is allowed


def test_the_scope_comes_from_the_credential() -> None:
    found = tightened(SETTINGS, base(), Scope("acme", ["legal"]), {})
    assert found.scope == Scope("acme", ["legal"])
    assert context({}).scope == LOCAL


def test_the_form_of_studio_starts_from_the_settings_and_keeps_its_bounds() -> None:
    form = options_with_defaults(SETTINGS)
    assert form() == form(upper=0.6, lower=0.2, rewrites=2, deadline_s=10.0, keep=4)
    assert form.model_fields.keys() == Context.model_fields.keys()
    with pytest.raises(ValidationError, match="keep"):
        form(keep=99)
