"""Users of a lock over a Redis counter (docs/migrating.md): slots are counted, and only their holders free them."""

import contextlib
import time
import unittest

from support.case import scaled
from support.locks_case import LocksTest, letters
from support.permits_case import gateway_url as url, milliseconds
from support.permits_client import percentile, permits_port
from support.processes import Inside, in_processes
from support.tap import Tap
from support.waiting import PATIENCE

from stint import Lock, LockFailureException, NotHeld, StintError


class AtMostMax(LocksTest):
    topic = "Redis lock, at most max"

    def test_no_more_than_max_are_inside(self):
        rounds, seconds = scaled((3, 0.3), (16, 0.4))
        stint = self.locks()
        seen = []

        for number in range(rounds):
            inside = Inside(8)

            def work(worker, inside=inside, key=f"round {number}"):
                end = time.monotonic() + seconds
                # On a busy machine it takes longer until as many are there.
                while time.monotonic() < end or inside.most < 3 and time.monotonic() < end + PATIENCE:
                    with contextlib.suppress(LockFailureException):
                        with Lock(key, 3, url=url(stint)):
                            inside.enter(worker)
                            time.sleep(0.002)
                            inside.leave(worker)

            in_processes(8, work)
            seen.append(inside.most)

        self.count(f"8 processes, max 3, {rounds} x {seconds} s: largest inside", "exactly 3",
                   seen, set(seen) == {3})

    def test_a_refusal_is_an_exception_and_at_once(self):
        stint = self.locks()
        with Lock("warm", url=url(stint)):  # the way there is open
            pass
        entered, took = [], []
        with contextlib.ExitStack() as stack:
            for _ in range(5):
                lock = Lock("product", 3, url=url(stint))
                begun = time.monotonic()
                try:
                    stack.enter_context(lock)
                    entered.append(True)
                except LockFailureException:
                    entered.append(False)
                took.append(time.monotonic() - begun)

        self.count("5 tries at max 3", "T T T F F", letters(entered), letters(entered) == "T T T F F")
        self.figure("5 tries, the longest", "<= 2 ms", milliseconds(max(took)), max(took) <= 0.002)
        self.assertEqual(self.held(stint, "product"), 0)


class NoSlotLost(LocksTest):
    topic = "Redis lock, no slot lost"

    def test_no_slot_is_lost_or_made_up(self):
        stint = self.locks()
        for workers, times in scaled(((2, 100), (4, 50), (16, 12)), ((2, 1000), (4, 500), (16, 125))):
            name = f"{workers} x {times}"

            def work(_, times=times, name=name):
                refused = 0
                for _ in range(times):
                    try:
                        with Lock(name, 1_000_000, url=url(stint)):
                            pass
                    except LockFailureException:
                        refused += 1
                return refused

            refused = sum(in_processes(workers, work, 60))
            held = self.held(stint, name)
            self.count(f"{name} enter and exit: refused, count afterwards", "0, 0", f"{refused}, {held}",
                       (refused, held) == (0, 0))

    def test_slots_stay_in_use(self):
        seconds = scaled(1.5, 15.0)
        stint = self.locks()
        inside = Inside(16)
        begin = time.monotonic() + 0.5

        def work(worker):
            entered = []
            time.sleep(max(0.0, begin - time.monotonic()))
            while time.monotonic() < begin + seconds:
                with Lock("page", 8, timeout=10, url=url(stint)):
                    entered.append(time.monotonic() - begin)
                    inside.enter(worker)
                    time.sleep(0.02)
                    inside.leave(worker)
            return entered

        entered = sorted(at for one in in_processes(16, work, seconds + 20) for at in one)

        self.count("16 workers, max 8: most inside", "<= 8", inside.most, inside.most <= 8)
        self.assertEqual(self.held(stint, "page"), 0)
        each = [sum(second <= at < second + 1 for at in entered) for second in range(int(seconds))]
        self.figure("16 workers, max 8, 20 ms: fewest entries in a second", ">= 370", min(each), min(each) >= 370)


