"""What all locks of a process at one gateway share: connections, the keeper of leases, requests."""

import math
import os
import threading
import time
from typing import Any, Dict, Optional, Tuple

from ._aio import LoopConnection
from ._errors import LockFailureException, StintError, StintUnavailable
from ._fork import PerProcess
from ._gateway import LONGEST_WAIT, Gateway
from ._keeper import Keeper
from ._lease import Lease, Tie
from ._lock_terms import ABSENCE, GrantIds, Kind, LockTerms
from ._steps import Steps
from ._wire import Answer, raise_for

_CACHED = 4096


class _InProcess:
    """What a forked child begins anew."""

    def __init__(self, gateway: Gateway) -> None:
        self.keeper = Keeper(gateway)
        self.ids = GrantIds()
        self.terms: Dict[Kind, LockTerms] = {}


class Locks:
    """The locks of one gateway."""

    def __init__(self, url: Optional[str], token: Optional[str]) -> None:
        self.gateway = Gateway(url, token)
        self.process = PerProcess(lambda: _InProcess(self.gateway))

    def terms(self, kind: Kind) -> LockTerms:
        """ValueError if there can be no such lock."""
        terms = self.process.get().terms
        try:
            made = terms.get(kind)
        except TypeError:  # a list, say
            made = None
        if made is None:
            made = LockTerms(self.gateway.requests, kind)
            if len(terms) >= _CACHED:
                terms.clear()
            terms[kind] = made
        return made


_of: Dict[Tuple[Optional[str], Optional[str]], Locks] = {}
_guard = PerProcess(threading.Lock)


def locks_at(url: Optional[str], token: Optional[str]) -> Locks:
    """One for each gateway and token, so that a lock that is made anew each time has a connection."""
    where = (url if url is not None else os.environ.get("STINT_URL"),
             token if token is not None else os.environ.get("STINT_TOKEN"))
    known = _of.get(where)
    if known is None:
        with _guard.get():
            known = _of.get(where) or Locks(*where)
            _of[where] = known
    return known


class _Ask:
    """A step: a request whose answer may be a grant, and what the lease is tied to then."""

    __slots__ = ("_gateway", "_request", "_seconds")

    def __init__(self, gateway: Gateway, request: bytes, seconds: float) -> None:
        self._gateway = gateway
        self._request = request
        self._seconds = seconds

    def run(self) -> "Tuple[Answer, Optional[Tie]]":
        answer = self._gateway.threads.exchange(self._request, self._seconds)
        return answer, self._gateway.threads.connection

    async def run_async(self) -> "Tuple[Answer, Optional[Tie]]":
        return await self._gateway.loops.acquire(self._request, self._seconds)


class Attempt:
    """To get a lease on these terms, at once or within their timeout.

    Whatever is lost on the way, it is asked for with the same idempotency key: the gateway grants once.
    """

    __slots__ = ("_gateway", "_process", "_terms", "_id", "_end", "_sent", "_wait_ms")

    def __init__(self, locks: Locks, terms: LockTerms) -> None:
        self._gateway = locks.gateway
        self._process = locks.process.get()
        self._terms = terms
        self._id = self._process.ids.next()
        self._sent = time.monotonic()
        self._end = self._sent + terms.timeout
        self._wait_ms = terms.first_wait

    def at_once(self) -> Optional[Lease]:
        """steps() from a thread: the same for the most frequent case, in less time. None: the answer does
        not decide yet, and steps() goes on."""
        threads = self._gateway.threads
        try:
            answer = threads.exchange(self._terms.ask(self._id), self._terms.seconds)
        except StintUnavailable:
            if time.monotonic() >= self._end + ABSENCE:
                raise
            return None
        return self._decide(answer, threads.connection)

    def steps(self) -> "Steps[Lease]":
        """LockFailureException when the time is over; StintUnavailable ABSENCE later if there is no answer."""
        while True:
            answer, tie = yield from self._gateway.ask(self._request, math.inf, self._end + ABSENCE, _Ask)
            lease = self._decide(answer, tie)
            if lease is not None:
                return lease

    def _request(self) -> Tuple[bytes, float]:
        self._sent = now = time.monotonic()
        self._wait_ms = min(LONGEST_WAIT, max(0, round((self._end - now) * 1000)))
        silence = min(self._wait_ms / 1000 + ABSENCE, self._end + ABSENCE - now)
        first = self._wait_ms == self._terms.first_wait
        request = self._terms.ask(self._id) if first else self._terms.ask_again(self._id, self._wait_ms)
        return request, max(0.001, silence)

    def _decide(self, answer: Answer, tie: Optional[Tie]) -> Optional[Lease]:
        """None: the gateway waited as long as it could, and there is time left."""
        if answer.status == 201:
            return self._lease(answer, tie)
        if answer.status == 409 and self._wait_ms == LONGEST_WAIT:
            now = time.monotonic()
            if now >= self._sent + LONGEST_WAIT / 1000 - 0.001 and now < self._end - 0.001:
                return None
        raise refusal(answer, self._terms.name, self._gateway.address)

    def _lease(self, answer: Answer, tie: Optional[Tie]) -> Lease:
        keeper = self._process.keeper
        try:
            lease = Lease(self._gateway, keeper.leases, self._terms, answer, tie, self._sent)
        except StintError:
            # With the connection ends what was granted, if it was.
            if isinstance(tie, LoopConnection):
                tie.close()
            else:
                self._gateway.threads.close()
            raise
        keeper.add(lease)
        return lease


def refusal(answer: Answer, name: str, address: object) -> Exception:
    """The exception that an answer without a lease means."""
    retry_after = answer.retry_after()
    if answer.status == 409 or (answer.status in (429, 503) and retry_after is not None):
        told = answer.members()
        held, most = _number(told.get("held")), _number(told.get("max"))
        counted = held is not None and most is not None and "reason" not in told
        words = f"{held} of {most} are held" if counted else told.get("detail")
        return LockFailureException(f"{name}: {words or 'refused'}", retry_after or 0.0, held=held, max=most,
                                    status=answer.status)
    try:
        raise_for(answer, name, address)
    except Exception as error:
        return error


def _number(value: Any) -> Optional[int]:
    return value if isinstance(value, int) else None
