"""A limit that the gateway keeps: what is asked, and what is done while there is no answer."""

import math
import threading
import time
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from . import _fork
from ._clock import SYSTEM_CLOCK
from ._errors import RateLimitException, StintError, StintUnavailable, Unproven
from ._gateway import ANSWER_TIME, LONGEST_WAIT, Gateway, Pause, default_owner, wait_within
from ._grants import is_plain_permit, permit_in
from ._own import OwnLimit
from ._prefetch import Batch, Batches
from ._steps import Steps
from ._wire import take_path

_ABSENCE = 0.9  # seconds for which a call that may wait bears with a gateway that is away
_LONG_ABSENCE = 60.0  # the same with on_unavailable="wait", unless a timeout says otherwise
_LOOK_AGAIN = 1.0  # seconds between two tries to reach it while the local share is used
_CACHED = 4096


@dataclass(frozen=True)
class NamedOptions:
    """As of RateLimiter. numbers: (requests, per_ms) if the caller brings the limit. share: the calls and
    the period in ns that this process allows itself while the gateway is away."""

    name: str
    owner: Optional[str]
    batch: Optional[int]
    on_unavailable: str
    numbers: Optional[Tuple[int, int]]
    share: Optional[Tuple[int, int]]
    max_waiting: int


class _InProcess:
    """What a forked child begins anew."""

    def __init__(self, options: NamedOptions) -> None:
        self.lock = threading.Lock()
        self.attempts = self.admitted = self.refused = 0
        self.waiting = 0
        self.batches = Batches()
        self.requests: Dict[Tuple[Optional[str], int], bytes] = {}
        self.away_until = 0.0
        self.share = OwnLimit(*options.share, options.max_waiting, SYSTEM_CLOCK) if options.share else None

    def count(self, attempts: int, admitted: int, refused: int) -> None:
        with self.lock:
            self.attempts += attempts
            self.admitted += admitted
            self.refused += refused


