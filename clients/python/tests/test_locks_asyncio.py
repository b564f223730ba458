"""Locks in an event loop: it goes on meanwhile, who is cancelled leaves nothing behind, and no task takes
another one's lease along."""

import asyncio
import threading
import time
import unittest

from support import ClientTest, wait_until

from stint import LeaseLost, Lock, LockFailureException, NamedLock, NotHeld, StintUnavailable


class Tasks(ClientTest):
    def setUp(self):
        self.there = self.locks()

    def lock(self, key="a", max=1, timeout=0, ttl=20, **more):
        return Lock(key, max, timeout, ttl, url=self.there.url, **more)

    async def until(self, condition, what):
        deadline = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            await asyncio.sleep(0.01)

    def test_in_and_out(self):
        async def main():
            for _ in range(50):
                async with self.lock() as lease:
                    self.assertEqual([held.id for held in self.there.held("a")], [lease.id])
                    with self.assertRaises(LockFailureException):
                        await self.lock().acquire_async()
            self.assertEqual(self.there.held("a"), [])
            self.assertEqual(self.there.accepted, 2)  # one has the lease, the other one asks meanwhile

        asyncio.run(main())
        wait_until(lambda: self.there.open_connections() == 0, "closed with the loop")

    def test_one_object_for_many_tasks(self):
        inside, most = [0], [0]

        async def works(lock):
            for _ in range(5):
                async with lock:
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    await asyncio.sleep(0.002)
                    inside[0] -= 1

        async def main():
            lock = self.lock(max=3, timeout=20)
            await asyncio.gather(*[works(lock) for _ in range(20)])

        asyncio.run(main())
        self.assertEqual((most[0], self.there.held("a")), (3, []))

    def test_the_loop_goes_on_while_a_task_waits(self):
        async def main():
            beats = 0

            async def heart():
                nonlocal beats
                while True:
                    beats += 1
                    await asyncio.sleep(0.01)

            heartbeat = asyncio.create_task(heart())
            async with self.lock():
                with self.assertRaises(LockFailureException):
                    await self.lock(timeout=0.5).acquire_async()
            heartbeat.cancel()
            return beats

        self.assertGreater(asyncio.run(main()), 10)

    def test_a_cancelled_wait_leaves_the_line_and_takes_no_lease_along(self):
        async def main():
            holder = await self.lock("b").acquire_async()
            async with self.lock("a"):
                waits = asyncio.create_task(self.lock("b", timeout=20).acquire_async())
                await self.until(lambda: self.there.waiting("b") == 1, "it waits")
                waits.cancel()
                await self.until(lambda: self.there.waiting("b") == 0, "the line is empty")
                self.assertEqual((len(self.there.held("a")), len(self.there.held("b"))), (1, 1))
            await holder.release_async()

        asyncio.run(main())

    def test_a_cancelled_holder_releases(self):
        async def holds(inside):
            async with self.lock():
                inside.set()
                await asyncio.sleep(60)

        async def main():
            inside = asyncio.Event()
            task = asyncio.create_task(holds(inside))
            await inside.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(self.there.held("a"), [])
            self.assertEqual(self.there.requests()[-1][:6], "DELETE")

        asyncio.run(main())

    def test_one_that_is_cancelled_while_the_grant_is_on_its_way_holds_nothing(self):
        async def main():
            for _ in range(20):
                task = asyncio.create_task(self.lock().acquire_async())
                while not self.there.held("a"):
                    await asyncio.sleep(0)
                if task.cancel():
                    await asyncio.wait({task})
                    self.assertTrue(task.cancelled())
                else:
                    await task.result().release_async()
                await self.until(lambda: not self.there.held("a"), "free")

        asyncio.run(main())

    def test_renewed_and_lost(self):
        async def main():
            told = asyncio.Queue()
            async with self.lock("kept", ttl=0.6):
                with self.assertRaises(LeaseLost):
                    async with self.lock(ttl=0.6, on_lost=told.put_nowait) as lease:
                        await asyncio.sleep(1)
                        self.assertFalse(lease.lost)
                        self.there.end("a")
                        self.assertIs(await asyncio.wait_for(told.get(), 5), lease)
                self.assertEqual(len(self.there.held("kept")), 1)

        asyncio.run(main())

    def test_a_restart_under_a_holder(self):
        async def main():
            async with self.lock(ttl=0.6) as lease:
                self.there.stop()
                self.there.start()
                await self.until(lambda: self.there.held("a")[0].tie is not None, "tied again")
                self.assertFalse(lease.lost)
            self.assertEqual(self.there.held("a"), [])

        asyncio.run(main())

    def test_the_end_of_the_loop_ends_its_leases(self):
        async def main():
            await self.lock().acquire_async()

        asyncio.run(main())
        wait_until(lambda: not self.there.held("a"), "free")

    def test_released_by_whom(self):
        async def main():
            lock = self.lock(max=2)
            lease = await lock.acquire_async()
            with self.assertRaises(NotHeld):
                await asyncio.create_task(lock.release_async())
            await asyncio.to_thread(lease.release)
            with self.assertRaises(NotHeld):
                await lock.release_async()
            await lock.acquire_async()
            await lock.release_async()
            self.assertEqual(self.there.held("a"), [])
            await lock.close_async()

        asyncio.run(main())

    def test_errors(self):
        async def main():
            self.absence(0.1)
            with self.assertRaises(KeyError):
                async with self.lock():
                    self.there.stop()
                    raise KeyError("x")
            with self.assertRaises(StintUnavailable):
                await self.lock().acquire_async()
            self.there.start()
            with self.assertRaises(StintUnavailable):
                async with self.lock("b"):
                    self.there.stop()

        asyncio.run(main())

    def test_lost_replies(self):
        async def main():
            for _ in range(5):
                self.there.lose = 1
                async with self.lock():
                    self.assertEqual(len(self.there.held("a")), 1)

        asyncio.run(main())

    def test_clients_first_server_later(self):
        self.there.stop()
        later = threading.Timer(0.3, self.there.start)
        later.start()

        async def main():
            async with self.lock(timeout=20):
                later.join()

        asyncio.run(main())

    def test_named_locks(self):
        async def main():
            mine, other = NamedLock(self.there.url), NamedLock(self.there.url)
            self.assertTrue(await mine.lock_async("jobs"))
            self.assertFalse(await other.lock_async("jobs", 0.1))
            self.assertIs(await other.unlock_async("jobs"), False)
            waits = asyncio.create_task(other.lock_async("jobs", 20))
            await self.until(lambda: self.there.waiting("jobs") == 1, "it waits")
            self.assertIs(await mine.unlock_async("jobs"), True)
            self.assertTrue(await waits)
            self.assertIs(await mine.unlock_async("unknown"), None)
            async with mine:
                self.assertEqual(await asyncio.gather(*[mine.lock_async("own", 20) for _ in range(5)]), [True] * 5)
            self.assertEqual(self.there.held("own"), [])

        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
