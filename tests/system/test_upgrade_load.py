"""Upgrades (SIGUSR2) while clients ask: none of them fails, and every count is exact over all processes."""

import unittest
from pathlib import Path

from support.asking import Asker, Crowd, Http2Asker
from support.case import config, report, scaled
from support.certificates import Authority
from support.counting_upstream import CountingUpstream
from support.load import Load, most_in_a_span
from support.upgrade import UpgradeTest
from support.waiting import wait_until

UPGRADES = scaled(3, 20)
PER = 0.1  # seconds, of the short window
ONCE, SHORT, CAP = 1000, 100, 20


class Holding(CountingUpstream):
    @property
    def in_progress(self) -> int:
        return len(self._due)


def of_the_kernel(name: str) -> int:
    """A counter of this machine's TCP."""
    for file in ("snmp", "netstat"):
        lines = Path(f"/proc/net/{file}").read_text(encoding="ascii").splitlines()
        for names, values in zip(lines[::2], lines[1::2]):
            found = dict(zip(names.split(), values.split()))
            if name in found:
                return int(found[name])
    raise AssertionError(f"no counter {name}")


class UnderLoad(UpgradeTest):
    def setUp(self):
        super().setUp()
        self.nginx = self.start_nginx("location / { return 200 ok; }")
        self.slow = Holding(0.1, 0.4)
        self.addCleanup(self.slow.close)
        self.authority = Authority(self.new_folder())
        self.pair = self.authority.issue("localhost")

    def started(self, listener=None, **more):
        made = config(self.nginx.address, listener=listener, timeouts={"drain": "60s"}, limits={
            "once": {"requests": ONCE, "per": "1h"},
            "short": {"requests": SHORT, "per": f"{round(PER * 1000)}ms", "algorithm": "sliding_window"},
            "cap": {"concurrent": CAP},
            "counted": {"requests": 10**9, "per": "1h"},
            "keyed": {"requests": 10**9, "per": "1h", "key": "client_ip"},
        }, **more)
        made["upstreams"]["slow"] = {"endpoints": [self.slow.address]}
        counted = ["counted", "keyed"]
        made["routes"] = [
            {"name": name, "match": {"path": f"/{name}"}, "upstream": "slow" if name == "cap" else "up",
             "limits": counted if name == "counted" else [name]} for name in ("once", "short", "cap", "counted")]
        made["routes"].append({"name": "free", "match": {"path": "/free"}, "upstream": "up"})
        return self.start_upgradable(made)

    def under_load(self, stint, loads, what: str) -> None:
        """Upgrades again and again, then judges: what was seen, and what is counted."""
        loads = {name: self.enterContext(each) for name, each in loads.items()}
        resets = of_the_kernel("OutRsts")
        self.await_progress(loads)
        for _ in range(UPGRADES):
            former = stint.upgrade()
            self.await_progress(loads)
            self.assertEqual(former.wait(30), 0)  # half the time for draining: nothing was in its way
            if "cap" in loads:
                wait_until(lambda: self.slow.in_progress == CAP, "all slots are in use again", 30, 0.001)
        if "once" in loads:
            wait_until(lambda: loads["once"].statuses[200] >= ONCE, "the long window is full", 60)
        for each in loads.values():
            each.finish()
        what = f"{UPGRADES} upgrades, {what}"
        report(f"{what}: resets sent by anybody on this machine meanwhile", "not judged",
               of_the_kernel("OutRsts") - resets)
        self.judge(stint, loads, what)

    def await_progress(self, loads) -> None:
        before = {name: each.total for name, each in loads.items()}
        wait_until(lambda: all(each.failures or each.total > before[name] + 50 for name, each in loads.items()),
                   "all clients go on", 60)

    def judge(self, stint, loads, what: str) -> None:
        failures = [failure for each in loads.values() for failure in each.failures]
        report(f"{what}, {sum(each.total for each in loads.values())} requests: failed ones", 0, len(failures))
        self.assertEqual(failures, [])
        for name, each in loads.items():
            self.assertEqual(set(each.statuses), {200} if name in ("fresh", "counted") else {200, 429}, name)
        admitted = loads["counted"].statuses[200]
        keyed = stint.admin.get("/limits/keyed?key=127.0.0.1")["used"]
        report(f"{what}: counted of {admitted} that were admitted", admitted, stint.admin.limit("counted")["used"])
        self.assertEqual((stint.admin.limit("counted")["used"], keyed), (admitted, admitted))
        if "once" in loads:
            report(f"{what}: admitted to a window longer than the load", ONCE, loads["once"].statuses[200])
            self.assertEqual(loads["once"].statuses[200], ONCE)
        if "short" in loads:
            most = most_in_a_span(loads["short"].kept, PER)
            report(f"{what}: most admitted in a span of the short window", f"<= {SHORT}", most)
            self.assertLessEqual(most, SHORT)
        if "cap" in loads:
            report(f"{what}: most at a time at the upstream", CAP, self.slow.most)
            self.assertEqual(self.slow.most, CAP)

    def plain_loads(self, port) -> dict:
        """A response that ends its connection is a failure, too: these clients must not notice anything."""
        counts = {"once": (12, 0.01), "short": (16, 0.001), "cap": (28, 0.01), "counted": (8, 0.002)}
        loads = {name: Load(port, connections=count, target=f"/{name}", pause=pause, keep=name == "short")
                 for name, (count, pause) in counts.items()}
        fresh = (Asker(port, target="/free", keeps=False, pause=0.005) for _ in range(2))
        return {**loads, "fresh": Crowd(fresh)}

    def test_plain_connections(self):
        stint = self.started()
        self.under_load(stint, self.plain_loads(stint.port), "64 plain connections")

    def test_plain_connections_with_a_state_file(self):
        stint = self.started(state=str(self.new_folder() / "state.db"))
        self.under_load(stint, self.plain_loads(stint.port), "64 plain connections, with state")

    def test_connections_over_tls(self):
        stint = self.started({"tls": self.pair.tls()})
        context = self.authority.context()
        counts = {"once": (4, 0.01), "short": (8, 0.002), "cap": (24, 0.01), "counted": (4, 0.005)}
        loads = {name: Crowd(Asker(stint.port, target=f"/{name}", context=context, pause=pause) for _ in range(count))
                 for name, (count, pause) in counts.items()}
        loads["fresh"] = Crowd([Asker(stint.port, target="/free", context=context, keeps=False, pause=0.05)])
        self.under_load(stint, loads, "40 connections over TLS")
        report(f"{UPGRADES} upgrades, over TLS: requests sent again, as an idle connection had been closed", "few",
               sum(each.retried for each in loads.values()))
        opened = sum(each.connections for name, each in loads.items() if name != "fresh")
        self.assertGreater(opened, 40)  # else TLS was not in use

    def over_http2(self, listener, context) -> None:
        stint = self.started(listener)
        loads = {name: Crowd(Http2Asker(stint.port, target=f"/{name}", context=context, streams=10, pause=0.01)
                             for _ in range(count)) for name, count in (("once", 2), ("cap", 3), ("counted", 2))}
        what = f"HTTP/2{' over TLS' if context else ''}"
        self.under_load(stint, loads, what)
        report(f"{UPGRADES} upgrades, {what}: streams refused safely, and sent again", "any",
               sum(each.retried for each in loads.values()))
        # Each connection is the last one of its process.
        self.assertGreaterEqual(sum(each.connections for each in loads.values()), 7 * UPGRADES)

    def test_http2(self):
        self.over_http2({"h2c": True}, None)

    def test_http2_over_tls(self):
        context = self.authority.context()
        context.set_alpn_protocols(["h2"])
        self.over_http2({"http": ["h2", "http/1.1"], "tls": self.pair.tls()}, context)


if __name__ == "__main__":
    unittest.main()
