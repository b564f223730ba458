"""Client: the permit API call by call."""

import asyncio
import math
import threading
import time
import unittest

from support import ClientTest, wait_until

from stint import Client, LimitState, RateLimitException, StintError, StintUnavailable


class Takes(ClientTest):
    def setUp(self):
        self.there = self.gateway({"shop": (5, 60_000), "api": (2, 60_000)})
        self.client = Client(self.there.url, timeout=20)

    def test_a_permit(self):
        before = time.monotonic()
        permit = self.client.take("shop")
        self.assertEqual((permit.limit, permit.remaining, permit.count, permit.waited_ms, permit.replayed),
                         (5, 4, 1, 0, False))
        self.assertTrue(59_000 < permit.reset_ms <= 60_000)
        self.assertTrue(before <= permit.sent <= time.monotonic())
        self.assertEqual((permit.ticket, permit.headers), (None, {}))
        self.assertEqual(permit.limits, (LimitState("shop", 5, 4, permit.reset_ms),))
        self.assertIn('"remaining": 4', repr(permit))
        self.assertEqual(self.there.bodies(), [{}])

    def test_all_that_can_be_asked_for(self):
        self.client.take("shop", key="k", cost=2, wait_ms=0, owner="me", idempotency_key="i", ticket=True)
        self.assertEqual(self.there.bodies()[-1], {"key": "k", "cost": 2, "owner": "me", "idempotency_key": "i",
                                                   "ticket": True})
        self.client.take("mine", requests=7, per_ms=800, wait_ms=500)
        body = self.there.bodies()[-1]
        self.assertTrue(450 < body.pop("wait_ms") <= 500)
        self.assertEqual(body, {"requests": 7, "per_ms": 800})

    def test_a_ticket(self):
        permit = self.client.take("shop", ticket=True)
        self.assertEqual(permit.headers, {"X-Stint-Permit": permit.ticket})
        self.assertTrue(permit.ticket.startswith("p_"))

    def test_a_look_without_taking(self):
        self.assertEqual(self.client.take("shop", cost=0).remaining, 5)
        self.assertEqual(self.client.take("shop", cost=0).remaining, 5)
        self.assertEqual(self.there.bodies()[-1], {"cost": 0})

    def test_a_batch(self):
        self.assertEqual(self.client.take("shop", batch=3).count, 3)
        self.assertEqual(self.client.take("shop", batch=3).count, 2)
        with self.assertRaises(RateLimitException):
            self.client.take("shop", batch=3)

    def test_all_or_nothing(self):
        limits = [{"name": "shop", "cost": 2}, {"name": "api", "key": "k"}]
        permit = self.client.take_all(limits, owner="me", idempotency_key="i")
        self.assertEqual([(state.name, state.remaining) for state in permit.limits], [("shop", 3), ("api", 1)])
        self.assertEqual(self.there.bodies()[-1], {"limits": limits, "owner": "me", "idempotency_key": "i"})
        self.client.take_all(limits, ticket=True)
        with self.assertRaises(RateLimitException):
            self.client.take_all(limits)
        self.assertEqual(self.client.take("shop", cost=0).remaining, 1)

    def test_feedback(self):
        seen = self.client.feedback(limit="shop", key="k", status=503, retry_after="7")
        self.assertEqual((seen.paused, seen.paused_ms), (True, 7000))
        self.assertEqual(self.there.bodies()[-1], {"limit": "shop", "key": "k", "status": 503, "retry_after": "7"})
        with self.assertRaises(RateLimitException) as caught:
            self.client.take("shop")
        self.assertEqual(caught.exception.status, 503)
        self.assertTrue(6 < caught.exception.remaining <= 7)
        self.assertFalse(self.client.feedback(route="all", host="h", status=200).paused)
        self.assertEqual(self.there.bodies()[-1], {"route": "all", "host": "h", "status": 200})

    def test_mistakes(self):
        for call in (lambda: self.client.take("unknown"), lambda: self.client.take_all([{"name": "unknown"}])):
            with self.assertRaises(StintError) as caught:
                call()
            self.assertEqual((caught.exception.status, caught.exception.title), (404, "Not Found"))
        for wait_ms in (-1, 60_001):
            with self.assertRaises(ValueError):
                self.client.take("shop", wait_ms=wait_ms)
        for timeout in (0, -1, math.inf, math.nan, True, "1"):
            with self.assertRaises(ValueError):
                Client(timeout=timeout)

    def test_waiting_for_a_turn_and_for_the_gateway(self):
        self.there.limits["turns"] = (1, 200)
        self.client.take("turns")
        self.assertGreater(self.client.take("turns", wait_ms=5000).waited_ms, 100)
        self.there.stop()
        later = threading.Timer(0.2, self.there.start)
        later.start()
        self.client.take("shop", wait_ms=20_000)
        later.join()
        self.there.stop()
        begun = time.monotonic()
        with self.assertRaises(StintUnavailable):
            self.client.take("shop", wait_ms=200)
        self.assertTrue(0.1 < time.monotonic() - begun < 3)

    def test_the_same_without_blocking_the_loop(self):
        async def main():
            self.assertEqual((await self.client.take_async("shop", cost=2)).remaining, 3)
            self.assertEqual((await self.client.take_all_async([{"name": "api"}])).limits[0].remaining, 1)
            self.assertTrue((await self.client.feedback_async(limit="api", status=429)).paused)
            with self.assertRaises(RateLimitException):
                await self.client.take_async("api")
            await self.client.close_async()
            wait_until(lambda: self.there.open_connections() == 0, "closed")
            self.assertEqual((await self.client.take_async("shop")).remaining, 2)

        asyncio.run(main())
        wait_until(lambda: self.there.open_connections() == 0, "closed with the loop")


if __name__ == "__main__":
    unittest.main()
