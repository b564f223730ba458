"""RateLimiter with a name: what the gateway is asked, and what becomes of its answers."""

import math
import threading
import time
import unittest

from fake_gateway import PERMIT, answer
from support import ClientTest, in_children, wait_until

from limiter_calls import granted, time_to_raise
from stint import RateLimiter, RateLimitException, StintError, StintUnavailable


class Asking(ClientTest):
    def test_the_gateway_decides(self):
        gateway = self.gateway({"shop": (3, 60_000)})
        limiter = RateLimiter(name="shop", url=gateway.url)
        self.assertEqual(granted(limiter.limiting, 10), 3)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (10, 3, 7))
        self.assertEqual({request for request, _, _ in gateway.asked}, {"POST /v1/limits/shop/take"})
        with self.assertRaises(RateLimitException) as caught:
            limiter.limiting()
        self.assertTrue(50 < caught.exception.remaining <= 60)

    def test_numbers_are_sent_only_when_they_were_given(self):
        gateway = self.gateway({"a": (10, 2000)})
        for numbers, wanted in ((((), {}), (None, None)), (((10, 2), {}), (10, 2000)),
                                (((), {"period": 2}), (10, 2000)), (((), {"max_calls": 10}), (10, 2000))):
            RateLimiter(*numbers[0], **numbers[1], name="a", url=gateway.url).limiting()
            body = gateway.bodies()[-1]
            self.assertEqual((body.get("requests"), body.get("per_ms")), wanted)
        RateLimiter(5, 0.8, name="own", url=gateway.url).limiting()
        self.assertEqual((gateway.bodies()[-1]["requests"], gateway.bodies()[-1]["per_ms"]), (5, 800))

    def test_other_numbers_than_the_configured_ones_are_a_mistake(self):
        gateway = self.gateway({"a": (10, 2000)})
        limiter = RateLimiter(5, 2, name="a", url=gateway.url)
        for call in (limiter.limiting, limiter.sleep_and_retry):
            with self.assertRaises(StintError) as caught:
                call()
            self.assertEqual(caught.exception.status, 409)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (2, 0, 0))

    def test_keys(self):
        gateway = self.gateway({"shop": (2, 60_000)})
        limiter = RateLimiter(name="shop", url=gateway.url, key=lambda user: user)
        function = limiter(lambda user: user)
        for user in ("a", "ö", "a\"\\\0"):
            self.assertEqual(granted(lambda user=user: function(user), 5), 2)
            self.assertEqual(gateway.bodies()[-1]["key"], user)
        self.assertEqual(granted(RateLimiter(name="shop", url=gateway.url, key="a").limiting, 5), 0)

    def test_many_keys_do_not_pile_up(self):
        gateway = self.gateway()
        gateway.script = answer(200, PERMIT)
        limiter = RateLimiter(name="shop", url=gateway.url)
        for number in range(5000):
            limiter.limiting(str(number))
        self.assertLessEqual(len(limiter._limit._process.get().requests), 4096)
        self.assertEqual(gateway.bodies()[-1]["key"], "4999")

    def test_a_token(self):
        gateway = self.gateway({"shop": (2, 60_000)}, token="s3cret")
        RateLimiter(name="shop", url=gateway.url, token="s3cret").limiting()
        for token in (None, "other"):
            with self.assertRaises(StintError) as caught:
                RateLimiter(name="shop", url=gateway.url, token=token).limiting()
            self.assertEqual(caught.exception.status, 401)

    def test_the_owner_is_the_process_unless_told_otherwise(self):
        gateway = self.gateway({"shop": (100, 60_000)})
        limiter = RateLimiter(name="shop", url=gateway.url)
        threads = [threading.Thread(target=limiter.limiting) for _ in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
        in_children(2, lambda _: limiter.limiting() or 0)
        RateLimiter(name="shop", url=gateway.url, owner="me").limiting()
        owners = [body["owner"] for body in gateway.bodies()]
        self.assertEqual([owners[0] == owner for owner in owners], [True, True, False, False, False])
        self.assertEqual(len(set(owners)), 4)
        self.assertEqual(owners[-1], "me")

    def test_children_count_for_themselves_under_the_gateway_s_one_limit(self):
        gateway = self.gateway({"shop": (10, 60_000)})
        limiter = RateLimiter(name="shop", url=gateway.url)
        self.assertEqual(granted(limiter.limiting, 3), 3)
        seen = in_children(4, lambda _: granted(limiter.limiting, 20) + 100 * (limiter.attempts != 20))
        self.assertEqual(sum(seen), 7)
        self.assertEqual((limiter.attempts, limiter.admitted), (3, 3))


class WaitingThere(ClientTest):
    def test_the_gateway_is_told_how_long_the_caller_waits(self):
        gateway = self.gateway({"shop": (1, 250)})
        for timeout, least, most in ((None, 60_000, 60_000), (120, 60_000, 60_000), (5, 4950, 4980), (0.1, 85, 90)):
            limiter = RateLimiter(name="shop", url=gateway.url, timeout=timeout)
            asked = len(gateway.asked)
            try:
                limiter.sleep_and_retry()
            except (RateLimitException, StintUnavailable):
                pass
            wait_until(lambda asked=asked: len(gateway.asked) > asked, "it was asked")
            self.assertTrue(least <= gateway.bodies()[-1]["wait_ms"] <= most, gateway.bodies()[-1])
        limiter.limiting("another key")
        self.assertNotIn("wait_ms", gateway.bodies()[-1])

    def test_one_ask_for_each_turn(self):
        gateway = self.gateway({"shop": (2, 100)})
        limiter, begun = RateLimiter(name="shop", url=gateway.url, retry=True), time.monotonic()
        for _ in range(7):
            with limiter:
                pass
        self.assertGreaterEqual(time.monotonic() - begun, 0.3)
        self.assertEqual(len(gateway.asked), 7)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (7, 7, 0))

    def test_a_turn_beyond_the_timeout_is_refused_as_soon_as_it_is_known(self):
        gateway = self.gateway({"shop": (1, 60_000)})
        limiter = RateLimiter(name="shop", url=gateway.url, timeout=30)
        limiter.limiting()
        begun = time.monotonic()
        with self.assertRaises(RateLimitException) as caught:
            limiter.sleep_and_retry()
        self.assertLess(time.monotonic() - begun, 5)
        self.assertGreater(caught.exception.remaining, 50)

    def test_a_turn_that_is_further_away_than_the_gateway_lets_wait_is_slept_for(self):
        gateway = self.gateway({"shop": (1, 60_000)})
        limiter = RateLimiter(name="shop", url=gateway.url)
        answers = [b"HTTP/1.1 429 X\r\nRetry-After: 1\r\nRetry-After-Ms: 50\r\nContent-Length: 2\r\n\r\n{}",
                   b"HTTP/1.1 503 X\r\nRetry-After: 1\r\nRetry-After-Ms: 50\r\nContent-Length: 2\r\n\r\n{}",
                   answer(200, PERMIT)]
        gateway.script = lambda _: answers.pop(0)
        begun = time.monotonic()
        limiter.sleep_and_retry()
        self.assertGreaterEqual(time.monotonic() - begun, 0.1)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (1, 1, 0))

    def test_never_is_not_waited_for(self):
        gateway = self.gateway({"shop": (0, 1000)})
        limiter = RateLimiter(name="shop", url=gateway.url)
        for call in (limiter.limiting, limiter.sleep_and_retry):
            with self.assertRaisesRegex(RateLimitException, "never") as caught:
                call()
            self.assertEqual((caught.exception.remaining, caught.exception.never), (math.inf, True))
        self.assertEqual(len(gateway.asked), 2)

    def test_one_too_many_waits_not(self):
        gateway = self.gateway({"shop": (1, 60_000)})
        gateway.gate.clear()
        limiter = RateLimiter(name="shop", url=gateway.url, max_waiting=2, timeout=5)
        threads = [threading.Thread(target=granted, args=(limiter.sleep_and_retry, 1)) for _ in range(2)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(gateway.asked) == 2, "two have asked")
        with self.assertRaisesRegex(RateLimitException, "2 callers wait already"):
            limiter.sleep_and_retry()
        gateway.gate.set()
        for thread in threads:
            thread.join()
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (3, 1, 2))
        with self.assertRaisesRegex(RateLimitException, "used up"):
            limiter.sleep_and_retry()


