"""Users of a RateLimiter class (docs/migrating.md): fair and bounded waiting, its accuracy, asyncio, even spacing."""

import asyncio
import threading
import time
import unittest

from support.case import scaled
from support.permits_case import PermitsTest, gateway_url as url, milliseconds
from support.processes import captured_output

from limiter_calls import time_to_raise
from stint import RateLimiter, RateLimitException


class Waiting(PermitsTest):
    topic = "RateLimiter, waiting"

    def test_waiting_is_fair_bounded_and_quiet(self):
        seconds = scaled(2.0, 5.0)
        stint = self.permits({"turns": {"requests": 2, "per": "0.25s"}})
        limiter = RateLimiter(name="turns", url=url(stint))
        waits, counts, end = [], [0] * 8, time.monotonic() + seconds

        def asks(number):
            while (begun := time.monotonic()) < end:
                limiter.sleep_and_retry()
                waits.append(time.monotonic() - begun)
                counts[number] += 1

        with captured_output() as printed:
            threads = [threading.Thread(target=asks, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        self.assertEqual(printed(), "")
        self.figure(f"8 threads, 2 per 0.25 s, {seconds:g} s, admissions of each", "within 2 of each other",
                    counts, max(counts) - min(counts) <= 2)
        self.assertLessEqual(max(counts) - min(counts), 4)  # not all threads begin at once
        self.figure("longest wait", "<= 1.3 s", f"{max(waits):.2f} s", max(waits) <= 1.3)
        metrics = stint.admin.metrics()
        granted = metrics.sum("stint_permits_total", limit="turns", decision="granted")
        asked = granted + metrics.sum("stint_permits_total", limit="turns", decision="refused")
        self.count("asks for each admission", "<= 1.2", f"{asked / granted:.2f}", asked <= 1.2 * granted)

    def test_a_wait_with_a_time_out_ends(self):
        stint = self.permits({"turns": {"requests": 1, "per": "60s"}})
        for whose, least, limiter in (("own", 0.48, RateLimiter(max_calls=1, period=60, timeout=0.5)),
                                      # The gateway says at once when the turn cannot come in time.
                                      ("gateway", 0, RateLimiter(name="turns", url=url(stint), timeout=0.5))):
            limiter.limiting()
            took = time_to_raise(self, RateLimitException, limiter.sleep_and_retry)
            self.figure(f"timeout=0.5, {whose}", f"{least or 'at once'} to 0.52 s", f"{took:.3f} s",
                        least <= took <= 0.52)
            self.assertLess(took, 3)

    def test_one_more_than_may_wait_is_refused_at_once(self):
        stint = self.permits({"turns": {"requests": 2000, "per": "30s"}})
        client = self.client(stint)
        self.assertTrue(client.take("turns", cost=2000).granted)
        waiting = [self.client(stint) for _ in range(1000)]
        for one in waiting:
            one.asks("turns", wait_ms=60_000)
        self.wait_for_waiting(stint, 1000)

        refused = client.take("turns", wait_ms=60_000)

        self.count("the 1001st that would wait", "refused at once",
                   f"{refused.status} after {milliseconds(refused.took)}", refused.status == 429 and refused.took < 2)


class WaitAccuracy(PermitsTest):
    topic = "RateLimiter, wait accuracy"

    def test_wait_accuracy(self):
        times = scaled(6, 51)
        stint = self.permits({"turns": {"requests": 1, "per": "0.2s"}})
        limiter = RateLimiter(name="turns", url=url(stint))
        admitted = []
        for _ in range(times):
            limiter.sleep_and_retry()
            admitted.append(time.monotonic())

        late = [b - a - 0.2 for a, b in zip(admitted, admitted[1:])]
        self.figure(f"1 per 0.2 s, latest of {times - 1} after the opening", "<= 5 ms", milliseconds(max(late)),
                    max(late) <= 0.005)
        took, wanted = admitted[-1] - admitted[0], 0.2 * (times - 1)
        self.figure(f"{times - 1} admissions", "9.8 to 10.1 s", f"{took:.3f} s", 9.8 <= took <= 10.1)
        self.assertGreaterEqual(took, wanted - 0.05)


class AsyncDef(PermitsTest):
    topic = "RateLimiter, async def"

    def test_async_def_does_not_hold_up_the_loop(self):
        stint = self.permits({"turns": {"requests": 2, "per": "1s"}})
        limiter = RateLimiter(name="turns", url=url(stint), retry=True)

        @limiter
        async def work():
            return time.monotonic()

        async def main():
            beats, ended = [], asyncio.Event()

            async def heart():
                while not ended.is_set():
                    beats.append(time.monotonic())
                    await asyncio.sleep(0.01)

            heartbeat = asyncio.create_task(heart())
            done = [await work() for _ in range(scaled(3, 5))]
            async with limiter:
                pass
            ended.set()
            await heartbeat
            return beats, done

        beats, done = asyncio.run(main())
        gap = max(b - a for a, b in zip(beats, beats[1:]))
        self.figure("2 per 1 s, 5 awaits, largest gap of a 10 ms heartbeat", "<= 50 ms", milliseconds(gap),
                    gap <= 0.05)
        self.assertLess(gap, 0.5)
        self.assertGreater(done[2] - done[0], 0.9)
        self.assertGreater(len(beats), 20)


class EvenSpacing(PermitsTest):
    topic = "RateLimiter, even spacing"

    def test_evenly_spaced_through_the_decorator(self):
        stint = self.permits({"even": {"requests": 10, "per": "1s", "algorithm": "token_bucket", "burst": 1}})
        for whose, limiter in (("own", RateLimiter(max_calls=10, period=1, strategy="even", retry=True)),
                               ("gateway", RateLimiter(name="even", url=url(stint), retry=True))):
            @limiter
            def call():
                return time.monotonic()

            times = [call() for _ in range(scaled(6, 31))]
            gaps = [b - a for a, b in zip(times, times[1:])]
            self.figure(f"10 per 1 s even, {whose}, gaps", "100 +- 10 ms",
                        f"{min(gaps) * 1000:.1f} to {max(gaps) * 1000:.1f} ms", 0.09 <= min(gaps) and max(gaps) <= 0.11)
            self.assertGreaterEqual(times[-1] - times[0], 0.1 * len(gaps) - 0.02)


if __name__ == "__main__":
    unittest.main()
