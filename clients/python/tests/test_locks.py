"""Lock: who gets in, who is refused, in which order, and who may release."""

import math
import os
import signal
import threading
import time
import unittest
from unittest import mock

from fake_gateway import answer
from support import ClientTest, in_threads, scaled, wait_until

from stint import Lock, LockFailureException, NotHeld, RateLimitException, StintError
from stint import _lock_terms, _locks


class LockTest(ClientTest):
    def setUp(self):
        self.there = self.locks()

    def lock(self, *arguments, **more):
        return Lock(*arguments, url=self.there.url, **more)


class Holding(LockTest):
    def test_as_many_as_max_and_the_others_are_refused_at_once(self):
        entered = []
        for _ in range(5):
            try:
                entered.append(self.lock("product", 3).acquire())
            except LockFailureException as refused:
                entered.append(refused)
        self.assertEqual([isinstance(entry, Exception) for entry in entered], [False] * 3 + [True] * 2)
        refused = entered[3]
        self.assertEqual((refused.held, refused.max, refused.retry_after, refused.status), (3, 3, 0.25, 409))
        self.assertEqual(str(refused), "product: 3 of 3 are held")
        self.assertIsInstance(refused, RateLimitException)

    def test_a_lock_that_is_full_since_the_start_says_so(self):
        told = {"type": "about:blank", "title": "Conflict", "status": 409, "lock": "product", "max": 3, "held": 3,
                "detail": "The lock product is full until start_up_grace is over", "retry_after_ms": 59000,
                "reason": "start_up_grace"}
        self.there.script = answer(409, told, "Retry-After: 59\r\nRetry-After-Ms: 59000\r\n")
        with self.assertRaises(LockFailureException) as caught:
            self.lock("product", 3).acquire()
        self.assertEqual(str(caught.exception), "product: The lock product is full until start_up_grace is over")
        self.assertEqual((caught.exception.retry_after, caught.exception.held), (59, 3))

    def test_one_connection_and_one_round_trip_each_way(self):
        for _ in range(100):
            with self.lock("product", 3):
                self.assertEqual(len(self.there.held("product")), 1)
        self.assertEqual((self.there.accepted, len(self.there.asked)), (1, 200))
        self.assertEqual(self.there.held("product"), [])

    def test_what_is_asked(self):
        with self.lock("it's/1", 3, 0, 0.8, owner="me"):
            pass
        with self.lock("it's/1", None):
            pass
        asked, released = self.there.asked[0], self.there.asked[1]
        self.assertEqual(asked[0], "POST /v1/locks/it%27s%2F1/leases?hold=connection")
        key = asked[2].pop("idempotency_key")
        self.assertEqual(asked[2], {"max": 3, "ttl_ms": 800, "owner": "me"})
        self.assertRegex(released[0], "^DELETE /v1/locks/it%27s%2F1/leases/l_[0-9a-f]{32}$")
        again = self.there.asked[2][2]
        self.assertNotEqual(again.pop("idempotency_key"), key)
        self.assertNotIn("max", again)
        self.assertRegex(again["owner"], f"-{os.getpid()}$")

    def test_what_the_lease_says(self):
        begun = time.monotonic()
        with self.lock("a", 2, ttl=20) as lease:
            self.assertEqual((lease.key, lease.max, lease.lost, lease.waited < 1), ("a", 2, False, True))
            self.assertTrue(begun + 19.9 < lease.deadline <= time.monotonic() + 20)
            self.assertRegex(repr(lease), "^<Lease of 'a', held>$")
            with self.lock("a", 2) as other:
                self.assertGreater(other.fencing_token, lease.fencing_token)
        self.assertEqual((lease.lost, repr(lease)), (False, "<Lease of 'a', released>"))

    def test_waiting(self):
        first = self.lock("a").acquire()
        timer = threading.Timer(0.2, first.release)
        timer.start()
        with self.lock("a", timeout=20) as second:
            self.assertGreater(second.waited, 0.1)
            self.assertGreater(second.deadline, time.monotonic() + 25)  # the wait is none of the ttl
            timer.join()

    def test_a_wait_that_is_over(self):
        self.lock("a").acquire()
        for timeout in (0.05, 0.5):
            begun = time.monotonic()
            with self.assertRaises(LockFailureException):
                with self.lock("a", timeout=timeout):
                    self.fail("two inside")
            took = time.monotonic() - begun
            self.assertTrue(timeout - 0.01 <= took < timeout + 5, took)
            self.figure(f"locks: refused after {timeout} s", "<= 20 ms later", f"{took:.3f} s", took <= timeout + 0.02)
        self.assertEqual([body["wait_ms"] for body in self.there.bodies()[1:]], [50, 500])

    def test_a_long_wait_is_asked_for_piece_by_piece(self):
        lease = self.lock("a").acquire()
        with mock.patch.object(_locks, "LONGEST_WAIT", 100), mock.patch.object(_lock_terms, "LONGEST_WAIT", 100):
            begun = time.monotonic()
            with self.assertRaises(LockFailureException):
                self.lock("a", timeout=0.35).acquire()
            self.assertTrue(0.34 <= time.monotonic() - begun < 5)
            waits = [body["wait_ms"] for body in self.there.bodies()[1:]]
            self.assertEqual(waits[:2], [100, 100])
            self.assertTrue(waits[-1] < 100, waits)
            timer = threading.Timer(0.25, lease.release)
            timer.start()
            self.lock("a", timeout=20).acquire()
            timer.join()

    def test_first_come_first_served(self):
        first, order = self.lock("a").acquire(), []

        def waits(number):
            wait_until(lambda: self.there.waiting("a") == number, "its turn to come")
            with self.lock("a", timeout=20):
                order.append(number)

        releases = threading.Thread(target=lambda: (wait_until(lambda: self.there.waiting("a") == 5, "all wait"),
                                                    first.release()))
        releases.start()
        self.assertEqual(in_threads(5, waits), [None] * 5)
        releases.join()
        self.assertEqual(order, list(range(5)))

    def test_never_more_inside_than_max(self):
        inside, most, guard = [0], [0], threading.Lock()
        lock = self.lock("a", 3, 20)

        def works(_):
            for _ in range(scaled(10, 100)):
                with lock:
                    with guard:
                        inside[0] += 1
                        most[0] = max(most[0], inside[0])
                    time.sleep(0.002)
                    with guard:
                        inside[0] -= 1

        self.assertEqual(in_threads(8, works), [None] * 8)
        self.assertEqual((most[0], self.there.held("a")), (3, []))
        self.assertEqual(self.there.accepted, 8)

    def test_max_belongs_to_the_lock(self):
        there = self.locks({"product": 3})
        with Lock("product", 3, url=there.url), Lock("product", None, url=there.url) as lease:
            self.assertEqual(lease.max, 3)
            for other in (1, 5):
                with self.assertRaisesRegex(StintError, "max is 3") as caught:
                    Lock("product", other, url=there.url).acquire()
                self.assertEqual(caught.exception.status, 422)

    def test_unlimited_costs_no_call(self):
        lock = self.lock("comments", math.inf)
        with lock as one, lock as other:
            self.assertEqual((one.lost, other.fencing_token, one.max), (False, 0, math.inf))
        lock.acquire()
        lock.release()
        with self.assertRaises(NotHeld):
            lock.release()
        self.assertEqual((self.there.accepted, self.there.asked), (0, []))


