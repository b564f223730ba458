"""A lock that threads and tasks of event loops may wait for, in the order in which they came."""

import threading
from collections import deque
from typing import Deque, Optional

from ._clock import SYSTEM_CLOCK, Nap
from ._steps import Steps


class _Waiter(Nap):
    __slots__ = ("holds",)

    def __init__(self) -> None:
        super().__init__(SYSTEM_CLOCK)
        self.holds = False


class Turnstile:
    """acquire() is a generator of steps; release() by whoever holds it, and it is the next one's."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._line: Deque[_Waiter] = deque()

    def acquire(self, until: Optional[int]) -> "Steps[bool]":
        """Whether it could be had by `until` (ns of the clock; None: however long it takes)."""
        with self._guard:
            if not self._held:
                self._held = True
                return True
            waiter = _Waiter()
            self._line.append(waiter)
        waiter.until = 1 << 62 if until is None else until
        try:
            while not waiter.holds and SYSTEM_CLOCK.now() < waiter.until:
                yield waiter
        except BaseException:
            self._leave(waiter)
            if waiter.holds:
                self.release()
            raise
        if not waiter.holds:
            self._leave(waiter)
        return waiter.holds

    def release(self) -> None:
        with self._guard:
            if self._line:
                waiter = self._line.popleft()
                waiter.holds = True
                waiter.wake()
            else:
                self._held = False

    def _leave(self, waiter: _Waiter) -> None:
        with self._guard:
            if not waiter.holds:
                self._line.remove(waiter)
