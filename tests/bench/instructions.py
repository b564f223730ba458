"""User-space instructions a request, as valgrind's callgrind counts them: the same whatever else the machine
does, to about 1 %."""

import re

from measuring import load
from proxies import Proxy
from workloads import HTTP2, KEEP_ALIVE, LIMIT, tagged

W1_BOUND = 12_000
W1_HTTP2_BOUND = 18_500
LIMITER_BOUND = 2_500

# What a request costs is the difference of two runs, in which starting and stopping cancel out.
FEW, MANY = 2_000, 12_000

CALLGRIND = ("valgrind", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file={folder}/callgrind.%p")
TOTAL = re.compile(r"^(?:summary|totals): (\d+)", re.M)


class Counted(Proxy):
    """Its total is known when it has ended."""

    total = 0

    def ended(self, folder):
        for file in folder.glob("callgrind.*"):
            if found := TOTAL.search(file.read_text("utf-8", "replace")):
                self.total += int(found[1])


def total(tools, origin, subject, tags, status, requests):
    way = HTTP2 if "http2" in tags else KEEP_ALIVE
    with Counted(tools, origin, subject, tags, under=CALLGRIND) as proxy:
        figures, end = load(tools, proxy, origin, ("--path", "/1024", *way, "--count", requests))
        end()
        # What refuses all but so many an hour, or a second, lets a few pass.
        right = figures["statuses"].get(str(status), 0)
        if right < requests - most_others(status):
            raise RuntimeError(f"{subject}: wrong answers: {figures['statuses']}")
    return proxy.total


def most_others(status):
    return 0 if status == 200 else 100


def a_request(tools, origin, subject, tags=LIMIT, status=200):
    few, many = (total(tools, origin, subject, tags, status, requests) for requests in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def count(tools, origin, peers=()):
    counts = {"stint": a_request(tools, origin, "stint")}
    counts["stint without limits"] = a_request(tools, origin, "stint", tagged("plain"))
    for subject in ("stint", *peers):
        counts[f"{subject} refusing"] = a_request(tools, origin, subject, tagged("reject"), 429)
    for peer in peers:
        counts[peer] = a_request(tools, origin, peer)
    for subject in ("stint", *peers):
        counts[f"{subject} over HTTP/2"] = a_request(tools, origin, subject, tagged("limit", http2=True))
    return counts
