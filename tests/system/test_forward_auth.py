"""Forward-auth: the samples of config/forward-auth behind real nginx and real Caddy, which ask
/v1/check about each request."""

import http.client
import json
import threading
import time
import unittest

from support.caddy import Caddy
from support.case import SystemTest
from support.nginx import Nginx
from support.ports import free_port
from support.stint import ROOT

SAMPLES = ROOT / "config" / "forward-auth"


class Answer:
    def __init__(self, response: http.client.HTTPResponse):
        self.status = response.status
        self.fields = response.headers
        self.body = response.read()

    def get(self, name: str):
        return self.fields.get(name)


class ForwardAuth:
    """What holds behind either of them."""

    # Smaller than the sample's, so that a test comes to their end.
    NUMBERS = (("requests: 120", "requests: 6"), ("requests: 10", "requests: 2"))

    def set_up(self, *changes, per="1m"):
        self.app = self.start_upstream()
        self.port, permits, admin = free_port(), free_port(), free_port()
        self.ports = {"127.0.0.1:8080": f"127.0.0.1:{self.port}",
                      "127.0.0.1:8082": f"127.0.0.1:{permits}",
                      "127.0.0.1:9000": self.app.address,
                      "127.0.0.1:9901": f"127.0.0.1:{admin}"}
        text = self.sample("stint.yaml")
        for old, new in (*self.NUMBERS, ("per: 1m", f"per: {per}"), *changes):
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.stint = self.start_stint(text)
        self.permits = permits
        self.start_proxy()

    def sample(self, name: str) -> str:
        text = (SAMPLES / name).read_text(encoding="utf-8")
        for old, new in self.ports.items():
            text = text.replace(old, new)
        return text

    def ask(self, method="GET", target="/", fields=None, body=None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, target, body=body, headers=fields or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def spend(self, count: int) -> None:
        for _ in range(count):
            self.assertEqual(self.ask().status, 200)

    def test_a_client_gets_what_its_limit_has_and_then_429_with_all_that_belongs_to_it(self):
        self.set_up()
        first = self.ask()
        self.assertEqual(first.status, 200)
        self.assertEqual(first.body, b"ok")
        self.spend(5)

        refused = self.ask()

        self.assertEqual(refused.status, 429)
        self.assertIn(int(refused.get("Retry-After")), range(50, 61))
        self.assertIn(int(refused.get("Retry-After-Ms")), range(50_000, 60_001))
        self.assertRegex(refused.get("RateLimit"), r'^"per_client";r=0;t=\d+;pk=')
        self.assertRegex(refused.get("RateLimit-Policy"), r'^"per_client";q=6;w=60')
        self.assertEqual(refused.get("Content-Type"), "application/problem+json")
        self.assertEqual(json.loads(refused.body)["status"], 429)
        self.assertIsNone(refused.get("X-Stint-Status"))
        self.assertEqual(len(self.app.requests), 6)
        self.assertEqual(self.stint.admin.metrics().sum("stint_refusals_total", route="read"), 1)

    def test_who_comes_back_when_it_is_told_gets_through(self):
        self.set_up(per="1500ms")
        for _ in range(3):
            self.spend(6)
            refused = self.ask()
            self.assertEqual(refused.status, 429)
            time.sleep(int(refused.get("Retry-After-Ms")) / 1000)

    def test_methods_and_paths_lead_to_their_routes(self):
        self.set_up()
        self.assertEqual(self.ask("POST", "/a?b=c", body=b"x" * 100_000).status, 200)
        self.assertEqual(self.app.requests[0].body, b"x" * 100_000)
        self.assertEqual(self.ask("POST").status, 200)
        self.assertEqual(self.ask("POST").status, 429)
        self.assertEqual(self.ask("DELETE").status, 429)
        self.spend(4)
        self.assertEqual(self.ask().status, 429)
        self.assertEqual(self.ask(target="/healthz").status, 200)

    def test_a_client_cannot_describe_itself(self):
        self.set_up()
        self.spend(6)
        for fields in ({"X-Forwarded-For": "192.0.2.7"}, {"X-Forwarded-Uri": "/healthz"},
                       {"X-Forwarded-Method": "OPTIONS", "X-Forwarded-Uri": "/healthz"},
                       {"X-Forwarded-Host": "other.example"}, {"Forwarded": "for=192.0.2.7"},
                       {"Origin": "https://a.example"}, {"Authorization": "Bearer x"}):
            with self.subTest(fields=fields):
                self.assertEqual(self.ask(fields=fields).status, 429)
        self.assertEqual(self.ask(target="/?deny_status=401").status, 429)

    def test_other_refusals_keep_their_status(self):
        self.set_up(
            ("path_exact: /healthz", "path_exact: /healthz, methods: [GET]"),
            ("{path: /, methods: [POST, PUT, PATCH, DELETE]}",
             "{path: /write, methods: [POST, PUT, PATCH, DELETE]}"),
            ("  writes:     {requests: 2, per: 1m, key: client_ip}",
             "  writes: {requests: 2, per: 1m, key: header:X-User, deny: [eve], status: 503}"),
            ("    match: {path: /}\n", "    match: {path: /open}\n"))
        self.assertEqual(self.ask(target="/elsewhere").status, 404)
        self.assertEqual(self.ask("PUT", "/healthz").status, 405)
        self.assertEqual(self.ask(target="/open/%00").status, 400)
        self.assertEqual(self.ask("POST", "/write", {"X-User": "eve"}).status, 403)
        for wanted in (200, 200, 503):
            self.assertEqual(self.ask("POST", "/write", {"X-User": "ann"}).status, wanted)
        self.assertEqual(len(self.app.requests), 2)

    def test_of_many_at_once_exactly_as_many_as_the_limit_has_go_through(self):
        self.set_up(("requests: 6", "requests: 20"))
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(self.ask().status))
                   for _ in range(60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        self.assertEqual(seen.count(200), 20)
        self.assertEqual(seen.count(429), 40)
        self.assertEqual(len(self.app.requests), 20)

    def test_nothing_goes_through_while_stint_is_gone_and_all_is_well_when_it_is_back(self):
        self.set_up()
        self.spend(1)
        self.stint.stop()
        self.assertGreaterEqual(self.ask().status, 500)
        self.assertEqual(len(self.app.requests), 1)

        self.stint.start()

        self.assertEqual(self.ask().status, 200)


class BehindNginx(ForwardAuth, SystemTest):
    def start_proxy(self):
        nginx = Nginx(self.new_folder(), "", port=self.port)
        file = nginx.folder / "nginx.conf"
        text = file.read_text(encoding="utf-8")
        ours = text[:text.index("    server {")] + self.sample("nginx.conf") + "}\n"
        file.write_text(ours, encoding="utf-8")
        self.addCleanup(nginx.stop)
        nginx.start()

    def test_successes_tell_what_is_left(self):
        self.set_up()
        self.assertRegex(self.ask().get("RateLimit"), r'^"per_client";r=5;t=\d+;pk=')


class BehindCaddy(ForwardAuth, SystemTest):
    def start_proxy(self):
        caddy = Caddy(self.new_folder(), self.sample("Caddyfile"), self.port)
        self.addCleanup(caddy.stop)
        caddy.start()

    def test_a_refusal_is_stints_own_with_its_words(self):
        self.set_up()
        self.spend(6)
        problem = json.loads(self.ask().body)
        self.assertEqual(problem["violated-policies"], ["per_client"])
        self.assertLessEqual(problem["retry_after_ms"], 60_000)


class Asked(SystemTest):
    """As Traefik's ForwardAuth asks, and who has a token."""

    def start(self, **more):
        self.permits = free_port()
        return self.start_stint({
            "permits": {"address": f"127.0.0.1:{self.permits}", **more.pop("permits", {})},
            "limits": {"one": {"requests": 1, "per": "1h", "key": "client_ip"}},
            "routes": [{"name": "all", "match": {"path": "/"}, "respond": {"status": 204},
                        "limits": ["one"]}], **more})

    def check(self, client="192.0.2.1", query="", **more) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.permits, timeout=10)
        fields = {"X-Forwarded-Method": "GET", "X-Forwarded-Proto": "https",
                  "X-Forwarded-Host": "a.example", "X-Forwarded-Uri": "/x?y=z",
                  "X-Forwarded-For": client, **more}
        try:
            connection.request("GET", "/v1/check" + query, headers=fields)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def test_traefik_s_questions(self):
        self.start(trusted_proxies=["127.0.0.1"])
        granted = self.check()
        self.assertEqual(granted.status, 200)
        self.assertEqual(json.loads(granted.body),
                         {"granted": True, "route": "all", "not_checked": []})
        self.assertEqual(self.check().status, 429)
        self.assertEqual(self.check("192.0.2.2").status, 200)
        self.assertEqual(self.check("192.0.2.2", "?deny_status=403").status, 403)

    def test_with_a_token_nobody_need_be_trusted(self):
        token = self.folder / "token"
        token.write_text("s3cret-s3cret-s3cret\n", encoding="utf-8")
        self.start(permits={"token_file": str(token)})
        self.assertEqual(self.check().status, 403)
        self.assertEqual(self.check(Authorization="Bearer wrong").status, 403)
        self.assertEqual(self.check(Authorization="Bearer s3cret-s3cret-s3cret").status, 200)
        self.assertEqual(self.check(Authorization="Bearer s3cret-s3cret-s3cret").status, 429)


if __name__ == "__main__":
    unittest.main()
