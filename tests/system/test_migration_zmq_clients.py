"""A zmq locker's users (docs/migrating.md): the client library while the gateway is away, and in several threads."""

import signal
import subprocess
import threading
import time
import unittest

from support.case import FULL, scaled
from support.permits_case import CLIENT, PermitsTest, gateway_url as url, milliseconds
from support.permits_client import permits_config
from support.stint import Stint

from stint import RateLimiter, RateLimitException, StintUnavailable

WIDE = {"wide": {"requests": 1_000_000, "per": "1h"}}


class Asking(threading.Thread):
    """Calls one object again and again, and notes how each call ended and when."""

    def __init__(self, limiter, stop):
        super().__init__(daemon=True)
        self.limiter, self.stop = limiter, stop
        self.calls = []  # (begun, ended, whether it was granted)
        self.unexpected = []
        self.start()

    def run(self):
        while not self.stop.wait(0.02):
            begun = time.monotonic()
            try:
                self.limiter.limiting()
                granted = True
            except StintUnavailable:
                granted = False
            except BaseException as error:  # pylint: disable=broad-except
                self.unexpected.append(error)
                return
            self.calls.append((begun, time.monotonic(), granted))


class GatewayOutage(PermitsTest):
    topic = "zmq server, gateway outage"

    def clients(self, count, *urls):
        stop = threading.Event()
        self.addCleanup(stop.set)
        return stop, [Asking(RateLimiter(name="wide", url=urls[number % len(urls)], timeout=1.0), stop)
                      for number in range(count)]

    def finish(self, stop, clients):
        stop.set()
        for client in clients:
            client.join(5)
        self.assertFalse([client for client in clients if client.is_alive()], "clients are stuck")
        self.assertEqual(sum((client.unexpected for client in clients), []), [])

    def test_no_client_is_stuck_when_the_gateway_freezes_and_dies(self):
        stint = self.permits(WIDE)
        stop, clients = self.clients(scaled(30, 100), url(stint))
        time.sleep(0.5)

        stint.signal(signal.SIGSTOP)
        time.sleep(1.3)
        stint.kill()
        time.sleep(0.2)
        stint.start()
        ready = time.monotonic()
        time.sleep(scaled(1.5, 1.0))
        self.finish(stop, clients)

        longest = max(end - begun for client in clients for begun, end, _ in client.calls)
        self.figure(f"{len(clients)} clients, frozen and killed, longest call with a time-out of 1 s",
                    "<= 1.05 s", f"{longest:.3f} s", longest <= 1.05)
        self.assertLess(longest, 2.5)
        for client in clients:
            self.assertIn(False, [granted for _, _, granted in client.calls])
        works = max(min(end for begun, end, granted in client.calls if granted and end > ready - 0.1)
                    for client in clients) - ready
        self.figure("the same objects work again after the start", "<= 200 ms", milliseconds(max(0.0, works)),
                    works <= 0.2)

    def test_a_dead_node_holds_up_nobody(self):
        alive, dead = self.permits(WIDE), self.permits(WIDE)
        limiters = [RateLimiter(name="wide", url=url(node), timeout=1.0) for node in (alive, dead)]
        for limiter in limiters:
            limiter.limiting()
        dead.kill()
        took, granted = [], 0

        for number in range(40):
            begun = time.monotonic()
            try:
                limiters[number % 2].limiting()
                granted += 1
            except StintUnavailable:
                pass
            took.append(time.monotonic() - begun)

        self.count("one of two nodes dead, 40 calls", "20 granted, none > 1 s",
                   f"{granted} granted, longest {milliseconds(max(took))}", granted == 20 and max(took) <= 1.0)


class ServerStartsLater(PermitsTest):
    topic = "zmq server, server starts later"

    def test_clients_first_server_later(self):
        later = scaled(0.7, 3.0)
        stint = Stint(self.new_folder(), permits_config(WIDE))
        served, errors = [], []

        def waits():
            try:
                RateLimiter(name="wide", url=url(stint), on_unavailable="wait", timeout=30).limiting()
                served.append(time.monotonic())
            except BaseException as error:  # pylint: disable=broad-except
                errors.append(error)

        threads = [threading.Thread(target=waits) for _ in range(20)]
        for thread in threads:
            thread.start()
        time.sleep(later)
        self.assertEqual((served, errors), ([], []))
        with self.assertRaises(StintUnavailable):  # who asked not to wait
            RateLimiter(name="wide", url=url(stint)).limiting()

        stint.start()
        ready = time.monotonic()
        self.addCleanup(self._finish, stint)
        for thread in threads:
            thread.join(10)

        self.assertEqual((len(served), errors), (20, []))
        last = max(served) - ready
        self.figure("20 clients first, the server later: the last is served after it listens", "<= 200 ms",
                    milliseconds(max(0.0, last)), last <= 0.2)


class Threads(PermitsTest):
    topic = "zmq server, client in threads"

    def test_one_object_serves_four_threads(self):
        stint = self.permits({"turns": {"requests": 500, "per": "1h"}})
        limiter = RateLimiter(name="turns", url=url(stint))
        outcomes = []

        def asks():
            for _ in range(300):
                try:
                    limiter.limiting()
                    outcomes.append("go")
                except RateLimitException:
                    outcomes.append("sorry")
                except BaseException as error:  # pylint: disable=broad-except
                    outcomes.append(repr(error))

        threads = [threading.Thread(target=asks) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        go, sorry = outcomes.count("go"), outcomes.count("sorry")
        self.count("one object, 4 threads x 300 calls", "1200 answers, 500 go",
                   f"{go + sorry} answers, {go} go, {1200 - go - sorry} exceptions", (go, sorry) == (500, 700))


class Examples(PermitsTest):
    topic = "zmq server, examples"

    def run_example(self, name, *arguments):
        ended = subprocess.run(["/usr/bin/python3", "-B", CLIENT / "examples" / name, *arguments],
                               capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), ended.stdout)
        return ended.stdout

    def test_the_fleet_of_16_processes_stays_at_5_per_800_ms(self):
        stint = self.permits(permits={"dynamic_limits": 10})

        printed = self.run_example("fleet.py", "--url", url(stint), "--seconds", scaled("2", "8"))

        summary = printed.splitlines()[-1]
        self.count("example fleet.py", "at most 5 in one", summary, "at most 5 in one" in summary)

    @unittest.skipUnless(FULL, "takes 8 s; test_migration_ratelimiter.py has the same uses")
    def test_the_four_uses(self):
        printed = self.run_example("four_uses.py").splitlines()

        self.assertRegex(printed[0], r"^limiting: 0 1 2 3 - ")
        for line, wanted in zip(printed[1:], ("2.0", "4.0", "2.0")):
            took = line.rpartition("took ")[2]
            self.figure(f"example four_uses.py, {line.split(':')[0]}", f"{wanted} s", took, took.startswith(wanted))


if __name__ == "__main__":
    unittest.main()
