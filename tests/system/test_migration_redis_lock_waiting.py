"""Users of a lock over a Redis counter (docs/migrating.md): waiting for a slot, in order and with a time-out."""

import signal
import time
import unittest

from support.case import scaled
from support.locks_case import LocksTest
from support.permits_case import gateway_url as url, milliseconds
from support.permits_client import permits_port
from support.locks_client import LockClient
from support.processes import Inside, in_processes

from stint import Lock, LockFailureException


class Waiting(LocksTest):
    topic = "Redis lock, waiting"

    def test_who_waits_has_its_turn(self):
        seconds = scaled(1.5, 8.0)
        stint = self.locks()
        inside = Inside(4)
        begin = time.monotonic() + 0.3

        def work(worker):
            time.sleep(max(0.0, begin - time.monotonic()))
            entries, waits = 0, []
            while (asked := time.monotonic()) < begin + seconds:
                with Lock("list", 1, timeout=10, url=url(stint)):
                    waits.append(time.monotonic() - asked)
                    inside.enter(worker)
                    time.sleep(0.01)
                    inside.leave(worker)
                entries += 1
            return entries, max(waits)

        results = in_processes(4, work, seconds + 20)

        entries, longest = [one for one, _ in results], max(wait for _, wait in results)
        self.count("max 1, 4 workers: most inside", "1", inside.most, inside.most == 1)
        self.assertGreaterEqual(2 * min(entries), max(entries))  # on a busy machine not all begin at once
        self.figure("max 1, hold 10 ms, 4 workers, 8 s: entries of each", "195 +- 15", entries,
                    min(entries) >= 180 and max(entries) <= 210)
        self.figure("the longest wait", "<= 60 ms", milliseconds(longest), longest <= 0.06)

    def test_a_wait_ends_with_its_time_out(self):
        stint = self.locks()
        self.granted(self.locker(stint).acquire("list"))
        begun = time.monotonic()
        with self.assertRaises(LockFailureException):
            with Lock("list", 1, timeout=0.5, url=url(stint)):
                self.fail("entered")
        took = time.monotonic() - begun

        self.figure("wait 0.5 s on a held key: refused at", "0.50 +- 0.02 s", f"{took:.3f} s",
                    0.48 <= took <= 0.52)
        self.assertTrue(0.4 <= took < 3, took)
        self.assertEqual(self.shown(stint, "list")["waiting"], 0)

    def test_a_waiter_that_is_killed_holds_up_nobody(self):
        stint = self.locks()
        late = []
        for _ in range(scaled(3, 20)):
            child = self.child(lambda pipe: self.waits(pipe, stint))
            holder, following = self.locker(stint), self.locker(stint)
            lease = self.granted(holder.acquire("list")).body["lease"]
            child.tell("wait")
            self.wait_for_waiters(stint, "list", 1)
            following.asks_to_acquire("list", wait_ms=10_000)
            self.wait_for_waiters(stint, "list", 2)

            child.signal(signal.SIGKILL)
            released = time.monotonic()
            holder.release("list", lease)
            answer = self.granted(following.read())
            late.append(answer.received - released)
            following.release("list", answer.body["lease"])
            child.end()

        self.figure(f"a waiter killed, {len(late)} times: the next one has it after", "<= 50 ms",
                    milliseconds(max(late)), max(late) <= 0.05)
        self.assertLess(max(late), 2)

    @staticmethod
    def waits(pipe, stint):
        pipe.recv()
        LockClient(permits_port(stint), timeout=60).acquire("list", wait_ms=60_000)
        time.sleep(60)  # and keeps what it was given


if __name__ == "__main__":
    unittest.main()
