"""Users of MySQL's GET_LOCK (docs/migrating.md): time-outs, order, names, owners, deadlocks and many waiters."""

import re
import selectors
import threading
import time
import unittest

from support.case import scaled
from support.locks_case import LocksTest
from support.locks_client import LockClient, acquiring, asking, lock_path
from support.permits_case import gateway_url as url, milliseconds
from support.permits_client import percentile, permits_port
from support.processes import in_processes

from stint import NamedLock


class TimeOuts(LocksTest):
    topic = "GET_LOCK, time-outs"

    def test_lock_ends_with_its_time_out(self):
        stint = self.locks()
        self.granted(self.locker(stint).acquire("jobs"))
        locks = NamedLock(url(stint))
        for timeout in scaled((0, 0.5), (0, 0.5, 2)):
            begun = time.monotonic()
            self.assertIs(locks.lock("jobs", timeout), False)
            took = time.monotonic() - begun
            self.figure(f"a held name, timeout {timeout}: False at", f"{timeout:.2f} (+ <= 0.02) s",
                        f"{took:.3f} s", timeout - 0.001 <= took <= timeout + 0.02)
            self.assertTrue(timeout - 0.05 <= took < timeout + 3, took)
        self.assertIs(locks.lock("free", 0.5), True)
        self.assertIs(locks.unlock("free"), True)

    def test_what_is_no_time_out_is_refused_with_a_text(self):
        locks = NamedLock(url(self.locks()))
        seen = []
        for timeout in (-1, None, "soon", float("nan")):
            with self.subTest(timeout=timeout):
                with self.assertRaises(ValueError) as caught:
                    locks.lock("jobs", timeout)
                self.assertTrue(str(caught.exception))
                seen.append(type(caught.exception).__name__)
        self.count("timeout -1, None", "bad input, never a TypeError", ", ".join(seen[:2]), len(seen) == 4)


LEASE_ID = re.compile(b"l_[0-9a-f]{32}")


def loop(port: int, begin: float, end: float):
    """What a waiter in a loop does, without a library that would take time of its own: how long it waited."""
    acquire = acquiring("jobs", "connection", wait_ms=10_000)
    release = asking("DELETE", f"{lock_path('jobs')}/leases/LEASE")
    waited, clock = [], time.monotonic
    with LockClient(port) as client:
        sock = client.sock
        time.sleep(max(0.0, begin - clock()))
        while (asked := clock()) < end or len(waited) < 3:
            sock.sendall(acquire)
            answer = sock.recv(4096)
            waited.append(clock() - asked)
            while not answer.rstrip().endswith(b"}"):
                answer += sock.recv(4096)
            lease = LEASE_ID.search(answer)[0]
            sock.sendall(release.replace(b"LEASE", lease))
            answer = sock.recv(4096)
            assert answer.startswith(b"HTTP/1.1 204") and answer.endswith(b"\r\n\r\n"), answer
    return waited


class HandOver(LocksTest):
    topic = "GET_LOCK, hand-over"

    def test_first_come_first_served(self):
        pause = scaled(0.02, 0.05)
        stint = self.locks()
        holder, waiters = self.locker(stint), [self.locker(stint) for _ in range(6)]
        lease = self.granted(holder.acquire("jobs")).body["lease"]
        for number, waiter in enumerate(waiters):
            waiter.asks_to_acquire("jobs", wait_ms=10_000)
            self.wait_for_waiters(stint, "jobs", number + 1)
            time.sleep(pause)

        holder.release("jobs", lease)
        fences, times = [], []
        for waiter in waiters:
            answer = self.granted(waiter.read())
            fences.append(answer.body["fence"])
            times.append(answer.received)
            waiter.release("jobs", answer.body["lease"])

        self.count("6 waiters 50 ms apart", "in order", "in order" if fences == sorted(fences) else fences,
                   fences == sorted(fences) and times == sorted(times))

    def test_the_next_one_has_it_at_once(self):
        times = scaled(20, 100)
        stint = self.locks()
        holder, waiter = self.locker(stint), self.locker(stint)
        lease = self.granted(holder.acquire("jobs")).body["lease"]
        took = []
        for _ in range(times):
            waiter.asks_to_acquire("jobs", wait_ms=10_000)
            self.wait_for_waiters(stint, "jobs", 1)
            released = time.monotonic()
            holder.send(asking("DELETE", f"{lock_path('jobs')}/leases/{lease}"))
            answer = self.granted(waiter.read())
            took.append(answer.received - released)
            self.assertEqual(holder.read().status, 204)
            lease, holder, waiter = answer.body["lease"], waiter, holder

        median = percentile(took, 0.5)
        self.figure(f"unlock, the next one has it, median of {times}", "<= 2 ms", milliseconds(median),
                    median <= 0.002)
        self.assertLess(median, 0.5)

    def test_waiters_in_a_loop(self):
        seconds = scaled(0.5, 5.0)
        stint = self.locks()
        begin = time.monotonic() + 0.5

        results = in_processes(16, lambda _: loop(permits_port(stint), begin, begin + seconds), seconds + 20)

        waited = [one for waits in results for one in waits]
        rate, p99 = len(waited) / seconds, percentile(waited, 0.99)
        self.figure("16 waiters in a loop, hand-overs", ">= 9,800/s", f"{rate:,.0f}/s", rate >= 9800)
        self.figure("16 waiters in a loop, p99 of a wait", "<= 2.9 ms", milliseconds(p99), p99 <= 0.0029)
        self.assertEqual(self.held(stint, "jobs"), 0)


