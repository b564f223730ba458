"""Locks while the gateway is away, frozen or restarted, and when a connection breaks."""

import threading
import time
import unittest

from support import ClientTest, scaled, wait_until

from limiter_calls import time_to_raise
from stint import LeaseLost, Lock, NotHeld, StintUnavailable


class LeaseTest(ClientTest):
    def setUp(self):
        self.there = self.locks()

    def lock(self, key="a", max=1, timeout=0, ttl=0.6, **more):
        return Lock(key, max, timeout, ttl, url=self.there.url, **more)


class Away(LeaseTest):
    def test_a_frozen_gateway_costs_no_more_than_a_second(self):
        self.absence()
        self.lock("b", ttl=20).acquire()
        self.there.gate.clear()
        for timeout in (0, 0.2):
            took = time_to_raise(self, StintUnavailable, lambda: self.lock(timeout=timeout).acquire())
            self.assertTrue(0.8 + timeout < took < timeout + 5, took)
            self.figure("lock outages: enter at a frozen gateway", "<= 1 s beyond the wait", f"{took - timeout:.3f} s",
                        took - timeout <= 1)

    def test_and_so_does_a_release(self):
        self.absence()
        for away in (self.there.gate.clear, self.there.stop):
            self.there.gate.set()
            lease = self.lock(str(away), ttl=20).acquire()
            away()
            took = time_to_raise(self, StintUnavailable, lease.release)
            self.assertTrue(0.7 < took < 5, took)
            self.figure("lock outages: leave at a gateway that is away", "<= 1 s", f"{took:.3f} s", took <= 1)

    def test_nobody_there(self):
        self.absence()
        self.there.stop()
        begun = time.monotonic()
        with self.assertRaises(StintUnavailable):
            self.lock().acquire()
        self.assertTrue(0.7 < time.monotonic() - begun < 5)

    def test_clients_first_server_later(self):
        self.there.stop()
        later = threading.Timer(0.4, self.there.start)
        later.start()
        self.absence(0.1)
        with self.lock(timeout=20):
            later.join()

    def test_the_blocks_own_exception_is_the_one_that_comes_out(self):
        self.absence(0.1)
        with self.assertRaises(KeyError) as caught:
            with self.lock(ttl=20):
                self.there.stop()
                raise KeyError("x")
        if hasattr(caught.exception, "__notes__"):
            self.assertRegex(caught.exception.__notes__[0], "the lock was not released: StintUnavailable")
        else:
            self.assertIsInstance(caught.exception.__context__, StintUnavailable)
        self.there.start()
        self.assertEqual(self.there.most_held, {"a": 1})

    def test_a_failing_release_after_a_block_that_did_not(self):
        self.absence(0.1)
        with self.assertRaises(StintUnavailable):
            with self.lock(ttl=20) as lease:
                self.there.stop()
        with self.assertRaises(NotHeld):
            lease.release()

    def test_a_restart_under_a_holder(self):
        """It keeps what it has, tied to a connection again: so that its end frees it at once."""
        with self.lock() as lease, self.lock("b", ttl=30) as unaware:
            self.there.stop()
            self.there.start()
            wait_until(lambda: self.there.held("a")[0].tie is not None, "tied again", 5)
            self.assertEqual((lease.lost, self.there.requests("PUT")[-1][-16:]), (False, "?hold=connection"))
            time.sleep(1)
            self.assertFalse(lease.lost)
            self.assertNotIn("hold", self.there.requests("PUT")[-1])
        self.assertFalse(unaware.lost)
        self.assertEqual(self.there.held("a") + self.there.held("b"), [])

    def test_a_restart_that_forgets(self):
        with self.assertRaises(LeaseLost):
            with self.lock() as lease:
                self.there.stop()
                self.there.start(forget=True)
                wait_until(lambda: lease.lost, "told", 5)


class Repeated(LeaseTest):
    def test_a_lost_reply_is_asked_for_again_by_the_same_id(self):
        for warm in (False, True):
            key = f"warm {warm}"
            if warm:
                with self.lock("b"):
                    pass
            self.there.lose = 1
            with self.lock(key, ttl=20):
                self.assertEqual(len(self.there.held(key)), 1)
            asked = [body.get("idempotency_key") for request, _, body in self.there.asked if key[-4:] in request
                     and request.startswith("POST")]
            self.assertEqual((len(asked), len(set(asked))), (2, 1))

    def test_a_lost_reply_to_a_release(self):
        lock = self.lock(ttl=20)
        lock.acquire()
        self.there.lose = 1
        lock.release()
        self.assertEqual(len(self.there.requests("DELETE")), 2)

    def test_random_cuts_leave_nothing_behind(self):
        for number in range(scaled(60, 1000)):
            self.there.lose = number % 7 == 0
            with self.lock("many", 10**6, ttl=20):
                self.there.lose = number % 5 == 0
        self.assertEqual(self.there.held("many"), [])


if __name__ == "__main__":
    unittest.main()
