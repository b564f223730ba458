"""Configurations of thousands of routes: the size of /metrics, and what its sums count; the memory that they take;
blocks and reloads."""

import threading
import time
import unittest

from support.case import SystemTest, config, report, scaled
from support.client import RawClient
from support.many_routes import many_routes
from support.ports import free_port

ROUTES = 5_000
USED = 300
NAMES = 100  # admin.max_metric_names, its default
MOST_BYTES = 1_000_000


class ManyRoutes(SystemTest):
    def setUp(self):
        super().setUp()
        upstream = self.start_upstream()
        self.stint = self.start_stint({
            **config(upstream.address),
            "upstreams": {f"shop{i}": {"endpoints": [upstream.address]} for i in range(ROUTES)},
            "limits": {f"limit{i}": {"requests": 1, "per": "1h"} for i in range(ROUTES)},
            "routes": [{"name": f"route{i}", "match": {"path": f"/{i}/"}, "upstream": f"shop{i}",
                        "limits": [f"limit{i}"]} for i in range(ROUTES)],
        })
        self.admin = self.stint.admin

    def ask(self, routes) -> None:
        """Two requests of each route: one is forwarded, one is refused."""
        client = RawClient(self.stint.port)
        self.addCleanup(client.close)
        for route in routes:
            self.assertEqual([client.request(target=f"/{route}/").status for _ in range(2)], [200, 429])

    def test_the_page_is_small_and_its_sums_count_every_request(self):
        self.ask(range(USED))
        first = self.admin.metrics()
        self.ask(range(USED, 2 * USED))
        text = self.admin.request("GET", "/metrics").text()
        second = self.admin.metrics()

        report("bytes of /metrics with 5,000 routes, limits and upstreams", f"<= {MOST_BYTES}", len(text),
               len(text) <= MOST_BYTES)
        self.assertLess(len(text), MOST_BYTES)
        for page, used in ((first, USED), (second, 2 * USED)):
            self.assertEqual(page.sum("stint_requests_total"), 2 * used)
            self.assertEqual(page.sum("stint_refusals_total"), used)
            self.assertEqual(page.sum("stint_limit_used"), used)
            self.assertEqual(
                page.sum("stint_requests_total", route="(other)", decision="forwarded"), used - NAMES)
            self.assertEqual(page.sum("stint_refusals_total", route="(other)"), used - NAMES)

    def test_the_sums_do_not_fall_with_a_reload(self):
        self.ask(range(USED))
        before = self.admin.metrics()

        self.assertEqual(self.admin.reload().status, 200)

        after = self.admin.metrics()
        for labels in ({"route": "(other)"}, {}):
            self.assertEqual(after.sum("stint_requests_total", **labels),
                             before.sum("stint_requests_total", **labels))


class Bounds(SystemTest):
    """With 20,000 routes, in scripts/acceptance. Times are figures; no test depends on one."""

    COUNT = scaled(2_000, 20_000)
    MB = 1_000_000

    def start(self, **more):
        """Stint with COUNT routes, and the seconds until it was ready."""
        upstream = self.start_upstream()
        self.port = free_port()
        text = many_routes(self.COUNT, endpoint=upstream.address, listener=f"127.0.0.1:{self.port}",
                           admin=f"127.0.0.1:{free_port()}", **more)
        begun = time.monotonic()
        stint = self.start_stint(text)
        return stint, time.monotonic() - begun

    def timed(self, name, most, seconds):
        report(f"{self.COUNT} routes: {name}", f"<= {most * 1000:.0f} ms", f"{seconds * 1000:.1f} ms",
               seconds <= most)

    def assert_small(self, name, stint, most):
        seen = stint.resident()
        report(f"{self.COUNT} routes, {name}: resident memory", f"<= {most / self.MB:.0f} MB",
               f"{seen / self.MB:.0f} MB", seen <= most)
        self.assertLess(seen, most)

    def test_they_take_little_memory_and_time(self):
        stint, seconds = self.start()
        self.timed("from the start to the first answer", 2, seconds)
        self.assert_small("100 limits", stint, scaled(40, 85) * self.MB)

        begun = time.monotonic()
        routes = stint.admin.get("/routes")["routes"]
        self.timed("GET /routes", 1, time.monotonic() - begun)
        self.assertEqual([route["name"] for route in routes], [f"product-{i}" for i in range(self.COUNT)])

    def test_so_do_limits_that_count_nothing(self):
        stint, seconds = self.start(own_limits=True)
        self.timed("each with a limit of its own: from the start to the first answer", 2, seconds)
        self.assert_small("each with a limit of its own", stint, scaled(40, 150) * self.MB)

    def test_a_block_is_in_force_when_it_is_answered(self):
        stint, _ = self.start(own_limits=True)
        last = self.COUNT - 1
        clients = [RawClient(self.port) for _ in range(8)]  # of both workers
        for client in clients:
            self.addCleanup(client.close)
            self.assertEqual(client.request(target=f"/{last}/").status, 200)

        begun = time.monotonic()
        block = stint.admin.request("POST", f"/limits/own-{last}/block", body='{"key": "127.0.0.1", "for": "1h"}')
        self.timed("a block until it is in force on all workers", 0.1, time.monotonic() - begun)

        self.assertEqual(block.status, 200)
        for client in clients:
            self.assertEqual(client.request(target=f"/{last}/").status, 403)
            self.assertEqual(client.request(target="/0/").status, 200)

    def test_requests_go_on_while_the_operator_asks_for_much(self):
        stint, _ = self.start(own_limits=True)
        with Waits(self.port) as waits:
            for _ in range(3):
                self.assertEqual(stint.admin.reload().status, 200)
                self.assertEqual(stint.admin.request("GET", "/routes").status, 200)
                self.assertEqual(stint.admin.request("GET", "/metrics").status, 200)
        self.assertGreater(waits.answered, 0)
        self.timed("the longest that a request took meanwhile", 0.05, waits.longest)


class Waits:
    """One request after the other while it is open: how long the longest took."""

    def __init__(self, port):
        self.answered = 0
        self.longest = 0.0
        self._port = port
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        with RawClient(self._port) as client:
            while not self._done.is_set():
                begun = time.monotonic()
                if client.request(target="/1/").status == 200:
                    self.answered += 1
                self.longest = max(self.longest, time.monotonic() - begun)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()


if __name__ == "__main__":
    unittest.main()
