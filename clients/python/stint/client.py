"""The permit API, call by call. RateLimiter is what most programs want; this is what it is made of."""

import math
import time
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from ._gateway import ANSWER_TIME, LONGEST_WAIT, Gateway, check_seconds
from ._grants import feedback_in, permit_in
from ._steps import Steps, run, run_async
from ._wire import take_path


@dataclass(frozen=True)
class LimitState:
    """One limit after a permit was taken from it."""

    name: str
    limit: int
    remaining: int
    reset_ms: int


class Permit:
    """What the gateway granted.

    sent: time.monotonic() when it was asked for: what it says of times counts from there at the latest.
    """

    __slots__ = ("_body", "_read", "_name", "sent")

    def __init__(self, body: bytes, read: Dict[str, Any], name: str, sent: float) -> None:
        self._body = body
        self._read = read
        self._name = name
        self.sent = sent

    @property
    def limit(self) -> int:
        """How many the window has. Of take_all: see `limits`."""
        return int(self._read["limit"])

    @property
    def remaining(self) -> int:
        """How many are left in the window."""
        return int(self._read["remaining"])

    @property
    def reset_ms(self) -> int:
        """Milliseconds until there is more, rounded up; 0 if there is as much as there can be."""
        return int(self._read["reset_ms"])

    @property
    def waited_ms(self) -> int:
        """How long the gateway let the caller wait for its turn."""
        return int(self._read.get("waited_ms", 0))

    @property
    def count(self) -> int:
        """How many permits these are: more than 1 only if a batch was asked for."""
        return int(self._read.get("count", 1))

    @property
    def replayed(self) -> bool:
        """The idempotency key was used before: this is the former permit again."""
        return bool(self._read.get("replayed", False))

    @property
    def ticket(self) -> Optional[str]:
        """The ticket for one proxied request, if one was asked for."""
        return self._read.get("permit")

    @property
    def headers(self) -> Dict[str, str]:
        """The fields with which a request through the proxy is not charged once more."""
        return {} if self.ticket is None else {"X-Stint-Permit": self.ticket}

    @property
    def limits(self) -> Tuple[LimitState, ...]:
        """The limits that it was taken from, in the order in which they were asked for."""
        states = self._read.get("limits", [{"name": self._name, **self._read}])
        return tuple(LimitState(state["name"], state["limit"], state["remaining"], state["reset_ms"])
                     for state in states)

    def __repr__(self) -> str:
        return f"Permit({self._body.decode('utf-8', 'replace').strip()})"


@dataclass(frozen=True)
class Feedback:
    """What a feedback led to: nothing, or that the limit or route is paused for so long."""

    paused: bool
    paused_ms: int


