"""The runs that one process takes at once; a free place goes to who had none for longest."""

import asyncio
from collections import deque
from itertools import count


class FairSlots:
    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._served: dict[str, int] = {}
        """When each key got a place last; forgotten whenever nobody waits."""
        self._clock = count(1)

    @property
    def free(self) -> int:
        return self._free

    async def take(self, subject: str) -> None:
        """Waits for its turn; who is cancelled meanwhile has taken none."""
        if self._free:
            self._free -= 1
            self._served[subject] = next(self._clock)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(subject, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it came just as its owner left
                self.give_back()
            raise

    def give_back(self) -> None:
        while self._waiting:
            subject = min(self._waiting, key=lambda waiting: self._served.get(waiting, 0))
            turns = self._waiting[subject]
            turn = turns.popleft()
            if not turns:
                del self._waiting[subject]
            if not turn.done():
                self._served[subject] = next(self._clock)
                turn.set_result(None)
                return
        self._served.clear()
        self._free += 1