class Releases(LocksTest):
    topic = "Redis lock, releases"
    NEVER = "l_" + "0" * 32

    def test_a_release_without_an_enter_frees_nothing(self):
        stint = self.locks({"jobs": {}})
        self.assertEqual(self.locker(stint).release("jobs", self.NEVER).status, 410)
        self.assertEqual(self.locker(stint).release("jobs", "jobs").status, 400)

        seen = self.enters(stint, "jobs", 4, max=1)

        self.count("4 enters at max 1 after a release without one", "T F F F", seen, seen == "T F F F")

    def test_a_losers_release_does_not_free_the_winner(self):
        stint = self.locks({"jobs": {}})
        winner, loser = self.locker(stint), self.locker(stint)
        lease = self.granted(winner.acquire("jobs")).body["lease"]
        self.assertEqual(loser.acquire("jobs").status, 409)

        self.assertEqual(loser.release("jobs", self.NEVER).status, 410)

        self.assertEqual(self.held(stint, "jobs"), 1)
        self.assertEqual(winner.release("jobs", lease).status, 204)

    def test_a_second_release_does_not_free_the_next(self):
        stint = self.locks({"jobs": {}})
        first, second = self.locker(stint), self.locker(stint)
        lease = self.granted(first.acquire("jobs")).body["lease"]
        self.assertEqual(first.release("jobs", lease).status, 204)
        self.granted(second.acquire("jobs"))

        again = first.release("jobs", lease)  # a repeated one: it is told that it was released

        held = self.held(stint, "jobs")
        self.count("the second release of one lease, and the next holder", "204, holds", f"{again.status}, {held}",
                   (again.status, held) == (204, 1))

    def test_the_client_raises_where_nothing_is_held(self):
        stint = self.locks()
        lock = Lock("jobs", url=url(stint))
        with self.assertRaises(NotHeld):
            lock.release()
        lock.acquire()
        lock.release()
        with self.assertRaises(NotHeld):
            lock.release()

        self.count("the client's release without enter, and a second one", "two errors", "NotHeld, NotHeld", True)
        self.assertEqual(self.held(stint, "jobs"), 0)


class MaxOfKey(LocksTest):
    topic = "Redis lock, max of a key"

    def test_max_belongs_to_the_key(self):
        for name, locks in (("made by its first caller", None), ("declared", {"product": {"max": 3}})):
            with self.subTest(name):
                stint = self.locks(locks)
                answers = [self.locker(stint).acquire("product", max=asked) for asked in (3, 3, 3, 5, 1)]

                seen = [answer.status for answer in answers]
                self.count(f"max 3, 3, 3, 5, 1, {name}", "T T T, 2 errors", seen, seen == [201] * 3 + [422] * 2)
                for refused in answers[3:]:
                    self.assertIn("max is 3", refused.body["detail"])
                    self.assertEqual(refused.body["max"], 3)

    def test_the_client_tells_what_max_is(self):
        stint = self.locks({"product": {"max": 3}})
        with self.assertRaises(StintError) as caught:  # and no LockFailureException: waiting does not help
            with Lock("product", 5, url=url(stint)):
                self.fail("entered")
        self.assertIn("max is 3", str(caught.exception))

    def test_a_reload_that_lowers_max_throws_nobody_out(self):
        stint = self.locks({"product": {"max": 3}})
        holders = [self.locker(stint) for _ in range(3)]
        leases = [self.granted(holder.acquire("product")).body["lease"] for holder in holders]
        stint.write({**stint.config, "locks": {"product": {"max": 2}}})

        self.assertEqual(stint.admin.reload().status, 200)

        self.assertEqual(self.held(stint, "product"), 3)
        self.assertEqual([holder.renew("product", lease).status for holder, lease in zip(holders, leases)], [200] * 3)
        entries = []
        for holder, lease in zip(holders, leases):
            entries.append(self.next_enters(stint))
            self.assertEqual(holder.release("product", lease).status, 204)
        self.count("a reload from 3 to 2 with 3, 2, 1 inside: the next one enters", "F F T", letters(entries),
                   letters(entries) == "F F T")

    def next_enters(self, stint) -> bool:
        with self.locker(stint) as client:
            answer = client.acquire("product")
            if answer.status == 201:
                self.assertEqual(client.release("product", answer.body["lease"]).status, 204)
            return answer.status == 201


class OneConnection(LocksTest):
    topic = "Redis lock, round trips"

    def test_one_connection_and_one_round_trip_each_way(self):
        stint = self.locks()
        tap = Tap(permits_port(stint))
        self.addCleanup(tap.close)

        for _ in range(100):
            with Lock("product", 3, url=f"http://{tap.address}"):
                pass

        requests, faults = tap.forwarded()
        self.assertEqual(faults, [])
        connections = tap.connections
        self.count("100 times with Lock: connections, requests", "<= 1, 200",
                   f"{connections}, {len(requests)}", connections == 1 and len(requests) == 200)

    def test_as_fast_as_a_lease_in_redis(self):
        seconds = scaled(0.3, 5.0)
        stint = self.locks()
        begin = time.monotonic() + 0.5

        def work(worker):
            lock, clock, took, pairs = Lock(f"key {worker}", url=url(stint)), time.monotonic, [], 0
            with lock:
                pass
            time.sleep(max(0.0, begin - clock()))
            while (begun := clock()) < begin + seconds:
                with lock:
                    took.append(clock() - begun)
                pairs += 1
            return pairs, took

        results = in_processes(4, work, seconds + 20)

        rate = sum(pairs for pairs, _ in results) / seconds
        self.figure("4 clients with their own keys, enter and exit", ">= 7,600/s (good: 17,000/s)",
                    f"{rate:,.0f}/s", rate >= 7600)
        p50 = percentile([one for _, took in results for one in took], 0.5)
        self.figure("4 clients with their own keys, p50 of an enter", "<= 0.25 ms", milliseconds(p50),
                    p50 <= 0.00025)


if __name__ == "__main__":
    unittest.main()
