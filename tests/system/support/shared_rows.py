"""What several gateways admitted together, judged by their limits' promise (docs/shared.md)."""

import subprocess
import time
from collections import Counter, defaultdict

from . import admissions
from .demand import Demand, Station
from .waiting import wait_until

GATEWAYS = 4
# By which the demand exceeds the number.
TIMES = 2.3

ALGORITHMS = {  # what a limit says beside requests and per
    "sliding_window": {"algorithm": "sliding_window"},
    "paced": {"algorithm": "sliding_window", "pace": True},
    "token_bucket": {"algorithm": "token_bucket"},
    "paced_bucket": {"algorithm": "token_bucket", "pace": True},
    "fixed_window": {"algorithm": "fixed_window"},
    "clock": {"algorithm": "fixed_window", "anchor": "clock"},
}


def limit_of(algorithm: str, number: int, per: float, keyed: bool, **more) -> dict:
    made = {"requests": number, "per": f"{round(per * 1000)}ms", "shared": "main", **ALGORITHMS[algorithm], **more}
    if algorithm == "token_bucket":
        made["burst"] = burst_of(number)
    if keyed:
        made["key"] = "header:X-Key"
    return made


def burst_of(number: int) -> int:
    return max(1, number // 2)


class Judged:
    """The answers of one limit. Its bounds are sound (support/admissions.py): what is above one is so on any
    machine."""

    def __init__(self, algorithm: str, number: int, per: float, answers):
        self.algorithm, self.number, self.per = algorithm, number, per
        self.answers = answers
        self.statuses = Counter(one.status for one in answers)
        self._admitted = defaultdict(list)
        for one in answers:
            if one.status == 200:
                self._admitted[one.key].append((one.sent, one.received))

    def most(self) -> "tuple[float, float]":
        """What was surely admitted of the busiest key, and the most that is promised for it."""
        def over_keys(count):
            return max(map(count, self._admitted.values()), default=0)

        if self.algorithm == "token_bucket":
            rate = self.number / self.per
            return over_keys(lambda all_of_it: admissions.most_above_a_rate(all_of_it, rate)), burst_of(self.number)
        if self.algorithm == "paced_bucket":
            rate = self.number / self.per
            return over_keys(lambda all_of_it: admissions.most_above_a_rate(all_of_it, rate)), GATEWAYS
        if self.algorithm == "clock":
            offset = time.time() - time.monotonic()
            return over_keys(lambda all_of_it: admissions.most_in_a_window(all_of_it, self.per, offset)), self.number
        within = over_keys(lambda all_of_it: admissions.most_in_a_span(all_of_it, self.per))
        # Two windows of one gateway may meet, as without a store.
        return within, 2 * self.number if self.algorithm == "fixed_window" else self.number

    def parts(self, begin: float, end: float, keys: int = 1) -> "tuple[float, float]":
        """(asked, admitted) between the instants, of the number that all keys have in that time."""
        whole = self.number * keys * (end - begin) / self.per
        asked = sum(begin <= one.sent < end for one in self.answers)
        admitted = sum(begin <= one.received < end for one in self.answers if one.status == 200)
        return asked / whole, admitted / whole

    def between(self, begin: float, end: float) -> Counter:
        """How often each status came of what was asked then."""
        return Counter(one.status for one in self.answers if begin <= one.sent < end)


def rotating(begin: float, end: float, pause: float) -> "list[tuple]":
    """For each gateway when it alone is asked, or with one other: all of the demand moves every `pause`."""
    turns = ((0,), (1, 2), (3,), (0, 1), (2,), (3, 1))
    spans, at, turn = [[] for _ in range(GATEWAYS)], begin, 0
    while at < end:
        for gateway in turns[turn % len(turns)]:
            spans[gateway].append((at, min(at + pause, end)))
        at, turn = at + pause, turn + 1
    return [tuple(all_of_it) for all_of_it in spans]


def asked_of(gateways, demands, seconds: float, meanwhile=None, connections: int = 2,
             once: bool = False) -> "tuple[float, dict]":
    """(when it began, the answers by row). demands: (row, keys, rate over all gateways, spans of each gateway, which
    share the rate). meanwhile(begin): is called while it goes on."""
    stations = []
    for row, keys, rate, spans in demands:
        for number, stint in enumerate(gateways):
            for at in spans[number]:
                sharing = sum(any(begin <= at[0] < end for begin, end in each) for each in spans)
                stations.append(Station(row, number, stint.port, rate / sharing, (at,), f"/{row}", keys,
                                        connections, once=once))
    with Demand(stations, seconds) as demand:
        if meanwhile:
            meanwhile(demand.begin)
        answers = demand.answers()
    by_row = defaultdict(list)
    for one in answers:
        by_row[one.row].append(one)
    return demand.begin, by_row


KEYS_IN_TURN = """
local next_key = 0
function init(arguments) first, count = tonumber(arguments[1]), tonumber(arguments[2]) end
function request()
    next_key = (next_key + 1) % count
    return wrk.format("GET", "/", {["X-Key"] = first + next_key})
end
"""


def ask_for_keys_in_turn(folder, gateways, keys: int, rounds: int) -> None:
    """wrk asks each gateway for its own part of the keys, so many times in turn."""
    script = folder / "keys.lua"
    script.write_text(KEYS_IN_TURN, encoding="utf-8")
    mine = keys // len(gateways)
    loads = [subprocess.Popen(
        ["wrk", "-t", "1", "-c", "4", "-d", "600s", "-s", script, f"http://127.0.0.1:{stint.port}/", "--",
         str(number * mine), str(mine)], stdout=subprocess.DEVNULL) for number, stint in enumerate(gateways)]
    try:
        for stint in gateways:
            wait_until(lambda stint=stint: stint.admin.metrics().sum("stint_requests_total") >= rounds * mine,
                       "every key asked so many times", 500, pause=0.1)
    finally:
        for load in loads:
            load.kill()
            load.wait()


def local_share(gateways) -> float:
    """Of all decisions, those that no answer of the store was waited for."""
    metrics = [stint.admin.metrics() for stint in gateways]
    wants = sum(one.sum("stint_store_wants_total") for one in metrics)
    return 1 - wants / max(1, sum(one.sum("stint_requests_total") for one in metrics))