class Releasing(LockTest):
    def test_without_having_acquired(self):
        lock = self.lock("a")
        with self.assertRaisesRegex(NotHeld, "not acquired before"):
            lock.release()
        self.assertIsInstance(NotHeld("x"), RuntimeError)
        self.assertEqual([type(self.try_to("a")).__name__ for _ in range(4)],
                         ["Lease"] + ["LockFailureException"] * 3)

    def try_to(self, key):
        try:
            return self.lock(key).acquire()
        except LockFailureException as error:
            return error

    def test_twice(self):
        lock = self.lock("a", 2)
        lease, other = lock.acquire(), self.lock("a", 2).acquire()
        lease.release()
        for release in (lease.release, lock.release):
            with self.assertRaises(NotHeld):
                release()
        with self.assertRaises(NotHeld):
            lock.release()
        self.assertEqual([held.id for held in self.there.held("a")], [other.id])

    def test_the_loser_does_not_free_the_winner(self):
        winner, loser = self.lock("a"), self.lock("a")
        winner.acquire()
        with self.assertRaises(LockFailureException):
            loser.acquire()
        with self.assertRaises(NotHeld):
            loser.release()
        self.assertEqual(len(self.there.held("a")), 1)

    def test_a_thread_releases_its_own(self):
        lock = self.lock("a", 2)
        lease = lock.acquire()
        self.assertIsInstance(in_threads(1, lambda _: lock.release())[0], NotHeld)
        self.assertEqual(in_threads(1, lambda _: lease.release()), [None])  # unless it is told which
        self.assertEqual(self.there.held("a"), [])

    def test_the_lease_outlives_the_thread_that_acquired_it(self):
        lease = in_threads(1, lambda _: self.lock("a").acquire())[0]
        time.sleep(0.1)
        self.assertEqual([held.id for held in self.there.held("a")], [lease.id])
        lease.release()
        wait_until(lambda: self.there.open_connections() <= 1, "its connection goes with it")

    def test_one_that_is_dropped_with_its_thread_is_free_at_once(self):
        in_threads(1, lambda _: self.lock("a").acquire() and None)
        wait_until(lambda: self.there.held("a") == [], "free")


