"""Leases: renewed while they are held, told when they are lost, ended with their process and no other."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from support import ClientTest, in_children, in_threads, wait_until

from stint import LeaseLost, Lock, NotHeld


class LeaseTest(ClientTest):
    def setUp(self):
        self.there = self.locks()

    def lock(self, key="a", max=1, timeout=0, ttl=0.6, **more):
        return Lock(key, max, timeout, ttl, url=self.there.url, **more)


class Renewed(LeaseTest):
    def test_longer_than_their_ttl_on_one_more_connection(self):
        with self.lock("a"), self.lock("b") as lease:
            time.sleep(1.5)
            self.assertEqual((len(self.there.held("a")), len(self.there.held("b")), lease.lost), (1, 1, False))
        self.assertEqual(self.there.accepted, 2)
        self.assertNotIn("hold", "".join(self.there.requests("PUT")))  # their tie stays
        self.assertGreaterEqual(len(self.there.requests("PUT")), 8)

    def test_not_before_a_third_of_it(self):
        for _ in range(5):
            with self.lock(ttl=3):
                time.sleep(0.1)
        with self.lock(ttl=0.6):
            time.sleep(0.1)
        time.sleep(0.5)
        self.assertEqual((self.there.accepted, self.there.requests("PUT")), (1, []))

    def test_short_ones_let_the_keeper_sleep(self):
        looks, keeper = [], self.lock()._locks.process.get().keeper
        with mock.patch.object(keeper, "_renew_what_is_due", lambda: looks.append(1) or math.inf):
            for _ in range(200):
                with self.lock(ttl=60):
                    pass
        self.assertLessEqual(len(looks), 2)

    def test_one_that_comes_later_and_is_due_earlier(self):
        with self.lock("slow", ttl=60):
            time.sleep(0.05)
            with self.lock("quick", ttl=0.3):
                time.sleep(1)
                self.assertEqual(len(self.there.held("quick")), 1)

    def test_many_over_a_slow_network(self):
        lost = []
        leases = [self.lock(f"l{i}", ttl=6, on_lost=lost.append).acquire() for i in range(30)]
        first = {lease: lease.deadline for lease in leases}
        self.there.latency = 0.08
        wait_until(lambda: lost or all(lease.deadline > first[lease] + 1 for lease in leases),
                   "all were renewed, or one is lost")
        self.assertEqual(lost, [])

    def test_by_hand(self):
        lease = self.lock(ttl=30).acquire()
        before = lease.deadline
        time.sleep(0.02)
        lease.renew()
        self.assertGreater(lease.deadline, before)
        lease.release()
        with self.assertRaises(NotHeld):
            lease.renew()

    def test_not_when_they_were_dropped(self):
        self.lock("a").acquire()
        with self.lock("b", ttl=20):
            wait_until(lambda: self.there.held("a") == [], "it ends by its ttl")


class Lost(LeaseTest):
    def test_told_by_flag_and_call(self):
        told = []
        with self.assertRaisesRegex(LeaseLost, "the gateway has ended it"):
            with self.lock(on_lost=told.append) as lease:
                self.there.end("a")
                wait_until(lambda: told, "told", 5)
                self.assertTrue(lease.lost)
                with self.assertRaises(LeaseLost):
                    lease.renew()
        self.assertEqual(told, [lease])
        self.assertEqual(repr(lease), "<Lease of 'a', lost>")

    def test_a_call_that_is_set_in_the_block_or_after_the_loss(self):
        told = threading.Event()
        lease = self.lock().acquire()
        lease.on_lost = lambda lost: told.set()
        self.there.end("a")
        self.assertTrue(told.wait(5))
        late = []
        lease.on_lost = late.append
        self.assertEqual(late, [lease])

    def test_a_call_that_fails_does_not_end_the_renewals(self):
        def fails(_):
            raise KeyError("a mistake")

        with self.lock("b") as kept, self.assertLogs("stint"):
            lease = self.lock(on_lost=fails).acquire()
            self.there.end("a")
            wait_until(lambda: lease.lost, "lost")
            time.sleep(0.8)
            self.assertFalse(kept.lost)

    def test_when_the_gateway_is_away_or_frozen_for_too_long(self):
        for away in (self.there.stop, self.there.gate.clear):
            self.there.gate.set()
            told = []
            leases = [self.lock(key, on_lost=told.append).acquire() for key in "abc"]
            away()
            wait_until(lambda: len(told) == 3, "all are told", 5)
            late = max(time.monotonic() - lease.deadline for lease in leases)
            self.figure("leases: a lost lock is told to its holder", "<= 1 s", f"{late:.3f} s", late <= 1)
            self.assertTrue(all(lease.lost for lease in leases))
            self.absence(0.05)
            for lease in leases:
                with self.assertRaises(LeaseLost):
                    lease.release()
            if away == self.there.stop:
                self.there.start(forget=True)

    def test_not_when_it_is_away_for_a_moment(self):
        with self.lock(ttl=1.5) as lease:
            time.sleep(0.3)
            self.there.gate.clear()
            time.sleep(0.5)
            self.there.gate.set()
            time.sleep(1.5)
            self.assertFalse(lease.lost)
            self.assertEqual(len(self.there.held("a")), 1)

    def test_a_holder_that_was_frozen_is_late(self):
        program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).resolve().parent.parent)!r})
from stint import Lock, LeaseLost
lease = Lock("a", ttl=0.6, url={self.there.url!r}).acquire()
print(lease.fencing_token, flush=True)
sys.stdin.readline()
for late in (lease.renew, lease.release):
    try:
        late()
    except LeaseLost:
        print("late", flush=True)
"""
        holder = subprocess.Popen([sys.executable, "-B", "-c", program], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (holder.kill(), holder.communicate()))
        fence = int(holder.stdout.readline())
        os.kill(holder.pid, signal.SIGSTOP)
        with self.lock(timeout=20, ttl=20) as lease:
            os.kill(holder.pid, signal.SIGCONT)
            out, _ = holder.communicate("\n", timeout=20)
            self.assertEqual(out, "late\nlate\n")
            self.assertEqual([held.id for held in self.there.held("a")], [lease.id])
            self.assertGreater(lease.fencing_token, fence)


