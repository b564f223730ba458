"""Waiting in an event loop: it goes on meanwhile, turns come in order, and who is cancelled costs nothing."""

import asyncio
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from fake_gateway import PERMIT, answer
from support import ClientTest, VirtualClock, wait_until

from stint import RateLimiter, RateLimitException, StintError, StintUnavailable
from stint._clock import Nap


class Loops(ClientTest):
    def limiters(self, *numbers, **more):
        gateway = self.gateway({"shop": (numbers[0], round(numbers[1] * 1000))})
        yield "own", RateLimiter(*numbers, **more)
        yield "gateway", RateLimiter(name="shop", url=gateway.url, **more)

    def test_the_loop_goes_on_while_a_task_waits(self):
        async def main(limiter):
            beats, begun = [], time.monotonic()

            async def heart():
                while True:
                    beats.append(time.monotonic())
                    await asyncio.sleep(0.01)

            heartbeat = asyncio.create_task(heart())
            for _ in range(5):
                async with limiter:
                    pass
            took = time.monotonic() - begun
            heartbeat.cancel()
            return took, len(beats), max(after - before for before, after in zip(beats, beats[1:]))

        for whose, limiter in self.limiters(2, 0.2, retry=True):
            with self.subTest(whose):
                took, beats, gap = asyncio.run(main(limiter))
                self.assertGreaterEqual(took, 0.39)
                self.assertGreater(beats, 9)  # 40 on a quiet machine, not more than 5 if it blocked
                self.figure(f"asyncio: largest gap of a 10 ms heartbeat, {whose}", "<= 50 ms", f"{gap * 1000:.1f} ms",
                            gap <= 0.05)

    def test_many_tasks(self):
        async def main(limiter):
            begun = time.monotonic()
            await asyncio.gather(*[limiter.sleep_and_retry_async() for _ in range(50)])
            return time.monotonic() - begun

        for whose, limiter in self.limiters(20, 0.1, retry=True):
            with self.subTest(whose):
                self.assertGreater(asyncio.run(main(limiter)), 0.19)
                self.assertEqual(limiter.admitted, 50)

    def test_one_object_in_one_loop_after_the_other_and_in_threads_with_loops(self):
        for whose, limiter in self.limiters(1000, 60):
            with self.subTest(whose):
                for _ in range(3):
                    asyncio.run(limiter.limiting_async())
                threads = [threading.Thread(target=lambda: asyncio.run(limiter.limiting_async())) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                limiter.limiting()
                self.assertEqual(limiter.admitted, 8)

    def test_nothing_is_printed(self):
        gateway = self.gateway({"shop": (3, 60_000)})
        program = f"""
import asyncio, threading
from stint import RateLimiter, RateLimitException
async def asks(limiter):
    for _ in range(3):
        async with limiter: pass
    try: await limiter.limiting_async()
    except RateLimitException: pass
for limiter in (RateLimiter(3, 60), RateLimiter(name="shop", url={gateway.url!r}), RateLimiter(3, 0.01, True)):
    asyncio.run(asks(limiter))
    thread = threading.Thread(target=lambda: limiter.limiting("key"))
    thread.start()
    thread.join()
"""
        ran = subprocess.run([sys.executable, "-B", "-W", "default", "-c", program], capture_output=True, text=True,
                             cwd=Path(__file__).parent.parent, timeout=200)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))

    def test_a_timeout(self):
        for whose, limiter in self.limiters(1, 60, timeout=1):
            with self.subTest(whose):
                async def main(limiter=limiter):
                    await limiter.limiting_async()
                    begun = time.monotonic()
                    with self.assertRaises(RateLimitException):
                        await limiter.sleep_and_retry_async()
                    self.assertLess(time.monotonic() - begun, 20)

                asyncio.run(main())


class Naps(ClientTest):
    def test_one_that_was_ended_before_it_began(self):
        clock = VirtualClock()
        nap = Nap(clock)
        nap.until = clock.now() + 10**9
        for sleep in (nap.run, lambda: asyncio.run(nap.run_async())):
            clock.sleeps.clear()
            nap.wake()
            nap.wake()
            sleep()
            self.assertEqual(clock.sleeps, [])
            nap.until = clock.now() + 10**9
            sleep()
            self.assertEqual(clock.sleeps, [1.0])

    def test_one_in_a_loop_that_was_closed(self):
        nap = Nap(VirtualClock())
        asyncio.run(nap.run_async())
        nap.wake()


