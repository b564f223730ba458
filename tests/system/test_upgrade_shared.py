"""Upgrades (SIGUSR2) of a gateway that shares limits with another one: the new process has a session and shares of its
own, and both gateways together never admit more than the limits allow."""

import signal
import threading
import time
import unittest

from support.case import config, scaled
from support.certificates import Authority
from support.client import fetch
from support.ended_requests import EndedRequests
from support.load import Load
from support.locks_client import LockClient
from support.messages import response_bytes
from support.permits_client import permits_port
from support.ports import free_port
from support.redis import Redis
from support.shared_case import SharedTest
from support.upgrade import UpgradeTest
from support.waiting import wait_until

HOURLY = {"all": {"requests": 10, "per": "1h", "shared": "main"}}


class SharedUpgrade(SharedTest, UpgradeTest):
    def start_stint(self, configuration, **more):
        return self.start_upgradable(configuration, **more)

    def upgrade(self, stint):
        name = self.store(stint)["gateway_id"]
        former = stint.upgrade()
        self.assertEqual(self.store(stint)["state"], "ready")
        self.assertNotEqual(self.store(stint)["gateway_id"], name)
        return former

    def upgrade_in_vain(self, stint, reason, seconds=20):
        """The reason is logged, and the former process serves on."""
        before = stint.serving()
        logged = len(stint.log())
        stint.signal(signal.SIGUSR2)
        wait_until(
            lambda: reason in stint.log()[logged:], lambda: f"the reason; the log: {stint.log()[logged:]}", seconds)
        self.await_failed(stint)
        self.assertEqual(stint.serving(), before)

    def await_failed(self, stint):
        wait_until(lambda: not stint.others(), "the process that was given up has ended")


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
                asked = sum(load.total for load in loads)
                for _ in range(scaled(3, 10)):
                    self.upgrade(gateways[0])
                    gateways[0].await_former()
                    time.sleep(1)
                admitted, passed = sum(load.statuses[200] for load in loads) - before, time.monotonic() - began
                asked = sum(load.total for load in loads) - asked
                for load in loads:
                    load.finish()
                    self.assertEqual(load.failures, [])
                    self.assertLessEqual(set(load.statuses), {200, 429})
                self.assertLessEqual(admitted, number * (passed + 1))
                if asked >= 2 * number * passed:  # else the machine is too busy to tell
                    self.assertGreaterEqual(admitted, 0.7 * number * passed)
                for stint in gateways:
                    stint.stop()


class Buckets(SharedUpgrade):
    def test_a_bucket_owes_what_was_used_and_no_more(self):
        stint = self.gateway({"all": {"requests": 60, "per": "10m", "algorithm": "token_bucket", "shared": "main",
                                      "key": "header:X-Key"}}, name="edge-0", store={"timeout": "1s"})
        self.wait_until_ready(stint)
        self.trust(stint)
        used = {"one": 1, "some": 15, "most": 40}
        for key, count in used.items():
            self.assertEqual(self.statuses(stint, count, fields=[("X-Key", key)]), [200] * count)
        self.upgrade(stint)
        stint.await_former()
        for key, count in used.items():
            left = self.statuses(stint, 61 - count, fields=[("X-Key", key)])
            self.assertGreaterEqual(left.count(200), 59 - count)  # rounded up
            self.assertEqual(left[-1], 429)


