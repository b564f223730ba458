"""Upgrades (SIGUSR2) by a program of another hand-over version: refused, or with --cold by its sockets alone."""

import signal
import sys
import threading
import unittest
from pathlib import Path

from support.case import config
from support.client import RawClient, fetch
from support.ended_requests import EndedRequests
from support.locks_client import LockClient, locks_config
from support.permits_client import permits_port
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


class Taker(threading.Thread):
    """A client that takes one lock after the other, until finish()."""

    def __init__(self, port: int, number: int):
        super().__init__(daemon=True)
        self._port, self._number, self._over = port, number, threading.Event()
        self.taken = []

    def run(self):
        client, asked = None, 0
        while not self._over.is_set():
            asked += 1
            try:
                client = client or LockClient(self._port, hold=None)
                name = f"{self._number}-{asked}"
                if client.acquire(name, ttl_ms=60_000).status == 201:
                    self.taken.append(name)
            except (OSError, EOFError):  # of a connection that has ended
                if client:
                    client.close()
                client = None
        if client:
            client.close()

    def finish(self):
        self._over.set()
        self.join()


class Locks(UpgradeTest):
    def started(self, locks=None, **top):
        stint = self.start_upgradable(
            locks_config(locks, timeouts={"drain": "30s"}, state={"file": str(self.new_folder() / "state.db")}, **top),
            arguments=("--cold",))
        self.port = permits_port(stint)
        return stint

    def client(self, **more):
        client = LockClient(self.port, hold=None, **more)
        self.addCleanup(client.close)
        return client

    def test_a_holder_goes_on_and_who_waits_is_told_to_ask_again(self):
        stint = self.started({"job": {"max": 1}})
        stint.replace_program(f"export LATE=1.2; {OTHER}")  # the former process has the file until then
        held = self.client().acquire("job", ttl_ms=60_000)
        self.assertEqual(held.status, 201)
        waiting = self.client(timeout=60)
        waiting.asks_to_acquire("job", ttl_ms=60_000, wait_ms=60_000)
        wait_until(lambda: self.client().lock("job").body["waiting"], "one waits")

        stint.upgrade()

        asked_again = waiting.read()
        self.assertEqual(asked_again.status, 503, asked_again.body)
        self.assertIn("another process", asked_again.body["detail"])
        self.assertIn("retry-after: 1", asked_again.head.lower())
        self.assertEqual(self.client().renew("job", held.body["lease"]).status, 200)
        self.assertEqual(self.client().acquire("job", ttl_ms=60_000).status, 409)
        self.assertNotIn("another process has it open", stint.log())
        self.client().release("job", held.body["lease"])
        stint.await_former()

    def test_no_lock_is_granted_by_both(self):
        stint = self.started(permits={"dynamic_locks": 100_000})
        stint.replace_program(OTHER)
        takers = [Taker(self.port, number) for number in range(12)]
        for each in takers:
            each.start()
            self.addCleanup(each.finish)
        wait_until(lambda: all(len(each.taken) > 10 for each in takers), "all take locks")
        stint.upgrade()
        before = [len(each.taken) for each in takers]
        wait_until(lambda: all(len(each.taken) > had + 10 for each, had in zip(takers, before)), "all go on")
        for each in takers:
            each.finish()
        client = self.client()
        taken = [name for each in takers for name in each.taken]
        self.assertEqual([name for name in taken if client.acquire(name, ttl_ms=1000).status != 409], [])
        stint.await_former()


if __name__ == "__main__":
    unittest.main()
