"""RateLimiter without a name, over threads and processes."""

import os
import signal
import threading
import time
import unittest
from unittest import mock

from support import ClientTest, in_children, scaled, wait_until

from limiter_calls import granted, time_to_raise
from stint import RateLimiter, RateLimitException
from stint import _shared
from stint._clock import Clock


class CountingClock(Clock):
    """The system's clock, with a count of the sleeps."""

    sleeps = 0

    def wait(self, lock, seconds):
        self.sleeps += 1
        super().wait(lock, seconds)


class Processes(ClientTest):
    def test_one_limit_over_forked_children(self):
        limiter = RateLimiter(10, 60)
        self.assertEqual(sum(in_children(4, lambda _: granted(limiter.limiting, 100))), 10)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (400, 10, 390))

    def test_one_limit_over_children_of_children(self):
        limiter = RateLimiter(10, 60)
        self.assertEqual(granted(limiter.limiting, 3), 3)
        seen = in_children(2, lambda _: granted(limiter.limiting, 2) + sum(
            in_children(2, lambda _: granted(limiter.limiting, 100))))
        self.assertEqual(sum(seen), 7)

    def test_keys_that_only_the_children_have_seen(self):
        limiter = RateLimiter(10, 60)
        self.assertEqual(sum(in_children(4, lambda _: granted(lambda: limiter.limiting("one"), 50))), 10)
        self.assertEqual(sum(in_children(4, lambda _: granted(lambda: limiter.limiting("other"), 50))), 10)

    def test_each_object_counts_by_itself(self):
        first, second = RateLimiter(3, 60), RateLimiter(3, 60)
        self.assertEqual((granted(first.limiting, 5), granted(second.limiting, 5)), (3, 3))

    def test_a_fork_while_threads_are_inside(self):
        limiter, stop = RateLimiter(10**6, 3600, True), threading.Event()
        waits = RateLimiter(1, 3600, True)
        waits.limiting()

        def busy():
            while not stop.is_set():
                with limiter:
                    pass

        threads = [threading.Thread(target=busy) for _ in range(3)]
        threading.Thread(target=waits.sleep_and_retry, daemon=True).start()
        for thread in threads:
            thread.start()
        try:
            for _ in range(scaled(10, 100)):
                begun = time.monotonic()
                seen = in_children(2, lambda _: granted(limiter.limiting, 3) + granted(waits.limiting, 1))
                self.assertEqual(seen, [3, 3])
                self.assertLess(time.monotonic() - begun, 20)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_a_process_killed_inside_the_lock_holds_up_nobody(self):
        limiter = RateLimiter(10, 60)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            with limiter._limit._shared:
                os.write(write, b"x")
                time.sleep(60)
            os._exit(0)
        os.read(read, 1)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(read)
        os.close(write)

        self.assertEqual(granted(limiter.limiting, 20), 10)

    def test_a_process_stopped_inside_the_lock_is_an_error_in_bounded_time(self):
        limiter = RateLimiter(10, 60)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            with limiter._limit._shared:
                os.write(write, b"x")
                time.sleep(60)
            os._exit(0)
        try:
            os.read(read, 1)
            with mock.patch.object(_shared, "_PATIENCE", 0.3), self.assertRaisesRegex(RuntimeError, "stands still"):
                limiter.limiting()
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(read)
            os.close(write)
        self.assertEqual(granted(limiter.limiting, 20), 10)

    def test_a_child_that_has_closed_the_descriptor_is_told_so(self):
        limiter = RateLimiter(10, 60)

        def child(_):
            os.close(limiter._limit._shared._descriptor)
            other = os.open("/dev/null", os.O_RDWR)
            try:
                limiter.limiting()
            except RuntimeError as error:
                return 7 if "descriptor" in str(error) else 8
            finally:
                os.close(other)
            return 9

        self.assertEqual(in_children(1, child), [7])
        self.assertEqual(granted(limiter.limiting, 20), 10)

    def test_the_descriptor_goes_with_the_object(self):
        before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else self.skipTest("no /proc")
        limiters = [RateLimiter(1, 1) for _ in range(20)]
        limiters.clear()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class Threads(ClientTest):
    def test_each_window_is_exact(self):
        for count in (1, 4, 16):
            limiter, goes, end = RateLimiter(100, 0.5), [], time.monotonic() + scaled(0.7, 3.2)

            def asks(limiter=limiter, goes=goes, end=end):
                while time.monotonic() < end:
                    try:
                        limiter.limiting()
                        goes.append(time.monotonic())
                    except RateLimitException as refused:
                        time.sleep(min(refused.remaining, 0.01))

            threads = [threading.Thread(target=asks) for _ in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            goes.sort()
            bursts = 1 + sum(after - before > 0.25 for before, after in zip(goes, goes[1:]))
            self.assertEqual(len(goes), 100 * bursts)

    def test_waiting_is_fair_and_wakes_once(self):
        clock, turns = CountingClock(), scaled(3, 10)
        limiter, order, start = RateLimiter(2, 0.1, clock=clock), [], threading.Barrier(9)

        def asks(number):
            start.wait()
            for _ in range(turns):
                limiter.sleep_and_retry()
                order.append(number)

        threads = [threading.Thread(target=asks, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        limiter.limiting()
        limiter.limiting()  # a window that all of them find used up
        begun = time.monotonic()
        start.wait()
        for thread in threads:
            thread.join()

        self.assertGreater(time.monotonic() - begun, 0.1 * (4 * turns - 1))
        for numbers in zip(*[iter(order)] * 8):  # one turn each before anybody has another one
            self.assertGreaterEqual(len(set(numbers)), 7, order)
        self.figure("own limit: wake-ups per admission", "<= 1.2", clock.sleeps / (8 * turns),
                    clock.sleeps <= 1.2 * 8 * turns)

    def test_a_timeout_is_kept_and_one_too_many_is_refused_at_once(self):
        limiter = RateLimiter(1, 60, timeout=0.5, max_waiting=3)
        limiter.limiting()
        took = []

        def waits():
            took.append(time_to_raise(self, RateLimitException, limiter.sleep_and_retry))

        threads = [threading.Thread(target=waits) for _ in range(3)]
        for thread in threads:
            thread.start()
        wait_until(lambda: limiter._limit._waiting.get().count == 3, "three wait")
        begun = time.monotonic()
        with self.assertRaisesRegex(RateLimitException, "3 callers wait already"):
            limiter.sleep_and_retry()
        at_once = time.monotonic() - begun
        for thread in threads:
            thread.join()

        self.assertLess(at_once, 0.3)
        self.assertGreaterEqual(min(took), 0.5)
        self.figure("own limit: timeout=0.5 raises", "0.50 to 0.52 s", f"{max(took):.3f} s", max(took) <= 0.52)
        self.assertEqual(limiter._limit._waiting.get().count, 0)

    def test_wait_accuracy(self):
        limiter, times = RateLimiter(1, 0.2, True), []
        for _ in range(scaled(4, 51)):
            with limiter:
                times.append(time.monotonic())
        late = [at - times[0] - 0.2 * number for number, at in enumerate(times)]
        self.assertGreater(min(late), -0.001)
        self.figure("own limit: latest after the opening", "<= 5 ms", f"{max(late) * 1000:.2f} ms", max(late) <= 0.005)


if __name__ == "__main__":
    unittest.main()