class Store(SharedUpgrade):
    def test_the_session_that_the_process_has_begun_before_it_takes_over_is_the_one_it_goes_on_with(self):
        authority = Authority(self.new_folder())
        server = authority.issue("localhost")
        port = free_port()
        Redis(self, "--tls-port", str(port), "--tls-cert-file", str(server.certificate), "--tls-key-file",
              str(server.key), "--tls-auth-clients", "no")
        [stint] = self.gateways(1, HOURLY, store_port=port, store={
            "timeout": "1s", "tls": {"ca": str(authority.certificate), "server_name": "localhost"}})
        for _ in range(scaled(2, 10)):
            logged = len(stint.log())
            self.upgrade(stint)
            self.assertEqual(stint.log()[logged:].count("the session is active"), 1)
            self.assertEqual(set(self.statuses(stint, 2)) - {200, 429}, set())

    def test_without_the_store_the_old_process_serves_on(self):
        [stint] = self.gateways(1, HOURLY)
        self.assertEqual(self.statuses(stint, 2), [200, 200])  # it has a share
        self.redis.kill()
        self.upgrade_in_vain(stint, "store main does not answer")

    def test_a_store_that_cannot_be_used_is_named_with_the_reason(self):
        [stint] = self.gateways(1, HOURLY)
        self.redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        self.upgrade_in_vain(stint, "store main cannot be used")
        self.redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        self.upgrade(stint)

    def test_a_store_that_may_have_forgotten_what_gateways_hold_is_waited_for(self):
        [stint] = self.gateways(1, HOURLY, trust=False)
        before = stint.serving()
        stint.signal(signal.SIGUSR2)
        wait_until(lambda: stint.log().count("the session is active") == 2, "the new process has a session")
        time.sleep(1)  # it would serve by now
        self.assertEqual(stint.serving(), before)
        self.trust(stint)
        wait_until(lambda: stint.serving() != before, "another process serves", 20)
        stint.follow()
        self.assertEqual(self.statuses(stint, 1), [200])

    def test_a_process_that_fails_leaves_no_session_behind(self):
        stint, other = self.with_two_stores()
        other.kill()
        self.upgrade_in_vain(stint, "store other does not answer")
        other.start()
        self.await_both(stint)
        self.upgrade(stint)  # else it would take a minute

    def test_a_process_that_fails_while_its_stores_come_and_go_exits_in_order(self):
        stint, other = self.with_two_stores()
        other.kill()
        stint.signal(signal.SIGUSR2)
        wait_until(lambda: stint.log().count("the session is active") == 3, "the new process has a session")
        self.redis.stop()
        time.sleep(2.3)  # it has given up, and waits a second for the store that stands still
        other.start()
        wait_until(lambda: "this one serves on: it has exited with 1" in stint.log(), f"the end; {stint.log()}", 20)
        self.redis.go_on()

    def with_two_stores(self):
        other = Redis(self)
        session = {"session": "60s", "timeout": "1s"}
        [stint] = self.gateways(1, {**HOURLY, "more": {"requests": 10, "per": "1h", "shared": "other"}}, stores={
            "main": {"redis": self.redis.address, **session}, "other": {"redis": other.address, **session}})
        self.await_both(stint)
        self.assertEqual(stint.admin.request("POST", "/stores/other/trust").status, 202)
        self.await_both(stint, learned=True)
        return stint, other

    def await_both(self, stint, learned=False):
        wait_until(lambda: all(store["state"] == "ready" and store["session"]["learned"] >= learned
                               for store in stint.admin.get("/stores")["stores"]), "both stores", 20)

    def test_a_process_that_is_not_ready_in_time_leaves_no_session_behind(self):
        [stint] = self.gateways(1, HOURLY, trust=False, store={"session": "60s"},
                                within={"arguments": ["--upgrade-timeout", "2"]})
        self.upgrade_in_vain(stint, "gives nothing of limit all yet")
        self.assertIn("it was not ready in time", stint.log())
        self.trust(stint)
        self.upgrade(stint)

    def test_a_stop_during_an_upgrade_leaves_no_session_behind(self):
        [stint] = self.gateways(1, HOURLY, trust=False, store={"session": "60s"})
        stint.signal(signal.SIGUSR2)
        wait_until(lambda: stint.log().count("the session is active") == 2, "the new process has a session")
        stint.stop()
        stint.start()
        self.wait_until_ready(stint)

    def test_a_new_process_ends_at_once_when_the_old_one_has_been_killed(self):
        [stint] = self.gateways(1, HOURLY, trust=False)
        stint.signal(signal.SIGUSR2)
        wait_until(lambda: stint.log().count("the session is active") == 2, "the new process has a session")
        stint.kill()
        wait_until(lambda: not stint.others(), "the new process has ended", 5)
        stint.start()

    def test_one_that_has_the_name_of_another_gateway_is_not_replaced(self):
        [first] = self.gateways(1, HOURLY)
        second = self.gateway(HOURLY, name="edge-0")
        wait_until(lambda: self.store(second)["session"]["state"] == "taken", "the name is taken")
        self.upgrade_in_vain(second, "store main: another process is gateway edge-0 there")
        self.upgrade(first)


