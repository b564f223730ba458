"""On which terms a lock is asked for: checked once, and made into the bytes of requests."""

import itertools
import math
import os
from typing import Any, Optional, Tuple

from ._gateway import LONGEST_WAIT, default_owner
from ._wire import Requests, lock_path

# Seconds for which the gateway's silence or absence is borne, beyond what a caller wants to wait anyway.
ABSENCE = 0.9
_RENEWALS = 3  # to a ttl: one may fail, and the next one still comes in time

Kind = Tuple[str, Optional[float], float, float, Optional[str]]  # key, max, timeout, ttl, owner


class GrantIds:
    """A process's idempotency keys, all of one length: asked with the same one, the gateway grants once."""

    __slots__ = ("_begin", "_numbers")

    def __init__(self) -> None:
        self._begin = os.urandom(12).hex().encode("ascii")
        self._numbers = itertools.count()

    def next(self) -> bytes:
        return b"%s%016x" % (self._begin, next(self._numbers))


class LockTerms:
    """name, timeout (s). interval: seconds between two renewals. first_wait: milliseconds that the first
    question waits at most, and seconds: until its answer is here, or none comes any more."""

    __slots__ = ("name", "timeout", "interval", "first_wait", "seconds", "_path", "_requests", "_members",
                 "_ask", "_delete", "_put", "_end")

    def __init__(self, requests: Requests, kind: Kind) -> None:
        self.name, most, self.timeout, ttl, owner = kind
        _check(most, self.timeout, ttl, owner)
        self._path = lock_path(self.name)
        self._requests = requests
        self._members = {"max": most, "ttl_ms": round(ttl * 1000), "owner": owner or default_owner()}
        self.interval = ttl / _RENEWALS
        self.first_wait = min(LONGEST_WAIT, round(self.timeout * 1000))
        self.seconds = self.first_wait / 1000 + ABSENCE
        self._ask = self._before_the_id(self.first_wait)
        self._delete, self._end = requests.head_and_tail("DELETE", f"{self._path}/leases/")
        self._put, _ = requests.head_and_tail("PUT", f"{self._path}/leases/")

    def ask(self, grant_id: bytes) -> bytes:
        """The first question for a lease."""
        return b'%s%s"}' % (self._ask, grant_id)

    def ask_again(self, grant_id: bytes, wait_ms: int) -> bytes:
        """The same with less time left."""
        return b'%s%s"}' % (self._before_the_id(wait_ms), grant_id)

    def delete(self, lease: str) -> bytes:
        return b"%s%s%s" % (self._delete, lease.encode("ascii"), self._end)

    def put(self, lease: str, tie: bool) -> bytes:
        return b"%s%s%s%s" % (self._put, lease.encode("ascii"), b"?hold=connection" if tie else b"", self._end)

    def look(self) -> bytes:
        """The question who holds the lock."""
        return self._requests.bare("GET", self._path)

    def _before_the_id(self, wait_ms: int) -> bytes:
        body = {**self._members, "wait_ms": wait_ms or None, "idempotency_key": "0" * 40}
        made = self._requests.post(f"{self._path}/leases?hold=connection", body)
        return made[:-42]


def _check(most: Any, timeout: Any, ttl: Any, owner: Any) -> None:
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise ValueError(f"max is a whole number of 1 or more, math.inf, or None (as configured), not {most!r}")
    if not _is_number(timeout) or timeout < 0:
        raise ValueError(f"timeout is a number of seconds, 0 or more, not {timeout!r}: no wait is without end")
    if not _is_number(ttl) or round(ttl * 1000) < 1:
        raise ValueError(f"ttl is a number of seconds above 0, not {ttl!r}")
    if owner is not None and not isinstance(owner, str):
        raise ValueError(f"owner is a text, not {owner!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
