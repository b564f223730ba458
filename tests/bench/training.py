"""training.py BINARY TOOLS: puts the load on Stint for which scripts/build-release optimises it: the rows of
scripts/bench, then permits and locks from Python. BINARY records what it executes; TOOLS is the folder of
bench_load and bench_origin."""

import sys
import time
from pathlib import Path

import locks_peers
import permits_peers
from measuring import once
from proxies import Origin, Tools
from workloads import WORKLOADS, keys

SECONDS = 1.0


def traffic(tools):
    with Origin(tools) as origin:
        for workload in (*WORKLOADS, keys(number=20_000, count=20_000)):
            once(tools, origin, workload, "stint", ("--warm", 0, "--seconds", SECONDS))
            print(f"  {workload.name}: {workload.title}", flush=True)


def asked_for(peer):
    with peer as stint:
        ask = stint.connect()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            ask()


def main():
    binary, tools = (Path(argument).resolve() for argument in sys.argv[1:])
    traffic(Tools(stint=binary, folder=tools))
    for peers, what in ((permits_peers, "permits"), (locks_peers, "locks")):
        asked_for(peers.Stint(str(binary)))
        print(f"  {what}", flush=True)


if __name__ == "__main__":
    main()
