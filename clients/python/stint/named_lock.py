"""NamedLock: for who had GET_LOCK(name, timeout) and RELEASE_LOCK(name)."""

import threading
import time
from types import TracebackType
from typing import Dict, Optional, Type

from ._errors import LeaseLost, LockFailureException, NotHeld, StintError, attach
from ._fork import PerProcess
from ._grants import is_held
from ._lease import Lease, Lost
from ._locks import Attempt, locks_at
from ._lock_terms import ABSENCE, LockTerms
from ._steps import Steps, run, run_async
from ._turnstile import Turnstile

_MUTEX = 1


class _Name:
    """What a session has of one name. turn: for who changes it."""

    __slots__ = ("turn", "lease", "count", "users")

    def __init__(self) -> None:
        self.turn = Turnstile()
        self.lease: Optional[Lease] = None
        self.count = 0
        self.users = 0


class _Session:
    """A forked child begins its own: it holds nothing."""

    def __init__(self) -> None:
        self._names: Dict[str, _Name] = {}
        self._guard = threading.Lock()

    def enter(self, name: str) -> _Name:
        with self._guard:
            held = self._names.setdefault(name, _Name())
            held.users += 1
            return held

    def leave(self, name: str, held: _Name) -> None:
        with self._guard:
            held.users -= 1
            if not held.users and held.lease is None:
                self._names.pop(name, None)

    def held(self) -> "list[str]":
        with self._guard:
            return [name for name, held in self._names.items() if held.lease is not None]


class NamedLock:
    """A session of named locks, each held by one session at a time.

        locks = NamedLock("http://127.0.0.1:8082")
        if locks.lock("jobs", 10):      # True: it is held. False: not within 10 s
            ...
            locks.unlock("jobs")        # True: released. False: another holds it. None: nobody does

    lock() of a name that the session holds is True at once, and counted: as many unlock()s give it back.
    Threads and tasks may share the session, as one holder; for another one make another object.
    Sessions end with their process, or by close(), or as a with block.

    timeout: seconds, 0 or more; None and negative numbers are a ValueError, as no wait is without end.
    Wrong arguments are a ValueError, a gateway that is away for 0.9 s beyond the timeout StintUnavailable.

    ttl, owner, on_lost, url, token: as of Lock. A lost lock is held no more: unlock() says who has it now.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, *, ttl: float = 30,
                 owner: Optional[str] = None, on_lost: Optional[Lost] = None) -> None:
        self._locks = locks_at(url, token)
        self._ttl = ttl
        self._owner = owner
        self.on_lost = on_lost
        self._terms("any", 0)  # says what is wrong with ttl and owner
        self._session = PerProcess(_Session)

    def lock(self, name: str, timeout: Optional[float] = 0) -> bool:
        """Whether the name is this session's now."""
        return run(self._lock(name, timeout, True))

    async def lock_async(self, name: str, timeout: Optional[float] = 0) -> bool:
        """As lock(), without blocking the event loop."""
        return await run_async(self._lock(name, timeout, False))

    def unlock(self, name: str) -> Optional[bool]:
        """True: given back once. False: another session holds it. None: nobody holds it."""
        return run(self._unlock(name, True))

    async def unlock_async(self, name: str) -> Optional[bool]:
        """As unlock(), without blocking the event loop."""
        return await run_async(self._unlock(name, False))

    def lease(self, name: str) -> Optional[Lease]:
        """What the session holds of the name: its fencing token, and whether it is lost."""
        session = self._session.get()
        held = session.enter(name)
        lease = held.lease
        session.leave(name, held)
        return lease

    def close(self) -> None:
        """Gives everything back. The object stays usable."""
        run(self._close(True))

    async def close_async(self) -> None:
        """As close(), without blocking the event loop."""
        await run_async(self._close(False))

    def __enter__(self) -> "NamedLock":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            self.close()
        except Exception as failure:
            if error is None:
                raise
            attach(failure, error)

    async def __aenter__(self) -> "NamedLock":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        try:
            await self.close_async()
        except Exception as failure:
            if error is None:
                raise
            attach(failure, error)

    def _terms(self, name: str, timeout: Optional[float]) -> LockTerms:
        return self._locks.terms((name, _MUTEX, timeout, self._ttl, self._owner))

    # blocks: the steps are taken in a thread, which may as well be blocked between them: that is quicker.
    def _lock(self, name: str, timeout: Optional[float], blocks: bool) -> "Steps[bool]":
        terms = self._terms(name, timeout)
        session = self._session.get()
        held = session.enter(name)
        try:
            attempt = Attempt(self._locks, terms)
            if not (yield from held.turn.acquire(_from_now(terms.timeout + ABSENCE))):
                return False  # another thread of the session still tries
            try:
                return (yield from self._hold(held, attempt, blocks))
            finally:
                held.turn.release()
        finally:
            session.leave(name, held)

    def _hold(self, held: _Name, attempt: Attempt, blocks: bool) -> "Steps[bool]":
        if held.lease is not None and not held.lease.lost:
            held.count += 1
            return True
        try:
            lease = attempt.at_once() if blocks else None
            held.lease = lease or (yield from attempt.steps())
        except LockFailureException as refused:
            if refused.status != 409:
                raise  # there is no room for another lock
            return False
        held.count = 1
        if self.on_lost is not None:
            held.lease.on_lost = self.on_lost
        return True

    def _unlock(self, name: str, blocks: bool) -> "Steps[Optional[bool]]":
        terms = self._terms(name, 0)
        session = self._session.get()
        held = session.enter(name)
        try:
            if held.lease is not None and (yield from held.turn.acquire(_from_now(ABSENCE))):
                try:
                    if (yield from self._give_back(held, blocks)):
                        return True
                finally:
                    held.turn.release()
        finally:
            session.leave(name, held)
        return (yield from self._is_held(terms))

    def _give_back(self, held: _Name, blocks: bool) -> "Steps[bool]":
        """Whether there was something to give back."""
        lease = held.lease
        if lease is None:
            return False
        if held.count > 1 and not lease.lost:
            held.count -= 1
            return True
        held.lease, held.count = None, 0
        try:
            if blocks:
                lease.release()
            else:
                yield from lease.releasing()
        except (LeaseLost, NotHeld):
            return False
        return True

    def _is_held(self, terms: LockTerms) -> "Steps[Optional[bool]]":
        end = time.monotonic() + ABSENCE
        answer = yield from self._locks.gateway.ask(
            lambda: (terms.look(), max(0.001, end - time.monotonic())), ABSENCE, end)
        return False if is_held(answer, terms.name, self._locks.gateway.address) else None

    def _close(self, blocks: bool) -> "Steps[None]":
        session = self._session.get()
        failure: Optional[Exception] = None
        for name in session.held():
            held = session.enter(name)
            try:
                held.count = 1
                yield from self._give_back(held, blocks)
            except (StintError, ConnectionError) as error:
                failure = error
            finally:
                session.leave(name, held)
        if failure is not None:
            raise failure


def _from_now(seconds: float) -> int:
    return time.monotonic_ns() + int(seconds * 1e9)
