"""The access log: one JSON object a line, and never a reason for traffic to wait."""

import json
import os
import re
import unittest

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.load import Load
from support.ports import free_port
from support.waiting import wait_until


class Lines(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()

    def test_a_line_says_what_happened(self):
        stint = self.stint_before(self.upstream)
        fetch(stint.port, "POST", "/a/b?secret=1", {"X-Request-Id": "my-id"}, b"12345", host="Shop.example:80")

        line = stint.wait_for_lines(1)[0]

        self.assertEqual(line["request_id"], "my-id")
        self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(line["client"], "127.0.0.1")
        self.assertTrue(re.match(r"shop\.example", line["host"], re.IGNORECASE))
        self.assertEqual((line["route"], line["method"], line["status"]), ("all", "POST", 200))
        self.assertTrue(line["path"].startswith("/a/b"))
        self.assertEqual(line["decision"], "forwarded")
        self.assertEqual(line["bytes_in"], 5)
        self.assertGreater(line["bytes_out"], 2)
        self.assertEqual(line["upstream"], self.upstream.address)
        self.assertGreaterEqual(line["duration_ms"], line["upstream_ms"])
        self.assertNotIn("limit", line)

    def test_a_refusal_names_its_limit(self):
        stint = self.stint_before(
            self.upstream, limits={"n": {"requests": 1, "per": "1h"}}, route_limits=["n"]
        )
        fetch(stint.port)
        fetch(stint.port)

        line, = (one for one in stint.wait_for_lines(2) if one["status"] == 429)

        self.assertEqual((line["decision"], line["limit"]), ("refused", "n"))
        self.assertNotIn("upstream", line)

    def test_a_refusal_shows_its_key_as_configured(self):
        for log_key, wanted in ((None, r"[0-9a-f]{16}"), ("hash", r"[0-9a-f]{16}"), ("prefix", r"sk_...\.\.\."),
                                ("full", "sk_live_0123456789"), ("off", None)):
            with self.subTest(log_key):
                log = {"path": "stdout"} if log_key is None else {"path": "stdout", "log_key": log_key}
                stint = self.stint_before(
                    self.upstream, access_log=log, route_limits=["n"],
                    limits={"n": {"requests": 1, "per": "1h", "key": "header:X-Key"}})
                for _ in range(3):
                    fetch(stint.port, fields={"X-Key": "sk_live_0123456789"})

                first, *refused = sorted(stint.wait_for_lines(3), key=lambda line: line["status"])

                self.assertEqual((first["status"], first["protocol"]), (200, "HTTP/1.1"))
                self.assertNotIn("key", first)
                self.assertNotIn("tls", first)
                keys = {line.get("key") for line in refused}
                self.assertEqual(len(keys), 1)
                if wanted is None:
                    self.assertEqual(keys, {None})
                else:
                    self.assertRegex(keys.pop(), f"^{wanted}$")

    def test_every_outcome_has_its_word(self):
        routes = [
            {"name": "up", "match": {"path": "/up"}, "upstream": "up"},
            {"name": "down", "match": {"path": "/down"}, "upstream": "down"},
        ]
        stint = self.start_stint(
            config(
                routes=routes,
                upstreams={
                    "up": {"endpoints": [self.upstream.address]},
                    "down": {"endpoints": [f"127.0.0.1:{free_port()}"]},
                },
            )
        )
        fetch(stint.port, target="/up")
        fetch(stint.port, target="/down")
        fetch(stint.port, target="/nowhere")
        with RawClient(stint.port) as client:
            client.send(b"GET /up HTTP/1.1\r\n\r\n")
            client.read_response()

        # Each worker has its own lines: their order is not that of the requests.
        lines = stint.wait_for_lines(4)
        seen = {(line["status"], line["decision"]) for line in lines}

        self.assertEqual(
            seen, {(200, "forwarded"), (502, "upstream_failed"), (404, "no_route"), (400, "rejected")}
        )
        self.assertEqual([line["status"] for line in lines if "upstream_error" in line], [502])

    def test_an_upstream_s_failure_is_explained_here_and_not_to_the_client(self):
        down = f"127.0.0.1:{free_port()}"
        stint = self.start_stint(config(down))
        answered = fetch(stint.port)

        line = stint.wait_for_lines(1)[0]

        self.assertEqual(answered.status, 502)
        self.assertNotIn(b"127.0.0.1", answered.body)
        self.assertEqual(answered.get("X-Request-Id"), line["request_id"])
        self.assertEqual(line["upstream"], down)
        self.assertEqual(line["upstream_error"], f"could not connect to {down}: Connection refused")
        self.assertIn(f"request {line['request_id']}: could not connect to {down}", stint.log())

    def test_a_client_that_left_is_a_499(self):
        stall = self.start_upstream(lambda connection: connection.read_request() and connection.ends())
        stint = self.stint_before(stall)
        client = RawClient(stint.port)
        client.send_request()
        stall.wait_for_requests(1)

        client.reset()

        line = stint.wait_for_lines(1)[0]
        self.assertEqual((line["status"], line["decision"]), (499, "client_gone"))

    def test_header_fields_are_logged_where_asked_for(self):
        stint = self.stint_before(
            self.upstream,
            access_log={"path": "stdout", "fields": ["header:X-Api-Key", "header:User-Agent"]},
        )
        fetch(stint.port, fields={"x-api-key": 'a"\\\xff', "Cookie": "not asked for"})

        line = stint.wait_for_lines(1)[0]

        self.assertEqual(len(line["fields"]), 1)
        (name, value), = line["fields"].items()
        self.assertEqual(name.lower().removeprefix("header:"), "x-api-key")
        self.assertTrue(value.startswith('a"\\'))
        self.assertNotIn("not asked for", json.dumps(line))

    def test_bytes_that_are_not_text_leave_the_line_well_formed(self):
        stint = self.stint_before(self.upstream, access_log={"path": "stdout", "fields": ["header:X-Odd"]})
        with RawClient(stint.port) as client:
            client.request(fields={"X-Odd": "\xff\xfe\"\\"})

        self.assertEqual(len(stint.wait_for_lines(1)), 1)

    def test_off_writes_nothing(self):
        stint = self.stint_before(self.upstream, access_log={"path": "off"})
        fetch(stint.port)
        stint.stop()

        self.assertEqual(stint.access_log(), [])

    def test_stopping_writes_what_is_due(self):
        stint = self.stint_before(self.upstream)
        with RawClient(stint.port) as client:
            for _ in range(200):
                client.request()
        stint.stop()

        self.assertEqual(len(stint.access_log()), 200)

    def test_a_file_that_cannot_be_opened_does_not_stop_traffic(self):
        folder = self.folder / "later"
        log = folder / "access.log"
        stint = self.stint_before(self.upstream, access_log={"path": str(log)})
        self.assertEqual(fetch(stint.port).status, 200)
        wait_until(lambda: str(log) in stint.log(), "the operational log says so")

        folder.mkdir()

        wait_until(log.exists, "it is tried again")

        def logged():
            fetch(stint.port, target="/later")
            return "/later" in log.read_text(encoding="utf-8")

        wait_until(logged, "lines are written")


class Stalled(SystemTest):
    @staticmethod
    def dropped(stint):
        return stint.admin.metrics().sum("stint_access_log_lines_total", result="dropped")

    def flood(self, stint):
        with Load(stint.port, connections=16, target="/" + "x" * 2000) as load:
            wait_until(lambda: load.total > 5000, "traffic goes on", 60)
        self.assertEqual(load.failures, [])
        self.assertEqual(set(load.statuses), {200})

    def test_a_pipe_that_nobody_reads_costs_lines_and_no_time(self):
        upstream = self.start_nginx("location / { return 200 ok; }")
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        stint = self.start_stint(config(upstream.address), stdout=write_end)
        os.close(write_end)

        self.flood(stint)

        self.assertGreater(self.dropped(stint), 0)
        stint.stop(seconds=10)

    def test_a_pipe_that_is_closed_does_not_end_stint(self):
        upstream = self.start_nginx("location / { return 200 ok; }")
        read_end, write_end = os.pipe()
        stint = self.start_stint(config(upstream.address), stdout=write_end)
        os.close(write_end)
        os.close(read_end)

        self.flood(stint)

        self.assertTrue(stint.running)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_a_full_disk_costs_lines_and_nothing_else(self):
        stint = self.stint_before(self.start_upstream(), access_log={"path": "/dev/full"})
        with RawClient(stint.port) as client:
            for _ in range(500):
                self.assertEqual(client.request().status, 200)

        wait_until(lambda: self.dropped(stint) > 0, "lost lines are counted")


if __name__ == "__main__":
    unittest.main()
