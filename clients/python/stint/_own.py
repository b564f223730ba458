"""A limit of the program's own: no gateway, but one count for all threads and forked children."""

import struct
from typing import Dict, Optional

from ._clock import Clock, Nap
from ._errors import RateLimitException
from ._fork import PerProcess
from ._schedule import NEVER, SIZE, Full, Schedule
from ._shared import SharedMemory
from ._steps import Steps

_COUNTERS = struct.Struct("=qqq")  # attempts, admitted, refused
_HEADER = 32
_NO_DEADLINE = 1 << 63


class _Waiter(Nap):
    """due: when its turn is, or None while that is after its deadline and it hopes for somebody to go."""

    __slots__ = ("due", "deadline")

    def __init__(self, clock: Clock, due: Optional[int], deadline: int) -> None:
        super().__init__(clock)
        self.due = due
        self.deadline = deadline

    def next_look(self) -> int:
        return self.deadline if self.due is None else self.due


class _Waiting:
    """Who waits in this process, for each key in the order in which they came."""

    def __init__(self) -> None:
        self.count = 0
        self._lines: Dict[Optional[str], Dict[_Waiter, None]] = {}

    def line(self, key: Optional[str]) -> "list[_Waiter]":
        return list(self._lines.get(key, ()))

    def join(self, key: Optional[str], waiter: _Waiter) -> None:
        self._lines.setdefault(key, {})[waiter] = None
        self.count += 1

    def leave(self, key: Optional[str], waiter: _Waiter) -> None:
        line = self._lines[key]
        del line[waiter]
        if not line:
            del self._lines[key]
        self.count -= 1


class OwnLimit:
    """calls: in each window of period ns. max_waiting: in each process; who comes then is refused at once.

    Everyone who waits is told its turn when it comes, sleeps until then, and wakes once. It is woken
    earlier only to be moved forward, when one before it has given up.
    """

    def __init__(self, calls: int, period: int, max_waiting: int, clock: Clock) -> None:
        self._calls = calls
        self._period = period
        self._max_waiting = max_waiting
        self._clock = clock
        self._shared = SharedMemory(_HEADER + SIZE)
        self._schedule = Schedule(memoryview(self._shared.memory)[_HEADER:], calls, period)
        self._waiting = PerProcess(_Waiting)

    @property
    def counters(self) -> "tuple[int, int, int]":
        """Attempts, admitted, refused: of this process and all that share the limit with it."""
        with self._shared:
            attempts, admitted, refused = _COUNTERS.unpack_from(self._shared.memory, 0)
        return attempts, admitted, refused

    def close(self) -> None:
        """Nothing is held that could be given back before the object goes."""

    async def close_async(self) -> None:
        """As close()."""

    def admit(self, key: Optional[str], wait: bool, timeout: Optional[float]) -> "Steps[None]":
        """Ends when the caller may go; RateLimitException when it may not (within `timeout` s)."""
        now = self._clock.now()
        with self._shared:
            waiter = self._enter(key, wait, timeout, now)
        if waiter is None:
            return
        try:
            while True:
                waiter.until = waiter.next_look()
                if waiter.until <= self._clock.now():
                    with self._shared:
                        if waiter.next_look() <= self._clock.now():
                            self._finish(key, waiter)
                            return
                yield waiter
        except RateLimitException:
            raise
        except BaseException:
            with self._shared:
                self._give_up(key, waiter)
            raise

    def _enter(self, key: Optional[str], wait: bool, timeout: Optional[float],
               now: int) -> Optional[_Waiter]:
        """None: go. Otherwise the caller's place in the line."""
        waiting = self._waiting.get()
        try:
            self._schedule.reserve(key, now, now)
        except Full as full:
            due = full.due
        else:
            self._count(1, 1, 0)
            return None
        if not wait or due == NEVER or waiting.count >= self._max_waiting:
            self._count(1, 0, 1)
            raise self._refusal(due, now, wait)
        self._count(1, 0, 0)
        deadline = _NO_DEADLINE if timeout is None else now + int(timeout * 1e9)
        try:
            waiter = _Waiter(self._clock, self._schedule.reserve(key, now, deadline), deadline)
        except Full:
            waiter = _Waiter(self._clock, None, deadline)
        waiting.join(key, waiter)
        return waiter

    def _finish(self, key: Optional[str], waiter: _Waiter) -> None:
        """Its turn has come, or its time is over."""
        self._waiting.get().leave(key, waiter)
        if waiter.due is None:
            now = self._clock.now()
            try:
                self._schedule.reserve(key, now, now)
            except Full as full:
                self._count(0, 0, 1)
                raise self._refusal(full.due, now, wait=True) from None
        self._count(0, 1, 0)

    def _give_up(self, key: Optional[str], waiter: _Waiter) -> None:
        """Those behind move up: one of each window, as the places of a window are all alike."""
        waiting = self._waiting.get()
        waiting.leave(key, waiter)
        freed = waiter.due
        if freed is None:
            return
        line = waiting.line(key)
        for other in line:
            if other.due is not None and other.due > freed:
                other.due, freed = freed, other.due
                other.wake()
        for other in line:
            if other.due is None and other.deadline >= freed:
                other.due = freed
                other.wake()
                return
        self._schedule.release(key, freed, self._clock.now())

    def _count(self, attempts: int, admitted: int, refused: int) -> None:
        memory = self._shared.memory
        before = _COUNTERS.unpack_from(memory, 0)
        _COUNTERS.pack_into(memory, 0, before[0] + attempts, before[1] + admitted, before[2] + refused)

    def _refusal(self, due: int, now: int, wait: bool) -> RateLimitException:
        limit = f"{self._calls} calls per {self._period / 1e9:g} s"
        if due == NEVER:
            return RateLimitException(f"{limit}: never", self._period / 1e9, never=True)
        remaining = max(0, due - now) / 1e9
        if wait and self._waiting.get().count >= self._max_waiting:
            return RateLimitException(f"{limit}: {self._max_waiting} callers wait already", remaining)
        return RateLimitException(f"{limit} are used up: {remaining:.3f} s remain", remaining)
