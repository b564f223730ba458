"""The ways to put a limiter before something: with, decorators on functions of all kinds, calls."""

import asyncio
import inspect
import unittest

from support import ClientTest, VirtualClock

from stint import RateLimiter, RateLimitException


class Faces(ClientTest):
    def setUp(self):
        self.clock = VirtualClock()

    def limiter(self, *numbers, **more):
        return RateLimiter(*numbers, clock=self.clock, **more)

    def test_with_waits_or_raises_as_retry_says(self):
        raises, waits = self.limiter(1, 2), self.limiter(1, 2, True)
        for limiter in (raises, waits):
            with limiter as entered:
                self.assertIs(entered, limiter)
        with self.assertRaises(RateLimitException):
            with raises:
                self.fail("entered")
        with waits:
            self.assertEqual(self.clock.sleeps, [2.0])

    def test_what_the_block_raises_comes_out(self):
        with self.assertRaises(KeyError):
            with self.limiter(1, 2):
                raise KeyError

    def test_a_decorated_function_waits_or_raises_as_retry_says(self):
        def function(a, *, b=2):
            """Its text."""
            return a, b

        raises, waits = self.limiter(1, 2)(function), self.limiter(1, 2, True)(function)
        self.assertEqual((raises(1), waits(1, b=3)), ((1, 2), (1, 3)))
        with self.assertRaises(RateLimitException):
            raises(1)
        waits(1)
        self.assertEqual(self.clock.sleeps, [2.0])
        self.assertEqual((raises.__name__, raises.__doc__, raises.__wrapped__), ("function", "Its text.", function))
        self.assertEqual(waits.limiter.admitted, 2)

    def test_methods_share_the_limiter_over_their_objects(self):
        limiter = self.limiter(3, 2)

        class Shop:
            @limiter
            def visit(self):
                return self

        one, two = Shop(), Shop()
        self.assertEqual([one.visit(), two.visit(), one.visit()], [one, two, one])
        with self.assertRaises(RateLimitException):
            two.visit()

    def test_the_key_is_made_of_the_arguments(self):
        limiter = self.limiter(2, 2, key=lambda user, page=1: user)

        @limiter
        def visit(user, page=1):
            return user

        self.assertEqual([visit("a"), visit("b"), visit(user="a", page=2), visit("b")], ["a", "b", "a", "b"])
        for user in ("a", "b"):
            with self.assertRaises(RateLimitException):
                visit(user)
        visit(7)  # what is no text is made one
        visit("7")
        with self.assertRaises(RateLimitException):
            visit(7)
        visit(None)  # no key

    def test_a_key_of_the_object_and_one_for_the_call(self):
        limiter = self.limiter(1, 2, key="mine")
        limiter.limiting()
        with self.assertRaises(RateLimitException):
            limiter.limiting("mine")
        limiter.limiting("yours")
        with self.assertRaises(RateLimitException):
            limiter(lambda: None)()

    def test_without_arguments_a_key_function_has_nothing_to_go_by(self):
        limiter = self.limiter(1, 2, key=lambda url: url)
        for call in (limiter.limiting, limiter.sleep_and_retry, limiter.__enter__):
            with self.assertRaises(TypeError):
                call()
        limiter.limiting("a")
        self.assertEqual(limiter.attempts, 1)

    def test_a_generator_is_one_call(self):
        @self.limiter(1, 2)
        def numbers():
            yield from range(5)

        self.assertEqual(list(numbers()), [0, 1, 2, 3, 4])
        with self.assertRaises(RateLimitException):
            numbers()

    def test_or_a_call_for_each_item(self):
        closed = []

        @self.limiter(3, 2)(per_item=True)
        def numbers():
            try:
                yield from range(10)
            finally:
                closed.append(True)

        seen = []
        with self.assertRaises(RateLimitException):
            for number in numbers():
                seen.append(number)
        self.assertEqual((seen, closed), ([0, 1, 2], [True]))
        self.assertTrue(inspect.isgeneratorfunction(numbers))

    def test_a_generator_for_each_item_can_be_sent_values_and_returns_one(self):
        @self.limiter(10, 2)(per_item=True)
        def echo():
            got = []
            while len(got) < 2:
                got.append((yield len(got)))
            return got

        def outer():
            return (yield from echo())

        running = outer()
        self.assertEqual((next(running), running.send("a")), (0, 1))
        with self.assertRaises(StopIteration) as caught:
            running.send("b")
        self.assertEqual(caught.exception.value, ["a", "b"])

    def test_only_generators_have_items(self):
        for function in (lambda: None, self.coroutine_function()):
            with self.assertRaises(TypeError):
                self.limiter(1, 2)(function, per_item=True)

    def coroutine_function(self):
        async def function():
            return 5
        return function

    def test_async_functions_are_awaited(self):
        limiter = self.limiter(1, 2, True)
        function = limiter(self.coroutine_function())
        self.assertTrue(inspect.iscoroutinefunction(function))

        async def main():
            async with limiter:
                return [await function(), await function()]

        self.assertEqual(asyncio.run(main()), [5, 5])
        self.assertEqual(self.clock.sleeps, [2.0, 2.0])

    def test_async_with_raises_without_retry(self):
        async def main():
            limiter = self.limiter(1, 2)
            async with limiter as entered:
                self.assertIs(entered, limiter)
            with self.assertRaises(RateLimitException):
                async with limiter:
                    self.fail("entered")
            with self.assertRaises(RateLimitException):
                await limiter.limiting_async()
            await limiter.limiting_async("key")
            await limiter.sleep_and_retry_async()
            await limiter.close_async()

        asyncio.run(main())
        self.assertEqual(self.clock.sleeps, [2.0])

    def test_async_generators(self):
        whole, items = self.limiter(1, 2), self.limiter(2, 2)

        async def numbers():
            for number in range(4):
                yield number

        async def collect(made):
            seen = []
            try:
                async for number in made:
                    seen.append(number)
            except RateLimitException:
                seen.append("refused")
            return seen

        async def main():
            function = whole(numbers)
            return [await collect(function()), await collect(function()),
                    await collect(items(per_item=True)(numbers)())]

        self.assertEqual(asyncio.run(main()), [[0, 1, 2, 3], ["refused"], [0, 1, "refused"]])


if __name__ == "__main__":
    unittest.main()
