#!/usr/bin/env python3
"""A fleet of processes that asks one gateway: 16 of them, and 5 calls in each 800 ms for all together.

    python3 fleet.py [--url http://127.0.0.1:8082] [--processes 16] [--seconds 8]

The processes bring the limit themselves, for which the gateway's configuration must let them:
`permits: {address: 127.0.0.1:8082, dynamic_limits: 1000}`. At the end the calls of each window are counted;
the exit code is 1 if any window had more than 5.
"""

import argparse
import multiprocessing
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # not needed where stint is installed

from stint import Client, RateLimiter, StintError, StintUnavailable  # noqa: E402

CALLS, PERIOD = 5, 0.8


def work(url, name, end, calls):
    """One process: waits for its turn, calls, again and again. In real life: fetch(url)."""
    limiter = RateLimiter(CALLS, PERIOD, retry=True, name=name, url=url, timeout=10)
    while time.monotonic() < end:
        with limiter:
            calls.put((time.monotonic(), os.getpid()))


def windows(times):
    """The calls that belong together: all that come within half a period of the first one."""
    found = []
    for at in sorted(times):
        if not found or at - found[-1][0] > PERIOD / 2:
            found.append([])
        found[-1].append(at)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="of the gateway; default: STINT_URL, then http://127.0.0.1:8082")
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=8)
    arguments = parser.parse_args()

    name = f"fleet-{os.getpid()}"
    try:  # a look, which takes nothing: is there a gateway, and may callers bring a limit?
        Client(arguments.url).take(name, cost=0, requests=CALLS, per_ms=round(PERIOD * 1000))
    except (StintError, StintUnavailable) as error:
        return f"{error} (see --help)"
    begun = time.monotonic()
    calls = multiprocessing.Queue()
    fleet = [multiprocessing.Process(target=work, args=(arguments.url, name, begun + arguments.seconds, calls))
             for _ in range(arguments.processes)]
    for process in fleet:
        process.start()
    seen = []
    while any(process.is_alive() for process in fleet) or not calls.empty():
        while not calls.empty():
            seen.append(calls.get())
        time.sleep(0.02)
    if any(process.exitcode for process in fleet):
        return 1

    first = min(at for at, _ in seen)
    counts = []
    for window in windows(at for at, _ in seen):
        counts.append(len(window))
        print(f"at {window[0] - first:6.3f} s: {len(window)} calls")
    each = [sum(process.pid == pid for _, pid in seen) for process in fleet]
    print(f"{len(seen)} calls in {len(counts)} windows, at most {max(counts)} in one; "
          f"each process had {min(each)} to {max(each)}")
    return 1 if max(counts) > CALLS else 0


if __name__ == "__main__":
    sys.exit(main())