class Cancelled(ClientTest):
    """Turns of an own limit: 1 per window, told by the order in which tasks are let in."""

    async def line(self, limiter, count):
        order = []

        async def waits(number):
            await limiter.sleep_and_retry_async()
            order.append(number)

        await limiter.limiting_async()
        tasks = [asyncio.create_task(waits(number)) for number in range(count)]
        await asyncio.sleep(0)
        return tasks, order

    def test_those_behind_move_up(self):
        async def main():
            limiter = RateLimiter(1, 0.1)
            tasks, order = await self.line(limiter, 5)
            begun = time.monotonic()
            tasks[1].cancel()
            tasks[3].cancel()
            await asyncio.wait(tasks)
            self.assertEqual(order, [0, 2, 4])
            took = time.monotonic() - begun
            self.assertGreater(took, 0.25)
            self.figure("three of five turns, two cancelled", "0.3 s", f"{took:.3f} s", took <= 0.35)
            self.assertEqual(limiter.admitted, 4)
            self.assertEqual(limiter._limit._waiting.get().count, 0)

        asyncio.run(main())

    def test_the_last_one_s_place_is_free_again(self):
        async def main():
            clock = VirtualClock()
            limiter = RateLimiter(2, 10, clock=clock)
            steps = []
            for _ in range(5):
                steps.append(limiter._limit.admit(None, True, None))
            waiting = [next(step, None) for step in steps]
            self.assertEqual([bool(waiter) for waiter in waiting], [False, False, True, True, True])
            before = waiting[4].due
            steps[2].close()  # as a task that is cancelled
            self.assertEqual([waiting[3].due, waiting[4].due], [before - 10 * 10**9] * 2)
            steps[4].close()
            steps[3].close()
            clock.pass_by(10)
            limiter.limiting()
            limiter.limiting()
            self.assertEqual((limiter.attempts, limiter.admitted), (7, 4))

        asyncio.run(main())

    def test_no_more_are_woken_than_move_up(self):
        limiter = RateLimiter(2, 10, clock=VirtualClock())
        steps = [limiter._limit.admit(None, True, None) for _ in range(8)]
        waiting = [next(step, None) for step in steps][2:]
        steps[2].close()
        self.assertEqual([not waiter._lock.locked() for waiter in waiting[1:]], [False, True, False, True, False])

    def test_who_could_not_have_its_turn_in_time_gets_the_place_that_becomes_free(self):
        clock = VirtualClock()
        limiter = RateLimiter(1, 10, clock=clock)
        limiter.limiting()
        patient = limiter._limit.admit(None, True, None)
        hopeful = limiter._limit.admit(None, True, 15)
        next(patient)
        waiter = next(hopeful)
        self.assertIsNone(waiter.due)
        patient.close()
        self.assertEqual(waiter.due, clock.now() + 10 * 10**9)
        self.assertFalse(waiter._lock.locked(), "it was not woken")
        clock.pass_by(10)
        with self.assertRaises(StopIteration):
            next(hopeful)
        self.assertEqual(limiter.admitted, 2)

    def test_a_task_wakes_for_a_place_that_became_free(self):
        async def main():
            limiter = RateLimiter(1, 0.3)
            tasks, order = await self.line(limiter, 2)
            late = asyncio.create_task(limiter.sleep_and_retry_async("other key"))
            tasks[0].cancel()
            begun = time.monotonic()
            await tasks[1]
            self.assertLess(time.monotonic() - begun, 0.55)
            await late

        asyncio.run(main())

    def test_the_gateway_learns_that_nobody_waits(self):
        gateway = self.gateway({"shop": (1, 60_000)})
        limiter = RateLimiter(name="shop", url=gateway.url)

        async def main():
            gateway.gate.clear()
            task = asyncio.create_task(limiter.sleep_and_retry_async())
            while not gateway.asked:
                await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(limiter._limit._process.get().waiting, 0)

        asyncio.run(main())
        gateway.gate.set()
        wait_until(lambda: gateway.open_connections() == 0, "hung up")


class Away(ClientTest):
    def test_connections_that_are_lost(self):
        gateway = self.gateway({"shop": (100, 60_000)})
        limiter = RateLimiter(name="shop", url=gateway.url, timeout=1.5)

        async def main():
            await limiter.limiting_async()
            gateway.cut()
            await limiter.limiting_async()  # the loop has not yet seen that the connection is gone
            gateway.cut()
            await asyncio.sleep(0.05)
            await limiter.limiting_async()
            self.assertEqual(gateway.accepted, 3)
            gateway.gate.clear()
            with self.assertRaises(StintUnavailable):
                await limiter.limiting_async()
            gateway.gate.set()
            gateway.stop()
            for call in (limiter.limiting_async, limiter.sleep_and_retry_async):
                with self.assertRaises(StintUnavailable):
                    await call()
            gateway.start()
            await limiter.limiting_async()
            gateway.script = b"no http\r\n\r\n"
            with self.assertRaisesRegex(StintError, "answered no HTTP"):
                await limiter.limiting_async()
            gateway.script = answer(200, PERMIT, "Connection: close\r\n")
            await limiter.limiting_async()
            await limiter.limiting_async()

        asyncio.run(main())

    def test_a_new_connection_that_is_cut_is_not_tried_again(self):
        gateway = self.gateway({"shop": (100, 60_000)})

        def hang_up(_):
            gateway.cut()
            return b""

        gateway.script = hang_up
        with self.assertRaises(StintUnavailable):
            asyncio.run(RateLimiter(name="shop", url=gateway.url).limiting_async())
        self.assertEqual(len(gateway.asked), 1)

    def test_a_task_waits_until_the_gateway_is_there(self):
        gateway = self.gateway({"shop": (100, 60_000)})
        gateway.stop()
        later = threading.Timer(0.2, gateway.start)
        later.start()
        asyncio.run(RateLimiter(name="shop", url=gateway.url, timeout=20).sleep_and_retry_async())
        later.join()

    def test_more_tasks_than_connections(self):
        gateway = self.gateway({"shop": (10_000, 60_000)})
        limiter = RateLimiter(name="shop", url=gateway.url, timeout=20)

        async def main():
            await asyncio.gather(*[limiter.limiting_async() for _ in range(1000)])

        asyncio.run(main())
        self.assertLessEqual(gateway.accepted, 256)
        self.assertEqual(limiter.admitted, 1000)


if __name__ == "__main__":
    unittest.main()
