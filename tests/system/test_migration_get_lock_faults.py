"""Users of MySQL's GET_LOCK (docs/migrating.md): holders that end or freeze, restarts, changes of the wall clock."""

import signal
import threading
import time
import unittest

from support.case import scaled
from support.locks_case import LocksTest
from support.locks_client import LockClient
from support.permits_case import gateway_url as url, milliseconds
from support.permits_client import permits_port
from support.waiting import wait_until
from support.wall_clock import WallClock

from stint import Lock, LockFailureException, NamedLock, StintError, StintUnavailable

LEASE = 0.8


class TakeOver(LocksTest):
    """A holder gets a signal, and a waiter gets its lock."""

    def taken_over(self, stint, holder, number) -> float:
        """How long after the signal a waiter has the lock."""
        with LockClient(permits_port(stint)) as waiter:
            waiter.asks_to_acquire("jobs", wait_ms=10_000)
            self.wait_for_waiters(stint, "jobs", 1)
            at = holder.signal(number)
            took = self.granted(waiter.read()).received - at
        holder.end()
        self.wait_for_held(stint, "jobs", 0)
        return took


class HolderEnds(TakeOver):
    topic = "GET_LOCK, holder ends"

    def test_a_holders_end_is_noticed_at_once(self):
        stint = self.locks()
        for number in (signal.SIGKILL, signal.SIGTERM):
            took = []
            for _ in range(scaled(3, 10)):
                holder = self.child(lambda pipe: self.holds(pipe, stint))
                self.assertTrue(holder.hear())
                took.append(self.taken_over(stint, holder, number))
            self.figure(f"holder ended by {number.name}, {len(took)} times: the waiter has it after", "<= 10 ms",
                        milliseconds(max(took)), max(took) <= 0.01)
            self.assertLess(max(took), 2)

    @staticmethod
    def holds(pipe, stint):
        pipe.send(NamedLock(url(stint)).lock("jobs", 1))
        pipe.recv()


class FrozenHolder(TakeOver):
    topic = "GET_LOCK, frozen holder"

    def test_a_frozen_holder_loses_its_lock(self):
        stint = self.locks()
        took = []
        for _ in range(scaled(1, 5)):
            holder = self.child(lambda pipe: self.works(pipe, stint))
            self.assertTrue(holder.hear())
            took.append(self.taken_over(stint, holder, signal.SIGSTOP))
        self.figure(f"holder frozen (SIGSTOP), {len(took)} times: the waiter has it after", "<= 1 s",
                    f"{max(took):.3f} s", max(took) <= 1.0)
        self.assertLess(max(took), 5)

    @staticmethod
    def works(pipe, stint):
        with Lock("jobs", 1, ttl=LEASE, url=url(stint)):
            pipe.send(True)
            pipe.recv()


class LongWork(LocksTest):
    topic = "GET_LOCK, frozen holder"

    def test_a_holder_that_makes_no_call_keeps_its_lock(self):
        seconds = scaled(2.0, 10.0)
        stint = self.locks()
        other, tries = self.locker(stint, hold=None), []

        with Lock("jobs", 1, ttl=LEASE, url=url(stint)) as lease:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                tries.append(other.acquire("jobs", max=1).status)
                time.sleep(0.05)
            lost = lease.lost

        self.count(f"a holder works {seconds:g} s on leases of {LEASE} s: others refused, it is told of a loss",
                   "all, False", f"{tries.count(409)} of {len(tries)}, {lost}", set(tries) == {409} and not lost)
        self.assertEqual(self.held(stint, "jobs"), 0)

    def test_a_lost_lock_is_told(self):
        stint = self.locks()
        called = threading.Event()
        lock = Lock("jobs", 1, ttl=LEASE, url=url(stint), on_lost=lambda *_: called.set())
        lease = lock.acquire()
        holder = self.shown(stint, "jobs")["holders"][0]

        forced = stint.admin.request("DELETE", f"/v1/locks/jobs/leases/{holder['lease']}")
        begun = time.monotonic()

        self.assertEqual(forced.status, 204)
        self.assertTrue(called.wait(10), "nobody was told")
        took = time.monotonic() - begun
        self.count("a lost lock: the flag", "set", "set" if lease.lost else "not set", lease.lost)
        self.figure("a lost lock is told after", "<= 1 s", f"{took:.3f} s", took <= 1.0)
        self.assertLess(took, 5)


