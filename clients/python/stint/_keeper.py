"""Keeps the leases of a process alive that are held for longer, and tells those that are lost."""

import logging
import math
import threading
import time
import weakref
from typing import Dict, List

from ._clock import SYSTEM_CLOCK, Nap
from ._errors import StintError, StintUnavailable
from ._gateway import ANSWER_TIME, Gateway
from ._lease import Lease

_AGAIN = 0.1  # seconds between two tries to renew while the gateway is away
_TOGETHER = 0.1  # what is due within so many seconds, or a tenth of it, is renewed in one go
_IN_VAIN = 4  # after so many leases without an answer the gateway is away: the others are not asked for in this round
_NEVER = 1 << 62
_LOG = logging.getLogger("stint")


class Keeper:
    """One thread, with a connection of its own once it has something to renew.

    It begins with the process's first lease, and sleeps as long as leases are younger than their renewal
    interval: what they cost is a look at one number. leases: those that are held here; whoever takes one
    out has the say over its end. Leases that their holder has dropped are forgotten, and end by their ttl.
    """

    def __init__(self, gateway: Gateway) -> None:
        self.leases: "Dict[str, weakref.ref[Lease]]" = {}
        self._gateway = gateway
        self._nap = Nap(SYSTEM_CLOCK)
        self._wakes_at = math.inf
        self._woken_for = math.inf
        self._guard = threading.Lock()
        self._runs = False
        self._unanswered: Dict[str, float] = {}  # by its id: when it was asked for in vain; 0: it was not

    def add(self, lease: Lease) -> None:
        self.leases[lease.id] = weakref.ref(lease)
        if lease.due < self._wakes_at:
            self._woken_for = lease.due
            if not self._runs:
                self._begin()
            self._nap.wake()

    def _begin(self) -> None:
        with self._guard:
            if not self._runs:
                threading.Thread(target=self._run, name="stint-leases", daemon=True).start()
                self._runs = True

    def _run(self) -> None:
        while True:
            # It comes again when the lease is due that woke it, even if that is over by now: else each of
            # many short ones would wake it. Who is due before that wakes it, seen or not.
            if self._woken_for <= time.monotonic():
                self._woken_for = math.inf
            self._wakes_at = self._woken_for
            try:
                next_due = self._renew_what_is_due()
            except Exception:  # whatever it was, nobody else looks after the leases
                _LOG.exception("renewing what is due")
                next_due = time.monotonic() + _AGAIN
            self._wakes_at = at = min(self._wakes_at, next_due)
            self._nap.until = int(min(at * 1e9, _NEVER))
            self._nap.run()

    def _renew_what_is_due(self) -> float:
        """When to come again."""
        due: List[Lease] = []
        next_due = math.inf
        now = time.monotonic()
        for name, reference in list(self.leases.items()):
            lease = reference()
            if lease is None:
                self.leases.pop(name, None)
            elif lease.due - now <= min(_TOGETHER, lease.interval / 10):
                due.append(lease)
            else:
                next_due = min(next_due, lease.due)
        # Those that got no answer come last, the latest of them at the end: they keep no other one from its turn.
        self._unanswered = {lease.id: self._unanswered.get(lease.id, 0) for lease in due}
        due.sort(key=lambda lease: (self._unanswered[lease.id], lease.deadline))
        in_vain = 0
        again: List[Lease] = []  # no answer said anything about them
        while due:
            lease = due.pop(0)
            try:
                renewed = self._renew(lease, self._time_for(lease, due, in_vain))
            except StintUnavailable:
                again.append(lease)
                self._unanswered[lease.id] = time.monotonic()
                in_vain += 1
                if in_vain >= _IN_VAIN:
                    again += due  # nobody answers the others either
                    break
                continue
            except Exception:
                _LOG.exception("renewing %r", lease)
                renewed = False
            if renewed:
                next_due = min(next_due, lease.due)
            else:
                again.append(lease)
        self._drop_the_late(again)
        if again:
            next_due = min(next_due, time.monotonic() + _AGAIN, *[lease.deadline for lease in again])
        return next_due

    @staticmethod
    def _time_for(lease: Lease, others: List[Lease], in_vain: int) -> float:
        """The end of the wait for its answer, where the others wait for their turn.

        While all are answered, half of the time that the others have left: a slow network, or a new
        connection, loses nobody. After an exchange in vain, an equal share of it.
        """
        if not others:
            return lease.deadline
        now = time.monotonic()
        left = min(other.deadline for other in others) - now
        share = left / (len(others) + 1) if in_vain else left / 2
        return min(lease.deadline, now + max(share, _AGAIN))

    def _drop_the_late(self, due: List[Lease]) -> None:
        now = time.monotonic()
        for lease in [lease for lease in due if now >= lease.deadline]:
            due.remove(lease)
            self._lose(lease, "it could not be renewed before it ended")

    def _renew(self, lease: Lease, until: float) -> bool:
        """False: no answer that says anything about the lease. StintUnavailable: no answer."""
        if lease.id not in self.leases:
            return True  # released meanwhile
        sent = time.monotonic()
        if sent >= until:
            return False
        tied = lease.needs_tie
        try:
            answer = self._gateway.threads.exchange(lease.renewal(tied), min(ANSWER_TIME, until - sent))
            if answer.status == 200:
                lease.renewed(answer, sent, self._gateway.threads.connection if tied else None)
                return True
        except StintError:
            return False
        if answer.status not in (404, 410):
            return False
        self._lose(lease, "the gateway has ended it")
        return True

    def _lose(self, lease: Lease, why: str) -> None:
        if self.leases.pop(lease.id, None) is not None:
            try:
                lease.lose(f"the lease is lost: {why}")
            except BaseException:  # on_lost may exit; that ends neither the process nor this thread
                _LOG.exception("on_lost of %r", lease)