class Names(LocksTest):
    topic = "GET_LOCK, names"
    NAMES = ("it's", "x',0) , SLEEP(2) -- ", "zz', 0) OR 1=1 -- ", "", "n" * 1000, "Queue", "queue", "Queue ",
             "a\r\nb", "a\0b", "Aufträge 仕事", "a/b", "a%2Fb", "..", "leases", "?max=2#x")

    def test_names_are_data(self):
        stint = self.locks()
        first, second = self.locker(stint), self.locker(stint)
        answers = [(first.acquire(name, max=1), second.acquire(name, max=1)) for name in self.NAMES]

        seen = {name: (one.status, other.status) for name, (one, other) in zip(self.NAMES, answers)}
        refused = {name for name, statuses in seen.items() if statuses == (400, 400)}
        wrong = {name: statuses for name, statuses in seen.items()
                 if name not in refused and statuses != (201, 409)}
        self.count(f"{len(self.NAMES)} names: each a lock or a clean 400, and a second session refused",
                   "all", "all" if not wrong else wrong, not wrong)
        self.assertEqual(refused, {"", "a\r\nb", "a\0b"})
        held = {lock["lock"] for lock in stint.admin.get("/v1/locks")["locks"] if lock["held"]}
        self.assertEqual(held, set(self.NAMES) - refused)
        for one, _ in answers:
            if one.status == 400:
                self.assertEqual((one.field("Content-Type"), one.body["status"]), ("application/problem+json", 400))
        longest = max(answer.took for pair in answers for answer in pair)
        self.figure("the longest answer", "<= 20 ms", milliseconds(longest), longest <= 0.02)


class Reentrance(LocksTest):
    topic = "GET_LOCK, re-entrance"

    def test_reentrant_for_its_owner_and_counted(self):
        stint = self.locks()
        ours, theirs = NamedLock(url(stint)), NamedLock(url(stint))
        seen = [ours.lock("jobs", 0), ours.lock("jobs", 0), theirs.lock("jobs", 0), theirs.unlock("jobs"),
                ours.unlock("jobs"), theirs.lock("jobs", 0), ours.unlock("jobs"), theirs.lock("jobs", 0),
                theirs.unlock("jobs"), theirs.unlock("never named")]

        wanted = [True, True, False, False, True, False, True, True, True, None]
        self.count("lock, lock, other: lock, unlock; unlock, other: lock; unlock, other: lock, unlock, unknown",
                   wanted, seen, seen == wanted)
        self.assertEqual(self.held(stint, "jobs"), 0)


class Deadlock(LocksTest):
    topic = "GET_LOCK, deadlock"

    def test_a_deadlock_ends_with_the_time_outs(self):
        timeout = scaled(0.5, 1.0)
        stint = self.locks()
        both_hold, results = threading.Barrier(2), {}

        def work(first, second):
            locks = NamedLock(url(stint))
            held = locks.lock(first, 1)
            both_hold.wait(10)
            begun = time.monotonic()
            entered = locks.lock(second, timeout)
            results[first] = (held, entered, time.monotonic() - begun)
            both_hold.wait(10)  # neither gives way to the other
            locks.unlock(first)

        threads = [threading.Thread(target=work, args=order, daemon=True) for order in (("A", "B"), ("B", "A"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)

        self.assertFalse([thread for thread in threads if thread.is_alive()], "both are blocked")
        longest = max(took for _, _, took in results.values())
        self.count("A, B against B, A with time-outs: each has its first, and its second", "True, False",
                   ", ".join(str(one) for one in results["A"][:2]),
                   all(result[:2] == (True, False) for result in results.values()))
        self.figure(f"both end after, with time-outs of {timeout:g} s", f"<= {timeout + 0.02:.2f} s",
                    f"{longest:.3f} s", longest <= timeout + 0.02)
        self.assertLess(longest, timeout + 3)


class ManyWaiters(LocksTest):
    topic = "GET_LOCK, many waiters"

    def test_many_waiters_and_many_holders(self):
        count = scaled(400, 2000)
        stint = self.locks(max_connections=2 * count + 100)
        before = stint.resident()
        holders = [self.locker(stint) for _ in range(count)]
        held = [holder.acquire(f"job {number}").status for number, holder in enumerate(holders)]
        self.assertEqual(set(held), {201})
        holder = self.locker(stint)
        lease = self.granted(holder.acquire("jobs")).body["lease"]
        waiters = selectors.DefaultSelector()
        self.addCleanup(waiters.close)
        for _ in range(count):
            waiter = self.locker(stint)
            waiter.asks_to_acquire("jobs", wait_ms=60_000)
            waiters.register(waiter.sock, selectors.EVENT_READ, waiter)
        self.wait_for_waiters(stint, "jobs", count)
        resident = stint.resident()

        took = []
        while waiters.get_map():
            released = time.monotonic()
            holder.send(asking("DELETE", f"{lock_path('jobs')}/leases/{lease}"))
            (key, _), = waiters.select(10)  # one of them, and no other
            answer = self.granted(key.data.read())
            took.append(answer.received - released)
            self.assertEqual(holder.read().status, 204)
            lease, holder = answer.body["lease"], key.data
            waiters.unregister(key.fileobj)

        self.count(f"{count} waiters on one name and {count} holders: accepted, served",
                   f"{count}, {count}", f"{len(held)}, {len(took)}", len(took) == count)
        self.figure(f"{count} waiters and {count} holders: resident memory", "<= 200 MiB",
                    f"{resident / 2**20:.0f} MiB (without them {before / 2**20:.0f})", resident <= 200 * 2**20)
        self.figure(f"hand-over with {count} waiters, median", "<= 5 ms", milliseconds(percentile(took, 0.5)),
                    percentile(took, 0.5) <= 0.005)
        self.figure(f"hand-over with {count} waiters, 99 of 100", "<= 5 ms", milliseconds(percentile(took, 0.99)),
                    percentile(took, 0.99) <= 0.005)


if __name__ == "__main__":
    unittest.main()
