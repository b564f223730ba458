"""POST /explain: what would become of a request, and why, charging nothing."""

import json
import unittest

from support.case import SystemTest, config
from support.client import RawClient, fetch


class Explain(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        made = config(
            self.upstream.address,
            limits={
                "per_key": {"requests": 2, "per": "1h", "key": "header:X-Key"},
                "per_client": {"requests": 10, "per": "1h", "key": "client_ip"},
            },
            route_limits=["per_key", "per_client"],
        )
        made["routes"][0]["match"] = {"path": "/a", "methods": ["GET"]}
        self.stint = self.start_stint(made)
        self.admin = self.stint.admin

    def ask(self, **described):
        answered = self.admin.request("POST", "/explain", body=json.dumps(described))
        self.assertEqual(answered.status, 200, answered.text())
        return answered.json()

    def test_the_route_the_keys_and_the_state_of_each_limit(self):
        fetch(self.stint.port, target="/a/b", fields=[("X-Key", "k")])

        found = self.ask(path="/a/b?c=1", client_ip="127.0.0.1", headers={"x-key": "k"})

        self.assertEqual((found["decision"], found["route"], found["upstream"]), ("admit", "all", "up"))
        per_key, per_client = sorted(found["limits"], key=lambda each: each["name"], reverse=True)
        self.assertEqual((per_key["key"], per_key["key_value"]), ("header:x-key", "k"))
        self.assertEqual(
            (per_key["limit"], per_key["used"], per_key["remaining"], per_key["would_refuse"]),
            (2, 1, 1, False))
        self.assertTrue(3_500_000 < per_key["resets_in_ms"] <= 3_600_000)
        self.assertEqual((per_client["key_value"], per_client["used"]), ("127.0.0.1", 1))

    def test_which_limit_decides_and_nothing_is_charged(self):
        for _ in range(2):
            fetch(self.stint.port, target="/a", fields=[("X-Key", "k")])

        for _ in range(3):
            found = self.ask(path="/a", client_ip="127.0.0.1", headers={"X-Key": "k"})
            self.assertEqual((found["decision"], found["status"]), ("refuse", 429))
            self.assertEqual(found["decided_by"], "per_key")
            self.assertTrue(3_500_000 < found["retry_after_ms"] <= 3_600_000)
        self.assertEqual(self.admin.limit("per_key")["refused"], 0)
        self.assertEqual(self.ask(path="/a", client_ip="127.0.0.1", headers={"X-Key": "other"})
                         ["decision"], "admit")
        self.assertEqual(self.admin.limit("per_key")["live_keys"], 1)

    def test_a_request_that_no_route_takes_or_that_is_malformed(self):
        self.assertEqual(self.ask(path="/b")["status"], 404)
        self.assertEqual(self.ask(path="/a", method="POST")["status"], 405)
        self.assertEqual(self.ask(path="/a/%zz")["status"], 400)
        self.assertEqual(self.ask(path="/a", host="a b")["status"], 400)

    def test_a_request_without_a_key_says_so(self):
        found = self.ask(path="/a")

        self.assertIsNone(found["limits"][0]["key_value"])

    def test_a_request_seen_lately_is_explained_by_its_id(self):
        for number in range(3):
            fetch(self.stint.port, target="/a", fields=[("X-Key", "k"), ("X-Request-Id", f"id-{number}")])

        refused = self.ask(request_id="id-2")
        self.assertEqual((refused["decision"], refused["route"]), ("refuse", "all"))
        self.assertEqual(refused["decided_by"], "per_key")
        self.assertTrue(3_500_000 < refused["retry_after_ms"] <= 3_600_000)
        per_key = next(each for each in refused["limits"] if each["name"] == "per_key")
        self.assertEqual((per_key["key_value"], per_key["used"], per_key["remaining"]), ("k", 2, 0))
        self.assertEqual(self.ask(request_id="id-0")["decision"], "admit")
        unknown = self.admin.request("POST", "/explain", body='{"request_id": "id-9"}')
        self.assertEqual(unknown.status, 404)

    def test_a_description_that_makes_no_sense_says_what_is_wrong(self):
        for body, said in (
            ("", "must be a JSON object"),
            ("[]", "must be a JSON object"),
            ('{"paht": "/"}', '"paht" is unknown'),
            ('{"path": 1}', '"path" must be a text'),
            ('{"client_ip": "x"}', "not an IP address"),
            ('{"headers": {"a": 1}}', "a value that is no text: a"),
            ('{"path": "/\\r\\nX: y"}', "line end"),
        ):
            with self.subTest(body=body):
                answered = self.admin.request("POST", "/explain", body=body)
                self.assertEqual(answered.status, 400)
                self.assertIn(said, answered.json()["detail"])
        self.assertEqual(self.admin.request("GET", "/explain").status, 405)

    def test_a_body_in_chunks_and_one_that_is_too_large(self):
        with RawClient(self.stint.admin_port) as client:
            client.send(b"POST /explain HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                        b"\r\n8\r\n{\"path\":\r\n5\r\n\"/a\"}\r\n0\r\n\r\n")
            self.assertEqual(json.loads(client.read_response().body)["route"], "all")
        self.assertEqual(
            self.admin.request("POST", "/explain", body=" " * (64 * 1024 + 1)).status, 413)


if __name__ == "__main__":
    unittest.main()
