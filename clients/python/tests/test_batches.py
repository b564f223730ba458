"""batch=N: permits fetched many at a time and given out here, while their window lasts."""

import asyncio
import threading
import time
import unittest
from unittest import mock

from fake_gateway import PERMIT, answer
from support import ClientTest, in_children, scaled, wait_until

from limiter_calls import granted, time_to_raise
from stint import RateLimiter, RateLimitException, StintUnavailable
from stint import _prefetch
from stint._steps import run
from stint._turnstile import Turnstile


class Batches(ClientTest):
    def limiter(self, gateway, **more):
        return RateLimiter(name="shop", url=gateway.url, **{"batch": 100, **more})

    def test_few_questions_many_calls(self):
        gateway = self.gateway({"shop": (1050, 60_000)})
        limiter = self.limiter(gateway)
        self.assertEqual(granted(limiter.limiting, 1100), 1050)
        self.assertEqual(len(gateway.asked), 12)
        self.assertEqual({body["batch"] for body in gateway.bodies()}, {100})
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (1100, 1050, 50))

    def test_exact_under_threads(self):
        gateway = self.gateway({"shop": (10_000, 60_000)})
        limiter, counts = self.limiter(gateway, batch=130), []
        threads = [threading.Thread(target=lambda: counts.append(granted(limiter.limiting, 5000)))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(counts), 10_000)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (20_000, 10_000, 10_000))
        self.assertEqual(len(gateway.asked), 78)

    def test_what_is_left_dies_with_its_window(self):
        gateway = self.gateway({"shop": (1000, 150)})
        limiter = self.limiter(gateway)
        limiter.limiting()
        time.sleep(0.16)
        limiter.limiting()
        self.assertEqual(len(gateway.asked), 2)

    def test_a_permit_without_a_window_is_good_for_this_call(self):
        gateway = self.gateway()
        gateway.script = answer(200, {**PERMIT, "count": 9})
        limiter = self.limiter(gateway)
        for _ in range(3):
            limiter.limiting()
        self.assertEqual(len(gateway.asked), 3)

    def test_the_time_counts_from_the_question_and_a_rounded_millisecond_does_not(self):
        batch, now = _prefetch.Batch(), 1000.0
        with mock.patch.object(_prefetch.time, "monotonic", lambda: now):
            batch.fill(3, sent=999.0, reset_ms=1101)
            now = 1000.099
            self.assertTrue(batch.take())
            now = 1000.1
            self.assertFalse(batch.take())

    def test_a_child_has_nothing_of_its_parent_s_batch(self):
        gateway = self.gateway({"shop": (150, 60_000)})
        limiter = self.limiter(gateway)
        self.assertEqual(granted(limiter.limiting, 10), 10)
        seen = in_children(1, lambda _: granted(limiter.limiting, 200) + 200 * (limiter.attempts != 200))
        self.assertEqual(seen, [50])
        self.assertEqual(granted(limiter.limiting, 200), 90)

    def test_after_a_refusal_nobody_is_asked_until_it_is_over(self):
        gateway = self.gateway({"shop": (5, 60_000)})
        limiter = self.limiter(gateway)
        self.assertEqual(granted(limiter.limiting, 1000), 5)
        self.assertEqual(len(gateway.asked), 2)
        with self.assertRaises(RateLimitException) as caught:
            limiter.limiting()
        self.assertTrue(0 < caught.exception.remaining <= 60)
        limiter = self.limiter(self.gateway({"shop": (1, 150)}))
        self.assertEqual(granted(limiter.limiting, 1), 1)
        wait_until(lambda: granted(limiter.limiting, 1), "the next window")

    def test_keys_have_batches_of_their_own(self):
        gateway = self.gateway({"shop": (3, 60_000)})
        limiter = self.limiter(gateway)
        for key in ("a", "b"):
            self.assertEqual(granted(lambda key=key: limiter.limiting(key), 5), 3)

    def test_batches_that_are_over_are_forgotten_and_stay_counted(self):
        gateway = self.gateway({"shop": (10, 60_000)})
        limiter = self.limiter(gateway)
        with mock.patch.object(_prefetch, "_KEYS", 20):
            for number in range(60):
                self.assertEqual(granted(lambda number=number: limiter.limiting(str(number)), 3), 3)
                if number % 20 == 19:
                    for batch in limiter._limit._process.get().batches._of.values():
                        batch._until = 0  # as if its window had ended
        self.assertLessEqual(len(limiter._limit._process.get().batches._of), 41)
        self.assertEqual((limiter.attempts, limiter.admitted), (180, 180))

    def test_who_waits_gets_a_turn_of_its_own(self):
        gateway = self.gateway({"shop": (4, 150)})
        limiter, begun = self.limiter(gateway, retry=True), time.monotonic()
        for _ in range(10):
            with limiter:
                pass
        self.assertGreaterEqual(time.monotonic() - begun, 0.29)
        self.assertEqual(limiter.admitted, 10)

    def test_somebody_s_wait_holds_up_nobody_who_does_not_want_to(self):
        gateway = self.gateway({"shop": (1, 60_000)})
        limiter = self.limiter(gateway, timeout=30)
        limiter.limiting()
        gateway.limits["shop"] = (1, 60_000)
        waiting = threading.Thread(target=granted, args=(limiter.sleep_and_retry, 1))
        waiting.start()
        self.assertLess(time_to_raise(self, RateLimitException, limiter.limiting), 5)
        waiting.join()

    def test_a_gateway_that_is_away(self):
        gateway = self.gateway({"shop": (1000, 60_000)})
        limiter = self.limiter(gateway, batch=5)
        self.assertEqual(granted(limiter.limiting, 1), 1)
        gateway.stop()
        self.assertEqual(granted(limiter.limiting, 4), 4)  # these are here
        for call in (limiter.limiting, limiter.sleep_and_retry):
            self.assertLess(time_to_raise(self, StintUnavailable, call), 4)
        gateway.start()
        self.assertEqual(granted(limiter.limiting, 4), 4)

    def test_a_gateway_that_stands_still_holds_up_nobody_longer_than_a_second_or_two(self):
        gateway = self.gateway({"shop": (1000, 60_000)})
        gateway.gate.clear()
        self.answer_time(1.0)
        limiter, took = self.limiter(gateway), []

        def asks():
            took.append(time_to_raise(self, StintUnavailable, limiter.limiting))

        threads = [threading.Thread(target=asks) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(took), 8)
        self.assertLess(max(took), 7)  # 8 if each waited for all before it

    def test_all_wait_for_a_gateway_that_is_away_if_that_is_wanted(self):
        gateway = self.gateway({"shop": (1000, 60_000)})
        gateway.stop()
        limiter, ended = self.limiter(gateway, on_unavailable="wait"), []
        self.answer_time(0.3)
        threads = [threading.Thread(target=lambda: ended.append(granted(limiter.limiting, 1))) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)  # longer than those who do not want to wait stand in line for the next batch
        self.answer_time(15.0)
        gateway.start()
        for thread in threads:
            thread.join()
        self.assertEqual(ended, [1, 1, 1])

    def test_with_a_local_share(self):
        gateway = self.gateway({"shop": (1000, 60_000)})
        gateway.stop()
        limiter = RateLimiter(1000, 60, name="shop", url=gateway.url, batch=100, on_unavailable="local_share",
                              share=200)
        self.assertEqual(granted(limiter.limiting, 50), 5)
        waits = RateLimiter(2, 0.1, True, name="shop", url=gateway.url, batch=100, on_unavailable="local_share",
                            share=2)
        for _ in range(3):
            with waits:
                pass

    def test_tasks_of_an_event_loop_share_a_batch(self):
        gateway = self.gateway({"shop": (350, 60_000)})
        limiter = self.limiter(gateway)

        async def asks():
            try:
                await limiter.limiting_async()
                return 1
            except RateLimitException:
                return 0

        async def main():
            return sum(await asyncio.gather(*[asks() for _ in range(400)]))

        self.assertEqual(asyncio.run(main()), 350)
        self.assertEqual(len(gateway.asked), 5)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (400, 350, 50))

    def test_a_cancelled_task_passes_the_turn_to_fetch_on(self):
        gateway = self.gateway({"shop": (350, 60_000)})
        gateway.gate.clear()
        limiter = self.limiter(gateway, timeout=20)

        async def main():
            tasks = [asyncio.create_task(limiter.limiting_async()) for _ in range(4)]
            await asyncio.sleep(0.1)
            tasks[0].cancel()
            tasks[2].cancel()
            await asyncio.sleep(0.05)
            gateway.gate.set()
            return await asyncio.gather(*tasks, return_exceptions=True)

        seen = asyncio.run(main())
        self.assertEqual([type(one) for one in seen],
                         [asyncio.CancelledError, type(None), asyncio.CancelledError, type(None)])

    def test_who_goes_away_with_the_turn_passes_it_on(self):
        turnstile = Turnstile()
        self.assertTrue(run(turnstile.acquire(None)))
        second, third = turnstile.acquire(None), turnstile.acquire(None)
        next(second)
        next(third)
        turnstile.release()  # and it is the second's, who does not know it yet
        second.close()
        with self.assertRaises(StopIteration) as caught:
            next(third)
        self.assertTrue(caught.exception.value)
        self.assertFalse(run(turnstile.acquire(0)))
        turnstile.release()
        self.assertTrue(run(turnstile.acquire(0)))

    def test_local_speed(self):
        seconds = scaled(0.1, 1.0)
        for count in (1, 4):
            gateway = self.gateway({"shop": (1_000_000, 1000)})
            limiter, calls = self.limiter(gateway, batch=1000), []

            def asks(limiter=limiter, calls=calls):
                end, done = time.monotonic() + seconds, 0
                while time.monotonic() < end:
                    for _ in range(100):
                        limiter.limiting()
                    done += 100
                calls.append(done)

            threads = [threading.Thread(target=asks) for _ in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            rate = sum(calls) / seconds
            self.figure(f"batches: batch 1000, {count} threads", ">= 200,000 calls/s", f"{rate:,.0f} calls/s",
                        rate >= 200_000)


if __name__ == "__main__":
    unittest.main()
