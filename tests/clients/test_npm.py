"""Clients from npm before Stint, over TLS with HTTP/2: got and grpc-js."""

import collections
import json
import os
import subprocess
import unittest
from pathlib import Path

from case import ClientTest, url_of
from pages import ASSETS, assets

FOLDER = Path(os.environ["STINT_NPM_FOLDER"]) / "npm"


class NpmTest(ClientTest):
    def play(self, script, *arguments):
        done = subprocess.run(["node", FOLDER / f"{script}.mjs", self.authority.certificate, *map(str, arguments)],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def in_log(self, stint, count) -> dict:
        """Requests by protocol and status."""
        return dict(collections.Counter(f"{line['protocol']} {line['status']}" for line in stint.wait_for_lines(count)))


class Got(NpmTest):
    def ask(self, stint, retries):
        return dict(collections.Counter(map(str, self.play(
            "got", retries, *(url_of(stint) + path for path in assets())))))

    def test_requests_that_wait(self):
        what = "got: 100 requests at once, 50 in any 0.5 s, others wait"
        stint = self.start(http2={"max_waiting_streams": 100}, limit={
            "requests": 50, "per": "500ms", "algorithm": "sliding_window", "when_exceeded": "wait", "max_wait": "30s"})
        self.row(f"{what}: answers by status", {"200": ASSETS}, self.ask(stint, 0))
        self.row(f"{what}: requests in the log", {"HTTP/2.0 200": ASSETS}, self.in_log(stint, ASSETS))

    def test_refused_requests_come_again(self):
        what = "got: 100 requests at once, 50 in 2 s, others are told when to come again"
        stint = self.start(limit={"requests": 50, "per": "2s", "retry_after": "reserve"})
        self.row(f"{what}: answers by status", {"200": ASSETS}, self.ask(stint, 9))
        log = self.in_log(stint, ASSETS + 1)
        self.row(f"{what}: refusals in the log", "> 0", log.get("HTTP/2.0 429", 0), log.get("HTTP/2.0 429", 0) > 0)


class Grpc(NpmTest):
    def call(self, stint, calls, attempts):
        return self.play("grpc", f"localhost:{stint.port}", calls, attempts)

    def test_a_refusal(self):
        stint = self.start(limit={"requests": 1, "per": "1h"})
        first, second = self.call(stint, 2, 1)
        self.row("grpc-js: a call that is served", {"code": 0, "answer": "call 0"}, first)
        self.row("grpc-js: the code of one that is refused", 8, second["code"])
        self.row("grpc-js: milliseconds until it may come again", "3000000 to 3600000", second.get("pushback"),
                 3_000_000 < (second.get("pushback") or 0) <= 3_600_000)

    def test_refused_calls_come_again_when_told(self):
        stint = self.start(limit={"requests": 1, "per": "1s"})
        seen = self.call(stint, 3, 3)  # three attempts 10 ms apart would all be refused
        self.row("grpc-js: 3 calls with retries, 1 in 1 s",
                 [{"code": 0, "answer": f"call {number}"} for number in range(3)], seen)
        log = self.in_log(stint, 4)
        self.row("grpc-js: refusals in the log", "> 0", log.get("HTTP/2.0 429", 0), log.get("HTTP/2.0 429", 0) > 0)


if __name__ == "__main__":
    unittest.main()
