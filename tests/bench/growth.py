"""How the cost of a request grows with routes, limits, connections and keys: Stint alone, at a fixed rate."""

import json
import sys
from dataclasses import dataclass, field

from measuring import median, steadily
from workloads import KEEP_ALIVE, LIMIT, PLAIN_FIELDS, RATE, W1, Workload, fields, tagged

ROUTES = (1, 10, 100, 1_000, 10_000)
LIMITS = (1, 2, 4, 8)
CONNECTIONS = (16, 64, 256, 1_000, 4_000, 10_000)
KEYS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
FIXED = ("--rate", RATE)

# The most that the last point of a series may need of the first before it counts as a cliff. Not limits:
# eight do eight times the work.
MOST_GROWTH = 1.5


@dataclass(frozen=True)
class Point:
    x: int
    workload: Workload
    options: dict = field(default_factory=dict)


def configured(routes, limits):
    """A configuration as stint.yaml has it. JSON is YAML."""
    return json.dumps({
        "workers": 1,
        "listeners": [{"address": "127.0.0.1:@PORT@"}],
        "max_connections": 15000,
        "access_log": {"path": "off"},
        "upstreams": {"origin": {"endpoints": ["127.0.0.1:@ORIGIN@"]}},
        "limits": limits,
        "routes": routes,
    }, separators=(",", ":")) + "\n"


def window(**more):
    return {"requests": 2_000_000_000, "per": "1h", "key": "client_ip", **more}


def with_routes(number):
    routes = [{"name": f"r{i}", "match": {"path": f"/r{i:08}"}, "upstream": "origin", "limits": ["c"]}
              for i in range(number)]
    load = ("--path", "/r{n}/1024", "--distinct", number, *KEEP_ALIVE, *FIXED)
    return Point(number, Workload("routes", "", load, LIMIT), {"configuration": configured(routes, {"c": window()})})


def with_limits(number):
    limits = {f"limit_{i}": window() for i in range(number)}
    routes = [{"name": "all", "match": {"path": "/"}, "upstream": "origin", "limits": list(limits)}]
    return Point(number, Workload("limits", "", (*W1, *FIXED), LIMIT), {"configuration": configured(routes, limits)})


def with_connections(number):
    # In turn, so that all are in use; the warm-up opens them.
    load = ("--path", "/1024", "--connections", number, *fields(PLAIN_FIELDS), *FIXED)
    return Point(number, Workload("connections", "", load, LIMIT))


def with_keys(number):
    one_each = (*W1, "--distinct", number, "--field", "X-Api-Key: client-{n}")
    return Point(number, Workload("keys", "", (*one_each, *FIXED), tagged("keys"),
                                  before=((*one_each, "--count", number),)))


SERIES = {
    "routes": (ROUTES, with_routes),
    "limits a route": (LIMITS, with_limits),
    "connections, in use in turn": (CONNECTIONS, with_connections),
    "keys, all live": (KEYS, with_keys),
}


def measure(tools, origin, reps, more):
    """{title: [(x, [µs of CPU a request])]}"""
    series = {}
    for title, (numbers, point_of) in SERIES.items():
        points = [point_of(number) for number in numbers]
        runs = {point.x: [] for point in points}
        for _ in range(reps):
            for point in points:
                runs[point.x].append(steadily(tools, origin, point.workload, "stint", more, **point.options))
        series[title] = [(x, [run["cpu_us"] for run in of]) for x, of in runs.items()]
        print(f"{title}: " + ", ".join(f"{x:,}: {median(of, lambda run: run['cpu_us']):.1f}" for x, of in runs.items()),
              file=sys.stderr, flush=True)
    return series


def table(series):
    rows = ["| | µs of CPU a request (least to most) | last of first |", "|---|---|---|"]
    cliffs = []
    for title, points in series.items():
        middles = [sorted(values)[len(values) // 2] for _, values in points]
        share = middles[-1] / middles[0]
        if share > MOST_GROWTH and title != "limits a route":
            cliffs.append(title)
        cells = ", ".join(f"{x:,}: **{middle:.1f}** ({min(values):.1f}–{max(values):.1f})"
                          for (x, values), middle in zip(points, middles))
        rows.append(f"| {title} | {cells} | {share:.2f} |")
    return "\n".join(rows) + "\n", cliffs