class Away(ClientTest):
    def gone(self):
        gateway = self.gateway({"shop": (10, 60_000)})
        gateway.stop()
        return gateway

    def test_calls_raise(self):
        gateway = self.gone()
        limiter = RateLimiter(name="shop", url=gateway.url)
        for call in (limiter.limiting, limiter.sleep_and_retry):
            took = time_to_raise(self, StintUnavailable, call)
            self.figure(f"named limit: {call.__name__}() raises", "<= 1 s", f"{took:.3f} s", took <= 1)
            self.assertLess(took, 4)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (2, 0, 0))

    def test_a_call_that_may_wait_does_until_it_is_there(self):
        for options, method in (({"timeout": 20}, "sleep_and_retry"), ({}, "sleep_and_retry"),
                                ({"on_unavailable": "wait"}, "limiting"),
                                ({"on_unavailable": "wait", "timeout": 20}, "limiting"),
                                ({"on_unavailable": "wait", "timeout": 20}, "sleep_and_retry")):
            with self.subTest(options=options, method=method):
                gateway = self.gone()
                limiter = RateLimiter(name="shop", url=gateway.url, **options)
                later = threading.Timer(0.2, gateway.start)
                later.start()
                getattr(limiter, method)()
                later.join()
                self.assertEqual((limiter.attempts, limiter.admitted), (1, 1))

    def test_but_not_beyond_its_timeout(self):
        gateway = self.gone()
        for options, method in (({}, "sleep_and_retry"), ({"on_unavailable": "wait"}, "limiting"),
                                ({"on_unavailable": "wait"}, "sleep_and_retry")):
            limiter = RateLimiter(name="shop", url=gateway.url, timeout=0.2, **options)
            took = time_to_raise(self, StintUnavailable, getattr(limiter, method))
            self.figure(f"named limit: {method}(), timeout=0.2", "<= 0.25 s", f"{took:.3f} s", took <= 0.25)
            self.assertTrue(0.1 < took < 3, took)

    def test_the_local_share_is_never_more_than_a_share(self):
        gateway = self.gone()
        limiter = RateLimiter(10, 60, name="shop", url=gateway.url, on_unavailable="local_share", share=3)
        self.assertEqual(granted(limiter.limiting, 50), 3)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (50, 3, 47))
        self.assertEqual(granted(lambda: limiter.limiting("a key"), 50), 3)

    def test_a_share_of_less_than_one_call(self):
        gateway = self.gone()
        limiter = RateLimiter(2, 60, name="shop", url=gateway.url, on_unavailable="local_share", share=4)
        self.assertEqual(granted(limiter.limiting, 5), 1)
        with self.assertRaises(RateLimitException) as caught:
            limiter.limiting()
        self.assertTrue(100 < caught.exception.remaining <= 120)

    def test_a_forked_child_has_a_share_of_its_own(self):
        gateway = self.gone()
        limiter = RateLimiter(10, 60, name="shop", url=gateway.url, on_unavailable="local_share", share=5)
        self.assertEqual(in_children(3, lambda _: granted(limiter.limiting, 10)), [2, 2, 2])

    def test_waiting_for_a_turn_of_the_local_share(self):
        gateway = self.gone()
        limiter = RateLimiter(2, 0.1, True, name="shop", url=gateway.url, on_unavailable="local_share", share=2)
        begun = time.monotonic()
        for _ in range(4):
            with limiter:
                pass
        self.assertTrue(0.29 < time.monotonic() - begun < 5)

    def test_nobody_waits_for_a_gateway_in_whose_place_there_is_a_share(self):
        gateway = self.gone()
        limiter = RateLimiter(9, 60, name="shop", url=gateway.url, on_unavailable="local_share", share=2, timeout=20)
        begun = time.monotonic()
        limiter.sleep_and_retry()
        self.assertLess(time.monotonic() - begun, 10)

    def test_the_gateway_is_used_again_when_it_is_back(self):
        gateway = self.gone()
        gateway.limits["shop"] = (10**6, 60_000)
        limiter = RateLimiter(10**6, 60, name="shop", url=gateway.url, on_unavailable="local_share", share=10**6)
        limiter.limiting()
        gateway.start()
        wait_until(lambda: granted(limiter.limiting, 1), "more than the one call of its share")
        asked = len(gateway.asked)
        self.assertEqual(granted(limiter.limiting, 20), 20)
        self.assertEqual(len(gateway.asked), asked + 20)

    def test_a_gateway_that_stands_still_holds_up_one_caller_a_second(self):
        gateway = self.gateway({"shop": (10, 60_000)})
        limiter = RateLimiter(10, 60, name="shop", url=gateway.url, on_unavailable="local_share", share=5, timeout=20)
        gateway.gate.clear()
        self.answer_time(1.0)
        begun = time.monotonic()
        self.assertEqual(granted(limiter.limiting, 10), 2)
        self.assertTrue(0.9 < time.monotonic() - begun < 5)
        self.assertLessEqual(len(gateway.asked), 3)
        time.sleep(max(0, limiter._limit._process.get().away_until - time.monotonic()))
        asked = len(gateway.asked)
        threads = [threading.Thread(target=granted, args=(limiter.limiting, 1)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(gateway.asked), asked + 1)

    def test_refusals_and_mistakes_are_the_gateway_s_even_with_a_local_share(self):
        gateway = self.gateway({"shop": (10, 60_000)})
        limiter = RateLimiter(10, 60, name="shop", url=gateway.url, on_unavailable="local_share", share=2)
        self.assertEqual(granted(limiter.limiting, 20), 10)
        with self.assertRaises(StintError):
            RateLimiter(11, 60, name="shop", url=gateway.url, on_unavailable="local_share", share=2).limiting()


if __name__ == "__main__":
    unittest.main()
