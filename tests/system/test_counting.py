"""How requests are counted: algorithms, costs, what is given back, and limits that only look on."""

import time
import unittest

from support.case import SystemTest
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.waiting import wait_until

HOUR = {"per": "1h"}


def by_path(connection):
    """Answers /STATUS with that status, and with X-Cost: N for /STATUS/N."""
    while True:
        request = connection.read_request()
        parts = request.target.strip("/").split("/")
        fields = [("X-Cost", parts[1])] if len(parts) > 1 else []
        connection.send(response_bytes(b"ok", f"{parts[0]} Whatever", fields))


class Counting(SystemTest):
    def stint_with(self, limit, upstream=None):
        return self.stint_before(
            upstream or self.start_upstream(by_path), limits={"l": limit}, route_limits=["l"]
        )

    def used(self, stint):
        return stint.admin.limit("l")["used"]

    def statuses(self, stint, *targets, fields=()):
        with RawClient(stint.port) as client:
            return [client.request("GET", target, fields).status for target in targets]

    def test_a_sliding_window_frees_each_request_on_its_own(self):
        stint = self.stint_with({"requests": 2, "per": "1s", "algorithm": "sliding_window"})
        self.assertEqual(self.statuses(stint, "/200"), [200])
        time.sleep(0.5)
        self.assertEqual(self.statuses(stint, "/200", "/200"), [200, 429])
        time.sleep(0.55)
        self.assertEqual(self.statuses(stint, "/200", "/200"), [200, 429])

    def test_a_token_bucket_takes_its_burst_and_then_its_rate(self):
        stint = self.stint_with({"requests": 1, **HOUR, "algorithm": "token_bucket", "burst": 3})
        self.assertEqual(self.statuses(stint, *["/200"] * 4), [200, 200, 200, 429])
        refused = fetch(stint.port, "GET", "/200").json()
        self.assertGreater(refused["retry_after_ms"], 3_590_000)
        self.assertLessEqual(refused["retry_after_ms"], 3_600_000)

    def test_a_paced_window_admits_one_after_the_other(self):
        stint = self.stint_with({"requests": 60, **HOUR, "pace": True})
        self.assertEqual(self.statuses(stint, "/200", "/200"), [200, 429])
        refused = fetch(stint.port, "GET", "/200").json()
        self.assertGreater(refused["retry_after_ms"], 50_000)
        self.assertLessEqual(refused["retry_after_ms"], 60_000)

    def test_a_request_counts_what_its_field_says(self):
        stint = self.stint_with({"requests": 10, **HOUR, "cost": "header:X-Cost"})
        self.assertEqual(self.statuses(stint, "/200", fields=[("X-Cost", "6")]), [200])
        self.assertEqual(self.statuses(stint, "/200", fields=[("X-Cost", "5")]), [429])
        self.assertEqual(self.statuses(stint, "/200", fields=[("X-Cost", "none")]), [200])
        self.assertEqual(self.statuses(stint, "/200"), [200])
        self.assertEqual(self.used(stint), 8)

    def test_a_request_that_can_never_be_admitted_is_not_told_to_come_back(self):
        stint = self.stint_with({"requests": 10, **HOUR, "cost": "header:X-Cost"})
        with RawClient(stint.port) as client:
            refused = client.request("GET", "/200", [("X-Cost", "11")])
        self.assertEqual(refused.status, 429)
        self.assertIsNone(refused.get("Retry-After"))
        self.assertIn("never be admitted", refused.json()["detail"])

    def test_the_answer_tells_the_cost_and_what_was_reserved_too_much_is_given_back(self):
        stint = self.stint_with({"requests": 100, **HOUR, "cost": "header:X-Cost", "reserve": 10})
        self.assertEqual(self.statuses(stint, "/200/3"), [200])
        self.assertEqual(self.used(stint), 3)
        self.assertEqual(self.statuses(stint, "/200"), [200])  # which says nothing
        self.assertEqual(self.used(stint), 13)

    def test_a_cost_above_the_reserve_counts_the_reserve_and_is_reported(self):
        stint = self.stint_with({"requests": 100, **HOUR, "cost": "header:X-Cost", "reserve": 10})
        self.assertEqual(self.statuses(stint, "/200/25"), [200])
        self.assertEqual(self.used(stint), 10)
        self.assertEqual(
            stint.admin.metrics().sum("stint_cost_overruns_total", route="all", limit="l"), 1
        )
        self.assertEqual(stint.wait_for_lines(1)[0]["cost_overrun"], "l")

    def test_only_answers_with_a_listed_status_count(self):
        stint = self.stint_with(
            {"requests": 2, **HOUR, "count_when": {"status": [401, 403]}}
        )
        self.assertEqual(self.statuses(stint, *["/200"] * 5), [200] * 5)
        self.assertEqual(self.used(stint), 0)
        self.assertEqual(self.statuses(stint, "/401", "/403", "/200"), [401, 403, 429])

    def test_answers_with_a_status_to_refund_do_not_count(self):
        stint = self.stint_with({"requests": 2, **HOUR, "refund": [502, 503]})
        self.assertEqual(self.statuses(stint, *["/503"] * 5, "/500", "/200"), [503] * 5 + [500, 200])
        self.assertEqual(self.statuses(stint, "/503"), [429])

    def test_an_upstream_that_fails_is_refunded(self):
        for algorithm in ("fixed_window", "sliding_window", "token_bucket"):
            with self.subTest(algorithm=algorithm):
                dead = self.start_upstream(lambda connection: connection.read_request())
                stint = self.stint_with(
                    {"requests": 2, **HOUR, "refund": [502], "algorithm": algorithm}, dead
                )
                self.assertEqual(self.statuses(stint, *["/"] * 5), [502] * 5)
                wait_until(lambda: self.used(stint) == 0, "the charges to be given back")

    def test_a_client_that_leaves_before_its_answer_is_refunded(self):
        stall = self.start_upstream(lambda connection: connection.read_request() and connection.ends())
        stint = self.stint_with({"requests": 2, **HOUR, "refund": [499]}, stall)
        with RawClient(stint.port) as client:
            client.send_request()
            stall.wait_for_requests(1)
            self.assertEqual(self.used(stint), 1)
        wait_until(lambda: self.used(stint) == 0, "the charge to be given back")
        stint.wait_idle()

    def test_a_limit_that_is_not_enforced_refuses_nothing_and_says_what_it_would_have(self):
        stint = self.stint_with({"requests": 1, **HOUR, "enforce": False})
        self.assertEqual(self.statuses(stint, *["/200"] * 3), [200] * 3)

        limit = stint.admin.limit("l")
        self.assertEqual((limit["used"], limit["refused"], limit["would_refuse"]), (1, 0, 2))
        self.assertEqual(
            stint.admin.metrics().sum("stint_would_refuse_total", route="all", limit="l"), 2
        )
        lines = stint.wait_for_lines(3)
        self.assertEqual([line.get("would_refuse") for line in lines], [None, "l", "l"])

    def test_a_dry_run_of_a_limit_that_lets_wait_says_who_would_wait(self):
        wait = {"enforce": False, "when_exceeded": "wait"}
        stint = self.stint_before(self.start_upstream(by_path), route_limits=[
            {"name": "long", "requests": 1, "max_wait": "2h", **HOUR, **wait},
            {"name": "short", "requests": 1, "max_wait": "1s", **HOUR, **wait}])

        self.assertEqual(self.statuses(stint, *["/200"] * 3), [200] * 3)

        limits = stint.admin.limits()
        self.assertEqual([(limits[name]["would_wait"], limits[name]["would_refuse"]) for name in ("long", "short")],
                         [(2, 0), (0, 2)])
        metrics = stint.admin.metrics()
        for metric, name in (("stint_would_wait_total", "long"), ("stint_would_refuse_total", "short")):
            self.assertEqual(metrics.sum(metric, limit=name), 2)
            self.assertEqual(metrics.sum(metric), 2)
        self.assertEqual([(line.get("would_wait"), line.get("would_refuse"), line.get("waited_ms"))
                          for line in stint.wait_for_lines(3)],
                         [(None, None, None), ("long", "short", None), ("long", "short", None)])
        explained = stint.admin.request("POST", "/explain", body='{"host": "a", "path": "/"}').json()
        self.assertEqual(explained["decision"], "admit")
        self.assertEqual({limit["name"]: (limit["would_wait"], limit["would_refuse"]) for limit in explained["limits"]},
                         {"long": (True, False), "short": (False, True)})


if __name__ == "__main__":
    unittest.main()
