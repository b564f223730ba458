"""The admin listener: what it shows, and whom it lets change anything."""

import json
import subprocess
import unittest

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.ports import free_port
from support.stint import Admin, binary
from support.waiting import wait_until


class Endpoints(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        self.stint = self.stint_before(
            self.upstream,
            limits={
                "per_client": {"requests": 3, "per": "1h", "key": "client_ip"},
                "budget": {"requests": 100, "per": "1h"},
                "cap": {"concurrent": 2},
            },
            route_limits=["per_client", "budget", "cap"],
        )
        self.admin = self.stint.admin

    def test_health_and_readiness(self):
        self.assertEqual(self.admin.request("GET", "/healthz").status, 200)
        self.assertEqual(self.admin.request("GET", "/readyz").status, 200)

    def test_the_effective_configuration_has_its_defaults_filled_in(self):
        shown = self.admin.get("/config")

        self.assertEqual(shown["timeouts"]["connect"], "2s")
        self.assertEqual(shown["timeouts"]["drain"], "10s")
        self.assertEqual(shown["max_head"], "16KiB")
        self.assertEqual(shown["limits"]["per_client"]["requests"], 3)
        self.assertIn(self.upstream.address, str(shown["upstreams"]))

    def test_limits_show_their_live_state(self):
        for _ in range(5):
            fetch(self.stint.port)
        # A client may have its whole response just before its slot is free.
        wait_until(lambda: self.admin.limit("cap")["in_flight"] == 0, "a free slot")

        limits = self.admin.limits()

        self.assertEqual(set(limits), {"per_client", "budget", "cap"})
        budget = limits["budget"]
        self.assertEqual((budget["limit"], budget["used"], budget["remaining"]), (100, 3, 97))
        self.assertTrue(3_500_000 < budget["resets_in_ms"] <= 3_600_000)
        self.assertEqual((limits["per_client"]["live_keys"], limits["per_client"]["refused"]), (1, 2))
        self.assertEqual((limits["cap"]["limit"], limits["cap"]["in_flight"]), (2, 0))

    def test_one_limit_and_one_key_of_it(self):
        fetch(self.stint.port)

        self.assertEqual(self.admin.limit("budget")["used"], 1)
        shown = self.admin.limit("per_client?key=127.0.0.1")
        self.assertEqual((shown["used"], shown["remaining"]), (1, 2))
        self.assertEqual(self.admin.request("GET", "/limits/unknown").status, 404)

    def test_the_heaviest_keys_are_named_over_all_workers(self):
        for _ in range(5):
            fetch(self.stint.port)

        shown = self.admin.get("/limits/per_client/top")

        self.assertEqual(shown["top"], [
            {"key": "127.0.0.1", "requests": 5, "refused": 2, "would_refuse": 0, "at_most_over_by": 0}])
        self.assertEqual((shown["name"], shown["key"], shown["others_at_most"]),
                         ("per_client", "client_ip", 0))

    def test_only_as_many_keys_as_are_asked_for_are_named(self):
        stint = self.stint_before(
            self.upstream, limits={"by_key": {"requests": 100, "per": "1h", "key": "header:X-Key"}},
            route_limits=["by_key"])
        for number in range(1, 8):
            for _ in range(number):
                fetch(stint.port, fields=[("X-Key", f"key {number}")])

        shown = stint.admin.get("/limits/by_key/top?n=2")

        self.assertEqual([(key["key"], key["requests"]) for key in shown["top"]],
                         [("key 7", 7), ("key 6", 6)])
        self.assertEqual(shown["others_at_most"], 5)
        self.assertEqual(len(stint.admin.get("/limits/by_key/top")["top"]), 7)
        stint.admin.reload()
        self.assertEqual(len(stint.admin.get("/limits/by_key/top")["top"]), 7)

    def test_who_would_be_refused_by_a_dry_run_comes_first(self):
        stint = self.stint_before(
            self.upstream, route_limits=["by_key", "all"],
            limits={"by_key": {"requests": 2, "per": "1h", "key": "header:X-Key", "enforce": False},
                    "all": {"requests": 11, "per": "1h"}})
        for name, number in (("often", 6), ("once", 1), ("at times", 4), ("refused", 3)):
            for _ in range(number):
                fetch(stint.port, fields=[("X-Key", name)])
        top = stint.admin.get("/limits/by_key/top?by=would_refuse")

        self.assertEqual(top["top"], [
            {"key": "often", "requests": 6, "refused": 0, "would_refuse": 4, "at_most_over_by": 0},
            {"key": "at times", "requests": 4, "refused": 0, "would_refuse": 2, "at_most_over_by": 0}])
        self.assertEqual(stint.admin.limit("by_key")["would_refuse"], 6)
        self.assertEqual(stint.admin.get("/limits/by_key/top?by=would_refuse&n=1")["others_at_most"], 2)
        self.assertEqual(stint.admin.get("/limits/by_key/top?by=refused")["top"], [])
        self.assertEqual([key["key"] for key in stint.admin.get("/limits/by_key/top?by=requests")["top"]],
                         ["often", "at times", "refused", "once"])

        enforced = stint.admin.request("POST", "/limits/by_key/enforce", body='{"enforce": true, "for": "1h"}')
        self.assertEqual(enforced.status, 200, enforced.text())
        self.assertEqual(fetch(stint.port, fields=[("X-Key", "often")]).status, 429)
        [refused] = stint.admin.get("/limits/by_key/top?by=refused")["top"]
        self.assertEqual((refused["key"], refused["refused"], refused["would_refuse"]), ("often", 1, 4))

    def test_whom_permits_are_refused_to_is_named_as_well(self):
        permits = free_port()
        stint = self.stint_before(
            self.upstream, permits={"address": f"127.0.0.1:{permits}", "dynamic_limits": 5},
            limits={"enforced": {"requests": 2, "per": "1h", "key": "permit_key"},
                    "dry": {"requests": 1, "per": "1h", "key": "permit_key", "enforce": False}})
        take = Admin(permits)

        def taken(name, **body):
            return take.request("POST", f"/v1/limits/{name}/take", body=json.dumps(body)).status

        self.assertEqual([taken("enforced", key="a") for _ in range(3)], [200, 200, 429])
        self.assertEqual([taken("dry", key=key) for key in "aabab"], [200] * 5)
        self.assertEqual([taken("own", key="a", requests=1, per_ms=3_600_000) for _ in range(2)], [200, 429])

        self.assertEqual(stint.admin.get("/limits/enforced/top?by=refused")["top"], [
            {"key": "a", "requests": 3, "refused": 1, "would_refuse": 0, "at_most_over_by": 0}])
        self.assertEqual(stint.admin.get("/limits/dry/top?by=would_refuse")["top"], [
            {"key": "a", "requests": 3, "refused": 0, "would_refuse": 2, "at_most_over_by": 0},
            {"key": "b", "requests": 2, "refused": 0, "would_refuse": 1, "at_most_over_by": 0}])
        self.assertEqual(stint.admin.limit("dry")["would_refuse"], 3)
        self.assertEqual(stint.admin.metrics().sum("stint_would_refuse_total", limit="dry"), 3)

    def test_what_has_no_heaviest_keys_says_so(self):
        for path, status in (("/limits/budget/top", 400), ("/limits/none/top", 404),
                             ("/limits/per_client/top?n=0", 400),
                             ("/limits/per_client/top?n=257", 400),
                             ("/limits/per_client/top?n=x", 400),
                             ("/limits/per_client/top?by=cost", 400),
                             ("/limits/per_client/top?by=", 400)):
            self.assertEqual(self.admin.request("GET", path).status, status, path)

    def test_a_slot_in_use_is_seen(self):
        stall = self.start_upstream(lambda connection: connection.read_request() and connection.ends())
        stint = self.stint_before(stall, limits={"cap": {"concurrent": 2}}, route_limits=["cap"])
        with RawClient(stint.port) as client:
            client.send_request()
            stall.wait_for_requests(1)
            self.assertEqual(stint.admin.limit("cap")["in_flight"], 1)
            self.assertEqual(self.metric_in_flight(stint), 1)
        stint.wait_idle()
        self.assertEqual(self.metric_in_flight(stint), 0)

    @staticmethod
    def metric_in_flight(stint):
        return stint.admin.metrics().sum("stint_requests_in_flight", route="all")

    def test_routes_and_upstreams(self):
        self.assertIn("all", str(self.admin.get("/routes")))
        self.assertIn(self.upstream.address, str(self.admin.get("/upstreams")))

    def test_version(self):
        ended = subprocess.run([binary(), "--version"], capture_output=True, text=True, check=True)

        self.assertIn(self.admin.get("/version")["version"], ended.stdout)

    def test_json_is_said_to_be_json(self):
        for path in ("/config", "/limits", "/limits/budget", "/routes", "/upstreams", "/version"):
            answered = self.admin.request("GET", path)
            self.assertTrue(answered.get("Content-Type").startswith("application/json"), path)

    def test_who_sends_far_too_much_has_the_whole_answer(self):
        with RawClient(self.admin.port) as client:
            client.send_request("POST", "/config/reload", body=bytes(6 << 20))  # more than sockets hold
            self.assertEqual(client.read_response("POST").status, 413)
            client.half_close()
            self.assertTrue(client.ends())

    def test_what_does_not_exist_is_a_404(self):
        self.assertEqual(self.admin.request("GET", "/nothing").status, 404)

    def test_metrics_tell_what_happened(self):
        for _ in range(5):
            fetch(self.stint.port, target="/private?secret=1")
        answered = self.admin.request("GET", "/metrics")
        metrics = self.admin.metrics()

        self.assertTrue(answered.get("Content-Type").startswith("text/plain"))
        self.assertEqual(metrics.sum("stint_requests_total", route="all"), 5)
        self.assertEqual(metrics.sum("stint_requests_total", route="all", status="2xx"), 3)
        self.assertEqual(metrics.sum("stint_requests_total", route="all", decision="refused"), 2)
        self.assertEqual(metrics.sum("stint_refusals_total", route="all", limit="per_client"), 2)
        self.assertEqual(metrics.sum("stint_upstream_latency_seconds_count", upstream="up"), 3)
        self.assertGreaterEqual(metrics.sum("stint_connections_accepted_total"), 5)
        self.assertEqual(metrics.sum("stint_build_info"), 1)

    def test_metrics_are_well_formed(self):
        fetch(self.stint.port)
        metrics = self.admin.metrics()

        for wanted in ("stint_requests_in_flight", "stint_connections_open"):
            self.assertIn(wanted, metrics.names())
        self.assertTrue(any("bytes" in name for name in metrics.names()))
        buckets = [
            (float(labels["le"]), value)
            for name, labels, value in metrics.samples
            if name == "stint_upstream_latency_seconds_bucket"
        ]
        self.assertEqual([value for _, value in sorted(buckets)], sorted(value for _, value in buckets))
        self.assertEqual(max(buckets)[0], float("inf"))

    def test_no_client_key_becomes_a_label(self):
        for source in ("127.0.0.5", "127.0.0.6"):
            fetch(self.stint.port, source=source, target="/secret-path", host="secret.example")

        text = self.admin.metrics().text

        for secret in ("127.0.0.5", "127.0.0.6", "secret"):
            self.assertNotIn(secret, text)

    def test_counts_of_the_metrics_survive_a_reload(self):
        fetch(self.stint.port)
        self.assertEqual(self.admin.reload().status, 200)
        fetch(self.stint.port)

        self.assertEqual(self.admin.metrics().sum("stint_requests_total", route="all"), 2)


class Changes(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        self.token_file = self.folder / "token"
        self.token_file.write_text("correct-horse-battery\n", encoding="ascii")
        self.token_file.chmod(0o600)

    def with_admin(self, **admin):
        port = free_port()
        return self.stint_before(self.upstream, admin={"address": f"127.0.0.1:{port}", **admin})

    def test_no_change_by_get(self):
        stint = self.with_admin()

        self.assertEqual(stint.admin.request("GET", "/config/reload").status, 405)
        self.assertEqual(stint.admin.request("HEAD", "/config/reload").status, 405)
        self.assertEqual(stint.admin.metrics().sum("stint_config_reloads_total"), 0)

    def test_what_can_only_be_read_refuses_post(self):
        stint = self.with_admin()

        answered = stint.admin.request("POST", "/limits")

        self.assertEqual(answered.status, 405)
        self.assertIn("GET", answered.get("Allow"))

    def test_a_change_needs_the_token_where_there_is_one(self):
        stint = self.with_admin(token_file=str(self.token_file))

        for given in (None, "wrong", "correct-horse-batter", "correct-horse-battery2", ""):
            headers = {} if given is None else {"Authorization": f"Bearer {given}"}
            answered = stint.admin.request("POST", "/config/reload", headers=headers)
            self.assertEqual(answered.status, 401, given)
            self.assertTrue(answered.get("WWW-Authenticate").startswith("Bearer"))
        self.assertEqual(stint.admin.get("/limits"), {"limits": []})  # reading needs none

        self.assertEqual(Admin(stint.admin_port, "correct-horse-battery").reload().status, 200)

    def test_reading_needs_a_token_of_its_own_where_there_is_one(self):
        read_token = self.folder / "read-token"
        read_token.write_text("battery-staple\n", encoding="ascii")
        stint = self.start_stint(
            config(self.upstream.address, admin={
                "address": f"127.0.0.1:{free_port()}", "token_file": str(self.token_file),
                "read_token_file": str(read_token), "open_paths": ["/readyz", "/metrics"]}),
            token="battery-staple")

        for path, status in (("/readyz", 200), ("/metrics", 200), ("/healthz", 401), ("/limits", 401),
                             ("/config", 401), ("/nothing", 401)):
            self.assertEqual(Admin(stint.admin_port).request("GET", path).status, status, path)
        self.assertEqual(Admin(stint.admin_port).request("POST", "/explain").status, 401)
        reader, changer = Admin(stint.admin_port, "battery-staple"), Admin(stint.admin_port, "correct-horse-battery")
        self.assertEqual(reader.get("/limits"), {"limits": []})
        self.assertEqual(reader.reload().status, 401)
        self.assertEqual(changer.get("/limits"), {"limits": []})
        self.assertEqual(changer.reload().status, 200)
        for path in ("/config", "/metrics", "/version"):
            self.assertNotIn("battery-staple", changer.request("GET", path).text())

    def test_the_token_is_never_shown(self):
        stint = self.with_admin(token_file=str(self.token_file))

        for path in ("/config", "/metrics", "/version"):
            self.assertNotIn("correct-horse", stint.admin.request("GET", path).text())
        self.assertNotIn("correct-horse", stint.log())

    def test_read_only_allows_no_change(self):
        stint = self.with_admin(read_only=True)

        self.assertIn(stint.admin.reload().status, (403, 405))

    def test_a_missing_token_file_keeps_it_from_starting(self):
        made = config(self.upstream.address)
        made["admin"] = {"address": f"127.0.0.1:{free_port()}", "token_file": "/nonexistent/token"}
        file = self.folder / "stint.yaml"
        file.write_text(str(made).replace("'", '"'), encoding="ascii")

        ended = subprocess.run(
            [binary(), "run", "-c", file], capture_output=True, text=True, timeout=30, check=False
        )

        self.assertIn(ended.returncode, (1, 2))
        self.assertIn("/nonexistent/token", ended.stderr)

    def test_off_loopback_and_read_only_it_can_be_read_from_outside(self):
        port = free_port()
        stint = self.stint_before(self.upstream, admin={"address": f"0.0.0.0:{port}", "read_only": True})

        self.assertEqual(stint.admin.request("GET", "/healthz").status, 200)
        self.assertIn(stint.admin.reload().status, (403, 405))


class Browsers(SystemTest):
    def setUp(self):
        super().setUp()
        self.stint = self.stint_before(self.start_upstream())
        self.port = self.stint.admin_port

    def test_a_host_that_is_not_ours_is_refused(self):
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1.evil.example", "10.0.0.1"):
            for method, path in (("GET", "/limits"), ("GET", "/metrics"), ("POST", "/config/reload")):
                with self.subTest(host=host, path=path):
                    answered = self.stint.admin.request(method, path, {"Host": host})
                    self.assertIn(answered.status, (403, 421))
        self.assertEqual(self.stint.admin.metrics().sum("stint_config_reloads_total"), 0)

    def test_the_names_of_this_machine_are_accepted(self):
        for host in ("127.0.0.1", f"127.0.0.1:{self.port}", "localhost", f"localhost:{self.port}",
                     f"[::1]:{self.port}", "LOCALHOST"):
            with self.subTest(host):
                self.assertEqual(self.stint.admin.request("GET", "/limits", {"Host": host}).status, 200)

    def test_a_request_of_another_site_is_refused(self):
        for origin in ("http://evil.example", "null"):
            answered = self.stint.admin.request("POST", "/config/reload", {"Origin": origin})
            self.assertEqual(answered.status, 403)

    def test_no_cors(self):
        for method in ("GET", "OPTIONS"):
            answered = self.stint.admin.request(method, "/limits", {"Origin": "http://evil.example"})
            for name, _ in answered.fields:
                self.assertFalse(name.lower().startswith("access-control-"), name)

    def test_bad_requests_do_no_harm(self):
        for raw in (
            b"\x16\x03\x01\x02\x00\x01\x00",
            b"GET /limits HTTP/1.1\r\n\r\n",
            b"GET /limits HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            b"POST /config/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n",
            b"GET /limits/%ZZ HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /limits/a?key=%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ):
            with self.subTest(raw[:60]), RawClient(self.port) as client:
                try:
                    client.send(raw)
                    client.half_close()
                    self.assertNotIn(b" 200 ", client.read_to_end()[:16])
                except ConnectionError:
                    pass
        self.assertEqual(self.stint.admin.request("GET", "/healthz").status, 200)

    def test_a_client_that_closes_its_side_when_it_has_asked_is_answered(self):
        for path in (b"/healthz", b"/metrics", b"/limits"):  # also what the workers are asked for
            with self.subTest(path), RawClient(self.port) as client:
                client.send(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
                client.half_close()
                self.assertTrue(client.read_to_end().startswith(b"HTTP/1.1 200 "))

    def test_many_connections_that_say_nothing_do_not_keep_others_out(self):
        clients = [RawClient(self.port) for _ in range(200)]
        try:
            wait_until(lambda: self.stint.admin.request("GET", "/healthz").status == 200, "it answers")
        finally:
            for client in clients:
                client.close()


if __name__ == "__main__":
    unittest.main()
