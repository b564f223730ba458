"""Permits that were taken from the gateway many at a time, and are given out here."""

import threading
import time
from typing import Dict, Optional

from ._errors import RateLimitException
from ._turnstile import Turnstile

_KEYS = 10_000


class Batch:
    """The permits of one key that are left, and until when they are any good."""

    __slots__ = ("_lock", "_left", "_until", "_closed_until", "given", "turnstile")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = 0
        self._until = 0.0
        self._closed_until = 0.0
        self.given = 0  # how often take() said yes
        self.turnstile = Turnstile()  # for whoever fetches more

    def take(self) -> bool:
        """Whether there was a permit. Counted in `given`."""
        with self._lock:
            if self._left and time.monotonic() < self._until:
                self._left -= 1
                self.given += 1
                return True
        return False

    def take_uncounted(self) -> bool:
        """As take(), for a call that is counted elsewhere."""
        with self._lock:
            taken = self._left > 0 and time.monotonic() < self._until
            self._left -= taken
        return taken

    def fill(self, count: int, sent: float, reset_ms: int) -> None:
        """One permit is for who fetched them, the rest for take(); what was left of the former ones is
        thrown away. They are good from when they were asked for until their window ends. Stint rounds that
        down for a batch; a millisecond less, for one that is so old that it rounded it up."""
        with self._lock:
            self._left = count - 1
            self._until = sent + max(0, reset_ms - 1) / 1000
            self._closed_until = 0.0

    def close(self, remaining: float) -> None:
        """The gateway has no more for so long."""
        self._closed_until = time.monotonic() + remaining

    def check_open(self) -> None:
        """RateLimitException if the gateway has said that there will be none yet."""
        remaining = self._closed_until - time.monotonic()
        if remaining > 0:
            raise RateLimitException(f"the limit is used up: {remaining:.3f} s remain", remaining)

    @property
    def is_over(self) -> bool:
        """Nothing would be lost with it."""
        now = time.monotonic()
        return (not self._left or now >= self._until) and now >= self._closed_until


class Batches:
    """The batch of each key. When there are many, those that are over are forgotten."""

    def __init__(self) -> None:
        self._of: Dict[Optional[str], Batch] = {}
        self._lock = threading.Lock()
        self._forgotten = 0

    def of(self, key: Optional[str]) -> Batch:
        batch = self._of.get(key)
        if batch is not None:
            return batch
        with self._lock:
            if len(self._of) >= _KEYS:
                self._forget()
            return self._of.setdefault(key, Batch())

    @property
    def given(self) -> int:
        """How often a call was admitted out of a batch, without asking the gateway."""
        with self._lock:
            return self._forgotten + sum(batch.given for batch in self._of.values())

    def _forget(self) -> None:
        over = [key for key, batch in self._of.items() if batch.is_over]
        for key in over:
            self._forgotten += self._of.pop(key).given
