"""Users of a RateLimiter class (docs/migrating.md): its four uses, exceptions and counts, in threads and processes."""

import threading
import time
import unittest

from support.case import scaled
from support.permits_case import PermitsTest, gateway_url as url
from support.processes import in_processes

from limiter_calls import granted
from stint import RateLimiter, RateLimitException


class FourUses(PermitsTest):
    """The four uses, with a limit of the object's own and with a limit of the gateway."""

    topic = "RateLimiter, four uses"

    def limiters(self, max_calls, period, **more):
        yield "own", RateLimiter(max_calls=max_calls, period=period, **more)
        stint = self.permits({"demo": {"requests": max_calls, "per": f"{int(period * 1000)}ms"}})
        yield "gateway", RateLimiter(name="demo", url=url(stint), **more)

    def takes(self, name, wanted, call, numbers):
        """`numbers` calls of which the last is due after so many seconds."""
        begun = time.monotonic()
        for _ in range(numbers):
            call()
        took = time.monotonic() - begun
        self.assertGreaterEqual(took, wanted - 0.05)
        self.figure(f"{name}, {numbers} numbers", f"{wanted:.1f} s +- 0.05", f"{took:.3f} s",
                    abs(took - wanted) <= 0.05)

    def test_limiting_raises(self):
        for whose, limiter in self.limiters(4, 2):
            with self.subTest(whose):
                numbers = []
                with self.assertRaises(RateLimitException) as caught:
                    for number in range(10):
                        limiter.limiting()
                        numbers.append(number)
                self.assertEqual(numbers, [0, 1, 2, 3])
                self.assertTrue(0 < caught.exception.remaining <= 2, caught.exception.remaining)

    def test_sleep_and_retry_waits(self):
        short = scaled(0.25, 1)
        for whose, limiter in self.limiters(4, short):
            with self.subTest(whose):
                self.takes(f"sleep_and_retry(), {whose}", 2 * short, limiter.sleep_and_retry, 9)

    def test_the_decorator_waits(self):
        short = scaled(0.25, 2)
        for whose, limiter in self.limiters(5, short, retry=True):
            with self.subTest(whose):
                @limiter
                def number(value):
                    return value + 1

                self.assertEqual(number(1), 2)
                time.sleep(short * 1.1)  # a window of its own for what is measured
                self.takes(f"decorator, {whose}", 2 * short, lambda: number(1), 12)

    def test_with_waits(self):
        short = scaled(0.25, 2)
        for whose, limiter in self.limiters(10, short, retry=True):
            with self.subTest(whose):
                def enter():
                    with limiter:
                        pass

                self.takes(f"with, {whose}", short, enter, 14)

    def test_the_decorator_and_with_raise_without_retry(self):
        for whose, limiter in self.limiters(1, 60):
            with self.subTest(whose):
                with limiter:
                    pass
                with self.assertRaises(RateLimitException):
                    with limiter:
                        self.fail("entered")
                with self.assertRaises(RateLimitException):
                    limiter(lambda: self.fail("called"))()


class Remaining(PermitsTest):
    topic = "RateLimiter, remaining"

    def test_remaining_is_never_negative(self):
        stint = self.permits({"turns": {"requests": 1, "per": "50ms"}})
        for limiter, period in ((RateLimiter(name="turns", url=url(stint)), 0.05),
                                (RateLimiter(max_calls=1, period=0.05), 0.05)):
            seen, end = [], time.monotonic() + scaled(0.3, 2.0)
            while time.monotonic() < end:
                try:
                    limiter.limiting()
                except RateLimitException as refused:
                    seen.append(refused.remaining)
            self.assertTrue(seen)
            self.count("remaining", f"0 to {period} s", f"{min(seen):.4f} to {max(seen):.4f} s",
                       0 <= min(seen) and max(seen) <= period + 0.001)

    def test_a_limit_of_nothing_says_never(self):
        limiter = RateLimiter(max_calls=0, period=0.2)
        for _ in range(2):
            with self.assertRaises(RateLimitException) as caught:
                limiter.limiting()
            self.assertGreaterEqual(caught.exception.remaining, 0)
            with self.assertRaises(RateLimitException) as caught:
                limiter.sleep_and_retry()
            self.assertIn("never", str(caught.exception))
            time.sleep(0.25)


