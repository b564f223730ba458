"""GET /config: a configuration that can be fed back and compared."""

import json
import os
import subprocess
import unittest

from support.case import SystemTest, config
from support.client import fetch
from support.ports import free_port
from support.stint import Stint, binary
from support.waiting import wait_until


class FedBack(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()

    def run_stint(self, *arguments, stdin=None, **environment):
        return subprocess.run(
            [binary(), *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=30, check=False,
            env={**os.environ, **environment})

    def check(self, document: str, **environment):
        return self.run_stint("check", "-", stdin=document, **environment)

    def start_from(self, document: str, **environment) -> Stint:
        """Starts another Stint with the document as its file, byte for byte."""
        stint = Stint(self.new_folder(), json.loads(document), environment=environment)
        stint.file.write_text(document, encoding="utf-8")
        stint.start()
        self.addCleanup(self._finish, stint)
        return stint

    def manifold(self) -> dict:
        """A configuration with something of each section."""
        made = config(
            self.upstream.address,
            upstream={"timeouts": {"connect": "1s"}, "cooldown": {"scope": "route"}, "retry": "on",
                      "request": {"set_headers": {"Authorization": "Bearer ${TOKEN}", "X-Client": "{client_ip}"}}},
            limits={
                "per_key": {"requests": 3, "per": "1h", "key": "header:X-Key",
                            "overrides": {"gold-*": {"requests": 5}, "${odd}": {"requests": 6}}, "deny": ["$${odd}"]},
                "bucket": {"requests": 100, "per": "1.5s", "algorithm": "token_bucket", "burst": 200},
                "month": {"requests": 1000, "per": "month", "time_zone": "Europe/Berlin"},
            },
            timeouts={"drain": "1500ms"},
            permits={"address": f"127.0.0.1:{free_port()}", "start_up_grace": "0s"},
            locks={"jobs": None, "product": {"max": 3, "when_exceeded": "wait"}},
            max_body="10MiB", headers="draft", trusted_proxies=["10.0.0.0/8"], access_log={"path": "access.log"})
        made["routes"][0].update(
            limits=["per_key", "bucket", {"limit": "month", "status": 503}, {"concurrent": 4}, {"lock": "product"}],
            timeouts={"response": "2s"}, max_body="1KiB")
        made["routes"].append({"name": "own", "match": {"path": "/own"}, "respond": {"status": 200, "body": "$${X}ü"}})
        return made

    def test_a_gateway_that_starts_from_it_has_the_same(self):
        first = self.start_stint(self.manifold(), environment={"TOKEN": "s3cret"})
        document = first.admin.request("GET", "/config").text()

        self.assertNotIn("s3cret", document)
        self.assertIn('"Bearer ${TOKEN}"', document)
        self.assertEqual(self.check(document, TOKEN="s3cret").returncode, 0)
        views = [first.admin.get(path) for path in ("/limits", "/routes", "/upstreams")]
        self.assertEqual(fetch(first.port, fields=[("X-Key", "a")]).status, 200)
        first.stop()

        second = self.start_from(document, TOKEN="s3cret")
        self.assertEqual(second.admin.request("GET", "/config").text(), document)
        self.assertEqual([second.admin.get(path) for path in ("/limits", "/routes", "/upstreams")], views)
        self.assertEqual(fetch(second.port, target="/own").body, "${X}ü".encode())
        self.assertEqual([fetch(second.port, fields=[("X-Key", "a")]).status for _ in range(4)], [200, 200, 200, 429])
        self.assertEqual(
            [request.get("Authorization") for request in self.upstream.requests], ["Bearer s3cret"] * 4)
        log = first.folder / "access.log"
        wait_until(lambda: log.read_text(encoding="utf-8").count("\n") == 6, "both have written to one log")

    def test_it_is_what_check_prints_of_the_file(self):
        stint = self.start_stint(self.manifold(), environment={"TOKEN": "x"})

        printed = self.run_stint("check", "--print", stint.file, TOKEN="x")

        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertEqual(printed.stdout, stint.admin.request("GET", "/config").text())
        self.assertIn(": note: ", printed.stderr)
        self.assertEqual(self.run_stint("check", "--print", "--strict", stint.file, TOKEN="x").returncode, 3)
        broken = self.run_stint("check", "--print", "-", stdin="routes: 7\n")
        self.assertEqual((broken.returncode, broken.stdout), (2, ""))

    def test_a_value_that_is_not_printed_has_to_be_filled_in(self):
        stint = self.start_stint(config(
            self.upstream.address, upstream={"request": {"set_headers": {"X-Api-Key": "s3cret"}}}))
        document = stint.admin.request("GET", "/config").text()

        self.assertNotIn("s3cret", document)
        refused = self.check(document)
        self.assertEqual(refused.returncode, 2)
        self.assertIn('upstreams.up.request.set_headers.X-Api-Key: "(hidden)" stands for a value', refused.stderr)
        self.assertEqual(self.check(document.replace("(hidden)", "s3cret")).returncode, 0)

    def test_changes_at_run_time_are_not_in_it(self):
        stint = self.start_stint(self.manifold(), environment={"TOKEN": "x"})
        document = stint.admin.request("GET", "/config").text()

        for method, path, body in (("PUT", "/limits/per_key/overrides/silver", {"requests": 9}),
                                   ("POST", "/limits/per_key/block", {"key": "a", "for": "1h"}),
                                   ("POST", "/limits/bucket/enforce", {"enforce": False, "for": "1h"})):
            answered = stint.admin.request(method, path, body=json.dumps(body))
            self.assertEqual(answered.status, 200, answered.text())

        self.assertEqual(len(stint.admin.get("/changes")["changes"]), 3)
        self.assertEqual(stint.admin.request("GET", "/config").text(), document)

    def test_it_has_what_is_in_force_until_a_restart(self):
        stint = self.stint_before(self.upstream)
        stint.write({**stint.config, "workers": 1, "max_connections": 77})
        self.assertEqual(stint.admin.reload().json()["notes"], ["workers: takes effect with a restart"])

        shown = stint.admin.get("/config")

        self.assertEqual((shown["workers"], shown["max_connections"]), (2, 77))
        of_the_file = json.loads(self.run_stint("check", "--print", stint.file).stdout)
        self.assertEqual({**of_the_file, "workers": 2}, shown)


if __name__ == "__main__":
    unittest.main()
