"""A proxy or load balancer before the permit listener, which says that nobody is there while that restarts."""

import asyncio
import unittest

from support import ClientTest, wait_until
from test_fail_closed import PROXY_S_502, STATE, reply

from stint import Client, Lock, NamedLock, RateLimiter, RateLimitException, StintError, StintUnavailable

# What proxies say while nobody is behind them: nginx, an old HAProxy, Envoy, Stint.
AWAY = (reply(502, b"<html>Bad Gateway</html>", "text/html"),
        b"HTTP/1.0 503 Service Unavailable\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n<html>",
        reply(504, b"upstream request timeout", "text/plain"),
        reply(503, {"title": "Service Unavailable", "status": 503}))


class AProxyInFront(ClientTest):
    """A 502, 503 or 504 of whoever passes requests on to the permit listener: it is away."""

    def setUp(self):
        self.there = self.locks()
        self.there.limits["a"] = (10**6, 60_000)
        self.url = self.there.url

    def restart(self, away):
        """The proxy's answer until it has given it three times."""
        left = [away] * 3

        def script(request):
            if len(left) == 1:
                self.there.script = None
            return left.pop()

        self.there.script = script

    def test_it_is_waited_for(self):
        waits = RateLimiter(name="a", url=self.url, on_unavailable="wait", timeout=20)
        plain = RateLimiter(name="a", url=self.url, timeout=20)
        lock, named = Lock("a", timeout=5, url=self.url), NamedLock(self.url)

        def locked():
            with lock:
                self.restart(away)

        async def locked_async():
            async with lock:
                self.restart(AWAY[0])  # by its own connection, with whose end the lease would end

        def unlocked():
            self.there.script, script = None, self.there.script
            named.lock("a")
            self.there.script = script
            self.assertTrue(named.unlock("a"))

        for away in AWAY:
            for call in (waits.limiting, plain.sleep_and_retry, locked, unlocked,
                         lambda: Client(self.url, timeout=20).take("a", wait_ms=20_000),
                         lambda: asyncio.run(plain.sleep_and_retry_async()), lambda: asyncio.run(locked_async())):
                self.restart(away)
                with self.subTest(away=away[:40], call=call):
                    call()
                    self.assertEqual(self.there.held("a"), [])

    def test_who_cannot_wait_is_told(self):
        self.absence(0.2)
        limiter, batch = RateLimiter(name="a", url=self.url), RateLimiter(name="a", url=self.url, batch=5)
        for away in AWAY:
            self.there.script = away
            for call in (limiter.limiting, batch.limiting, lambda: Client(self.url, timeout=20).take("a"),
                         lambda: asyncio.run(limiter.limiting_async()), Lock("a", url=self.url).acquire,
                         lambda: asyncio.run(Lock("a", url=self.url).acquire_async()),
                         lambda: NamedLock(self.url).unlock("a")):
                with self.subTest(away=away[:40], call=call), self.assertRaisesRegex(
                        StintUnavailable, self.url + ".*answered 50.*permits:"):
                    call()

    def limiter(self, **more):
        return RateLimiter(9, 60, name="a", url=self.url, on_unavailable="local_share", share=3, **more)

    def test_a_local_share_only_in_the_place_of_who_has_granted_something(self):
        self.there.limits["a"] = (9, 60_000)
        for more in ({}, {"batch": 2}):
            for away in AWAY:
                with self.subTest(away=away[:40], more=more):
                    limiter = self.limiter(**more)
                    for call in (limiter.limiting, lambda: asyncio.run(limiter.limiting_async())) * 2:
                        self.there.script = away
                        with self.assertRaisesRegex(StintUnavailable, "permits:"):
                            call()
                    self.assertEqual(limiter.admitted, 0)
                    self.there.script = reply(200, {"granted": True, **STATE, "waited_ms": 0, "count": 1})
                    limiter.limiting()
                    for proxy in (away, PROXY_S_502):
                        self.there.script = proxy
                        limiter.limiting()
                    self.assertEqual(limiter.admitted, 3)

    def test_a_mistake_after_an_absence_ends_the_local_share(self):
        self.there.stop()
        limiter = self.limiter()
        limiter.limiting()
        self.there.script = reply(404, {"status": 404, "title": "Not Found"})
        self.there.start()

        def is_told():
            try:
                limiter.limiting()
            except (StintError, RateLimitException) as error:
                return isinstance(error, StintError)

        wait_until(is_told, "it asks again")
        for _ in range(2):
            with self.assertRaises(StintError):
                limiter.limiting()

    def test_the_keeper_bears_with_it(self):
        lost = []
        with Lock("a", ttl=1.2, url=self.url, on_lost=lost.append) as lease:
            first = lease.deadline
            self.restart(AWAY[0])
            wait_until(lambda: lost or lease.deadline > first + 0.3, "it is renewed")
        self.assertEqual(lost, [])


if __name__ == "__main__":
    unittest.main()
