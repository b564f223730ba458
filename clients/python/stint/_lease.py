"""A lease: one holder's place in a lock, from its grant to its end."""

import logging
import math
import time
from typing import Any, Callable, Dict, List, Optional, Union

from . import _fork
from ._aio import LoopConnection
from ._errors import LeaseLost, NotHeld, StintUnavailable
from ._gateway import Gateway
from ._grants import lease_in
from ._lock_terms import ABSENCE, LockTerms
from ._steps import Steps, run, run_async
from ._transport import Connection
from ._wire import Answer, raise_for

Tie = Union[Connection, LoopConnection]
Lost = Callable[["Lease"], Any]


class Lease:
    """What `with Lock(...) as lease` has. The package renews it; on_lost is called when that failed.

    id: its name at the gateway. key: the lock's. Release it by leaving the block or by release(), once.
    Any thread may use it; a forked child holds nothing of it.
    """

    __slots__ = ("id", "key", "due", "_gateway", "_leases",
                 "_terms", "_read", "_tie", "_deadline", "_lost", "_on_lost", "_generation", "__weakref__")

    def __init__(self, gateway: Gateway, leases: Dict[str, Any], terms: LockTerms, answer: Answer,
                 tie: Optional[Tie], sent: float) -> None:
        self._read = told = lease_in(answer, 201, terms.name, gateway.address)
        self.id: str = told["lease"]
        self.key = terms.name
        self.due = time.monotonic() + terms.interval  # when the keeper renews it
        self._gateway = gateway
        self._leases = leases
        self._terms = terms
        self._tie = tie
        # Counted from the grant, which came no earlier than this. Stint rounds both numbers down. One that is
        # older than that rounded them up, each by less than the millisecond that is taken off here.
        self._deadline = sent + (max(0, told.get("waited_ms", 0) - 1) + told["expires_in_ms"] - 1) / 1000
        self._lost = ""
        self._on_lost: List[Lost] = []
        self._generation = _fork.generation
        if tie is not None:
            tie.tie(self.id)

    @property
    def fencing_token(self) -> int:
        """Rises with every grant of the lock, for ever: a storage that has seen a higher one refuses."""
        return int(self._read["fence"])

    @property
    def max(self) -> int:
        """How many may hold the lock at a time."""
        return int(self._read["max"])

    @property
    def waited(self) -> float:
        """Seconds that the gateway let the caller wait."""
        return int(self._read.get("waited_ms", 0)) / 1000

    @property
    def deadline(self) -> float:
        """time.monotonic() until which the gateway gives the place to nobody else, unless it is renewed."""
        return self._deadline

    @property
    def lost(self) -> bool:
        """Whether somebody else may hold the place by now. It never becomes False again."""
        return bool(self._lost) or self._generation != _fork.generation or (
            self.id in self._leases and time.monotonic() >= self.deadline)

    @property
    def on_lost(self) -> Optional[Lost]:
        """Called with the lease when it is lost: once, in the renewing thread, or in the event loop that
        acquired it. Set later than that it is called at once."""
        return self._on_lost[0] if self._on_lost else None

    @on_lost.setter
    def on_lost(self, call: Optional[Lost]) -> None:
        self._on_lost = [] if call is None else [call]
        if self._lost:
            self._tell()

    def release(self) -> None:
        """LeaseLost: it had ended before. NotHeld: it was released before, or is another process's.
        StintUnavailable: the gateway is away; what is left of the lease ends by itself."""
        self._end()
        end = time.monotonic() + ABSENCE
        try:
            answer = self._gateway.threads.exchange(self._terms.delete(self.id), ABSENCE)
        except StintUnavailable:
            if time.monotonic() >= end:
                raise
            run(self._release_until(end))
        else:
            self._check_released(answer)
        finally:
            self._untie()

    async def release_async(self) -> None:
        """As release(), without blocking the event loop."""
        await run_async(self.releasing())

    def releasing(self) -> "Steps[None]":
        """release(), for whoever takes the steps."""
        self._end()
        try:
            yield from self._release_until(time.monotonic() + ABSENCE)
        finally:
            self._untie()

    def renew(self) -> None:
        """Renews it now: it is not necessary. LeaseLost: too late. StintUnavailable: the gateway is away."""
        self._check_held()
        run(self._renew())

    async def renew_async(self) -> None:
        """As renew(), without blocking the event loop."""
        self._check_held()
        await run_async(self._renew())

    def __repr__(self) -> str:
        state = "lost" if self.lost else "held" if self.id in self._leases else "released"
        return f"<Lease of {self.key!r}, {state}>"

    @property
    def is_inherited(self) -> bool:
        """It is the lease of a process of which this one is a forked child."""
        return self._generation != _fork.generation

    @property
    def needs_tie(self) -> bool:
        """What it was tied to has ended, and the gateway gave it back after a restart, if at all."""
        return self._tie is None or self._tie.has_ended

    def renewed(self, answer: Answer, sent: float, tie: Optional[Tie]) -> None:
        """answer: to a renewal that was sent then. tie: the connection to which it moved, if it did."""
        expires: int = lease_in(answer, 200, self.key, self._gateway.address, self.id)["expires_in_ms"]
        self._deadline = sent + (expires - 1) / 1000
        self.due = time.monotonic() + self._terms.interval
        if tie is not None:
            tie.tie(self.id)
            former, self._tie = self._tie, tie
            if former is not None:
                former.untie(self.id)
            if self.id not in self._leases:
                tie.untie(self.id)

    def renewal(self, tie: bool) -> bytes:
        """The request by which it is renewed, and tied to the connection that carries it."""
        return self._terms.put(self.id, tie)

    @property
    def interval(self) -> float:
        """Seconds between two renewals."""
        return self._terms.interval

    def lose(self, why: str) -> None:
        """Whoever took it off the leases that are held calls this."""
        self._lost = why
        loop = self._tie.loop if isinstance(self._tie, LoopConnection) else None
        self._untie()
        if loop is None:
            self._tell()
            return
        try:
            loop.call_soon_threadsafe(self._tell)
        except RuntimeError:
            pass  # the loop has ended, and whoever held it there

    def _untie(self) -> None:
        tie, self._tie = self._tie, None
        if tie is not None:
            tie.untie(self.id)

    def _tell(self) -> None:
        try:
            call = self._on_lost.pop()
        except IndexError:
            return
        try:
            call(self)
        except Exception:
            logging.getLogger("stint").exception("on_lost of %r", self)

    def _check_held(self) -> None:
        if self._generation != _fork.generation:
            raise NotHeld(f"{self.key}: the lease is held by another process, of which this is a child")
        if self.lost:
            raise LeaseLost(f"{self.key}: {self._lost or 'the lease has ended'}")
        if self.id not in self._leases:
            raise NotHeld(f"{self.key}: the lease was released before")

    def _end(self) -> None:
        """From here on it is not renewed."""
        if self._generation != _fork.generation or self._leases.pop(self.id, None) is None:
            self._check_held()

    def _release_until(self, end: float) -> "Steps[None]":
        request = self._terms.delete(self.id)
        answer = yield from self._gateway.ask(
            lambda: (request, max(0.001, end - time.monotonic())), math.inf, end, self._by_its_connection)
        self._check_released(answer)

    def _by_its_connection(self, gateway: Gateway, request: bytes, seconds: float) -> "_OnTie":
        return _OnTie(gateway, request, seconds, self._tie)

    def _check_released(self, answer: Answer) -> None:
        if answer.status == 204:
            return
        if answer.status in (404, 410):
            self._lost = "the lease had ended before it was released"
            raise LeaseLost(f"{self.key}: {self._lost}", answer.status)
        raise_for(answer, self.key, self._gateway.address)

    def _renew(self) -> "Steps[None]":
        sent, end = 0.0, time.monotonic() + ABSENCE

        def request() -> "tuple[bytes, float]":
            nonlocal sent
            sent = time.monotonic()
            return self._terms.put(self.id, False), max(0.001, end - sent)

        answer = yield from self._gateway.ask(request, math.inf, end)
        if answer.status == 200:
            self.renewed(answer, sent, None)
        elif answer.status in (404, 410):
            if self._leases.pop(self.id, None) is not None:
                self.lose("the gateway has ended the lease")
            raise LeaseLost(f"{self.key}: the gateway has ended the lease", answer.status)
        else:
            raise_for(answer, self.key, self._gateway.address)


class _OnTie:
    """A step: a request by the connection that a lease of an event loop has for itself."""

    __slots__ = ("_gateway", "_request", "_seconds", "_tie")

    def __init__(self, gateway: Gateway, request: bytes, seconds: float, tie: Optional[Tie]) -> None:
        self._gateway = gateway
        self._request = request
        self._seconds = seconds
        self._tie = tie

    def run(self) -> Answer:
        return self._gateway.threads.exchange(self._request, self._seconds)

    async def run_async(self) -> Answer:
        if isinstance(self._tie, LoopConnection):
            return await self._gateway.loops.release(self._tie, self._request, self._seconds)
        return await self._gateway.loops.exchange(self._request, self._seconds)
