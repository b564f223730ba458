"""Upgrades (SIGUSR2) of a gateway that shares limits with another one: the new process has a session and shares of its
own, and both gateways together never admit more than the limits allow."""

import signal
import threading
import time
import unittest

from support.case import scaled
from support.client import RawClient, fetch
from support.load import Load
from support.locks_client import LockClient
from support.messages import response_bytes
from support.permits_client import permits_port
from support.ports import free_port
from support.shared_case import SharedTest
from support.upgrade import UpgradeTest
from support.waiting import wait_until


class SharedUpgrade(SharedTest, UpgradeTest):
    def start_stint(self, configuration, **more):
        return self.start_upgradable(configuration, **more)

    def upgrade(self, stint):
        name = self.store(stint)["gateway_id"]
        former = stint.upgrade()
        self.assertEqual(self.store(stint)["state"], "ready")
        self.assertNotEqual(self.store(stint)["gateway_id"], name)
        return former


class Windows(SharedUpgrade):
    def test_a_long_window_is_used_up_and_no_more(self):
        number = 200
        gateways = self.gateways(2, {"all": {"requests": number, "per": "1h", "shared": "main"}},
                                 store={"timeout": "1s"})
        admitted = 0
        for turn in range(3):
            seen = [status for stint in gateways for status in self.statuses(stint, 20)]
            self.assertEqual(set(seen), {200})
            admitted += len(seen)
            self.upgrade(gateways[turn % 2])

        def used_up():
            nonlocal admitted
            seen = [status for stint in gateways for status in self.statuses(stint, 20)]
            admitted += seen.count(200)
            self.assertLessEqual(admitted, number)
            return admitted == number and set(seen) == {429}

        wait_until(used_up, "all is admitted", 20)

    def test_a_short_window_under_load(self):
        number = 300
        for algorithm in ("sliding_window", "token_bucket"):
            with self.subTest(algorithm):
                limits = {algorithm: {"requests": number, "per": "1s", "shared": "main", "algorithm": algorithm}}
                gateways = self.gateways(2, limits, store={"timeout": "1s"}, timeouts={"drain": "20s"})
                loads = [Load(stint.port, connections=4, pause=0.004) for stint in gateways]
                for load in loads:
                    load.__enter__()
                time.sleep(1)
                before, began = sum(load.statuses[200] for load in loads), time.monotonic()
                for _ in range(scaled(3, 10)):
                    self.upgrade(gateways[0])
                    gateways[0].await_former()
                    time.sleep(1)
                admitted, passed = sum(load.statuses[200] for load in loads) - before, time.monotonic() - began
                for load in loads:
                    load.finish()
                    self.assertEqual(load.failures, [])
                    self.assertLessEqual(set(load.statuses), {200, 429})
                self.assertLessEqual(admitted, number * (passed + 1))
                self.assertGreaterEqual(admitted, 0.7 * number * passed)
                for stint in gateways:
                    stint.stop()


class Gone(SharedUpgrade):
    def test_without_the_store_the_old_process_serves_on(self):
        [stint] = self.gateways(1, {"all": {"requests": 10, "per": "1h", "shared": "main"}})
        self.assertEqual(self.statuses(stint, 2), [200, 200])  # it has a share
        before = stint.serving()
        self.redis.kill()
        stint.signal(signal.SIGUSR2)
        wait_until(lambda: "store main does not answer" in stint.log() and "this one serves on" in stint.log(),
                   "the reason, and the end of the upgrade", 20)
        self.assertEqual(stint.serving(), before)
        wait_until(lambda: not stint.others(), "the process that was given up has ended")


class Slots(SharedUpgrade):
    def setUp(self):
        super().setUp()
        self.ends, self.under_way = {}, []
        self.addCleanup(lambda: [each.set() for each in self.ends.values()])

    def script(self, connection):
        while True:
            request = connection.read_request()
            end = self.ends.setdefault(request.target, threading.Event())
            self.under_way.append(request.target)
            end.wait(60)
            connection.send(response_bytes())

    def begin(self, stint, name):
        client = RawClient(stint.port)
        self.addCleanup(client.close)
        client.send_request(target=name)
        wait_until(lambda: name in self.under_way, f"{name} is under way")
        return client

    def test_requests_in_flight_keep_theirs(self):
        upstream = self.start_upstream(self.script)
        first, second = self.gateways(2, {"cap": {"concurrent": 4, "shared": "main"}}, store={"timeout": "1s"},
                                      upstream=upstream.address, timeouts={"drain": "60s"})
        old = {f"/old-{number}": self.begin(first, f"/old-{number}") for number in range(4)}
        self.upgrade(first)
        for stint in (first, second) * 3:
            self.assertEqual(fetch(stint.port, target="/no").status, 429)
            time.sleep(0.1)
        for turn, (name, client) in enumerate(old.items()):
            self.ends[name].set()
            self.assertEqual(client.read_response().status, 200)
            stint = (first, second)[turn % 2]
            self.ends[f"/new-{turn}"] = threading.Event()
            wait_until(lambda: self.admits(stint, f"/new-{turn}"), "its slot is free", 20)
            self.assertEqual(fetch(first.port, target="/no").status, 429)
            self.assertEqual(fetch(second.port, target="/no").status, 429)
        for each in self.ends.values():
            each.set()

    def admits(self, stint, name):
        statuses = []
        threading.Thread(target=lambda: statuses.append(fetch(stint.port, target=name).status), daemon=True).start()
        wait_until(lambda: statuses or name in self.under_way, "an answer, or the upstream has it")
        return name in self.under_way


class Locks(SharedUpgrade):
    def test_a_lock_that_a_client_holds_is_not_handed_over(self):
        stint = self.gateway({"all": {"requests": 10, "per": "1h"}}, name="edge-0", store={"timeout": "1s"},
                             permits={"address": f"127.0.0.1:{free_port()}", "start_up_grace": "0s"},
                             locks={"jobs": {"shared": "main"}})
        self.wait_until_ready(stint)
        self.trust(stint)
        caller = LockClient(permits_port(stint), hold=None)
        self.addCleanup(caller.close)
        lease = caller.acquire("jobs", wait_ms=5000)
        self.assertEqual(lease.status, 201, lease)
        before = stint.serving()
        stint.signal(signal.SIGUSR2)
        wait_until(lambda: "lock jobs is shared by gateways, and held" in stint.log(), "the reason")
        self.assertEqual(stint.serving(), before)
        self.assertEqual(caller.release("jobs", lease.body["lease"]).status, 204)
        wait_until(lambda: not stint.others(), "the process that was given up has ended")
        self.upgrade(stint)
        again = caller.acquire("jobs", wait_ms=10000)
        self.assertEqual(again.status, 201, again)
        self.assertGreater(again.body["fence"], lease.body["fence"])
        self.assertEqual(caller.release("jobs", again.body["lease"]).status, 204)


if __name__ == "__main__":
    unittest.main()
