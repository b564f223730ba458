"""Users of a RateLimiter class (docs/migrating.md): keys, prefetched batches of permits, and a gateway that is away."""

import threading
import time
import unittest

from support.case import scaled
from support.permits_case import PermitsTest, gateway_url as url
from support.permits_client import percentile
from support.processes import FORK, in_processes

from limiter_calls import granted, time_to_raise
from stint import RateLimiter, RateLimitException, StintUnavailable


class Keys(PermitsTest):
    topic = "RateLimiter, keys"

    def setUp(self):
        super().setUp()
        self.stint = self.permits({"per_key": {"requests": 3, "per": "1h", "key": "permit_key"}})

    def test_two_objects_have_a_count_each_by_key(self):
        one = RateLimiter(name="per_key", key="one", url=url(self.stint))
        two = RateLimiter(name="per_key", key="two", url=url(self.stint))

        seen = (granted(one.limiting, 5), granted(two.limiting, 5), granted(one.limiting, 5))

        self.count("two objects, 3 each by key", "3 + 3", seen, seen == (3, 3, 0))

    def test_a_key_for_each_argument(self):
        limiter = RateLimiter(name="per_key", key=lambda user, *_: f"user {user}", url=url(self.stint))

        @limiter
        def visit(user, page=1):
            return user

        seen = (granted(lambda: visit("a"), 5), granted(lambda: visit("b", 2), 5))

        self.count("one function, 3 for each argument", "3 + 3", seen, seen == (3, 3))
        self.assertIs(visit.limiter, limiter)
        self.assertEqual(visit.limiter.refused, 4)

    def test_a_generator_is_limited_for_each_item_when_asked_for(self):
        limiter = RateLimiter(name="per_key", key="items", url=url(self.stint))

        @limiter(per_item=True)
        def numbers():
            yield from range(10)

        seen = []
        with self.assertRaises(RateLimitException):
            for number in numbers():
                seen.append(number)
        self.count("a generator's items under a limit of 3", "0, 1, 2", seen, seen == [0, 1, 2])


class Batches(PermitsTest):
    topic = "RateLimiter, batches"

    def test_calls_at_local_speed(self):
        seconds = scaled(0.3, 3.0)
        for count in (1, 4):
            stint = self.permits({"turns": {"requests": 1_000_000, "per": "1s"}})
            limiter = RateLimiter(name="turns", url=url(stint), batch=1000)
            calls, took = [0] * count, []

            def asks(number):
                end, clock = time.monotonic() + seconds, time.perf_counter
                while time.monotonic() < end:
                    for _ in range(100):
                        limiter.limiting()
                    calls[number] += 101
                    before = clock()
                    limiter.limiting()
                    took.append(clock() - before)

            threads = [threading.Thread(target=asks, args=(number,)) for number in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            rate, median = sum(calls) / seconds, percentile(took, 0.5)
            self.figure(f"batch 1000, {count} threads", ">= 200,000 calls/s", f"{rate:,.0f} calls/s",
                        rate >= 200_000)
            self.figure(f"batch 1000, {count} threads, p50", "<= 5 us", f"{median * 1e6:.2f} us", median <= 5e-6)
            granted = stint.admin.metrics().sum("stint_permits_total", limit="turns", decision="granted")
            self.assertLess(granted, sum(calls) / 100)  # asks, not permits

    def test_the_limit_stays_exact_over_all_processes(self):
        stint = self.permits({"turns": {"requests": 10_000, "per": "1s", "anchor": "clock"}})
        time.sleep(1.02 - time.time() % 1)
        first, seconds = int(time.time()), scaled(2, 5)

        def hammers(_):
            limiter, counts = RateLimiter(name="turns", url=url(stint), batch=1000), [0] * (seconds + 2)
            while (now := time.time()) < first + seconds:
                try:
                    limiter.limiting()
                except RateLimitException:
                    continue
                counts[int(now) - first] += 1
            return counts

        seen = [sum(pair) for pair in zip(*in_processes(2, hammers))][:seconds]

        # Each process may be between its look at the clock and its call when the second ends.
        self.count("two processes, batches of 1000, each window", "<= 10,000 in sum", seen, max(seen) <= 10_002)
        self.assertGreaterEqual(min(seen[:-1]), 9_000)

    def test_a_killed_process_strands_one_batch_and_no_longer_than_the_window(self):
        stint = self.permits({"turns": {"requests": 1000, "per": "1.5s"}})

        # One owner: of the next window nothing is kept for the dead one, who asked in this one.
        def made():
            return RateLimiter(name="turns", url=url(stint), batch=400, owner="both")

        def takes_one_and_hangs():
            made().limiting()
            here.send(time.monotonic())
            time.sleep(60)

        there, here = FORK.Pipe(duplex=False)
        child = FORK.Process(target=takes_one_and_hangs)
        child.start()
        opened = there.recv()
        child.kill()
        child.join()

        limiter = made()
        this, following = 0, 0
        while time.monotonic() < opened + 1.2 and this < 1000:
            this += self.takes(limiter)
        time.sleep(max(0.0, opened + 1.55 - time.monotonic()))
        while time.monotonic() < opened + 2.5 and following < 1000:
            following += self.takes(limiter)

        self.count("a killed process, batch 400 of 1000: left to the others, and in the next window",
                   "600, 1000", (this, following), (this, following) == (600, 1000))

    def takes(self, limiter) -> int:
        try:
            limiter.limiting()
            return 1
        except RateLimitException as refused:
            self.assertGreaterEqual(refused.remaining, 0)
            time.sleep(0.001)
            return 0


class GatewayAway(PermitsTest):
    topic = "RateLimiter, gateway away"
    LIMIT = {"turns": {"requests": 10, "per": "1s"}}

    def test_calls_raise_when_the_gateway_is_killed(self):
        stint = self.permits(self.LIMIT)
        limiter = RateLimiter(name="turns", url=url(stint))
        limiter.limiting()
        stint.kill()

        for call in (limiter.limiting, limiter.sleep_and_retry):
            took = time_to_raise(self, StintUnavailable, call)
            self.figure(f"gateway killed, {call.__name__}() raises", "<= 1 s", f"{took:.3f} s", took <= 1.0)
            self.assertLess(took, 3)

    def test_or_go_on_with_their_share(self):
        stint = self.permits(self.LIMIT)
        limiter = RateLimiter(10, 1, name="turns", url=url(stint), on_unavailable="local_share", share=2)
        limiter.limiting()
        stint.kill()

        granted, longest, end = [], 0.0, time.monotonic() + scaled(1.5, 4.0)
        while (begun := time.monotonic()) < end:
            try:
                limiter.limiting()
                granted.append(begun)
            except RateLimitException:
                pass
            longest = max(longest, time.monotonic() - begun)
            time.sleep(0.002)

        seen = [sum(granted[0] + n <= one < granted[0] + n + 1 for one in granted) for n in range(int(scaled(1, 3)))]
        self.count("gateway killed, local_share of 2 at 10 per 1 s, each second", "<= 5", seen, 1 <= max(seen) <= 6)
        self.figure("gateway killed, local_share, longest call", "<= 1 s", f"{longest:.3f} s", longest <= 1.0)


if __name__ == "__main__":
    unittest.main()
