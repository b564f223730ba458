"""Stint and nginx under the attacks of tests/system/support/floods.py, with good clients beside them: h2load over
clear-text HTTP/2, at a fixed rate."""

import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass

from http2_load import answers, cpu_seconds
from proxies import HERE, LOAD_CORES, TEMPLATES, Proxy

from support.floods import HOLDS, Attacker  # noqa: E402  (the path is set by proxies)

CONNECTIONS = 10
PATIENCE = 0.2    # seconds that an attacker waits for replies
HOLD = 2          # seconds of the proxies' times for clients that take nothing
PIECES = 20_000   # of an attack, if nothing ends it
TAGS = frozenset({"limit", "quiet", "http2"})
SHORT_TIMES = {  # instead of those of the templates
    "stint": (r"^timeouts: .*$", f"timeouts: {{head: {HOLD}s, body_idle: {HOLD}s, idle: {HOLD}s}}"),
    "nginx": (r"keepalive_timeout 600s;", f"keepalive_timeout {HOLD}s; send_timeout {HOLD}s;"),
}


def started(tools, origin, subject):
    template = (HERE / "configs" / TEMPLATES[subject]).read_text("utf-8")
    changed = re.sub(*SHORT_TIMES[subject], template, flags=re.M)
    return Proxy(tools, origin, subject, TAGS, configuration=changed)


@dataclass
class Alone:
    """An attack on a proxy that does nothing else: the slowest close of several, and the CPU time of one."""

    closed: bool
    told: bool  # by a GOAWAY
    seconds: float
    cpu: float


@dataclass
class Good:
    """What good clients got, and the CPU time that the proxy used meanwhile."""

    rate: float
    p99_ms: float
    cpu: float  # seconds a second
    attacks: int = 0  # connections a second

    @property
    def cpu_each(self):
        return self.cpu / self.rate


def writes_of(flood):
    return flood.prepared(flood.most if flood in HOLDS else max(PIECES, flood.most))


def patience_with(flood):
    return None if flood in HOLDS else PATIENCE


def attack_alone(proxy, flood, tries, seconds):
    writes = writes_of(flood)
    outcomes, used = [], []
    for _ in range(tries):
        before = cpu_seconds(proxy.processes())
        outcomes.append(Attacker(proxy.port, writes, flood.reply).play(seconds, patience_with(flood)))
        time.sleep(0.1)  # for what it does after the close
        used.append(cpu_seconds(proxy.processes()) - before)
    return Alone(all(each.closed for each in outcomes), all(each.told for each in outcomes),
                 max(each.seconds for each in outcomes), statistics.median(used))


class Reconnecting:
    """A process that attacks, and connects anew as soon as its connection is closed."""

    def __init__(self, proxy, flood):
        self._proxy, self._flood = proxy, flood

    def __enter__(self):
        writes = writes_of(self._flood)
        read, write = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            self._run(writes, write)
        os.close(write)
        self._pipe = read
        return self

    def _run(self, writes, pipe):
        """In the child. Each connection is told by a byte."""
        try:
            os.sched_setaffinity(0, {int(LOAD_CORES)})
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            attacker = Attacker(self._proxy.port, writes, self._flood.reply)
            while True:
                try:
                    attacker.play(60, patience_with(self._flood))
                    os.write(pipe, b".")
                except OSError:
                    time.sleep(0.001)
        finally:
            os._exit(1)

    def __exit__(self, *_):
        os.kill(self._pid, signal.SIGTERM)
        os.waitpid(self._pid, 0)
        self.connections = 0
        while data := os.read(self._pipe, 65536):
            self.connections += len(data)
        os.close(self._pipe)


def good(proxy, rate, seconds):
    """Good clients for so long."""
    with tempfile.TemporaryDirectory(prefix="stint-floods-") as folder:
        command = ["taskset", "-c", LOAD_CORES, "h2load", "-D", seconds, "--rps", rate / CONNECTIONS, "-c", CONNECTIONS,
                   "-m", 100, "--log-file", f"{folder}/log", f"http://127.0.0.1:{proxy.port}/1024"]
        before = cpu_seconds(proxy.processes())
        subprocess.run(list(map(str, command)), stdout=subprocess.DEVNULL, check=True)
        used = cpu_seconds(proxy.processes()) - before
        statuses, times = answers(f"{folder}/log")
    done = statuses.get("200", 0)
    p99 = statistics.quantiles(times, n=100)[98] / 1000 if len(times) > 1 else float("inf")
    return Good(max(1, done) / seconds, p99, used / seconds)


def under_attack(proxy, flood, rate, seconds):
    """Good clients beside a reconnecting attacker."""
    with Reconnecting(proxy, flood) as attacker:
        found = good(proxy, rate, seconds)
    found.attacks = attacker.connections / seconds
    return found


def share(without, beside):
    """Of the proxy's CPU time under attack, what its good clients do not explain."""
    return max(0.0, 1 - beside.rate * without.cpu_each / beside.cpu)