class Client:
    """A gateway's permit listener. Threads, event loops and forked children may share one object; each
    has connections of its own.

    url: http://host:port or unix:/path; None: the environment's STINT_URL, then http://127.0.0.1:8082.
    token: None: the environment's STINT_TOKEN, if there is one.
    timeout: seconds in which the gateway must have answered, plus wait_ms where it lets the caller wait.
        Within wait_ms a gateway that is away is also tried again.

    RateLimitException: refused. StintUnavailable: no answer. StintError: the question was wrong.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None,
                 timeout: float = ANSWER_TIME) -> None:
        check_seconds("timeout", timeout)
        self._gateway = Gateway(url, token)
        self._timeout = timeout

    def take(self, name: str, *, key: Optional[str] = None, cost: int = 1, wait_ms: int = 0,
             owner: Optional[str] = None, idempotency_key: Optional[str] = None, ticket: bool = False,
             batch: Optional[int] = None, requests: Optional[int] = None,
             per_ms: Optional[int] = None) -> Permit:
        """Takes `cost` permits from the limit `name`; a cost of 0 only looks.

        key: whose window it is, for a limit that has a key. owner: who asks, for limits that are fair.
        idempotency_key: repeated, it brings the same permit once more instead of another one.
        ticket: the permit also serves one request through the proxy. batch: take up to so many at once.
        requests, per_ms: the limit itself, where the gateway lets callers bring theirs.
        """
        return run(self._take(name, wait_ms, {
            "key": key, "cost": None if cost == 1 else cost, "owner": owner,
            "idempotency_key": idempotency_key, "ticket": ticket or None, "batch": batch,
            "requests": requests, "per_ms": per_ms}))

    async def take_async(self, name: str, *, key: Optional[str] = None, cost: int = 1, wait_ms: int = 0,
                         owner: Optional[str] = None, idempotency_key: Optional[str] = None,
                         ticket: bool = False, batch: Optional[int] = None,
                         requests: Optional[int] = None, per_ms: Optional[int] = None) -> Permit:
        """As take(), without blocking the event loop."""
        return await run_async(self._take(name, wait_ms, {
            "key": key, "cost": None if cost == 1 else cost, "owner": owner,
            "idempotency_key": idempotency_key, "ticket": ticket or None, "batch": batch,
            "requests": requests, "per_ms": per_ms}))

    def take_all(self, limits: Sequence[Mapping[str, Any]], *, wait_ms: int = 0,
                 owner: Optional[str] = None, idempotency_key: Optional[str] = None,
                 ticket: bool = False) -> Permit:
        """Takes from all of these limits or from none: {"name": ..., "key": ..., "cost": ...} each."""
        return run(self._take(None, wait_ms, {
            "limits": [dict(limit) for limit in limits], "owner": owner,
            "idempotency_key": idempotency_key, "ticket": ticket or None}))

    async def take_all_async(self, limits: Sequence[Mapping[str, Any]], *, wait_ms: int = 0,
                             owner: Optional[str] = None, idempotency_key: Optional[str] = None,
                             ticket: bool = False) -> Permit:
        """As take_all(), without blocking the event loop."""
        return await run_async(self._take(None, wait_ms, {
            "limits": [dict(limit) for limit in limits], "owner": owner,
            "idempotency_key": idempotency_key, "ticket": ticket or None}))

    def feedback(self, *, limit: Optional[str] = None, route: Optional[str] = None,
                 key: Optional[str] = None, host: Optional[str] = None, status: int,
                 retry_after: Optional[str] = None) -> Feedback:
        """Tells how a target answered. After a 429 or 503 the limit (of this key), or the route (to this
        host), pauses for all: as long as `retry_after`, the answer's field, says."""
        return run(self._feedback({"limit": limit, "route": route, "key": key, "host": host,
                                   "status": status, "retry_after": retry_after}))

    async def feedback_async(self, *, limit: Optional[str] = None, route: Optional[str] = None,
                             key: Optional[str] = None, host: Optional[str] = None, status: int,
                             retry_after: Optional[str] = None) -> Feedback:
        """As feedback(), without blocking the event loop."""
        return await run_async(self._feedback({"limit": limit, "route": route, "key": key, "host": host,
                                               "status": status, "retry_after": retry_after}))

    def close(self) -> None:
        """Closes this thread's connection; the next call opens another one."""
        self._gateway.threads.close()

    async def close_async(self) -> None:
        """Closes the connections that the running event loop keeps."""
        await self._gateway.loops.close()

    def _take(self, name: Optional[str], wait_ms: int, body: Dict[str, Any]) -> "Steps[Permit]":
        if not 0 <= wait_ms <= LONGEST_WAIT:
            raise ValueError(f"wait_ms is 0 to {LONGEST_WAIT}")
        path = "/v1/limits/take" if name is None else take_path(name)
        end = time.monotonic() + wait_ms / 1000
        sent = 0.0

        def request() -> "tuple[bytes, float]":
            nonlocal sent
            sent = time.monotonic()
            left = max(0, int((end - sent) * 1000 + 0.5)) if wait_ms else 0
            return (self._gateway.requests.post(path, {**body, "wait_ms": left or None}),
                    left / 1000 + self._timeout)

        answer = yield from self._gateway.ask(request, math.inf, end)
        names = [limit.get("name") for limit in body["limits"]] if name is None else None
        told = permit_in(answer, name or "take_all", self._gateway.address, batch=body.get("batch"), names=names)
        return Permit(answer.body, told, name or "", sent)

    def _feedback(self, body: Dict[str, Any]) -> "Steps[Feedback]":
        request = self._gateway.requests.post("/v1/feedback", body)
        answer = yield from self._gateway.ask(lambda: (request, self._timeout), 0)
        told = feedback_in(answer, self._gateway.address)
        return Feedback(told["paused"], told["paused_ms"])