class Errors(LockTest):
    def test_arguments(self):
        for arguments in (("",), (None,), (5,), (["a"],), ("a", 0), ("a", 2.5), ("a", True), ("a", "3"),
                          ("a", 1, None), ("a", 1, -1), ("a", 1, math.inf), ("a", 1, math.nan), ("a", 1, "1"),
                          ("a", 1, 0, 0), ("a", 1, 0, -1), ("a", 1, 0, None), ("a", 1, 0, 0.0001)):
            with self.subTest(arguments), self.assertRaises(ValueError):
                self.lock(*arguments)
        with self.assertRaises(ValueError):
            self.lock("a", owner=5)
        with self.assertRaises(StintError) as caught:
            self.lock("a\r\nb").acquire()
        self.assertEqual(caught.exception.status, 400)
        self.assertEqual(len(self.there.asked), 1)

    def test_no_room_for_another_lock(self):
        self.there.script = (b"HTTP/1.1 503 X\r\nRetry-After: 2\r\nContent-Length: 22\r\n\r\n"
                             b'{"detail":"too many"}\n')
        with self.assertRaisesRegex(LockFailureException, "too many") as caught:
            self.lock("a", timeout=5).acquire()
        refused = caught.exception
        self.assertEqual((refused.status, refused.retry_after, refused.held, refused.max), (503, 2, None, None))

    def test_a_wrong_token(self):
        there = self.locks(token="s3cret")
        with self.assertRaises(StintError) as caught:
            Lock("a", url=there.url).acquire()
        self.assertEqual(caught.exception.status, 401)
        with Lock("a", url=there.url, token="s3cret"):
            pass

    def test_a_grant_without_a_lease(self):
        self.there.script = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"
        with self.assertRaises(StintError):
            self.lock("a").acquire()

    def test_an_interrupted_wait_leaves_the_line_and_keeps_what_is_held(self):
        class Interrupt(BaseException):
            pass

        def interrupt(*_):
            raise Interrupt

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        held_by_another = in_threads(1, lambda _: self.lock("b").acquire())[0]
        with self.lock("a"):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with self.assertRaises(Interrupt):
                self.lock("b", timeout=20).acquire()
            time.sleep(0.05)
            self.assertEqual(len(self.there.held("a")), 1)
        wait_until(lambda: self.there.waiting("b") == 0, "nobody waits")
        held_by_another.release()
        self.assertEqual(self.there.held("b"), [])


if __name__ == "__main__":
    unittest.main()
