"""Limits over four gateways of two workers each and a real redis-server, by window, algorithm and number of keys.

Upper bounds are asserted always, by support/admissions.py: an admission counts as within a span only if its request
was sent after the span's beginning and answered before its end, so that no delay makes a false alarm. Lower bounds
and the share of decisions that were local need a machine that does nothing else: scripts/acceptance shows and asserts
them, where the load did ask for twice the number."""

import random
import threading
import time
import unittest
from collections import Counter
from dataclasses import dataclass

from support import admissions
from support.case import FULL, report, scaled
from support.messages import response_bytes
from support.shared_case import SharedTest
from support.shared_rows import (
    ALGORITHMS, GATEWAYS, TIMES, Judged, ask_for_keys_in_turn, asked_of, limit_of, local_share, rotating)
from support.waiting import wait_until

# Requests a second that one run asks for, at most; beyond that the algorithms come one after another.
BUDGET = scaled(2200, 5000)


@dataclass
class Row:
    per: float
    keys: int
    number: int
    steady: float  # seconds that are measured, whole multiples of `per`
    moving: float = 0.0  # then so long with all of the demand at one or two gateways, others every `pause`
    pause: float = 1.0
    # The part of the number that is to be used while demand is steady, and while it moves. What is free waits for a
    # request at its gateway: of a few units that is a large part (docs/shared.md, "What it costs").
    wanted: "tuple[float, float]" = (0.98, 0.85)

    @property
    def name(self) -> str:
        return f"{self.number} per {self.per:g} s, {self.keys} key{'s' * (self.keys > 1)}"

    @property
    def rate(self) -> float:
        return TIMES * self.number * self.keys / self.per


QUICK = (
    Row(0.2, 1, 30, 2.0, 1.6, 0.4), Row(0.2, 100, 2, 2.0, wanted=(0.5, 0.3)),
    Row(1.0, 1, 100, 2.0, 2.0, 0.5), Row(1.0, 100, 4, 2.0, wanted=(0.6, 0.3)),
)
WHOLE = (
    Row(0.2, 1, 100, 6.0, 6.0), Row(0.2, 6, 60, 6.0, 6.0), Row(0.2, 100, 4, 6.0, 6.0, wanted=(0.6, 0.3)),
    Row(1.0, 1, 400, 10.0, 12.0, 2.0), Row(1.0, 20, 100, 10.0, 12.0, 2.0),
    Row(1.0, 100, 20, 10.0, 12.0, 2.0),
    Row(10.0, 1, 1000, 30.0, 30.0, 5.0), Row(10.0, 100, 40, 30.0, 30.0, 5.0),
    Row(60.0, 1, 3000, 120.0), Row(60.0, 100, 100, 120.0),
)


class Bounds(unittest.TestCase):
    """What judges the rows, beside the same by trying all spans."""

    def setUp(self):
        chosen = random.Random(7)
        sent = [chosen.uniform(0, 3) for _ in range(300)]
        self.admitted = [(at, at + chosen.choice((0.001, 0.01, 0.3, 2.0))) for at in sent]

    def test_the_most_in_a_span(self):
        for span in (0.05, 0.5, 1.0):
            tried = max(sum(begin <= sent and received < begin + span for sent, received in self.admitted)
                        for begin, _ in self.admitted)
            self.assertEqual(admissions.most_in_a_span(self.admitted, span), tried)

    def test_the_most_above_a_rate(self):
        quick = sorted(pair for pair in self.admitted if pair[1] - pair[0] <= 0.05)
        tried = max(sum(begin <= sent and received <= end for sent, received in quick) - 50 * (end - begin)
                    for begin, _ in quick for _, end in quick if end > begin)
        seen = admissions.most_above_a_rate(self.admitted, 50)
        self.assertLessEqual(seen, tried + 1e-9)
        self.assertGreater(seen, tried - 2)

    def test_the_most_in_a_window(self):
        windows = Counter(int(sent) for sent, received in self.admitted if int(sent) == int(received))
        self.assertEqual(admissions.most_in_a_window(self.admitted, 1.0, 0.0, margin=0.0), max(windows.values()))


