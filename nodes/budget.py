"""One budget per run, asked before every step that costs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from ingest.errors import ServiceError
from nodes.context import Context
from nodes.state import Spent, State

PASSED = "the run's deadline has passed"

RESERVE, RESERVE_S = 0.1, 1.0
"""Share of the deadline, and seconds at most, that are kept for what follows a call that was cut:
a fallback, the check, the answer."""


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
        self._reserve = min(RESERVE_S, RESERVE * (context.deadline_s or 0.0))

    @property
    def calls_left(self) -> int:
        return max(0, self._calls_left - self.spent.chat_calls)

    def begin_call(self) -> None:
        """Raises BudgetSpent where the run may not make another call."""
        if self.spent.chat_calls >= self._calls_left:
            raise BudgetSpent("the run's chat calls are spent")
        if self.spent.tokens >= self._tokens_left:
            raise BudgetSpent("the run's tokens are spent")
        if self.seconds_left(1.0) <= 0:
            raise BudgetSpent(PASSED)
        self.spent = replace(self.spent, chat_calls=self.spent.chat_calls + 1)

    def add(self, tokens: int, usd: float) -> None:
        """What a call took: tokens to and from the model, and their price."""
        self.spent = replace(
            self.spent, tokens=self.spent.tokens + tokens, usd=self.spent.usd + usd
        )

    def seconds_left(self, at_most: float) -> float:
        """For a chat call: never more than `at_most`, and cut while its node still has time for
        what does its work instead."""
        if self._deadline is None:
            return at_most
        return min(at_most, self._deadline - 2 * self._reserve - time.time())

    def port_seconds_left(self) -> float | None:
        """For a port: cut while the run still has time to go on without it. Within the reserve half
        of what is left, so that several that hang one after another end about in time; after the
        deadline, where what was found is still checked and told, a third of the reserve. None: no
        deadline."""
        if self._deadline is None:
            return None
        left = self._deadline - time.time()
        return max(left - self._reserve, min(left, self._reserve) / 2, self._reserve / 3)


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
