"""The load of the rows over HTTP/2: h2load (Debian's nghttp2-client), with the figures that bench_load gives."""

import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from proxies import LOAD_CORES, PROXY_CORES

CONNECTIONS, STREAMS = 10, 10
WARM = 2_000  # requests before those that count
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(processes):
    """What all their threads have used, by the scheduler's accounting."""
    total = 0
    for process in processes:
        for thread in Path(f"/proc/{process}/task").glob("*/schedstat"):
            try:
                total += int(thread.read_text().split()[0])
            except OSError:
                continue  # it has ended
    return total / 1e9


def idle_seconds(cores):
    found = re.findall(r"^cpu(\d+) \d+ \d+ \d+ (\d+) (\d+)", Path("/proc/stat").read_text(), re.M)
    return sum(int(idle) + int(waits) for core, idle, waits in found if core in cores) / TICK


def options(arguments):
    """What h2load is told, of what bench_load is: a path, a number of requests, seconds."""
    words = list(map(str, arguments))
    given = {name: words[words.index(name) + 1] for name in ("--path", "--count", "--seconds") if name in words}
    return given["--path"], int(given.get("--count", 0)), float(given.get("--seconds", 0))


def run(server, path, count, log):
    command = ["taskset", "-c", LOAD_CORES, "h2load", "-n", count, "-c", CONNECTIONS, "-m", STREAMS,
               "--log-file", log, f"http://127.0.0.1:{server.port}{path}"]
    before = os.times()
    said = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True).stdout
    after = os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    if not re.search(rf"^requests: {count} total, {count} started, {count} done", said, re.M):
        raise RuntimeError(f"h2load: {said}")
    return used


def answers(log):
    """Statuses with their number, and the times that requests took, in microseconds."""
    statuses, times = {}, []
    for line in Path(log).read_text().splitlines():
        _, status, took = line.split("\t")
        statuses[status] = statuses.get(status, 0) + 1
        times.append(int(took))
    return statuses, times


def load(server, origin, arguments, cores=PROXY_CORES):
    """As measuring.load()."""
    path, count, seconds = options(arguments)
    measured = {*cores.split(","), *LOAD_CORES.split(",")}
    with tempfile.TemporaryDirectory(prefix="stint-h2load-") as folder:
        if not count:
            begin = time.monotonic()
            run(server, path, WARM, f"{folder}/warm")
            count = max(WARM, int(WARM * seconds / (time.monotonic() - begin)))
        begin, idle = time.monotonic(), idle_seconds(measured)
        used = [cpu_seconds(each.processes()) for each in (server, origin)]
        by_load = run(server, path, count, f"{folder}/log")
        lasted = time.monotonic() - begin
        by_server, by_origin = (cpu_seconds(each.processes()) - before
                                for each, before in zip((server, origin), used))
        idle = idle_seconds(measured) - idle
        statuses, times = answers(f"{folder}/log")
    quantiles = statistics.quantiles(times, n=100)
    foreign = max(0.0, len(measured) * lasted - idle - by_server - by_origin - by_load) / lasted
    return {
        "done": count, "seconds": lasted, "statuses": statuses, "damaged": 0, "failed": 0, "foreign": foreign,
        "cpu_us": by_server / count * 1e6, "rate": count / lasted, "busy": by_server / lasted,
        "latency_us": {"p50": quantiles[49], "p99": quantiles[98], "max": max(times)},
    }, lambda: None
