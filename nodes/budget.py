"""One budget per run, asked before every step that costs."""

import time

from nodes.context import Context
from nodes.state import State


def out_of_time(state: State, context: Context) -> bool:
    """Whether the wall deadline has passed; a run without a deadline never is."""
    if context.deadline_s is None or not state.started_at:
        return False
    return time.time() - state.started_at > context.deadline_s


def rewrites_left(state: State, context: Context) -> int:
    return max(0, context.rewrites - state.spent.rewrites)