class Ended(LeaseTest):
    def test_a_holder_that_is_killed_is_out_at_once_children_of_its_own_or_not(self):
        for ends in (signal.SIGKILL, signal.SIGTERM):
            program = f"""
import os, sys, time
sys.path.insert(0, {str(Path(__file__).resolve().parent.parent)!r})
from stint import Lock
lease = Lock("a", ttl=30, url={self.there.url!r}).acquire()
if os.fork() == 0:
    time.sleep(5)
    os._exit(0)
print("held", flush=True)
time.sleep(60)
"""
            holder = subprocess.Popen([sys.executable, "-B", "-c", program], stdout=subprocess.PIPE, text=True)
            self.assertEqual(holder.stdout.readline(), "held\n")
            begun = time.monotonic()
            holder.send_signal(ends)
            with self.lock(timeout=20):
                took = time.monotonic() - begun
            self.assertLess(took, 3)
            self.figure("leases: the slot of a holder that is killed", "<= 50 ms later", f"{took:.3f} s", took <= 0.05)
            holder.stdout.close()
            holder.wait()

    def test_a_child_holds_nothing_of_its_parent(self):
        lock = self.lock(max=3)
        with lock as lease:
            def child(_):
                try:
                    lock.release()
                except NotHeld:
                    with lock as own:
                        return int(not lease.lost or own.lost)
                return 2

            self.assertEqual(in_children(2, child), [0, 0])
            pid = os.fork()
            if pid == 0:
                lock._of_thread.leases.append(lease)
                lock.__exit__(None, None, None)
                os._exit(0)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            self.assertEqual([held.id for held in self.there.held("a")], [lease.id])
            time.sleep(0.8)
            self.assertFalse(lease.lost)
        self.assertEqual(self.there.held("a"), [])

    def test_a_child_renews_its_own(self):
        with self.lock("b"):
            time.sleep(0.3)

            def child(_):
                with self.lock("a") as lease:
                    time.sleep(1.2)
                    return int(lease.lost or len(self.there.held("a")) > 1)

            self.assertEqual(in_children(1, child), [0])

    def test_grant_ids_differ_in_children_and_threads(self):
        lock = self.lock(max=100, ttl=20)
        in_children(3, lambda _: lock.acquire() and 0)
        in_threads(3, lambda _: lock.acquire() and None)
        keys = [body["idempotency_key"] for body in self.there.bodies()]
        self.assertEqual((len(keys), len(set(keys))), (6, 6))


if __name__ == "__main__":
    unittest.main()
