"""A configuration of thousands of routes: the size of /metrics, and what its sums count."""

import unittest

from support.case import SystemTest, config, report
from support.client import RawClient

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


if __name__ == "__main__":
    unittest.main()
