"""One budget per run, asked before every step that costs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from ingest.errors import ServiceError
from nodes.context import Context
from nodes.state import Spent, State


class BudgetSpent(ServiceError):
    """No chat call or token of this run is left, or its deadline has passed."""

    code = "budget"


class Meter:
    """What one node spends on chat models. Every call asks it first, whichever port makes it."""

    def __init__(self, state: State, context: Context) -> None:
        self.spent = Spent()
        self._calls_left = context.chat_calls - state.spent.chat_calls
        self._tokens_left = context.tokens - state.spent.tokens
        self._deadline = _deadline(state, context)

    def begin_call(self) -> None:
        """Raises BudgetSpent where the run may not make another call."""
        if self.spent.chat_calls >= self._calls_left:
            raise BudgetSpent("the run's chat calls are spent")
        if self.spent.tokens >= self._tokens_left:
            raise BudgetSpent("the run's tokens are spent")
        if self.seconds_left(1.0) <= 0:
            raise BudgetSpent("the run's deadline has passed")
        self.spent = replace(self.spent, chat_calls=self.spent.chat_calls + 1)

    def add(self, tokens: int, usd: float) -> None:
        """What a call took: tokens to and from the model, and their price."""
        self.spent = replace(
            self.spent, tokens=self.spent.tokens + tokens, usd=self.spent.usd + usd
        )

    def seconds_left(self, at_most: float) -> float:
        """Until the run's deadline, and never more than `at_most`."""
        return at_most if self._deadline is None else min(at_most, self._deadline - time.time())


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(state: State, context: Context) -> Iterator[Meter]:
    """The meter of all calls made inside, also by tasks that are started there."""
    meter = Meter(state, context)
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def meter() -> Meter:
    """The meter of the node that runs now; outside of a run, one with the default limits."""
    return _METER.get() or Meter(State(), Context())


def added(spent: Spent, more: Spent) -> Spent:
    return Spent(
        rewrites=spent.rewrites + more.rewrites,
        chat_calls=spent.chat_calls + more.chat_calls,
        tokens=spent.tokens + more.tokens,
        usd=spent.usd + more.usd,
    )


def out_of_time(state: State, context: Context) -> bool:
    """Whether the wall deadline has passed; a run without a deadline never is."""
    deadline = _deadline(state, context)
    return deadline is not None and time.time() > deadline


def rewrites_left(state: State, context: Context) -> int:
    return max(0, context.rewrites - state.spent.rewrites)


def _deadline(state: State, context: Context) -> float | None:
    if context.deadline_s is None or not state.started_at:
        return None
    return state.started_at + context.deadline_s
