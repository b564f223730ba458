"""Two builds of Stint on the same work, in turn: how much of the old one's CPU time the new one needs."""

import math
import statistics
import sys
from dataclasses import dataclass

import instructions
from measuring import MOST_FOREIGN, median, once
from verdicts import cell, cost

ROWS = ("W1f", "W1", "W2", "W5b", "W6")
MOST = 1.05  # of the old one's cost
LEAST_SURE, FEWEST_SURE = 0.9, 5


@dataclass(frozen=True)
class Pair:
    """The tools with each of the builds."""

    old: object
    new: object

    def items(self):
        return (("old", self.old), ("new", self.new))


def measure(pair, origin, workload, rounds, more):
    """{"old": [figures], "new": [figures]}: old, new, old, new, ..., so that what drifts on the machine concerns
    both. No run is done again, however disturbed: the two of a round would be further apart."""
    runs = {"old": [], "new": []}
    for number in range(rounds):
        for name, tools in pair.items():
            runs[name].append(once(tools, origin, workload, "stint", more))
        print(f"{workload.name:10} round {number + 1}: " + ", ".join(
            f"{name} {of[-1]['cpu_us']:.2f} us/request (others {of[-1]['foreign']:.2f})" for name, of in runs.items()),
            file=sys.stderr, flush=True)
    return runs


def interval(values):
    """Least and most that the true median may be, to be wrong once in ten times at most; of fewer than five values
    their least and most. Needs no more than that each value is above that median with a chance of 1/2."""
    ordered = sorted(values)
    outside, left_out = 2 / 2 ** len(ordered), 0
    while True:
        outside += 2 * math.comb(len(ordered), left_out + 1) / 2 ** len(ordered)
        if outside > 1 - LEAST_SURE or 2 * (left_out + 1) >= len(ordered):
            return ordered[left_out], ordered[-1 - left_out]
        left_out += 1


@dataclass(frozen=True)
class Comparison:
    """Of a row. The ratio is the median of those of the rounds: what drifts from round to round cancels out."""

    row: str
    title: str
    runs: dict

    @property
    def ratios(self):
        return [cost(new) / cost(old) for old, new in zip(self.runs["old"], self.runs["new"])]

    @property
    def ratio(self):
        return statistics.median(self.ratios)

    @property
    def good(self):
        return self.ratio <= MOST

    @property
    def sure(self):
        least, most = interval(self.ratios)
        if len(self.ratios) < FEWEST_SURE:
            return False
        return most <= MOST if self.good else least > MOST

    @property
    def verdict(self):
        return ("met" if self.good else "MISSED") + ("" if self.sure else ", but not sure")

    @property
    def noise(self):
        """The median of what other processes used of a core, and in how many runs it was too much."""
        runs = [*self.runs["old"], *self.runs["new"]]
        disturbed = sum(run["foreign"] > MOST_FOREIGN for run in runs)
        return f"{median(runs, lambda run: run['foreign']):.2f}" + (f", {disturbed} disturbed" if disturbed else "")

    def line(self):
        least, most = interval(self.ratios)
        old, new = (cell("stint", self.runs[name], cost, "{:.2f}") for name in ("old", "new"))
        return (f"| {self.row} | {self.title} | {old} | {new} | **{self.ratio:.3f}** ({least:.3f}–{most:.3f}) | "
                f"≤ {MOST:.2f} | {self.verdict} | {self.noise} |")


def table(comparisons):
    header = ["| row | | old, µs of CPU a request | new | new / old | wanted | | others, of a core |",
              "|---|---|---|---|---|---|---|---|"]
    return "\n".join([*header, *(comparison.line() for comparison in comparisons)]) + "\n"


def count(pair, origin):
    """{what: {"old": instructions, "new": instructions}}"""
    counts = {name: instructions.count(tools, origin) for name, tools in pair.items()}
    return {what: {name: of[what] for name, of in counts.items()} for what in counts["old"]}


def count_table(counts):
    lines = ["| user-space instructions a request | old | new | new / old | wanted | |", "|---|---|---|---|---|---|"]
    for what, of in counts.items():
        share = of["new"] / of["old"]
        lines.append(f"| {what} | {of['old']:,.0f} | {of['new']:,.0f} | **{share:.3f}** | ≤ {MOST:.2f} | "
                     f"{'met' if share <= MOST else 'MISSED'} |")
    return "\n".join(lines) + "\n"
