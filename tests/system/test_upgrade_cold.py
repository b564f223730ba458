"""Upgrades (SIGUSR2) by a program of another hand-over version: refused, or with --cold by its sockets alone."""

import signal
import sys
import threading
import unittest
from pathlib import Path

from support.case import config
from support.client import RawClient, fetch
from support.ended_requests import EndedRequests
from support.stint import binary
from support.upgrade import UpgradeTest
from support.waiting import wait_until

OTHER = f'exec {sys.executable} -B {Path(__file__).parent}/support/other_version.py {binary()} "$@"'


class NewConnections(threading.Thread):
    """A client with a new connection for each request, until finish()."""

    def __init__(self, port: int):
        super().__init__(daemon=True)
        self._port, self._over = port, threading.Event()
        self.statuses, self.failures = [], []

    def run(self):
        while not self._over.wait(0.005):
            try:
                self.statuses.append(fetch(self._port).status)
            except (OSError, EOFError) as failure:
                self.failures.append(repr(failure))

    def finish(self):
        self._over.set()
        self.join()


class OtherVersion(UpgradeTest):
    def started(self, *arguments):
        nginx = self.start_nginx("location / { return 200 ok; }")
        stint = self.start_upgradable(
            config(nginx.address, limits={"n": {"requests": 10**9, "per": "1h"}}, route_limits=["n"]),
            arguments=arguments)
        stint.replace_program(OTHER)
        return stint

    def test_is_refused_and_the_former_process_serves_on(self):
        stint = self.started()
        before = stint.serving()
        fetch(stint.port)
        stint.signal(signal.SIGUSR2)
        wait_until(lambda: "was given up" in stint.log(), "the reason")
        wait_until(lambda: not stint.others(), "the new process has ended")
        self.assertIn("hands over by version", stint.log())
        self.assertIn("only with --cold", stint.log())
        self.assertEqual((stint.serving(), stint.process.poll()), (before, None))
        self.assertEqual((fetch(stint.port).status, stint.admin.limit("n")["used"]), (200, 2))

    def test_with_cold_the_sockets_go_on_and_counts_begin_anew(self):
        stint = self.started("--cold")
        client = NewConnections(stint.port)
        client.start()
        self.addCleanup(client.finish)
        wait_until(lambda: len(client.statuses) > 200, "requests")
        stint.upgrade()
        self.assertLess(stint.admin.limit("n")["used"], len(client.statuses) - 190)
        asked = len(client.statuses)
        wait_until(lambda: len(client.statuses) > asked + 50, "requests")
        client.finish()
        self.assertEqual((client.failures, set(client.statuses)), ([], {200}))
        stint.await_former()


class RequestsOfTheFormerProcess(EndedRequests, UpgradeTest):
    def test_those_in_flight_and_those_that_wait_are_answered_by_it(self):
        stint = self.start_upgradable(
            config(self.start_upstream(self.script).address, timeouts={"drain": "30s"}, route_limits=["cap"],
                   limits={"cap": {"concurrent": 1, "when_exceeded": "wait", "max_wait": "30s"}}),
            arguments=("--cold",))
        stint.replace_program(OTHER)
        idle = RawClient(stint.port)
        self.addCleanup(idle.close)
        first, second = self.begin(stint, "/1"), RawClient(stint.port)
        self.addCleanup(second.close)
        second.send_request(target="/2")
        wait_until(lambda: stint.admin.limit("cap")["waiting"] == 1, "the second waits")

        stint.upgrade()

        self.assertEqual(idle.read_to_end(), b"")
        other = self.begin(stint, "/3")  # the new process knows nothing of the slots of the former one
        self.assertNotIn("/2", self.under_way)
        self.end("/1", first)
        wait_until(lambda: "/2" in self.under_way, "the second has got the slot")
        self.end("/2", second)
        stint.await_former()
        self.end("/3", other)


if __name__ == "__main__":
    unittest.main()