class Restart(LocksTest):
    topic = "GET_LOCK, restart"

    def test_a_restart_gives_nobody_a_second_lock(self):
        stint = self.locks(state={"file": str(self.folder / "state.db")})
        ours, waits = NamedLock(url(stint)), []
        self.assertIs(ours.lock("jobs", 0), True)
        threads = [threading.Thread(target=self.waits, args=(stint, waits), daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        self.wait_for_waiters(stint, "jobs", 4)

        stint.kill()
        stint.start()

        restarted = time.monotonic()
        while time.monotonic() < restarted + scaled(0.7, 3.0):
            self.assertEqual(self.held(stint, "jobs"), 1)
            self.assertEqual(self.locker(stint).acquire("jobs").status, 409)
            time.sleep(0.05)
        self.assertEqual([answer for _, answer in waits if answer is True], [], "two holders")
        self.count("restart with a holder: time with two holders", "0 s", "0 s", True)
        self.unlocked(ours)
        for thread in threads:
            thread.join(20)
        self.assertFalse([thread for thread in threads if thread.is_alive()], "a waiter is blocked")
        # Who was told of the outage heard so soon after it; the others waited on and had their turn.
        told = [at - restarted for at, answer in waits if answer is not True]
        self.figure("waiters wait on, or have an error after", "<= 1 s",
                    f"{max(told):.3f} s" if told else "all waited on", not told or max(told) <= 1.0)
        self.assertEqual(len(waits), 4)

    @staticmethod
    def waits(stint, waits):
        locks = NamedLock(url(stint))
        try:
            answer = locks.lock("jobs", 15)
            if answer:
                locks.unlock("jobs")
        except (StintUnavailable, StintError, LockFailureException) as error:
            answer = error
        waits.append((time.monotonic(), answer))

    def unlocked(self, locks):
        try:
            answer = locks.unlock("jobs")
        except (StintUnavailable, StintError) as error:
            answer = error
        self.count("the old holder's unlock", "True, False or a clear error", repr(answer),
                   answer in (True, False) or bool(str(answer)))


class ClockChange(LocksTest):
    topic = "GET_LOCK, clock change"

    def test_a_clock_that_is_set_ends_no_wait(self):
        wait, after = scaled((1.5, 0.4), (4.0, 1.0))
        wall = WallClock(self.folder / "clock")
        stint = self.locks(preexec=wall.preexec)
        self.granted(self.locker(stint).acquire("jobs", ttl_ms=60_000))
        for name, offset in (("forward", 3600), ("back", -3600)):
            with self.subTest(name):
                wall.set(0)
                wait_until(lambda: wall.shows(stint, 0), "the clock is right")
                waiter = self.locker(stint)
                waiter.asks_to_acquire("jobs", wait_ms=int(wait * 1000))
                time.sleep(after)
                wall.set(offset)

                refused = waiter.read()

                self.assertTrue(wall.shows(stint, offset), "the test's own clock was not set")
                self.assertEqual(refused.status, 409)
                self.figure(f"a wait of 4 s, the clock set {name} by an hour: refused at", "4.0 +- 0.05 s",
                            f"{refused.took:.3f} s", abs(refused.took - wait) <= 0.05)
                self.assertTrue(wait - 0.1 <= refused.took < wait + 3, refused.took)
        self.assertEqual(self.held(stint, "jobs"), 1)


if __name__ == "__main__":
    unittest.main()
