"""One run of the load generator against one proxy, and what it says of the proxy."""

import json
import statistics
import subprocess
import sys
import time

import http2_load
from proxies import LOAD_CORES, PROXY_CORES, Proxy

# Of one core, used by processes that are no part of a run: it is done again.
MOST_FOREIGN = 0.12
ATTEMPTS = 3
# Of a fixed rate: a run that fell further behind was not at that rate.
LEAST_RATE = 0.99


def load(tools, server, origin, arguments, cores=PROXY_CORES):
    """What bench_load prints, while the context of its connections lasts: (figures, end). Over HTTP/2: of h2load."""
    if "--http2" in arguments:
        return http2_load.load(server, origin, arguments, cores)
    measured = sorted({*cores.split(","), *LOAD_CORES.split(",")})
    command = [
        "taskset", "-c", LOAD_CORES, tools.folder / "bench_load", "--port", server.port,
        "--server", ",".join(map(str, server.processes())), "--origin", origin.process.pid,
        "--cores", ",".join(measured), *arguments,
    ]
    generator = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = generator.stdout.readline()

    def end():
        generator.stdin.close()
        if generator.wait() != 0:
            raise RuntimeError(f"{' '.join(generator.args)}: exited with {generator.returncode}")

    if not line:
        end()
    figures = json.loads(line)
    cpu = figures["cpu"]
    seconds = figures["seconds"]
    used = cpu["server"] + cpu["origin"] + cpu["load"]
    figures["foreign"] = max(0.0, len(measured) * seconds - cpu["idle"] - used) / seconds
    figures["cpu_us"] = cpu["server"] / max(1, figures["done"]) * 1e6
    figures["rate"] = figures["done"] / seconds
    figures["busy"] = cpu["server"] / seconds
    return figures, end


def once(tools, origin, workload, subject, more=(), **proxy_options):
    """Starts the proxy, loads it, stops it."""
    cores = proxy_options.get("cores", PROXY_CORES)
    with Proxy(tools, origin, subject, workload.tags, **proxy_options) as proxy:
        for fill in workload.before:
            load(tools, proxy, origin, fill)[1]()
        before = proxy.memory_kb()
        figures, end = load(tools, proxy, origin, [*workload.load, *more], cores)
        time.sleep(workload.settle)
        figures["memory_kb"] = {"before": before, "after": proxy.memory_kb()}
        end()
    check(workload, subject, figures)
    return figures


def check(workload, subject, figures):
    """Figures of wrong answers are none."""
    right = figures["statuses"].get(str(workload.status), 0)
    if not right or right < 0.999 * figures["done"] or figures["damaged"] or figures["failed"] > figures["done"] / 1000:
        shown = {key: figures[key] for key in ("done", "statuses", "damaged", "failed")}
        raise RuntimeError(f"{workload.name}, {subject}: wrong answers: {shown}")


def steadily(tools, origin, workload, subject, more=(), **proxy_options):
    """The run of up to three that others disturbed least."""
    runs = []
    for _ in range(ATTEMPTS if workload.timed else 1):
        runs.append(once(tools, origin, workload, subject, more, **proxy_options))
        foreign, rate = runs[-1]["foreign"], runs[-1]["rate"]
        if not workload.timed or foreign <= MOST_FOREIGN and rate >= LEAST_RATE * workload.rate:
            break
        print(f"  {workload.name}, {subject}: {rate:,.0f}/s while others used {foreign:.2f} of a core", file=sys.stderr)
    return min(runs, key=lambda run: run["foreign"])


def median(runs, figure):
    return statistics.median(map(figure, runs))
