"""`stint simulate` on logs that nginx and HAProxy wrote in front of a live Stint: it refuses the same requests."""

import json
import random
import re
import shutil
import socket
import subprocess
import time
import unittest

from support.case import SystemTest, config, report, scaled
from support.client import RawClient
from support.ports import free_port
from support.stint import binary
from support.waiting import wait_until

# The longest wait names the refusing limit, so the windows differ. Windows of which a test run sees one only; the counts are those that the requests below exceed.
LIMITS = {
    "per_client": {"requests": 100, "per": "8h", "key": "client_ip"},
    "searches": {"requests": 40, "per": "16h", "key": ["client_ip", "query:q"]},
    "per_agent": {"requests": 300, "per": "24h", "key": "header:User-Agent"},
}
REQUESTS = 3000

HAPROXY = """
global
    log stdout format raw local0
    nbthread 1
defaults
    mode http
    log global
    option httplog
    option dontlognull
    option forwardfor
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend web
    bind 127.0.0.1:{port}
    capture request header Host len 64
    capture request header User-Agent len 64
    default_backend app
backend app
    server stint 127.0.0.1:{stint}
"""


def simulate(*arguments):
    ended = subprocess.run(
        [binary(), "simulate", "--json", *map(str, arguments)], capture_output=True, text=True, timeout=120,
        check=False)
    if ended.returncode != 0:
        raise AssertionError(ended.stderr)
    return json.loads(ended.stdout)


def has_lines(log, count) -> bool:
    return log.read_bytes().count(b"\n") >= count


def listens(port) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class SameAsLive(SystemTest):
    def setUp(self):
        super().setUp()
        upstream = self.start_upstream()
        self.stint = self.stint_before(
            upstream, limits=LIMITS, route_limits=list(LIMITS), workers=1, trusted_proxies=["127.0.0.1/32"])

    def send(self, port):
        """The requests: of 40 clients, a few of them busy, and by four programs, one after the other."""
        chance = random.Random(5)
        clients = [RawClient(port, source=f"127.0.0.{number}") for number in range(10, 50)]
        for _ in range(REQUESTS):
            client = clients[int(40 * chance.random() ** 2)]
            target = f"/search?q={chance.randrange(3)}" if chance.random() < 0.5 else "/a%20b?x={|}"
            client.request("GET", target, [("User-Agent", f'agent "{chance.randrange(4)}" \\ #1')])
        for client in clients:
            client.close()

    def judge(self, log, *arguments, swapped=0):
        """Stint's own log tells who refused; the proxy's tells which requests, as they have status 429.
        swapped: on how many requests they may differ, as the log has a neighbour before its own turn."""
        own = self.stint.wait_for_lines(REQUESTS)
        live = {}
        for line in own:
            if line["decision"] == "refused":
                live[line["limit"]] = live.get(line["limit"], 0) + 1
        wait_until(lambda: has_lines(log, REQUESTS), "the proxy has logged all")

        found = simulate("-c", self.stint.file, *arguments, log)

        self.assertEqual(set(live), set(LIMITS), "each limit must have refused some")
        self.assertEqual(found["log"]["requests"], REQUESTS)
        self.assertEqual(found["configuration"]["field_not_in_log"], {})
        simulated = found["configuration"]["routes"][0]["refused_by"]
        self.assertEqual(set(simulated), set(live))
        for limit, count in live.items():
            self.assertAlmostEqual(simulated[limit], count, delta=swapped, msg=limit)
        self.assertEqual(found["against"]["refused"], sum(live.values()))
        difference = found["difference"]
        self.assertLessEqual(max(difference["newly_refused"], difference["newly_admitted"]), swapped)

    def test_nginx_combined(self):
        log = self.folder / "combined.log"
        nginx = self.start_nginx(f"""
            access_log {log} combined;
            location / {{
                proxy_pass http://127.0.0.1:{self.stint.port};
                proxy_set_header X-Forwarded-For $remote_addr;
            }}""")

        self.send(nginx.port)

        self.judge(log)

    @unittest.skipUnless(shutil.which("haproxy", path="/usr/sbin:/usr/bin"), "haproxy is not installed")
    def test_haproxy_httplog(self):
        port = free_port()
        file = self.folder / "haproxy.cfg"
        file.write_text(HAPROXY.format(port=port, stint=self.stint.port), encoding="utf-8")
        log = self.folder / "haproxy.log"
        with open(log, "wb") as output:
            haproxy = subprocess.Popen(
                ["/usr/sbin/haproxy", "-db", "-f", file], stdout=output, stderr=subprocess.DEVNULL)
        self.addCleanup(haproxy.wait)
        self.addCleanup(haproxy.terminate)
        wait_until(lambda: listens(port), "HAProxy listens")

        self.send(port)

        wait_until(lambda: has_lines(log, REQUESTS), "HAProxy has logged all")
        text = log.read_text("utf-8")
        prefixed = self.folder / "syslog"
        prefixed.write_text(re.sub("^", "Nov 25 10:00:00 lb haproxy[7]: ", text, flags=re.M), encoding="utf-8")
        # The start and the time to the head are each rounded to a millisecond, in which others start.
        self.judge(prefixed, "--captured", "host", "--captured", "user-agent", swapped=REQUESTS // 200)


class Speed(SystemTest):
    def test_a_long_log(self):
        """Many clients and paths, an hour of nginx's combined format."""
        lines = scaled(20_000, 1_000_000)
        chance = random.Random(7)
        log = self.folder / "access.log"
        with open(log, "w", encoding="utf-8") as out:
            for number in range(lines):
                second = number * 3600 // lines
                out.write(
                    f"198.51.{chance.randrange(100)}.{chance.randrange(200)} - - "
                    f"[25/Nov/2026:10:{second // 60:02}:{second % 60:02} +0100] "
                    f'"GET /page/{chance.randrange(5000)}?id={number} HTTP/1.1" 200 {chance.randrange(90000)} '
                    '"https://shop.example/" "Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0 Safari/537.36"\n')
        file = self.folder / "new.yaml"
        limits = {"k": {"requests": 3, "per": "10m", "key": "client_ip"}, "all": {"requests": lines // 4, "per": "1h"}}
        file.write_text(json.dumps(config("127.0.0.1:9", limits=limits, route_limits=list(limits))), encoding="utf-8")

        began = time.monotonic()
        found = simulate("-c", file, log)
        took = time.monotonic() - began

        report(f"simulate: nginx's log of {lines:,} lines", "< 10 s", f"{took:.2f} s", took < 10)
        self.assertEqual(found["log"]["requests"], lines)
        self.assertEqual(found["log"]["malformed"], 0)
        self.assertGreater(found["configuration"]["refused"], 0)


if __name__ == "__main__":
    unittest.main()
