"""Reloads by every way (signal, API, a file written in place, a ConfigMap's swap) while clients ask: limits, routes,
endpoints and certificates change, and no client sees it but by the new numbers."""

import copy
import json
import os
import signal
import socket
import time
import unittest
from collections import Counter

from support.case import SystemTest, config, report, scaled
from support.certificates import Authority
from support.client import fetch
from support.config_map import ConfigMap
from support.load import Load, most_in_a_span
from support.ports import free_port
from support.stint import Stint
from support.waiting import wait_until

RELOADS = scaled(24, 200)
PER = 0.1  # seconds, of the short window
ONCE, SHORT = 1000, 100  # the larger numbers of both limits


def limits(number: int) -> dict:
    """Those of the configuration of that number: each has others than the one before."""
    larger = number % 2 == 0
    return {
        "once": {"requests": ONCE if larger else ONCE // 2 + number, "per": "1h"},
        "short": {"requests": SHORT if larger else SHORT // 2, "per": f"{round(PER * 1000)}ms",
                  "algorithm": "sliding_window"},
    }


class ReloadsByEveryWay(SystemTest):
    def setUp(self):
        super().setUp()
        self.origins = [self.start_nginx("location / { return 200 ok; }") for _ in range(2)]
        self.authority = Authority(self.new_folder())
        self.pair = self.authority.issue("localhost", file="in-use")
        self.tls_port = free_port()
        self.first = config(self.origins[0].address, watch=True)
        self.first["listeners"].append({"address": f"127.0.0.1:{self.tls_port}", "tls": self.pair.tls()})
        self.first["upstreams"]["up"]["endpoints"] = []
        self.stint = Stint(self.new_folder(), self.configuration(0))
        self.first["admin"] = self.stint.config["admin"]
        self.mounted = ConfigMap(self.stint)
        self.stint.start()
        self.addCleanup(self._finish, self.stint)

    def configuration(self, number: int) -> dict:
        made = copy.deepcopy(self.first)
        made["limits"] = limits(number)
        made["routes"] = [
            {"name": name, "match": {"path": f"/{name}"}, "upstream": "up", "limits": [name]} for name in limits(0)]
        made["routes"].append({"name": "free", "match": {"path": "/free"}, "upstream": "up"})
        if number % 3 == 0:
            made["routes"].append({"name": "now-and-then", "match": {"path": "/now-and-then"}, "upstream": "up"})
        both = [each.address for each in self.origins]
        made["upstreams"]["up"]["endpoints"] = (both, both[:1], both[1:])[number % 3]
        return made

    def by_signal(self, text: str) -> None:
        self.in_place(text)
        self.stint.signal(signal.SIGHUP)

    def by_api(self, text: str) -> None:
        self.in_place(text)
        answered = self.stint.admin.reload()
        self.assertEqual(answered.status, 200, answered.text())

    def in_place(self, text: str) -> None:
        self.stint.file.write_text(text, encoding="utf-8")

    def serial(self) -> int:
        """Of the certificate that is shown."""
        with (socket.create_connection(("127.0.0.1", self.tls_port), 10) as plain,
              self.authority.context().wrap_socket(plain, server_hostname="localhost") as sock):
            return int(sock.getpeercert()["serialNumber"], 16)

    def renew(self, number: int) -> None:
        other = self.authority.issue("localhost", file=f"renewed-{number}")
        self.pair.take_over(other)
        wait_until(lambda: self.serial() == other.serial(), "the new certificate is shown", 60, 0.05)

    def reload(self, number: int, change) -> None:
        """Puts the configuration of that number in force, and judges a request by it."""
        change(json.dumps(self.configuration(number)))
        wanted = limits(number)["once"]["requests"]
        wait_until(lambda: self.stint.admin.limit("once")["limit"] == wanted, f"number {number} is in force", 60, 0.01)
        seen = fetch(self.stint.port, target="/now-and-then").status
        self.assertEqual(seen, 200 if number % 3 == 0 else 404, f"number {number}")

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.stint.pid}/fd"))

    def test_no_request_fails_and_no_decision_is_wrong(self):
        ways = (self.by_signal, self.by_api, self.in_place, self.mounted.swap)
        targets = {"once": 20, "short": 20, "free": 24}
        before, by = self.descriptors(), Counter()
        loads = {name: self.enterContext(Load(self.stint.port, connections=count, target=f"/{name}", pause=0.002,
                                              keep=name == "short"))
                 for name, count in targets.items()}
        wait_until(lambda: all(each.total > 100 for each in loads.values()), "load", 30)
        begun, resident = time.monotonic(), 0
        for number in range(1, RELOADS + 1):
            if number % 20 == 0:
                self.renew(number)
            self.reload(number, ways[number % len(ways)])
            by[self.stint.admin.get("/config/last_reload")["by"]] += 1
            if number == RELOADS // 2:
                resident = self.stint.resident()
        took = time.monotonic() - begun
        self.reload(0, self.by_api)
        wait_until(lambda: loads["once"].statuses[200] >= ONCE, "the long window is full", 30)
        for each in loads.values():
            each.finish()
        self.judge(loads, f"{RELOADS} reloads in {took:.1f} s")
        report("by which way", "all", dict(by))
        self.assertEqual(set(by), {"signal", "api", "watch"})
        for each in self.origins:
            each.stop()  # and with it the connections that are kept for it
        wait_until(lambda: self.descriptors() <= before, "no descriptor is left")
        grown = (self.stint.resident() - resident) / 2**20
        report("memory after the second half of the reloads", "<= 8 MiB more", f"{grown:.1f} MiB")
        self.assertLessEqual(grown, 8)

    def judge(self, loads: "dict[str, Load]", what: str) -> None:
        total = sum(each.total for each in loads.values())
        failures = [each for load in loads.values() for each in load.failures]
        report(f"{what}, {total} requests: failed ones", 0, len(failures))
        self.assertEqual(failures, [])
        self.assertEqual(self.stint.admin.metrics().sum("stint_config_reloads_total", result="failed"), 0)
        self.assertEqual(set(loads["free"].statuses), {200})
        for name in ("once", "short"):
            self.assertEqual(set(loads[name].statuses), {200, 429}, name)
        admitted = loads["once"].statuses[200]
        report("admitted to a window longer than the load", ONCE, admitted)
        self.assertEqual(admitted, ONCE)
        most = most_in_a_span(loads["short"].kept, PER)
        report("most admitted in a span of the short window", f"<= {SHORT}", most)
        self.assertLessEqual(most, SHORT)


if __name__ == "__main__":
    unittest.main()