class Processes(PermitsTest):
    topic = "RateLimiter, processes"

    def test_one_limit_over_processes(self):
        stint = self.permits({"turns": {"requests": 10, "per": "60s"}, "later": {"requests": 10, "per": "60s"}})
        own, named = RateLimiter(max_calls=10, period=60), RateLimiter(name="turns", url=url(stint))
        for name, work in (
                ("own limit, made before the fork", lambda _: granted(own.limiting, 100)),
                ("gateway's limit, made before the fork", lambda _: granted(named.limiting, 100)),
                ("gateway's limit, made after the fork",
                 lambda _: granted(RateLimiter(name="later", url=url(stint)).limiting, 100))):
            with self.subTest(name):
                seen = in_processes(4, work)
                self.count(f"4 processes x 100 calls, {name}", "10 in all", sum(seen), sum(seen) == 10)

    def test_a_fork_while_a_thread_is_inside(self):
        stint = self.permits({"wide": {"requests": 1_000_000, "per": "1h"}})
        for whose, limiter in (("own", RateLimiter(max_calls=1_000_000, period=3600)),
                               ("gateway", RateLimiter(name="wide", url=url(stint)))):
            stop = threading.Event()

            def busy(limiter=limiter, stop=stop):
                while not stop.is_set():
                    limiter.limiting()

            def child(_, limiter=limiter):
                begun = time.monotonic()
                limiter.limiting()
                return time.monotonic() - begun

            threads = [threading.Thread(target=busy) for _ in range(2)]
            for thread in threads:
                thread.start()
            try:
                longest = max(max(in_processes(4, child)) for _ in range(scaled(2, 10)))
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
            self.count(f"forked while threads are inside, {whose}: a child's first call", "<= 1 s",
                       f"{longest:.3f} s", longest <= 1.0)


class ManyThreads(PermitsTest):
    topic = "RateLimiter, threads"

    def test_exact_under_threads(self):
        requests, per, seconds = scaled(20, 100), 0.5, scaled(1.7, 3.2)
        for count in scaled((1, 8), (1, 4, 16)):
            stint = self.permits({"turns": {"requests": requests, "per": "0.5s"}})
            limiter = RateLimiter(name="turns", url=url(stint))
            goes, ends, stop = [], [], time.monotonic() + seconds

            def asks():
                while (begun := time.monotonic()) < stop:
                    try:
                        limiter.limiting()
                        goes.append(time.monotonic())
                    except RateLimitException as refused:
                        ends.append(begun + refused.remaining - 0.001)  # no later than it ends

            threads = [threading.Thread(target=asks) for _ in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

            seen = self.by_window(goes, sorted(ends), per)
            self.count(f"{count} threads, each window", f"exactly {requests}", seen, set(seen) == {requests})

    def by_window(self, goes, ends, per):
        """Admissions in each window of which somebody was refused, and so was told when it ends."""
        found = [end for end, following in zip(ends, [*ends[1:], float("inf")]) if following - end > per / 2]
        return [sum(max(before, end - per - 0.002) <= go < end for go in goes)
                for before, end in zip([float("-inf"), *found], found)]


class Counters(PermitsTest):
    topic = "RateLimiter, counters"

    def test_attempts_and_admissions_are_counted_apart(self):
        stint = self.permits({"turns": {"requests": 4, "per": "1h"}})
        limiter = RateLimiter(name="turns", url=url(stint))

        granted(limiter.limiting, 1000)

        metrics = stint.admin.metrics()
        seen = (limiter.admitted, limiter.refused,
                int(metrics.sum("stint_permits_total", limit="turns", decision="granted")),
                int(metrics.sum("stint_permits_total", limit="turns", decision="refused")))
        self.count("1000 calls at 4, of the object and in the metrics", "4, 996; 4, 996", seen,
                   seen == (4, 996, 4, 996))


if __name__ == "__main__":
    unittest.main()
