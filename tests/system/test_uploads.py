"""Uploads to an upstream that goes wrong at random: what comes out behind Stint is what went in, byte by
byte, and nothing of it twice. The work is done by tests/uploads (upload_check), which prints what it has seen."""

import os
import re
import subprocess
import unittest

from support.case import SystemTest, config, report, scaled
from support.certificates import Authority
from support.ports import free_port
from support.stream import SMALL_BUFFERS

COUNT = scaled(4000, 200_000)
SEED = os.environ.get("STINT_SEED", "1")


class Uploads(SystemTest):
    def check(self, name: str, tls: Authority | None):
        ports = [free_port(), free_port()]
        arguments = []
        listener, upstream, scheme = {}, {}, ""
        if tls:
            pair = tls.issue("localhost", "IP:127.0.0.1")
            arguments = ["--tls", f"{tls.certificate},{pair.certificate},{pair.key}"]
            listener = {"tls": pair.tls()}
            upstream = {"tls": {"ca": str(tls.certificate)}}
            scheme = "https://"
        again = {"on": ["connect", "reset", "502"], "attempts": 3, "budget": "100%"}
        pauses = {"scope": "key", "key": "header:X-Scope", "default": "20ms", "ramp_up": "1ms",
                  "when_paused": "wait"}
        made = config(
            *(f"{scheme}127.0.0.1:{port}" for port in ports), listener=listener,
            upstream={"ejection": "off", **upstream}, access_log={"path": "off"},
            timeouts={"body_idle": "5s", "connect": "20s", "head": "30s", "response": "20s"})
        made["routes"] = [
            {"name": "forbidden", "match": {"path": "/forbidden"}, "respond": {"status": 403}},
            {"name": "plain", "match": {"path": "/plain"}, "upstream": "up"},
            {"name": "retry", "match": {"path": "/retry"}, "upstream": "up", "retry": again},
            {"name": "wait", "match": {"path": "/wait"}, "upstream": "up", "retry": again, "cooldown": pauses},
        ]
        stint = self.start_stint(made, environment={
            "LD_PRELOAD": os.environ["STINT_LATE_WRITES"], "STINT_UPSTREAM_PORTS": ",".join(map(str, ports))})
        ended = subprocess.run(
            [os.environ["STINT_UPLOAD_CHECK"], "--stint", str(stint.port), "--upstreams", ",".join(map(str, ports)),
             "--count", str(COUNT), "--seed", SEED, *arguments, *(["--blocked"] if SMALL_BUFFERS else [])],
            stdout=subprocess.PIPE, text=True, timeout=3600, check=False)
        print(ended.stdout, flush=True)
        seen = re.search(r"^\d+ uploads, (\d+) violations$", ended.stdout, re.M)
        report(f"uploads, {name}: violations of {COUNT:,}", 0, seen[1] if seen else "?", ended.returncode == 0)
        self.assertEqual(ended.returncode, 0, f"STINT_SEED={SEED}\n{ended.stdout}")
        metrics = stint.admin.metrics()
        self.assertGreater(metrics.sum("stint_upstream_retries_total"), 0)

    def test_plain(self):
        self.check("plain", None)

    def test_over_tls(self):
        self.check("TLS", Authority(self.new_folder()))


if __name__ == "__main__":
    unittest.main()
