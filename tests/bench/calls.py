"""System calls a request by name, as strace counts them: the same whatever else the machine does, but for those
that wait, and those that fail because nothing has come yet. strace slows the proxy, so these depend on chance."""

import re
import time
from dataclasses import dataclass

from instructions import most_others
from measuring import load
from proxies import Proxy

ROWS = ("W1", "W2", "W5b", "W6")

# What a request makes is the difference of two runs, in which starting, connecting and stopping cancel out.
FEW, MANY = 1_000, 5_000
LEAST_SHOWN = 0.02

# The tracer is no parent of the proxy (-D), which is so started and ended as without it.
STRACE = ("strace", "-D", "-f", "-c", "-U", "name,calls,errors", "-o", "{folder}/calls")
LINE = re.compile(r"^(\w+) +(\d+)(?: +(\d+))?\s*$", re.M)

# How often these are called depends on the time that the work takes, and on what comes meanwhile.
WAITS = {"epoll_wait", "epoll_pwait", "poll", "ppoll", "futex", "clock_gettime", "timerfd_settime"}

# So many more of a call than in another build are no chance: of those that succeed, and of those that fail.
MOST_MORE, MOST_MORE_FAILED = 0.05, 0.75


@dataclass(frozen=True)
class Made:
    """Of one system call."""

    calls: float = 0.0
    failed: float = 0.0  # of these; mostly EAGAIN: the socket was empty, or full

    @property
    def succeeded(self):
        return self.calls - self.failed


class Traced(Proxy):
    """Its calls are known when it has ended."""

    def ended(self, folder):
        text, end = "", time.monotonic() + 20
        while not (counted := {name: Made(int(calls), int(failed or 0)) for name, calls, failed in LINE.findall(text)}):
            if time.monotonic() > end:
                raise RuntimeError("strace does not say what it has counted")
            time.sleep(0.05)
            text = (folder / "calls").read_text("utf-8")
            text = text if "\ntotal " in text else ""
        self.calls = {name: made for name, made in counted.items() if name != "total"}


def total(tools, origin, subject, workload, requests):
    with Traced(tools, origin, subject, workload.tags, under=STRACE) as proxy:
        figures, end = load(tools, proxy, origin, (*workload.load, "--count", requests))
        end()
        right = figures["statuses"].get(str(workload.status), 0)
        if right < requests - most_others(workload.status) or figures["damaged"] or figures["failed"]:
            raise RuntimeError(f"{workload.name}, {subject}: wrong answers: {figures}")
    return proxy.calls


def a_request(tools, origin, subject, workload):
    """{name: Made} of a request, the most frequent first."""
    few, many = (total(tools, origin, subject, workload, requests) for requests in (FEW, MANY))
    made = {}
    for name in many:
        before = few.get(name, Made())
        made[name] = Made((many[name].calls - before.calls) / (MANY - FEW),
                          (many[name].failed - before.failed) / (MANY - FEW))
    return dict(sorted(made.items(), key=lambda item: -item[1].calls))


def without_waits(made):
    return sum(one.calls for name, one in made.items() if name not in WAITS)


def added(old, new):
    """What a request of `new` calls more often than one of `old`, as sentences."""
    for name in new.keys() - WAITS:
        before = old.get(name, Made())
        more, failed = new[name].succeeded - before.succeeded, new[name].failed - before.failed
        if more > MOST_MORE:
            yield f"{name} {more:+.2f}"
        if failed > MOST_MORE_FAILED:
            yield f"failed {name} {failed:+.2f}"


def shown(made):
    named = (f"{name} {one.calls:.2f}" + (f" ({one.failed:.2f} failed)" if one.failed >= LEAST_SHOWN else "")
             for name, one in made.items() if one.calls >= LEAST_SHOWN)
    return ", ".join(named)


def table(counted):
    """counted: {row: {subject: {name: Made}}}"""
    lines = ["| row | | calls a request, without those that wait | by name |", "|---|---|---|---|"]
    for row, subjects in counted.items():
        for subject, made in subjects.items():
            lines.append(f"| {row} | {subject} | {without_waits(made):.2f} | {shown(made)} |")
    return "\n".join(lines) + "\n"
