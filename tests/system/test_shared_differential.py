"""The same requests to a gateway with a store and to one without: the same decisions, and the same told about them.

The windows last for hours, so that it is all one what time it is between two requests, and how long the store takes:
decisions are compared to the bit, remaining numbers too, and the time until a reset or another try to half a minute.
What depends on the time itself (refill, ageing, a window's end) is not shown here: tests/unit/limits and
tests/simulation have it, on virtual clocks. A gateway alone with its store holds all of each number; how several divide
it is shown by test_shared_rows.py."""

import random
import re
import time
import unittest

from support.client import RawClient
from support.messages import response_bytes
from support.shared_case import SharedTest

SEED = 20261126
REQUESTS = 3000
KEYS = ["a", "b", "c", "d", "e", "gold-1", "gold-2", "free", "banned", ""]
NEAR = 30  # seconds
# The time until a reset, which is compared by itself, and a key's pseudonym, which each process makes for itself.
_OWN = re.compile(r";t=\d+|;pk=:[^:]*:")


def hours_far_from_an_edge() -> int:
    """A length whose current window by the wall clock has ten minutes before and behind it."""
    return next(hours for hours in (2, 3, 5, 7, 11) if 600 < time.time() % (hours * 3600) < hours * 3600 - 600)


def limits(store) -> dict:
    keyed = {"key": "header:X-Key", "overrides": {"gold-*": {"requests": 15}}, "exempt": ["free"], "deny": ["banned"],
             **store}
    hour, slow = {"requests": 9, "per": "2h"}, {"requests": 6, "per": "24h"}
    return {
        "fixed": {**hour, "algorithm": "fixed_window", **keyed},
        "sliding": {**hour, "algorithm": "sliding_window", **keyed},
        "bucket": {**slow, "algorithm": "token_bucket", "burst": 9,
                   **{**keyed, "overrides": {"gold-*": {"requests": 8, "burst": 15}}}},
        "clock": {"requests": 9, "per": f"{hours_far_from_an_edge()}h", "anchor": "clock", **keyed},
        "paced_fixed": {**slow, "pace": True, **keyed},
        "paced_sliding": {**slow, "algorithm": "sliding_window", "pace": True, **keyed},
        "paced_bucket": {**slow, "algorithm": "token_bucket", "pace": True, **{**keyed, "overrides": {}}},
        "costly": {**hour, "algorithm": "sliding_window", "cost": "header:X-Cost", **keyed},
        "costly_bucket": {**slow, "algorithm": "token_bucket", "burst": 9, "cost": "header:X-Cost",
                          **{**keyed, "overrides": {}}},
        "told_cost": {**hour, "cost": "header:X-Told", "reserve": 6, **keyed},
        "failures": {**hour, "requests": 3, "count_when": {"status": [401, 403]}, **keyed},
        "refunded": {**hour, "algorithm": "sliding_window", "refund": [503], **keyed},
        "refunded_bucket": {**slow, "algorithm": "token_bucket", "burst": 9, "refund": [503],
                            **{**keyed, "overrides": {}}},
        "for_all": {"requests": 100, "per": "2h", **store},
        "partly": {**hour, "key": ["header:X-Key", "method"], "missing_key": "refuse", **store},
        "dry": {**hour, "enforce": False, **keyed},
        "cap": {"concurrent": 3, "cost": "header:X-Cost", "key": "header:X-Key", **store},
    }


def script(names) -> list:
    """(limit, fields) of each request: a fixed seed makes the same ones each time."""
    chosen = random.Random(SEED)
    return [(chosen.choice(names), [
        *([("X-Key", key)] if (key := chosen.choice(KEYS)) else []),
        ("X-Cost", str(chosen.choice((1, 1, 1, 2, 3, 5, 16)))), ("X-Tells", str(chosen.randint(0, 6))),
        ("X-Answers", str(chosen.choice((200, 200, 200, 401, 503))))]) for _ in range(REQUESTS)]


def answering(connection):
    """With the status and the cost that the request asks for."""
    while request := connection.read_request():
        connection.send(response_bytes(status=f"{request.get('X-Answers')} As Asked",
                                       fields=[("X-Told", request.get("X-Tells"))]))


def told(response) -> tuple:
    """(what must be equal, times in seconds that must be near)."""
    exact, times = [("status", response.status)], []
    for name, value in response.fields:
        lower = name.lower()
        if lower == "retry-after" or lower == "x-ratelimit-reset":
            times.append((lower, int(value)))
        elif lower == "retry-after-ms":
            times.append((lower, int(value) / 1000))
        elif "ratelimit" in lower:
            times += [(lower, int(found)) for found in re.findall(r";t=(\d+)", value)]
            exact.append((lower, _OWN.sub("", value)))
    return exact, times


def used(stint, name: str, key: str) -> tuple:
    shown = stint.admin.get(f"/limits/{name}" + (f"?key={key}" if key else ""))
    # What remains is compared in each answer: a key that is idle for some seconds gives up its share.
    return tuple((member, shown.get(member)) for member in ("used", "refused", "in_flight"))


class Differential(SharedTest):
    def setUp(self):
        super().setUp()
        upstream = self.start_upstream(answering)
        more = {"per_route": True, "upstream": upstream.address, "headers": "both"}
        self.shared = self.gateway(limits({"shared": "main"}), name="edge-0", store={"timeout": "1s"}, **more)
        self.alone = self.gateway(limits({}), name="alone", stores={}, **more)
        self.wait_until_ready(self.shared)
        self.trust(self.shared)

    def test_the_same_requests_are_decided_alike(self):
        names = list(limits({}))
        seen = set()
        with RawClient(self.shared.port) as with_store, RawClient(self.alone.port) as without:
            for number, (name, fields) in enumerate(script(names)):
                (left, times), (right, other_times) = (
                    told(client.request(target=f"/{name}", fields=fields)) for client in (with_store, without))
                seen.add((name, left[0][1]))
                if left[0] == right[0] == ("status", 429) and not {"retry-after"} & {what for what, _ in other_times}:
                    continue  # it costs more than the number: with a store no share is asked for, and none told of
                self.assertEqual(left, right, f"request {number}, {name}, {fields}")
                self.assertEqual([each for each, _ in times], [each for each, _ in other_times], f"request {number}")
                for (what, here), (_, there) in zip(times, other_times):
                    self.assertLess(abs(here - there), NEAR, f"request {number}, {name}, {fields}: {what}")
        for name in names:
            if name == "dry":
                continue  # it waits for no share, so that it does not count a key's first request with a store
            for key in ("",) if name in ("for_all", "partly") else KEYS[:7]:
                with self.subTest(f"{name} of {key}"):
                    self.assertEqual(used(self.shared, name, key), used(self.alone, name, key))
        refusing = {name for name, status in seen if status == 429}
        self.assertLessEqual(set(names) - {"dry"}, refusing, "each limit has refused something")


if __name__ == "__main__":
    unittest.main()
