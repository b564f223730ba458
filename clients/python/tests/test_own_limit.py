"""RateLimiter without a name: the windows, told by a clock of the tests' own."""

import unittest

from support import ClientTest, VirtualClock

from limiter_calls import granted
from stint import RateLimiter, RateLimitException
from stint._schedule import NEVER, SIZE, Full, Schedule

SECOND = 10**9


class Windows(ClientTest):
    def setUp(self):
        self.clock = VirtualClock()

    def limiter(self, *numbers, **more):
        return RateLimiter(*numbers, clock=self.clock, **more)

    def test_the_class_s_four_demos(self):
        limiting, numbers = self.limiter(4, 2), []
        with self.assertRaises(RateLimitException):
            for number in range(10):
                limiting.limiting()
                numbers.append(number)
        self.assertEqual(numbers, [0, 1, 2, 3])

        for calls, count, seconds in ((5, 9, 2.0), (5, 12, 4.0), (10, 14, 2.0)):
            limiter, begun = self.limiter(calls, 2, True), self.clock.now()
            for _ in range(count):
                with limiter:
                    pass
            self.assertEqual(self.clock.now() - begun, seconds * SECOND)

    def test_remaining_is_the_time_until_the_window_ends(self):
        limiter = self.limiter(2, 1.5)
        limiter.limiting()
        self.clock.pass_by(0.5)
        limiter.limiting()

        with self.assertRaises(RateLimitException) as caught:
            limiter.limiting()

        self.assertEqual((caught.exception.remaining, caught.exception.never), (1.0, False))
        self.assertEqual(str(caught.exception), "2 calls per 1.5 s are used up: 1.000 s remain")

    def test_a_window_begins_with_its_first_call(self):
        limiter = self.limiter(2, 1)
        limiter.limiting()
        self.clock.pass_by(5.7)
        self.assertEqual(granted(limiter.limiting, 5), 2)
        self.clock.pass_by(0.999)
        self.assertEqual(granted(limiter.limiting, 5), 0)
        self.clock.pass_by(0.001)
        self.assertEqual(granted(limiter.limiting, 5), 2)

    def test_who_waits_for_each_turn_does_not_drift(self):
        limiter, begun = self.limiter(1, 0.2, True), self.clock.now()
        for _ in range(50):
            with limiter:
                self.clock.pass_by(0.05)
        self.assertEqual(self.clock.now() - begun, int((49 * 0.2 + 0.05) * SECOND))

    def test_a_limit_of_nothing(self):
        limiter = self.limiter(0, 2)
        for pause in (0, 0.5, 3):
            self.clock.pass_by(pause)
            with self.assertRaises(RateLimitException) as caught:
                limiter.limiting()
            self.assertTrue(0 <= caught.exception.remaining <= 2)
        with self.assertRaisesRegex(RateLimitException, "never") as caught:
            limiter.sleep_and_retry()
        self.assertTrue(caught.exception.never)
        self.assertEqual(self.clock.sleeps, [])

    def test_even_spacing(self):
        limiter, times = self.limiter(10, 1, strategy="even"), []
        for _ in range(25):
            limiter.sleep_and_retry()
            times.append(self.clock.now())
        self.assertEqual({after - before for before, after in zip(times, times[1:])}, {SECOND // 10})
        with self.assertRaises(RateLimitException):
            limiter.limiting()

    def test_even_spacing_never_rounds_up_the_rate(self):
        limiter, begun = self.limiter(3, 1, strategy="even"), self.clock.now()
        for _ in range(4):
            limiter.sleep_and_retry()
        self.assertGreaterEqual(self.clock.now() - begun, SECOND)
        self.assertEqual(granted(self.limiter(0, 1, strategy="even").limiting, 3), 0)

    def test_attempts_admissions_and_refusals_are_counted_apart(self):
        limiter = self.limiter(4, 2)
        granted(limiter.limiting, 1000)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (1000, 4, 996))
        limiter.sleep_and_retry()
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (1001, 5, 996))

    def test_a_timeout_ends_the_wait(self):
        limiter = self.limiter(1, 60, True, timeout=0.5)
        limiter.limiting()

        with self.assertRaises(RateLimitException) as caught:
            limiter.sleep_and_retry()

        self.assertEqual(self.clock.sleeps, [0.5])
        self.assertEqual(caught.exception.remaining, 59.5)
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (2, 1, 1))

    def test_a_place_that_is_free_when_the_time_is_over_is_taken(self):
        limiter = self.limiter(1, 1, timeout=1)
        limiter.limiting()
        self.clock.pass_by(0.25)
        limiter.sleep_and_retry()
        self.assertEqual(self.clock.sleeps, [0.75])


class Keys(ClientTest):
    def setUp(self):
        self.clock = VirtualClock()
        self.limiter = RateLimiter(3, 1, clock=self.clock)

    def test_each_key_has_a_window_of_its_own(self):
        for key in ("a", "b", "ö", "", None, "a\0", "x" * 10_000):
            self.assertEqual(granted(lambda key=key: self.limiter.limiting(key), 5), 3, key)

    def test_the_windows_of_keys_end_apart(self):
        self.assertEqual(granted(lambda: self.limiter.limiting("a"), 5), 3)
        self.clock.pass_by(0.5)
        self.assertEqual(granted(lambda: self.limiter.limiting("b"), 5), 3)
        self.clock.pass_by(0.5)
        self.assertEqual(granted(lambda: self.limiter.limiting("a"), 5), 3)
        self.assertEqual(granted(lambda: self.limiter.limiting("b"), 5), 0)

    def test_many_more_keys_than_there_is_room_for_one_after_the_other(self):
        for number in range(5000):
            self.assertEqual(granted(lambda number=number: self.limiter.limiting(f"key {number}"), 4), 3)
            if number % 1000 == 0:
                self.clock.pass_by(1)


