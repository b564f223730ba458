"""Time, and sleep from which one can be woken: for threads and for asyncio alike."""

import asyncio
import threading
import time
from typing import Any, Optional


class Clock:
    """The system's monotonic clock, which all processes of a machine share. A test brings its own."""

    def now(self) -> int:
        """Nanoseconds."""
        return time.monotonic_ns()

    def wait(self, lock: threading.Lock, seconds: float) -> None:
        """Returns when the lock can be taken or the time is over."""
        lock.acquire(timeout=min(seconds, threading.TIMEOUT_MAX))

    async def wait_async(self, future: "asyncio.Future[None]", seconds: float) -> None:
        """Returns when the future is done or the time is over."""
        await asyncio.wait({future}, timeout=seconds)


SYSTEM_CLOCK = Clock()


class Nap:
    """One sleep. wake() ends it, from any thread, even before it has begun. For one sleeper."""

    __slots__ = ("_clock", "_lock", "_loop", "_future", "until")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._lock.acquire()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._future: Any = None
        self.until = 0  # when to wake, in the clock's nanoseconds

    def wake(self) -> None:
        try:
            self._lock.release()
        except RuntimeError:
            return  # it was woken before
        loop = self._loop
        if loop is not None:
            try:
                loop.call_soon_threadsafe(self._resolve)
            except RuntimeError:
                pass  # the loop was closed over its tasks

    def _resolve(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    def run(self) -> None:
        self._clock.wait(self._lock, max(0, self.until - self._clock.now()) / 1e9)

    async def run_async(self) -> None:
        loop = asyncio.get_running_loop()
        self._future = loop.create_future()
        self._loop = loop
        if not self._lock.locked():
            self._resolve()
        await self._clock.wait_async(self._future, max(0, self.until - self._clock.now()) / 1e9)
        self._lock.acquire(blocking=False)  # for the next sleep
