"""The way to the gateway: kept, lost, refused, silent, forked, shared."""

import os
import signal
import socket
import tempfile
import threading
import time
import unittest

from fake_gateway import PERMIT, answer
from support import ClientTest, in_children, scaled, wait_until

from limiter_calls import time_to_raise
from stint import Client, Locker, RateLimiter, RateLimitException, StintError, StintUnavailable

GO = answer(200, PERMIT)


class Kept(ClientTest):
    def setUp(self):
        self.there = self.gateway({"shop": (10**6, 60_000)})
        self.client = Client(self.there.url, timeout=20)

    def test_one_connection_for_each_thread(self):
        def asks():
            for _ in range(20):
                self.client.take("shop")

        threads = [threading.Thread(target=asks) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((self.there.accepted, len(self.there.asked)), (3, 60))
        wait_until(lambda: self.there.open_connections() == 0, "the connections end with their threads")

    def test_a_unix_socket(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        there = self.gateway({"shop": (1, 60_000)}, path=f"{folder.name}/permits")
        client = Client(there.url, timeout=20)
        client.take("shop")
        with self.assertRaises(RateLimitException):
            client.take("shop")
        self.assertEqual(there.asked[0][1]["host"], "localhost")
        there.stop()
        with self.assertRaises(StintUnavailable):
            client.take("shop")

    def test_a_restart_goes_unnoticed(self):
        for pause in (0, 0.05):
            self.client.take("shop")
            self.there.stop()
            self.there.start()
            time.sleep(pause)  # beyond 5 ms the connection is looked at before anything is sent
            asked = len(self.there.asked)
            self.client.take("shop")
            self.assertEqual(len(self.there.asked), asked + 1)

    def test_a_connection_that_ends_under_the_request_is_tried_once_more(self):
        """As far as it has served before: the gateway may have closed it just then."""
        answers = [GO, b"", GO]
        self.there.script = lambda _: answers.pop(0)
        self.client.take("shop")
        self.there.asked.clear()

        def hang_up(_):
            self.there.script = GO
            self.there.cut()
            return b""

        self.there.script = hang_up
        self.client.take("shop")
        self.assertEqual(len(self.there.asked), 2)

    def test_but_not_a_new_one(self):
        def hang_up(_):
            self.there.cut()
            return b""

        self.there.script = hang_up
        with self.assertRaises(StintUnavailable):
            self.client.take("shop")
        self.assertEqual(len(self.there.asked), 1)

    def test_and_not_after_a_part_of_the_answer(self):
        self.client.take("shop")
        self.there.asked.clear()

        self.there.script = GO[:20]
        hung = threading.Timer(0.1, self.there.cut)
        hung.start()
        with self.assertRaises(StintUnavailable):
            self.client.take("shop")
        hung.join()
        self.assertEqual(len(self.there.asked), 1)

    def test_close_means_close(self):
        self.there.script = answer(200, PERMIT, "Connection: close\r\n")
        for _ in range(3):
            self.client.take("shop")
        self.assertEqual(self.there.accepted, 3)

    def test_closed_by_its_user(self):
        self.client.take("shop")
        self.client.close()
        wait_until(lambda: self.there.open_connections() == 0, "it is closed")
        self.client.close()
        self.client.take("shop")
        limiter = RateLimiter(name="shop", url=self.there.url)
        limiter.limiting()
        limiter.close()
        wait_until(lambda: self.there.open_connections() == 1, "that one, too")

    def test_bytes_that_nobody_asked_for_are_not_the_next_answer(self):
        self.there.script = GO + b"HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n"
        with self.assertRaises(StintError):
            self.client.take("shop")
        self.there.script = GO
        self.client.take("shop")

    def test_a_late_surplus_neither(self):
        self.client.take("shop")
        for connection in self.there._connections:
            connection.sendall(b"HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n")
        time.sleep(0.05)
        self.client.take("shop")
        self.assertEqual(self.there.accepted, 2)

    def test_a_request_that_the_socket_does_not_take_at_once(self):
        key = "x" * 5_000_000
        Client(self.there.url, timeout=20).take("shop", key=key)
        self.assertEqual(self.there.bodies()[-1], {"key": key})


class Silent(ClientTest):
    def test_a_gateway_that_stands_still_costs_no_more_than_the_timeout(self):
        there = self.gateway({"shop": (100, 60_000)})
        timeout = scaled(1.5, 0.3)
        limiter = RateLimiter(name="shop", url=there.url, timeout=timeout)
        client = Client(there.url, timeout=timeout)
        limiter.limiting()
        there.gate.clear()
        for call in (limiter.limiting, limiter.sleep_and_retry, lambda: client.take("shop")):
            took = time_to_raise(self, StintUnavailable, call)
            self.assertTrue(timeout - 0.1 < took < timeout + 5, took)
            self.figure(f"connections: an error after its time-out of {timeout} s", "<= 50 ms later", f"{took:.3f} s",
                        took <= timeout + 0.05)
        there.gate.set()
        limiter.limiting()  # an answer to the former question is not taken for this one's
        self.assertEqual(limiter.admitted, 2)

    def test_signals_do_not_lengthen_it(self):
        there = self.gateway({"shop": (100, 60_000)})
        there.gate.clear()
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, lambda *_: None))
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        begun = time.monotonic()
        with self.assertRaises(StintUnavailable):
            Client(there.url, timeout=0.3).take("shop")
        self.assertTrue(0.2 < time.monotonic() - begun < 3)

    def test_an_interrupted_call_leaves_no_answer_behind(self):
        there = self.gateway({"shop": (100, 60_000)})
        client = Client(there.url, timeout=20)

        class Interrupt(BaseException):
            pass

        def interrupt(*_):
            raise Interrupt

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        client.take("shop", key="warm")
        there.gate.clear()
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with self.assertRaises(Interrupt):
            client.take("shop", cost=7)
        there.gate.set()
        self.assertEqual(client.take("shop").limit, 100)
        self.assertEqual(there.accepted, 2)

    def test_who_does_not_speak_http(self):
        there = self.gateway()
        there.script = b"go\r\n\r\n"
        for _ in range(2):
            with self.assertRaisesRegex(StintError, "answered no HTTP, but not as a permit listener"):
                Client(there.url, timeout=0.5).take("shop")

    def test_nobody_there(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            client = Client(f"http://127.0.0.1:{unused.getsockname()[1]}", timeout=0.3)
            with self.assertRaises(StintUnavailable):
                client.take("shop")


class Forked(ClientTest):
    def test_a_child_opens_a_connection_of_its_own(self):
        there = self.gateway({"shop": (100, 60_000)})
        limiter = RateLimiter(name="shop", url=there.url)
        limiter.limiting()
        self.assertEqual(in_children(3, lambda _: limiter.limiting() or limiter.limiting() or 0), [0, 0, 0])
        self.assertEqual(there.accepted, 4)
        limiter.limiting()
        self.assertEqual(there.accepted, 4)  # the parent's has survived the children

    def test_a_fork_while_threads_ask(self):
        there = self.gateway({"shop": (10**6, 60_000)})
        limiter, stop = RateLimiter(name="shop", url=there.url), threading.Event()

        def busy():
            while not stop.is_set():
                limiter.limiting()

        threads = [threading.Thread(target=busy) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(scaled(5, 50)):
                self.assertEqual(in_children(2, lambda _: limiter.limiting() or 0), [0, 0])
        finally:
            stop.set()
            for thread in threads:
                thread.join()


class Lockers(ClientTest):
    def test_go_or_sorry(self):
        there = self.gateway({"default": (2, 60_000), "shop": (1, 60_000)})
        self.assertEqual([Locker(there.url, timeout=20).next() for _ in range(3)], ["go", "go", "sorry"])
        locker = Locker(there.url, "shop", key="a", timeout=20)
        self.assertEqual([locker.next() for _ in range(2)], ["go", "sorry"])
        self.assertEqual(locker.limiter.refused, 1)
        locker = Locker(there.url, "mine", 3, 0.8, token="t", timeout=20)
        self.assertEqual([locker.next() for _ in range(4)], ["go"] * 3 + ["sorry"])
        self.assertEqual((there.bodies()[-1]["requests"], there.bodies()[-1]["per_ms"]), (3, 800))
        with self.assertRaises(ValueError):
            Locker(there.url, max_calls=3)

    def test_one_object_in_four_threads(self):
        there = self.gateway({"default": (600, 600_000)})
        locker, answers = Locker(there.url, timeout=20), []

        def asks():
            for _ in range(300):
                answers.append(locker.next())

        threads = [threading.Thread(target=asks) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((answers.count("go"), answers.count("sorry")), (600, 600))

    def test_clients_first_server_later(self):
        there = self.gateway({"default": (600, 600_000)})
        there.stop()
        later = threading.Timer(0.3, there.start)
        later.start()
        self.assertEqual(Locker(there.url, timeout=20).next(), "go")
        later.join()
        there.stop()
        with self.assertRaises(StintUnavailable):
            Locker(there.url, timeout=0.2).next()

    def test_the_environment_names_the_gateway(self):
        there = self.gateway({"default": (1, 600_000)}, token="s3cret")
        self.addCleanup(os.environ.pop, "STINT_URL", None)
        self.addCleanup(os.environ.pop, "STINT_TOKEN", None)
        os.environ.update(STINT_URL=there.url, STINT_TOKEN="s3cret")
        self.assertEqual(Locker(timeout=20).next(), "go")


if __name__ == "__main__":
    unittest.main()
