"""Lock: a place among `max`, for a block or from acquire() to release()."""

import asyncio
import math
import threading
from types import TracebackType
from typing import List, Optional, Type, Union
from weakref import WeakKeyDictionary

from ._errors import NotHeld, attach
from ._fork import PerProcess
from ._lease import Lease, Lost
from ._locks import Attempt, locks_at
from ._steps import run, run_async


class Unlimited:
    """The lease of a lock that lets everybody in: nobody was asked, and there is nothing to lose."""

    id = ""
    max = math.inf
    fencing_token = 0
    waited = 0.0
    deadline = math.inf
    lost = False
    on_lost: Optional[Lost] = None
    is_inherited = False

    def __init__(self, key: str) -> None:
        self.key = key

    def release(self) -> None:
        pass

    async def release_async(self) -> None:
        pass

    def renew(self) -> None:
        pass

    async def renew_async(self) -> None:
        pass


AnyLease = Union[Lease, Unlimited]


class Lock:
    """At most `max` holders of `key`, over all that use the gateway.

        with Lock("product", 3) as lease: ...           # LockFailureException if 3 are inside
        with Lock("product", 3, timeout=10) as lease: ...  # waits up to 10 s, first come first served
        lease.fencing_token, lease.lost, lease.on_lost = stop

    and for asyncio `async with Lock(...)`, acquire_async(), release_async(). Threads and tasks may share
    the object, each with leases of its own; it may be used again, and inside itself where max lets it.

    key: any text. max: 1 is a mutex; math.inf lets everybody in without a question; None: what the gateway
        is configured with, or 1. StintError (422) if another number than the lock's.
    timeout: seconds to wait for a place, 0 or more. Above 60 s the place in the line is kept 60 s at a time.
    ttl: seconds after which the lease of a holder that is frozen or cut off ends. The package renews it
        every ttl/3; a holder whose process ends is free at once, as its connection ends.
    url, token: as of RateLimiter. owner: what the gateway's list shows; by default this host and process.
    on_lost: called with a lease that could not be kept.

    A gateway that is away or silent is tried for 0.9 s beyond `timeout`; then StintUnavailable.
    A release that fails raises (LeaseLost, StintUnavailable), but never in place of the block's own
    exception: then it is a note of that.
    """

    def __init__(self, key: str, max: Optional[float] = 1, timeout: float = 0, ttl: float = 30, *,
                 url: Optional[str] = None, token: Optional[str] = None, owner: Optional[str] = None,
                 on_lost: Optional[Lost] = None) -> None:
        self.key = key
        self.on_lost = on_lost
        self._unlimited = max == math.inf
        self._locks = locks_at(url, token)
        self._kind = (key, 1 if self._unlimited else max, timeout, ttl, owner)
        self._locks.terms(self._kind)  # says what is wrong with them
        self._of_thread = threading.local()
        self._of_task: "Optional[PerProcess[WeakKeyDictionary[asyncio.Task[object], List[AnyLease]]]]" = None

    def acquire(self) -> AnyLease:
        """As entering the block does. LockFailureException: no place within `timeout`."""
        if self._unlimited:
            lease: AnyLease = Unlimited(self.key)
        else:
            attempt = Attempt(self._locks, self._locks.terms(self._kind))
            lease = attempt.at_once() or run(attempt.steps())
            if self.on_lost is not None:
                lease.on_lost = self.on_lost
        try:
            self._of_thread.leases.append(lease)
        except AttributeError:
            self._of_thread.leases = [lease]
        return lease

    def release(self) -> None:
        """Of this thread's leases the last one. NotHeld if it has none; LeaseLost if it had ended before."""
        self._pop(getattr(self._of_thread, "leases", None)).release()

    async def acquire_async(self) -> AnyLease:
        """As acquire(), without blocking the event loop."""
        if self._unlimited:
            lease: AnyLease = Unlimited(self.key)
        else:
            lease = await run_async(Attempt(self._locks, self._locks.terms(self._kind)).steps())
            if self.on_lost is not None:
                lease.on_lost = self.on_lost
        self._task_leases().append(lease)
        return lease

    async def release_async(self) -> None:
        """Of this task's leases the last one, as release()."""
        await self._pop(self._task_leases()).release_async()

    def __enter__(self) -> AnyLease:
        return self.acquire()

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            lease = self._pop(getattr(self._of_thread, "leases", None))
            if not lease.is_inherited:  # a forked child leaves the block: the lease is the parent's
                lease.release()
        except Exception as failure:
            if error is None:
                raise
            attach(failure, error)

    async def __aenter__(self) -> AnyLease:
        return await self.acquire_async()

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        try:
            lease = self._pop(self._task_leases())
            if not lease.is_inherited:
                await lease.release_async()
        except Exception as failure:
            if error is None:
                raise
            attach(failure, error)

    def close(self) -> None:
        """Closes this thread's connection to the gateway, once none of its leases needs it."""
        self._locks.gateway.threads.close()

    async def close_async(self) -> None:
        """Closes the connections that the running event loop keeps, but for those of its leases."""
        await self._locks.gateway.loops.close()

    def _pop(self, leases: Optional[List[AnyLease]]) -> AnyLease:
        if not leases:
            raise NotHeld(f"{self.key}: released, but not acquired before by the same thread or task")
        return leases.pop()

    def _task_leases(self) -> List[AnyLease]:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("an asyncio lock is used by a task")
        if self._of_task is None:
            self._of_task = PerProcess(WeakKeyDictionary)
        return self._of_task.get().setdefault(task, [])
