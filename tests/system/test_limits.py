"""Windows: who is admitted, what a refusal says, and that nothing of it reaches the upstream."""

import concurrent.futures
import math
import time
import unittest

from support.case import SystemTest
from support.client import RawClient, fetch
from support.waiting import wait_until

HOUR = {"per": "1h"}


class Admission(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()

    def test_exactly_n_are_admitted_when_many_clients_ask_at_once(self):
        stint = self.stint_before(self.upstream, limits={"n": {"requests": 37, **HOUR}}, route_limits=["n"])

        def ask(_):
            with RawClient(stint.port) as client:
                return [client.request().status for _ in range(10)]

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            statuses = sum(pool.map(ask, range(16)), [])

        self.assertEqual(statuses.count(200), 37)
        self.assertEqual(statuses.count(429), 160 - 37)
        self.assertEqual(len(self.upstream.requests), 37)

    def test_a_refused_request_charges_no_limit_of_its_route(self):
        stint = self.stint_before(
            self.upstream,
            limits={"wide": {"requests": 10, **HOUR}, "narrow": {"requests": 2, **HOUR}},
            route_limits=["wide", "narrow"],
        )
        with RawClient(stint.port) as client:
            statuses = [client.request().status for _ in range(6)]

        self.assertEqual(statuses, [200, 200, 429, 429, 429, 429])
        limits = stint.admin.limits()
        self.assertEqual((limits["wide"]["used"], limits["wide"]["refused"]), (2, 0))
        self.assertEqual((limits["narrow"]["used"], limits["narrow"]["refused"]), (2, 4))

    def test_a_cap_that_refuses_charges_no_window(self):
        stall = self.start_upstream(lambda connection: connection.read_request() and connection.ends())
        stint = self.stint_before(
            stall, limits={"w": {"requests": 10, **HOUR}, "c": {"concurrent": 1}}, route_limits=["w", "c"]
        )
        with RawClient(stint.port) as first:
            first.send_request()
            stall.wait_for_requests(1)

            self.assertEqual(fetch(stint.port).json()["limit"], "c")

            self.assertEqual(stint.admin.limit("w")["used"], 1)
        stint.wait_idle()

    def test_a_named_limit_is_one_budget_for_all_its_routes(self):
        route = {"upstream": "up", "limits": ["shared"]}
        stint = self.stint_before(
            self.upstream,
            limits={"shared": {"requests": 3, **HOUR}},
            routes=[
                {"name": "a", "match": {"path": "/a"}, **route},
                {"name": "b", "match": {"path": "/b"}, **route},
            ],
        )
        with RawClient(stint.port) as client:
            statuses = [client.request(target=path).status for path in ("/a", "/b", "/a", "/b", "/a")]

        self.assertEqual(statuses, [200, 200, 200, 429, 429])

    def test_a_route_may_have_its_own_status_for_a_shared_limit(self):
        stint = self.stint_before(
            self.upstream,
            limits={"shared": {"requests": 1, "body": "Later.", **HOUR}},
            routes=[
                {"name": "a", "match": {"path": "/a"}, "upstream": "up",
                 "limits": [{"limit": "shared", "status": 503}]},
                {"name": "b", "match": {"path": "/b"}, "upstream": "up", "limits": ["shared"]},
            ],
        )
        with RawClient(stint.port) as client:
            self.assertEqual(client.request(target="/a").status, 200)
            replies = [client.request(target=path) for path in ("/a", "/b")]

        self.assertEqual([reply.status for reply in replies], [503, 429])
        for reply in replies:
            self.assertEqual(reply.body, b"Later.")
            self.assertGreater(int(reply.get("Retry-After")), 3500)
        self.assertEqual(stint.admin.get("/config")["routes"][0]["limits"], [{"limit": "shared", "status": 503}])

    def test_an_inline_limit_belongs_to_its_route_alone(self):
        route = {"upstream": "up", "limits": [{"requests": 1, **HOUR}]}
        stint = self.stint_before(
            self.upstream,
            routes=[
                {"name": "a", "match": {"path": "/a"}, **route},
                {"name": "b", "match": {"path": "/b"}, **route},
            ],
        )
        with RawClient(stint.port) as client:
            self.assertEqual(client.request(target="/a").status, 200)
            self.assertEqual(client.request(target="/b").status, 200)
            refused = client.request(target="/b")

        self.assertEqual(refused.status, 429)
        self.assertEqual(refused.json()["limit"], "b.1")

    def test_after_the_window_the_next_one_is_open_in_full(self):
        stint = self.stint_before(
            self.upstream, limits={"n": {"requests": 3, "per": "1s"}}, route_limits=["n"]
        )
        with RawClient(stint.port) as client:
            first = [client.request().status for _ in range(4)]
            wait_until(lambda: stint.admin.limit("n")["used"] == 0, "the window is over")
            second = [client.request().status for _ in range(4)]

        self.assertEqual(first, [200, 200, 200, 429])
        self.assertEqual(second, [200, 200, 200, 429])

    def test_clock_windows_end_at_multiples_of_their_length(self):
        per = 2.0
        stint = self.stint_before(
            self.upstream, limits={"n": {"requests": 5, "per": "2s", "anchor": "clock"}}, route_limits=["n"]
        )
        # Not in the last tenth of a window: it could end between the two looks at the clock.
        wait_until(lambda: time.time() % per < 0.9 * per, "not at the end of a window")
        self.assertEqual(fetch(stint.port).status, 200)

        before = time.time()
        resets = stint.admin.limit("n")["resets_in_ms"] / 1000
        after = time.time()

        end = math.ceil(before / per) * per
        self.assertLessEqual(resets, end - before + 0.01)
        self.assertGreaterEqual(resets, end - after - 0.01)


class Refusal(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()

    def refusing(self, per="1h", **more):
        stint = self.stint_before(
            self.upstream, limits={"budget": {"requests": 1, "per": per}}, route_limits=["budget"], **more
        )
        self.assertEqual(fetch(stint.port).status, 200)
        return stint

    def test_says_when_to_come_back(self):
        stint = self.refusing(per="90s")

        refused = fetch(stint.port)

        self.assertEqual(refused.status, 429)
        milliseconds = int(refused.get("Retry-After-Ms"))
        self.assertTrue(80_000 < milliseconds <= 90_000, milliseconds)
        self.assertEqual(int(refused.get("Retry-After")), math.ceil(milliseconds / 1000))
        self.assertEqual(refused.get("Cache-Control"), "no-store")
        self.assertEqual(refused.get("Content-Type"), "application/problem+json")
        problem = refused.json()
        self.assertEqual(problem["status"], 429)
        self.assertEqual(problem["limit"], "budget")
        self.assertEqual(problem["retry_after_ms"], milliseconds)

    def test_retry_after_is_at_least_one_second(self):
        refused = fetch(self.refusing(per="300ms").port)

        self.assertEqual(refused.get("Retry-After"), "1")
        self.assertLessEqual(int(refused.get("Retry-After-Ms")), 300)

    def test_a_head_request_gets_no_body(self):
        stint = self.refusing()

        with RawClient(stint.port) as client:
            refused = client.request("HEAD")
            self.assertEqual(refused.status, 429)
            self.assertGreater(int(refused.get("Content-Length")), 0)
            self.assertEqual(client.request("GET").status, 429)

    def test_the_limit_that_opens_last_is_named_and_waited_for(self):
        stint = self.stint_before(
            self.upstream,
            limits={"short": {"requests": 1, "per": "10s"}, "long": {"requests": 1, "per": "10m"}},
            route_limits=["short", "long"],
        )
        self.assertEqual(fetch(stint.port).status, 200)

        refused = fetch(stint.port)

        self.assertEqual(refused.json()["limit"], "long")
        self.assertGreater(int(refused.get("Retry-After")), 500)

    def test_keeps_its_connection(self):
        stint = self.refusing()

        with RawClient(stint.port) as client:
            answers = [client.request() for _ in range(20)]

        self.assertEqual({answer.status for answer in answers}, {429})
        self.assertEqual({answer.get("Connection") for answer in answers}, {None})

    def test_keeps_its_connection_after_a_small_body(self):
        stint = self.refusing()

        with RawClient(stint.port) as client:
            for _ in range(3):
                self.assertEqual(client.request("POST", body=b"x" * 1000).status, 429)

    def test_is_delivered_though_a_large_body_is_on_its_way(self):
        stint = self.refusing()

        with RawClient(stint.port) as client:
            client.send_request("POST", fields={"Content-Length": "1000000000"}, body=b"x" * 10_000)
            self.assertEqual(client.read_response().status, 429)

    def test_nothing_of_it_reaches_the_upstream(self):
        stint = self.refusing()
        seen = self.upstream.received
        connections = len(self.upstream.connections)

        with RawClient(stint.port) as client:
            for method in ("GET", "POST", "DELETE"):
                client.request(method, body=b"secret" if method == "POST" else b"")

        self.assertEqual(self.upstream.received, seen)
        self.assertEqual(len(self.upstream.connections), connections)

    def test_a_client_that_sleeps_for_retry_after_is_admitted(self):
        stint = self.stint_before(
            self.upstream, limits={"n": {"requests": 2, "per": "400ms"}}, route_limits=["n"]
        )
        with RawClient(stint.port) as client:
            for _ in range(3):
                while (answer := client.request()).status == 200:
                    pass
                time.sleep(int(answer.get("Retry-After")))
                self.assertEqual(client.request().status, 200)

    def test_a_client_that_sleeps_for_the_milliseconds_is_admitted(self):
        stint = self.stint_before(
            self.upstream, limits={"n": {"requests": 1, "per": "50ms"}}, route_limits=["n"]
        )
        with RawClient(stint.port) as client:
            for _ in range(10):
                while (answer := client.request()).status == 200:
                    pass
                time.sleep(int(answer.get("Retry-After-Ms")) / 1000)
                self.assertEqual(client.request().status, 200)


class Keys(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()

    def before(self, **limit):
        return self.stint_before(
            self.upstream,
            limits={"per_client": {"requests": 2, "key": "client_ip", **HOUR, **limit}},
            route_limits=["per_client"],
        )

    def test_each_address_has_a_counter_of_its_own(self):
        stint = self.before()

        def ask(source):
            with RawClient(stint.port, source=source) as client:
                return [client.request().status for _ in range(3)]

        self.assertEqual(ask("127.0.0.1"), [200, 200, 429])
        self.assertEqual(ask("127.0.0.2"), [200, 200, 429])
        limit = stint.admin.limit("per_client")
        self.assertEqual((limit["live_keys"], limit["refused"]), (2, 2))

    def test_the_admin_listener_shows_one_key(self):
        stint = self.before()
        fetch(stint.port, source="127.0.0.3")

        asked = stint.admin.limit("per_client?key=127.0.0.3")
        other = stint.admin.limit("per_client?key=127.0.0.4")

        self.assertEqual((asked["used"], asked["remaining"]), (1, 1))
        self.assertEqual((other["used"], other["remaining"]), (0, 2))

    def test_keys_that_find_a_full_table_have_their_quota_too_and_are_counted(self):
        stint = self.before(max_keys=2)
        for source in ("127.0.0.1", "127.0.0.2"):
            self.assertEqual(fetch(stint.port, source=source).status, 200)

        statuses = [fetch(stint.port, source="127.0.0.3").status for _ in range(3)]

        self.assertEqual(statuses, [200, 200, 429])
        self.assertEqual(fetch(stint.port, source="127.0.0.1").status, 200)
        limit = stint.admin.limit("per_client")
        self.assertEqual((limit["live_keys"], limit["refused"], limit["overflowed"]), (2, 1, 2))
        metrics = stint.admin.metrics()
        self.assertEqual(metrics.sum("stint_limit_overflow_total", limit="per_client"), 2)
        self.assertEqual(metrics.sum("stint_limit_table_full_total", limit="per_client"), 0)
        self.assertEqual(stint.log().count("the table of the limit per_client is full"), 1)

    def test_a_full_table_takes_new_keys_once_old_ones_are_over(self):
        stint = self.before(max_keys=1, per="500ms")
        self.assertEqual(fetch(stint.port, source="127.0.0.1").status, 200)

        wait_until(lambda: stint.admin.limit("per_client")["live_keys"] == 0, "the key's window is over")

        self.assertEqual(fetch(stint.port, source="127.0.0.2").status, 200)
        self.assertEqual(stint.admin.limit("per_client")["overflowed"], 0)


if __name__ == "__main__":
    unittest.main()
