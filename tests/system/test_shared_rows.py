"""Limits over four gateways of two workers each and a real redis-server, by window, algorithm and number of keys.

Upper bounds are asserted always, by support/admissions.py: an admission counts as within a span only if its request
was sent after the span's beginning and answered before its end, so that no delay makes a false alarm. Lower bounds
and the share of decisions that were local need a machine that does nothing else: scripts/acceptance shows and asserts
them, where the load did ask for twice the number."""

import subprocess
import time
import unittest
from dataclasses import dataclass

from support.case import FULL, report, scaled
from support.client import fetch
from support.shared_case import SharedTest
from support.shared_rows import (
    ALGORITHMS, GATEWAYS, TIMES, Judged, asked_of, burst_of, limit_of, local_share, rotating)
from support.upstream import RawServer

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

    @property
    def name(self) -> str:
        return f"{self.number} per {self.per:g} s, {self.keys} key{'s' * (self.keys > 1)}"

    @property
    def rate(self) -> float:
        return TIMES * self.number * self.keys / self.per


QUICK = (Row(0.2, 1, 30, 2.0, 1.6, 0.4), Row(0.2, 100, 2, 2.0), Row(1.0, 1, 100, 2.0, 2.0, 0.5), Row(1.0, 100, 4, 2.0))
WHOLE = (
    Row(0.2, 1, 100, 6.0, 6.0), Row(0.2, 100, 4, 6.0, 6.0),
    Row(1.0, 1, 400, 10.0, 12.0, 2.0), Row(1.0, 100, 20, 10.0, 12.0, 2.0),
    Row(10.0, 1, 1000, 30.0, 30.0, 5.0), Row(10.0, 100, 40, 30.0, 30.0, 5.0),
    Row(60.0, 1, 3000, 120.0), Row(60.0, 100, 100, 120.0),
)


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
            self.fraction("steady demand", row, judged, begin + warm, begin + steady, 0.98)
            if row.moving:
                self.fraction("moving demand", row, judged, begin + steady + row.pause,
                              begin + steady + row.moving, 0.85)
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


if __name__ == "__main__":
    unittest.main()
