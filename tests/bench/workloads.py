"""What scripts/bench measures, and the targets: shares of what the better peer needs for the same work in
the same run."""

from dataclasses import dataclass

RATE = 25_000

# What Chrome 131 on Linux sends for a page that it has been to before (with Host, 20 fields).
BROWSER_FIELDS = (
    "Connection: keep-alive",
    "Cache-Control: max-age=0",
    'sec-ch-ua: "Google Chrome";v="131", "Chromium";v="131", "Not_A Brand";v="24"',
    "sec-ch-ua-mobile: ?0",
    'sec-ch-ua-platform: "Linux"',
    "Upgrade-Insecure-Requests: 1",
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 "
    "Safari/537.36",
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7",
    "Sec-Fetch-Site: same-origin",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-User: ?1",
    "Sec-Fetch-Dest: document",
    "Referer: https://shop.example/products?page=3&sort=price",
    "Accept-Encoding: gzip, deflate, br, zstd",
    "Accept-Language: en-GB,en;q=0.9,de-DE;q=0.8,de;q=0.7,en-US;q=0.6",
    "Cookie: session=6f1d0c53a2b94b0f8f2c7f1f6f0f3f57; _ga=GA1.1.1412738462.1731244710; consent=analytics%3A1; "
    "basket=eyJpdGVtcyI6W119",
    'If-None-Match: W/"5f2d-193a1bb8f10"',
    "If-Modified-Since: Thu, 19 Nov 2026 08:12:31 GMT",
    "DNT: 1",
)
PLAIN_FIELDS = ("User-Agent: bench_load", "Accept: */*")


def fields(values):
    return tuple(word for value in values for word in ("--field", value))


KEEP_ALIVE = ("--connections", 64, *fields(PLAIN_FIELDS))
W1 = ("--path", "/1024", *KEEP_ALIVE)
HTTP2 = ("--http2",)  # 10 connections with 10 streams each: http2_load.py
FIXED = ("--rate", RATE)
PEERS = ("nginx", "haproxy")
ALL_SETTINGS = ("nginx", "nginx+buffers", "haproxy", "haproxy+buffers", "haproxy+splice")


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    load: tuple
    tags: frozenset
    most: float | None = None  # the target: CPU a request, of the best of `against`
    peers: tuple = PEERS
    against: tuple | None = None  # of the peers; all of them
    status: int = 200
    reps: int = 1  # times the number that is asked for
    timed: bool = True  # False: only its memory counts, which others cannot disturb
    before: tuple = ()  # loads that come first, not measured
    settle: int = 0  # seconds from its end until memory is measured

    @property
    def subjects(self):
        return ("stint", *self.peers)

    @property
    def rate(self):
        """What is asked for a second; 0 where it is as much as can be."""
        return self.load[self.load.index("--rate") + 1] if "--rate" in self.load else 0


def tagged(limit, log=False, http2=False):
    return frozenset({limit, "log" if log else "quiet", "http2" if http2 else "http1"})


LIMIT = tagged("limit")

WORKLOADS = (
    Workload("W1f", f"GET 1 KB, keep-alive, {RATE:,}/s", (*W1, *FIXED), LIMIT, 0.90),
    Workload("W1", "GET 1 KB, keep-alive, saturated", W1, LIMIT, 0.88),
    Workload("W1browser", f"GET 1 KB, 20 browser fields, {RATE:,}/s",
             ("--path", "/1024", "--connections", 64, *fields(BROWSER_FIELDS), *FIXED), LIMIT, 0.90),
    Workload("W1log", f"GET 1 KB, JSON access log, {RATE:,}/s", (*W1, *FIXED), tagged("limit", log=True), 0.90),
    Workload("W2", "all refused with 429", W1, tagged("reject"), 0.90, status=429),
    Workload("W4", "GET 1 KB, a connection a request", (*W1, "--close", "--sources", 32), LIMIT, 0.97),
    Workload("W5", "1 MB answers", ("--path", "/1048576", "--connections", 16, *fields(PLAIN_FIELDS)),
             LIMIT, 0.70, peers=("haproxy+splice",), reps=2),
    Workload("W5b", "64 KB answers", ("--path", "/65536", "--connections", 32, *fields(PLAIN_FIELDS)),
             LIMIT, 0.95, peers=ALL_SETTINGS),
    Workload("W6", "64 KB POST, echoed", ("--path", "/", "--post", 65536, "--connections", 32, *fields(PLAIN_FIELDS)),
             LIMIT, 0.80, peers=("nginx", "nginx+buffers", "haproxy"), against=("haproxy",)),
    Workload("W1h2", "HTTP/2, GET 1 KB, 10 connections with 10 streams", ("--path", "/1024", *HTTP2),
             tagged("limit", http2=True), 1.00),
    Workload("W2h2", "HTTP/2, all refused with 429", ("--path", "/1024", *HTTP2), tagged("reject", http2=True), 1.00,
             status=429),
    Workload("W5bh2", "HTTP/2, 64 KB answers", ("--path", "/65536", *HTTP2), tagged("limit", http2=True), 1.00,
             peers=ALL_SETTINGS[:4]),
)


def named(names):
    return [workload for workload in WORKLOADS if workload.name in names]


def keys(number, count, name="W3"):
    """count requests, in turn with so many values of X-Api-Key."""
    return Workload(
        name, f"{number:,} distinct keys, {RATE:,}/s",
        (*W1, *FIXED, "--count", count, "--distinct", number, "--field", "X-Api-Key: client-{n}"),
        tagged("keys"), 0.85)


def idle(connections):
    """Measured once they are idle: what proxies keep for a next request that comes at once is gone by then."""
    return Workload("W7", f"{connections:,} idle connections",
                    ("--path", "/0", "--hold", "--connections", connections, *fields(PLAIN_FIELDS)), LIMIT, timed=False,
                    settle=5)