class Rows(SharedTest):
    def figure(self, name, wanted, seen, good) -> None:
        """Needs a quiet machine."""
        report(f"shared, {name}", wanted, seen, good)
        if FULL:
            with self.subTest(name):
                self.assertTrue(good, f"{name}: wanted {wanted}, seen {seen}")

    def judge(self, row, judged) -> None:
        most, promised = judged.most()
        name = f"{row.name}, {judged.algorithm}"
        report(f"shared, {name}: most of a key", f"<= {promised}", f"{most:.1f}", most <= promised)
        with self.subTest(name):
            self.assertLessEqual(most, promised, f"{name}: more than is promised")
            self.assertLessEqual(set(judged.statuses), {200, 429, 503})
            self.assertGreater(judged.statuses[200], 0)

    def fraction(self, what, row, judged, begin, end, wanted) -> None:
        asked, admitted = judged.parts(begin, end, row.keys)
        if asked >= 2:  # else the machine was too busy to tell
            self.figure(f"{row.name}, {judged.algorithm}: {what}", f">= {wanted:.0%} of N", f"{admitted:.1%}",
                        admitted >= wanted)

    def play(self, row, algorithms) -> None:
        limits = {each: limit_of(each, row.number, row.per, row.keys > 1) for each in algorithms}
        gateways = self.gateways(GATEWAYS, limits, per_route=True)
        keys = tuple(f"k{i}" for i in range(row.keys)) if row.keys > 1 else ("",)
        rate = min(row.rate, BUDGET / len(algorithms))
        warm = max(1.0, row.per)
        steady = warm + row.steady
        spans = rotating(steady, steady + row.moving, row.pause)
        spans = [((0.0, steady), *each) for each in spans]
        begin, answers = asked_of(
            gateways, [(each, keys, rate, spans) for each in limits], steady + row.moving)
        share = local_share(gateways)
        for each in algorithms:
            judged = Judged(each, row.number, row.per, answers[each])
            self.judge(row, judged)
            if each.startswith("paced"):
                continue  # its next request comes some time after the pause is over, with one gateway, too
            self.fraction("steady demand", row, judged, begin + warm, begin + steady, row.wanted[0])
            if row.moving:
                self.fraction("moving demand", row, judged, begin + steady + row.pause,
                              begin + steady + row.moving, row.wanted[1])
        if row.keys == 1:
            self.figure(f"{row.name}, {', '.join(algorithms)}: local decisions", ">= 95 %", f"{share:.1%}",
                        share >= 0.95)
        for stint in gateways:
            stint.stop()

    def test_every_window_and_algorithm(self):
        for row in scaled(QUICK, WHOLE):
            together = max(1, min(len(ALGORITHMS), int(BUDGET // row.rate))) if FULL else len(ALGORITHMS)
            names = list(ALGORITHMS)
            for first in range(0, len(names), together):
                self.play(row, names[first:first + together])

    def test_a_hundred_thousand_keys(self):
        """Of all algorithms together, in scripts/acceptance. All gateways go through the keys at the same pace, so
        that each key is asked of all of them at about the same time."""
        number, total = 2, scaled(600, 100_000)
        for per in scaled((0.2,), (0.2, 1.0, 10.0, 60.0)):
            row = Row(per, total // len(ALGORITHMS), number, 0.0)
            limits = {each: limit_of(each, number, per, True) for each in ALGORITHMS}
            gateways = self.gateways(GATEWAYS, limits, per_route=True, store={"timeout": "200ms"})
            keys = tuple(f"k{i}" for i in range(row.keys))
            rate, seconds = BUDGET / len(ALGORITHMS), 600.0
            _, answers = asked_of(
                gateways, [(each, keys, rate, [((0.0, seconds),)] * GATEWAYS) for each in limits], seconds, once=True)
            for each in ALGORITHMS:
                self.judge(row, Judged(each, number, per, answers[each]))
                self.assertEqual(len(answers[each]), row.keys * GATEWAYS)
            for stint in gateways:
                stint.stop()

    def test_clients_that_stay_with_their_gateway_are_decided_locally(self):
        """Requests come from wrk, which goes through the keys of each gateway in turn."""
        keys, rounds = scaled(2_000, 100_000), 12
        limits = {"l": {"requests": 4 * rounds, "per": "1h", "key": "header:X-Key", "shared": "main"}}
        gateways = self.gateways(GATEWAYS, limits, store={"timeout": "200ms"})
        ask_for_keys_in_turn(self.folder, gateways, keys, rounds)
        share = local_share(gateways)
        self.figure(f"{keys} keys, clients that stay: local decisions", ">= 90 %", f"{share:.1%}", share >= 0.9)

    def test_caps(self):
        """Slots are counted at the upstream: one is surely taken from when its request has come until the answer to
        it is sent."""
        for keys, number in scaled(((1, 8),), ((1, 40), (100, 4))):
            self.caps(keys, number, scaled(3.0, 15.0))

    def caps(self, keys, number, seconds) -> None:
        held, most, lock = Counter(), Counter(), threading.Lock()

        def hold(connection):
            while request := connection.read_request():
                key = request.get("X-Key", "")
                with lock:
                    held[key] += 1
                    most[key] = max(most[key], held[key])
                time.sleep(0.02)
                with lock:
                    held[key] -= 1
                connection.send(response_bytes(b"done"))

        upstream = self.start_upstream(hold)
        limits = {"cap": {"concurrent": number, "shared": "main", **({"key": "header:X-Key"} if keys > 1 else {})}}
        gateways = self.gateways(GATEWAYS, limits, per_route=True, upstream=upstream.address)
        names = tuple(f"k{i}" for i in range(keys)) if keys > 1 else ("",)
        rate = min(TIMES * number * keys / 0.02, scaled(1000, 4000))
        steady, moving = seconds / 2, rotating(seconds / 2, seconds, 1.0)
        _, answers = asked_of(
            gateways, [("cap", names, rate, [((0.0, steady), *each) for each in moving])], seconds, connections=64)
        statuses = Counter(one.status for one in answers["cap"])
        report(f"shared, {number} at once, {keys} keys: most at once", f"<= {number}", max(most.values()))
        self.assertLessEqual(max(most.values()), number)
        self.assertLessEqual(set(statuses), {200, 429, 503})
        self.assertGreater(statuses[200], 0)
        for stint in gateways:
            stint.stop()

    def test_what_exceeds_a_number_is_seen(self):
        """on_store_failure: open may exceed it, by N for each gateway but one; that shows that the bounds of the
        others would show it, too."""
        number = 50
        limits = {"sliding_window": limit_of("sliding_window", number, 1.0, False,
                                             shared={"store": "main", "on_store_failure": "open"})}
        gateways = self.gateways(GATEWAYS, limits, per_route=True)
        self.redis.kill()
        for stint in gateways:
            wait_until(lambda stint=stint: self.store(stint)["state"] == "down", "a store that is down")
        _, answers = asked_of(gateways, [("sliding_window", ("",), 500, [((0.0, 2.0),)] * GATEWAYS)], 2.0)
        most, promised = Judged("sliding_window", number, 1.0, answers["sliding_window"]).most()
        report("shared, open without a store: most in a span", f"> {promised}, <= {GATEWAYS * number}", most)
        self.assertLessEqual(most, GATEWAYS * number)
        self.assertGreater(most, promised)


if __name__ == "__main__":
    unittest.main()