class Slots(EndedRequests, SharedUpgrade):
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
            self.end(name, client)
            stint = (first, second)[turn % 2]
            self.ends[f"/new-{turn}"] = threading.Event()
            wait_until(lambda: self.admits(stint, f"/new-{turn}"), "its slot is free", 20)
            self.assertEqual(fetch(first.port, target="/no").status, 429)
            self.assertEqual(fetch(second.port, target="/no").status, 429)
        self.end_all()

    def admits(self, stint, name):
        statuses = []
        threading.Thread(target=lambda: statuses.append(fetch(stint.port, target=name).status), daemon=True).start()
        wait_until(lambda: statuses or name in self.under_way, "an answer, or the upstream has it")
        return name in self.under_way


class Cooldowns(SharedUpgrade):
    def test_a_pause_that_the_store_has_lost_lives_on(self):
        asks = [("Retry-After", "60")]
        upstream = self.start_upstream(
            lambda connection: [connection.send(response_bytes(status="429 Too Many Requests", fields=asks))
                                for _ in iter(connection.read_request, None)])
        stint = self.start_stint(config(
            upstream.address, gateway_id="edge-0", stores={"main": {"redis": self.redis.address}},
            upstream={"cooldown": {"shared": "main"}}))
        self.wait_until_ready(stint)
        self.assertEqual(fetch(stint.port).status, 429)
        [names] = wait_until(
            lambda: [name for name in self.redis.command("KEYS", "*").split() if name.endswith(":p")],
            "the store knows of the pause")
        self.redis.command("DEL", names)
        stint.upgrade()
        self.assertEqual(fetch(stint.port, target="/after").status, 429)
        self.assertEqual(len(upstream.requests), 1)


class Locks(SharedUpgrade):
    LOCK = {"jobs": {"shared": "main"}}

    def start(self, **more):
        stint = self.gateway({"all": {"requests": 10, "per": "1h"}}, name="edge-0", store={"timeout": "1s"},
                             permits={"address": f"127.0.0.1:{free_port()}", "start_up_grace": "0s", "max_ttl": "3s"},
                             **more)
        self.wait_until_ready(stint)
        self.trust(stint)
        return stint

    def test_a_process_that_has_had_a_shared_lock_is_not_replaced(self):
        stint = self.start(locks=self.LOCK)
        caller = LockClient(permits_port(stint), hold=None)
        self.addCleanup(caller.close)
        lease = caller.acquire("jobs", wait_ms=5000)
        self.assertEqual(lease.status, 201, lease)
        self.upgrade_in_vain(stint, "gateways share lock jobs")
        stint.write({**stint.config, "locks": {"jobs": {}}})
        self.assertEqual(stint.admin.reload().status, 200)
        self.upgrade_in_vain(stint, "gateways share lock jobs")  # or another client would get it
        self.assertEqual(caller.acquire("jobs", wait_ms=0).status, 409)
        stint.wait_idle(20)  # that of the lock while it was shared

    def test_nor_does_one_take_over_that_would_share_a_lock(self):
        stint = self.start(locks={"jobs": {}})
        caller = LockClient(permits_port(stint), hold=None)
        self.addCleanup(caller.close)
        lease = caller.acquire("jobs", wait_ms=5000)
        self.assertEqual(lease.status, 201)
        before = stint.config
        stint.write({**before, "locks": self.LOCK})
        self.upgrade_in_vain(stint, "gateways share lock jobs")
        stint.write(before)
        stint.upgrade()
        self.assertEqual(caller.acquire("jobs", wait_ms=0).status, 409)
        self.assertEqual(caller.release("jobs", lease.body["lease"]).status, 204)


if __name__ == "__main__":
    unittest.main()
