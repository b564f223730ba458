"""A zmq locker's users (docs/migrating.md): algorithms that are smoother than a fixed window."""

import random
import time
import unittest
from collections import deque

from support.case import scaled
from support.permits_case import PermitsTest, milliseconds
from support.permits_client import crowd, most_in_a_span, permits_port, post, take_path, takes

EVEN = {"algorithm": "token_bucket", "burst": 1}  # what is called GCRA elsewhere
BURST = 20


class UnderFullDemand(PermitsTest):
    """100 a second, 16 clients without pause."""

    topic = "zmq server, algorithms"

    def granted(self, **limit):
        stint = self.permits({"turns": {"requests": 100, "per": "1s", **limit}})
        answers = crowd(permits_port(stint), takes("turns", 16), scaled(1.6, 8.0))
        return sorted((answer for answer in answers if answer.granted), key=lambda answer: answer.received)

    def test_sliding_admits_no_more_in_any_second(self):
        granted = self.granted(algorithm="sliding_window")

        most = most_in_a_span(granted, 1.0)
        self.count("sliding, most in any second", "<= 100", most, most <= 100)
        self.figure("sliding, in all in 8 s", ">= 790", len(granted), len(granted) >= 790)
        self.assertGreater(len(granted), 100)

    def test_a_bucket_admits_its_burst_and_no_more_in_any_second(self):
        granted = self.granted(algorithm="token_bucket", burst=BURST)

        most = most_in_a_span(granted, 1.0)
        self.count(f"token bucket, burst {BURST}, most in any second", f"<= {99 + BURST}", most,
                   most <= 99 + BURST)
        self.assertGreater(len(granted), 100)

    def test_even_spacing(self):
        for name, limit in (("burst 1", EVEN), ("pace", {"algorithm": "token_bucket", "pace": True})):
            with self.subTest(name):
                granted = self.granted(**limit)

                most = most_in_a_span(granted, 1.0)
                self.count(f"even ({name}), most in any second", "<= 100", most, most <= 100)
                most = most_in_a_span(granted, 0.1)
                self.count(f"even ({name}), most in any 100 ms", "<= 11", most, most <= 11)
                gap = max(b.received - a.received for a, b in zip(granted, granted[1:]))
                self.figure(f"even ({name}), longest gap", "<= 15 ms", milliseconds(gap), gap <= 0.015)


class AroundAWindowEdge(PermitsTest):
    """100 asks just before the end of a fixed window, and 100 just after it."""

    topic = "zmq server, algorithms"

    def granted(self, **limit):
        stint = self.permits({"turns": {"requests": 100, "per": "1s", **limit}})
        client = self.client(stint)
        begun = client.take("turns").sent
        count = 0
        for at in (0.97, 1.01):
            time.sleep(max(0.0, begun + at - time.monotonic()))
            before = time.monotonic()
            client.sock.sendall(post(take_path("turns"), {}) * 100)
            count += sum(client.read().granted for _ in range(100))
            if at == 0.97:
                first = before
        return count, time.monotonic() - first

    def test_the_pattern_of_the_edge_gains_nothing(self):
        fixed, _ = self.granted()
        self.figure("edge, fixed, for comparison", "199", fixed, fixed <= 200)

        sliding, _ = self.granted(algorithm="sliding_window")
        self.count("edge, sliding", "<= 101", sliding, sliding <= 101)

        for burst in (1, BURST):
            seen, took = self.granted(algorithm="token_bucket", burst=burst)
            self.figure(f"edge, token bucket, burst {burst}", f"<= {9 + burst}", seen, seen <= 9 + burst)
            self.assertLessEqual(seen, burst + took / 0.01)


class ExactLog:
    """Admits 100 in any second, from every single instant."""

    def __init__(self):
        self.admitted = deque()

    def refuses(self, now: float) -> bool:
        while self.admitted and self.admitted[0] + 1.0 <= now:
            self.admitted.popleft()
        if len(self.admitted) == 100:
            return True
        self.admitted.append(now)
        return False


class PoissonArrivals(PermitsTest):
    topic = "zmq server, algorithms"

    def test_sliding_refuses_hardly_more_than_an_exact_log(self):
        stint = self.permits({"turns": {"requests": 100, "per": "1s", "algorithm": "sliding_window"}})
        client, log, chance = self.client(stint), ExactLog(), random.Random(15)
        due, end = time.monotonic(), time.monotonic() + scaled(2.5, 20.0)
        asked = refused = exact = 0

        while due < end:
            due += chance.expovariate(80)
            time.sleep(max(0.0, due - time.monotonic()))
            answer = client.take("turns")
            asked += 1
            refused += not answer.granted
            exact += log.refuses((answer.sent + answer.received) / 2)

        more = (refused - exact) / asked
        self.count("Poisson 80/s, refused beyond what an exact log refuses", "<= 2 %",
                   f"{more * 100:.2f} % ({refused} and {exact} of {asked})", more <= 0.02)


if __name__ == "__main__":
    unittest.main()
