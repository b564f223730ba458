"""How the scripts/bench-* that compare Stint with others measure: Python clients, a process for each
connection, wrk, and h2load."""

import re
import subprocess
import sys
import time
from pathlib import Path

from permits_peers import FORK


def client(connect, begin: float, seconds: float, to) -> None:
    """Asks as fast as it gets answers, and sends how long each took."""
    ask = connect()
    ask()  # connected before the clock runs
    clock = time.monotonic
    took = []
    time.sleep(max(0.0, begin - clock()))
    end = begin + seconds
    before = clock()
    while before < end:
        ask()
        after = clock()
        took.append(after - before)
        before = after
    to.send(took)


def run(connects, seconds: float):
    """Asks a second, and the median and 99th percentile of their milliseconds. connects: what each
    client calls for the function that asks once."""
    begin = time.monotonic() + 0.3 + 0.05 * len(connects)  # when all are connected
    pipes, clients = [], []
    for connect in connects:
        here, there = FORK.Pipe(duplex=False)
        pipes.append(here)
        clients.append(FORK.Process(target=client, args=(connect, begin, seconds, there)))
        clients[-1].start()
        there.close()
    took = sorted(one for pipe in pipes for one in pipe.recv())
    for process in clients:
        process.join()
    return len(took) / seconds, took[len(took) // 2] * 1000, took[len(took) * 99 // 100] * 1000


def wrk(stint, script: str, path: str, seconds: float):
    """Requests a second, requests for a second of Stint's CPU, and the 99th percentile as wrk writes it: on
    16 connections, from core 1."""
    file = Path(stint.folder.name) / "requests.lua"
    file.write_text(script)
    before = stint.cpu_seconds()
    ended = subprocess.run(
        ["taskset", "-c", "1", "wrk", "-t1", "-c16", f"-d{max(2, round(seconds))}s", "--latency", "-s", file,
         stint.url + path], capture_output=True, text=True, check=True)
    if "Non-2xx" in ended.stdout or "Socket errors" in ended.stdout:
        sys.exit(ended.stdout)
    requests = int(re.search(r"(\d+) requests in", ended.stdout)[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", ended.stdout)[1])
    return rate, requests / (stint.cpu_seconds() - before), re.search(r"^ +99% +(\S+)$", ended.stdout, re.M)[1]


def h2load(stint, body: str, path: str, seconds: float, connections: int, streams: int):
    """As wrk(), by POSTs over HTTP/2 without TLS; the percentile is not measured."""
    file = Path(stint.folder.name) / "body"
    file.write_text(body)
    before = stint.cpu_seconds()
    ended = subprocess.run(
        ["taskset", "-c", "1", "h2load", "-c", str(connections), "-m", str(streams), "-D",
         str(max(2, round(seconds))), "-d", file, stint.url + path], capture_output=True, text=True, check=True)
    answered = int(re.search(r"status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx", ended.stdout)[1])
    rate = float(re.search(r"finished in [\d.]+s, ([\d.]+) req/s", ended.stdout)[1])
    return rate, answered / (stint.cpu_seconds() - before)