class Records(ClientTest):
    """The table of the keys' windows."""

    def setUp(self):
        self.memory = memoryview(bytearray(SIZE))
        self.schedule = Schedule(self.memory, 1, SECOND)

    def fill(self, digest, now=1):
        """64 live records where a key of this digest would be looked for."""
        for probe in range(64):
            at = (1 + (digest + probe) % (1 << 16)) * 32
            self.memory[at:at + 16] = bytes([probe + 1] * 16)
            self.memory[at + 16:at + 32] = now.to_bytes(8, "little") + (1).to_bytes(8, "little")

    def first_of(self, key):
        from hashlib import blake2b
        return int.from_bytes(blake2b(key.encode(), digest_size=16).digest()[:4], "little") % (1 << 16)

    def test_no_room_for_a_key_is_a_refusal_until_a_window_ends(self):
        self.fill(self.first_of("a"))

        with self.assertRaises(Full) as caught:
            self.schedule.reserve("a", 5, 5)

        self.assertEqual(caught.exception.due, 1 + SECOND)
        self.assertEqual(self.schedule.reserve("a", 1 + SECOND, 1 + SECOND), 1 + SECOND)

    def test_a_key_is_found_behind_records_that_became_free(self):
        first = self.first_of("a")
        self.fill(first)
        behind = (1 + (first + 63) % (1 << 16)) * 32
        self.memory[behind + 24:behind + 32] = bytes(8)  # the last one is free
        self.assertEqual(self.schedule.reserve("a", 5, 5), 5)
        ahead = (1 + first) * 32
        self.memory[ahead + 24:ahead + 32] = bytes(8)  # and now the first one, too

        with self.assertRaises(Full):
            Schedule(self.memory, 1, SECOND).reserve("a", 6, 6)  # as another process, which has no hint

    def test_a_hint_that_is_out_of_date_is_not_believed(self):
        self.assertEqual(self.schedule.reserve("a", 5, 5), 5)
        at = (1 + self.first_of("a")) * 32
        self.memory[at:at + 16] = b"somebody else's."
        self.assertEqual(self.schedule.reserve("a", 6, 6), 6)
        self.assertEqual(bytes(self.memory[at:at + 16]), b"somebody else's.")

    def test_places_are_given_out_and_back_in_order(self):
        schedule, far = Schedule(self.memory, 2, SECOND), 100 * SECOND
        self.assertEqual([schedule.reserve(None, 0, far) for _ in range(5)],
                         [0, 0, SECOND, SECOND, 2 * SECOND])
        self.assertTrue(schedule.release(None, 2 * SECOND, 0))
        self.assertFalse(schedule.release(None, 2 * SECOND, 0))
        self.assertEqual(schedule.reserve(None, 0, far), 2 * SECOND)
        self.assertFalse(schedule.release(None, 1 * SECOND, 0))  # not in the last window

    def test_nothing_is_due_after_the_end_of_time(self):
        schedule = Schedule(self.memory, 1, 1 << 61)
        for due in (0, 1 << 61, 1 << 62):
            self.assertEqual(schedule.reserve(None, 0, 1 << 70), due)
        with self.assertRaises(Full):
            schedule.reserve(None, 0, 1 << 70)
        with self.assertRaises(Full) as caught:
            Schedule(self.memory, 0, SECOND).reserve("zero", 0, 1 << 70)
        self.assertEqual(caught.exception.due, NEVER)


class Arguments(ClientTest):
    def test_impossible_numbers(self):
        for numbers in ((-1, 1), (2.5, 1), ("5", 1), (True, 1), (1, 0), (1, -1), (1, float("nan")),
                        (1, float("inf")), (1, "2"), (1, 1e-10), (1, 400 * 86400), (1, True),
                        (10**12 + 1, 1), (10**30, 1), (float("inf"), 1)):
            with self.subTest(numbers), self.assertRaises(ValueError):
                RateLimiter(*numbers)

    def test_impossible_options(self):
        for options in ({"timeout": 0}, {"timeout": -1}, {"timeout": float("inf")}, {"timeout": float("nan")},
                        {"timeout": True}, {"timeout": "5"}, {"timeout": 1e300}, {"max_waiting": -1},
                        {"max_waiting": 10**30}, {"name": "x", "batch": 10**6 + 1}, {"name": "x", "batch": True},
                        {"name": "x", "max_calls": 0},
                        {"name": "x", "max_calls": 4, "on_unavailable": "local_share", "share": 10**30},
                        {"strategy": "odd"}, {"url": "http://127.0.0.1:1"}, {"batch": 5}, {"owner": "me"}, {"token": "t"},
                        {"on_unavailable": "wait"}, {"share": 2},
                        {"name": ""}, {"name": "x", "batch": 0}, {"name": "x", "strategy": "even"},
                        {"name": "x", "url": "https://gateway"}, {"name": "x", "url": "gateway:80"},
                        {"name": "x", "url": "http://host/path"}, {"name": "x", "url": "unix:relative"},
                        {"name": "x", "token": "two words"}, {"name": "x", "token": "a\r\nb"},
                        {"name": "x", "on_unavailable": "give up"}, {"name": "x", "share": 2},
                        {"name": "x", "on_unavailable": "local_share", "share": 2},
                        {"name": "x", "max_calls": 4, "on_unavailable": "local_share"},
                        {"name": "x", "max_calls": 4, "on_unavailable": "local_share", "share": 0},
                        {"name": "x", "period": 0.0005}):
            with self.subTest(options), self.assertRaises(ValueError):
                RateLimiter(**options)


if __name__ == "__main__":
    unittest.main()