class NamedLimit:
    """See RateLimiter for what its options mean, and for which exceptions come out."""

    def __init__(self, gateway: Gateway, options: NamedOptions) -> None:
        self._gateway = gateway
        self._options = options
        self._path = take_path(options.name)
        self._plain = options.batch is None and options.share is None
        self._process = _fork.PerProcess(lambda: _InProcess(options))

    @property
    def counters(self) -> Tuple[int, int, int]:
        """Attempts, admitted, refused: of this process."""
        process = self._process.get()
        given = process.batches.given
        with process.lock:
            return process.attempts + given, process.admitted + given, process.refused

    def close(self) -> None:
        self._gateway.threads.close()

    async def close_async(self) -> None:
        await self._gateway.loops.close()

    def take_prefetched(self, key: Optional[str]) -> bool:
        """Whether a permit of a batch was there. The fast path: no steps, no waiting."""
        return self._process.get().batches.of(key).take()

    def admit_at_once(self, key: Optional[str], timeout: Optional[float]) -> bool:
        """admit() without waiting, from a thread: the same for the most frequent case, in a third of the
        time. False: nothing was done, as this is not that case, or no answer came that admit() would not
        ask for again."""
        if not self._plain:
            return False
        process = self._process.get()
        request = process.requests.get((key, 0)) or self._request(process, key, 0, None)
        try:
            answer = self._gateway.threads.exchange(request, ANSWER_TIME if timeout is None else timeout)
        except StintUnavailable:
            if self._options.on_unavailable == "wait":
                return False
            process.count(1, 0, 0)
            raise
        try:
            if not is_plain_permit(answer):
                permit_in(answer, self._options.name, self._gateway.address)
        except RateLimitException:
            process.count(1, 0, 1)
            raise
        except Exception:
            process.count(1, 0, 0)
            raise
        self._gateway.address.proven = True
        process.count(1, 1, 0)
        return True

    def admit(self, key: Optional[str], wait: bool, timeout: Optional[float]) -> "Steps[None]":
        """Ends when the caller may go; RateLimitException when it may not (within `timeout` s)."""
        process = self._process.get()
        process.count(1, 0, 0)
        try:
            yield from self._admit(process, key, wait, timeout)
        except RateLimitException:
            process.count(0, 0, 1)
            raise
        process.count(0, 1, 0)

    def _admit(self, process: _InProcess, key: Optional[str], wait: bool,
               timeout: Optional[float]) -> "Steps[None]":
        if process.share is None:
            yield from self._ask_gateway(process, key, wait, timeout)
            return
        now = time.monotonic()
        if now >= process.away_until:
            if process.away_until:
                process.away_until = now + _LOOK_AGAIN  # one caller looks, the others go on
            try:
                yield from self._ask_gateway(process, key, wait, timeout)
            except (RateLimitException, StintError, Unproven):
                process.away_until = 0.0
                raise
            except StintUnavailable:
                process.away_until = time.monotonic() + _LOOK_AGAIN
            else:
                process.away_until = 0.0
                return
        left = None if timeout is None else max(0.0, timeout - (time.monotonic() - now))
        yield from process.share.admit(key, wait, left)

    def _ask_gateway(self, process: _InProcess, key: Optional[str], wait: bool,
                     timeout: Optional[float]) -> "Steps[None]":
        end = math.inf if timeout is None else time.monotonic() + timeout
        if self._options.batch is not None:
            if (yield from self._take_of_batch(process, self._options.batch, key, wait, end)):
                return
        elif not wait:
            yield from self._ask(process, key, False, end)
            return
        with process.lock:
            if process.waiting >= self._options.max_waiting:
                raise RateLimitException(f"{self._options.name}: {process.waiting} callers wait already")
            process.waiting += 1
        try:
            yield from self._ask(process, key, True, end)
        finally:
            with process.lock:
                process.waiting -= 1

    def _take_of_batch(self, process: _InProcess, size: int, key: Optional[str], wait: bool,
                       end: float) -> "Steps[bool]":
        """Fetches another batch unless somebody else just does. False: the caller must wait for its turn,
        and does that by itself, so that nobody has to wait who does not want to."""
        batch = process.batches.of(key)
        until = min(end, time.monotonic() + max(ANSWER_TIME, self._patience(False, end)))
        if not (yield from batch.turnstile.acquire(int(until * 1e9))):
            if wait:
                return False
            raise StintUnavailable(f"{self._gateway.address}: another caller still waits for its answer")
        try:
            if not batch.take_uncounted():
                batch.check_open()
                yield from self._fetch(process, batch, size, key, end)
            return True
        except RateLimitException as refused:
            if not wait or refused.never:
                raise
        except StintUnavailable:
            if not wait or process.share is not None:
                raise
        finally:
            batch.turnstile.release()
        return False

    def _fetch(self, process: _InProcess, batch: Batch, size: int, key: Optional[str],
               end: float) -> "Steps[None]":
        sent = time.monotonic()
        try:
            told = yield from self._ask(process, key, False, end, size)
        except RateLimitException as refused:
            if not refused.never:
                batch.close(refused.remaining)
            raise
        batch.fill(told["count"], sent, told["reset_ms"])

    def _ask(self, process: _InProcess, key: Optional[str], wait: bool, end: float,
             batch: Optional[int] = None) -> "Steps[Dict[str, Any]]":
        """The permit's members, or the exception when there is no hope of one before `end`."""

        def request() -> Tuple[bytes, float]:
            left = max(0.001, end - time.monotonic())
            if not wait:
                return self._request(process, key, 0, batch), self._answer_time(left)
            wait_ms = wait_within(left) if left < LONGEST_WAIT else LONGEST_WAIT
            return self._request(process, key, wait_ms, batch), min(left, wait_ms / 1000 + ANSWER_TIME)

        while True:
            answer = yield from self._gateway.ask(request, self._patience(wait, end), end)
            try:
                return permit_in(answer, self._options.name, self._gateway.address, batch=batch)
            except RateLimitException as refused:
                remaining = refused.remaining
                if not wait or refused.never or time.monotonic() + remaining > end:
                    raise
            yield Pause(max(0.001, remaining))

    def _answer_time(self, left: float) -> float:
        if math.isinf(left):
            return ANSWER_TIME
        return min(left, ANSWER_TIME) if self._options.share else left

    def _patience(self, wait: bool, end: float) -> float:
        if self._options.share:
            return 0.0
        if self._options.on_unavailable == "wait":
            return _LONG_ABSENCE if math.isinf(end) else math.inf
        if not wait:
            return 0.0
        return _ABSENCE if math.isinf(end) else math.inf

    def _request(self, process: _InProcess, key: Optional[str], wait_ms: int,
                 batch: Optional[int]) -> bytes:
        kind = (key, -1 if batch else wait_ms)
        made = process.requests.get(kind)
        if made is None:
            requests, per_ms = self._options.numbers or (None, None)
            made = self._gateway.requests.post(self._path, {
                "key": key, "wait_ms": wait_ms or None, "batch": batch, "requests": requests,
                "per_ms": per_ms, "owner": self._options.owner or default_owner()})
            if len(process.requests) >= _CACHED:
                process.requests.clear()
            process.requests[kind] = made
        return made
