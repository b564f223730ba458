"""Users of a lock over a Redis counter (docs/migrating.md): Stint restarts, freezes or dies while slots are held."""

import signal
import time
import unittest

from support.case import scaled
from support.locks_case import LocksTest
from support.permits_case import gateway_url as url, milliseconds
from support.processes import Inside

from stint import Lock, LockFailureException, StintUnavailable

MAX = 2


def holds(gateway, inside, number, ttl):
    """What a child does: it enters, waiting if it must, and is inside until it is told to leave."""
    def work(pipe):
        while True:
            try:
                with Lock("product", MAX, timeout=1, ttl=ttl, url=gateway) as lease:
                    inside.enter(number)
                    pipe.send("inside")
                    pipe.recv()
                    inside.leave(number)
                    pipe.send("lost" if lease.lost else "held")
                    return
            except (LockFailureException, StintUnavailable):
                time.sleep(0.02)

    return work


class Restart(LocksTest):
    topic = "Redis lock, restart"

    def test_holders_are_kept_where_there_is_state(self):
        ttl = scaled(4.0, 5.0)
        stint = self.locks({"product": {"max": MAX}}, state={"file": str(self.folder / "state.db")})
        inside = Inside(4)
        first = [self.child(holds(url(stint), inside, number, ttl)) for number in range(2)]
        for holder in first:
            self.assertEqual(holder.hear(), "inside")

        stint.kill()
        stint.start()

        seen = self.enters(stint, "product", 2)
        self.count("2 of 2 held, SIGKILL, start, state kept: 2 more enters", "F F", seen, seen == "F F")
        following = [self.child(holds(url(stint), inside, number, ttl)) for number in (2, 3)]
        time.sleep(1.2 * ttl)  # longer than the leases: they are renewed
        self.assertEqual([one.pipe.poll() for one in following], [False, False])
        self.leave(first, "held")
        for holder in following:
            self.assertEqual(holder.hear(), "inside")
        self.count("state kept: most inside, by their own count", f"<= {MAX}", inside.most, inside.most == MAX)
        self.leave(following, "held")
        self.assert_two_may_enter(stint, "state kept")

    def leave(self, holders, how):
        for holder in holders:
            holder.tell("leave")
            self.assertEqual(holder.hear(), how)

    def assert_two_may_enter(self, stint, name):
        self.wait_for_held(stint, "product", 0)
        seen = self.enters(stint, "product", 4)
        self.count(f"after all left, 4 enters, {name}", "T T F F", seen, seen == "T T F F")

    def test_without_state_nobody_enters_before_the_longest_lease_is_over(self):
        grace = scaled(1.5, 3.0)
        stint = self.locks({"product": {"max": MAX}},
                           permits={"max_ttl": f"{grace}s", "start_up_grace": "0s"})
        for _ in range(2):
            self.granted(self.locker(stint).acquire("product", ttl_ms=int(grace * 1000)))
        stint.kill()
        before = time.monotonic()
        permits = {name: value for name, value in stint.config["permits"].items() if name != "start_up_grace"}
        stint.write({**stint.config, "permits": permits})
        stint.start()

        seen = self.enters(stint, "product", 2)
        self.count("2 of 2 held, SIGKILL, start, no state: 2 more enters", "F F", seen, seen == "F F")
        raw = self.locker(stint)
        entered = self.granted(raw.acquire("product", wait_ms=10_000)).received - before
        self.count("no state: the first enters after the start", f">= {grace:g} s", f"{entered:.2f} s",
                   entered >= grace)
        self.assertLess(entered, grace + 5)
        raw.close()
        self.assert_two_may_enter(stint, "no state")


class ServerGone(LocksTest):
    topic = "Redis lock, server gone"

    def test_a_frozen_server_is_an_error_in_bounded_time(self):
        frozen = scaled(1.6, 5.0)
        stint = self.locks()
        with Lock("product", MAX, url=url(stint)):
            pass
        stint.freeze()
        took = []
        try:
            end = time.monotonic() + frozen
            while time.monotonic() < end:
                begun = time.monotonic()
                with self.assertRaises(StintUnavailable):
                    with Lock("product", MAX, url=url(stint)):
                        self.fail("entered")
                took.append(time.monotonic() - begun)
        finally:
            stint.signal(signal.SIGCONT)

        self.figure(f"the server frozen {frozen:g} s: enter raises after", "<= 1 s", f"{max(took):.3f} s", max(took) <= 1.05)
        self.assertLess(max(took), 2.5)
        with Lock("product", MAX, url=url(stint)):  # and works again

            pass
        self.wait_for_held(stint, "product", 0)

    def test_the_bodys_own_error_is_not_buried(self):
        stint = self.locks(state={"file": str(self.folder / "state.db")})
        begun = None
        with self.assertRaises(KeyError) as caught:
            with Lock("product", 1, ttl=1, url=url(stint)):
                stint.kill()
                begun = time.monotonic()
                raise KeyError("the body's own")
        took = time.monotonic() - begun
        attached = str(getattr(caught.exception, "__notes__", None) or repr(caught.exception.__context__))

        self.count("the server dies in a body that raises KeyError: the caller sees, and attached",
                   "KeyError, StintUnavailable",
                   "KeyError, StintUnavailable" if "StintUnavailable" in attached else f"KeyError, {attached}",
                   "StintUnavailable" in attached)
        self.figure("the failing release took", "<= 1 s", milliseconds(took), took <= 1.05)
        stint.start()
        started = time.monotonic()
        free = self.granted(self.locker(stint).acquire("product", max=1, wait_ms=10_000)).received - started
        self.figure("the slot is free by its lease of 1 s, after the start", "<= 1 s", f"{free:.3f} s",
                    free <= 1.05)
        self.assertLess(free, 5)


if __name__ == "__main__":
    unittest.main()
