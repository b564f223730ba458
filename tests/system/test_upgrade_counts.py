"""Upgrades (SIGUSR2): counts, slots, leases of locks, operators' changes and pauses are in the new process what they
were in the former one."""

import json
import threading
import time
import unittest

from support.client import RawClient, fetch
from support.ended_requests import EndedRequests
from support.locks_client import LockClient, locks_config
from support.messages import response_bytes
from support.permits_client import PermitClient, permits_port, post
from support.upgrade import UpgradeTest
from support.waiting import wait_until

ALGORITHMS = {
    "fixed": {"requests": 100, "per": "1h"},
    "short": {"requests": 100, "per": "40s"},
    "clock": {"requests": 100, "per": "1h", "anchor": "clock"},
    "day": {"requests": 100, "per": "day", "time_zone": "Europe/Berlin"},
    "sliding": {"requests": 100, "per": "1h", "algorithm": "sliding_window"},
    "bucket": {"requests": 1, "per": "1h", "algorithm": "token_bucket", "burst": 100},
    "keyed": {"requests": 100, "per": "1h", "key": "header:X-Key", "max_keys": 100000},
}


class Counts(UpgradeTest):
    def ask(self, stint, count, key) -> list:
        with RawClient(stint.port) as client:
            return [client.request(fields=[("X-Key", key)]).status for _ in range(count)]

    def used(self, stint) -> dict:
        seen = stint.admin.limits()
        return {name: seen[name]["used"] for name in ALGORITHMS if name != "keyed"}

    def of_key(self, stint, key) -> int:
        return stint.admin.get(f"/limits/keyed?key={key}")["used"]

    def test_every_algorithm_goes_on(self):
        for more in ({}, {"state": str(self.new_folder() / "state.db")}):
            with self.subTest(**more):
                stint = self.upgradable_before(self.start_upstream(), limits=ALGORITHMS,
                                               route_limits=list(ALGORITHMS), **more)
                self.assertEqual(self.ask(stint, 7, "a"), [200] * 7)
                resets = stint.admin.limit("fixed")["resets_in_ms"]
                for number in range(1, 4):
                    stint.upgrade()
                    self.assertEqual(self.used(stint), dict.fromkeys(self.used(stint), 6 + number))
                    self.assertEqual(self.of_key(stint, "a"), 6 + number)
                    self.assertEqual(self.ask(stint, 1, "a"), [200])
                self.assertLess(stint.admin.limit("fixed")["resets_in_ms"], resets)  # its window is still the first one

    def test_many_keys_go_on(self):
        stint = self.upgradable_before(self.start_upstream(), limits={"keyed": {**ALGORITHMS["keyed"], "requests": 2}},
                                       route_limits=["keyed"])
        with RawClient(stint.port) as client:
            for number in range(3000):
                client.send_request(fields=[("X-Key", f"k{number}")])
                client.read_response()
        self.assertEqual(self.ask(stint, 2, "k7"), [200, 429])

        stint.upgrade()

        self.assertEqual(stint.admin.limit("keyed")["live_keys"], 3000)
        self.assertEqual(self.ask(stint, 2, "k7"), [429, 429])
        self.assertEqual(self.ask(stint, 2, "k2999"), [200, 429])

    def test_a_window_that_is_shorter_than_the_upgrade_is_not_refilled_early(self):
        stint = self.upgradable_before(self.start_upstream(), limits={"n": {"requests": 5, "per": "2500ms"}},
                                       route_limits=["n"])
        begun = time.monotonic()
        self.assertEqual(self.ask(stint, 6, "a"), [200] * 5 + [429])
        stint.upgrade()
        statuses = self.ask(stint, 2, "a")
        if time.monotonic() - begun < 2.5:
            self.assertEqual(statuses, [429, 429])
        wait_until(lambda: self.ask(stint, 1, "a") == [200], "the next window")
        self.assertGreater(time.monotonic() - begun, 2.49)

    def test_with_a_state_file_they_outlive_a_kill_right_after_it(self):
        stint = self.upgradable_before(self.start_upstream(), limits=ALGORITHMS, route_limits=list(ALGORITHMS),
                                       state=str(self.new_folder() / "state.db"))
        for number in range(1, 4):
            self.assertEqual(self.ask(stint, 7, "a"), [200] * 7)
            time.sleep(1.5)  # they are in the file
            stint.upgrade()
            stint.await_former()
            if number > 1:
                self.assertEqual(self.ask(stint, 1, "b"), [200])
                time.sleep(1.5)
            stint.kill()
            stint.start()
            self.assertEqual(self.used(stint), dict.fromkeys(self.used(stint), 7 * number + max(0, number - 1)))
            self.assertEqual(self.of_key(stint, "a"), 7 * number)


class Slots(EndedRequests, UpgradeTest):
    """A cap of 4."""

    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream(self.script)
        self.stint = self.upgradable_before(
            self.upstream, limits={"cap": {"concurrent": 4}}, route_limits=["cap"], timeouts={"drain": "60s"})

    def begin(self, name: str) -> RawClient:
        return super().begin(self.stint, name)

    def assert_full(self) -> None:
        self.assertEqual(self.stint.admin.limit("cap")["in_flight"], 4)
        self.assertEqual(fetch(self.stint.port, target="/no").status, 429)
        self.assertNotIn("/no", self.under_way)

    def test_each_end_of_a_request_of_the_former_process_frees_one(self):
        old = {f"/old-{number}": self.begin(f"/old-{number}") for number in range(4)}
        former = self.stint.upgrade()
        self.assert_full()
        new = {}
        for number, (name, client) in enumerate(old.items()):
            self.end(name, client)
            wait_until(lambda: self.stint.admin.limit("cap")["in_flight"] == 3, "its slot is free")
            new[f"/new-{number}"] = self.begin(f"/new-{number}")
            self.assert_full()
        self.assertEqual(former.wait(20), 0)
        self.assert_full()
        for name, client in new.items():
            self.end(name, client)
        self.stint.wait_idle()

    def test_those_of_two_former_processes_are_counted(self):
        oldest = self.begin("/oldest")
        first = self.stint.upgrade()
        older = self.begin("/older")
        second = self.stint.upgrade()
        others = [self.begin(f"/{number}") for number in range(2)]
        self.assert_full()

        self.end("/oldest", oldest)
        wait_until(lambda: self.stint.admin.limit("cap")["in_flight"] == 3, "its slot is free")
        third = self.begin("/2")
        self.assert_full()
        self.end("/older", older)
        wait_until(lambda: self.stint.admin.limit("cap")["in_flight"] == 3, "its slot is free")
        for number, client in enumerate((*others, third)):
            self.end(f"/{number}", client)
        for each in (first, second):
            each.wait(20)

    def test_a_former_process_that_is_killed_frees_all_of_its_own(self):
        old = [self.begin(f"/old-{number}") for number in range(3)]
        former = self.stint.upgrade()
        new = self.begin("/new")
        self.assert_full()

        former.kill()
        former.wait()
        self.stint.former.remove(former)

        wait_until(lambda: self.stint.admin.limit("cap")["in_flight"] == 1, "three slots are free")
        later = {f"/later-{number}": self.begin(f"/later-{number}") for number in range(3)}
        self.assert_full()
        for name, client in {"/new": new, **later}.items():
            self.end(name, client)
        self.assertTrue(all(client.ends() for client in old))

    def test_a_client_of_the_former_process_that_leaves_frees_its_own(self):
        old = [self.begin(f"/old-{number}") for number in range(4)]
        self.stint.upgrade()
        self.assert_full()

        old[0].reset()

        wait_until(lambda: self.stint.admin.limit("cap")["in_flight"] == 3, "its slot is free")
        for number in range(1, 4):
            self.end(f"/old-{number}", old[number])
        self.stint.wait_idle()


class Refunds(UpgradeTest):
    def test_a_request_of_a_process_before_the_former_one_gets_its_charge_back(self):
        goes, began = threading.Event(), threading.Event()
        self.addCleanup(goes.set)

        def script(connection):
            while connection.read_request():
                began.set()
                goes.wait(60)
                connection.send(response_bytes(status="503 Service Unavailable"))

        for algorithm in ("fixed_window", "sliding_window", "token_bucket"):
            with self.subTest(algorithm):
                goes.clear()
                began.clear()
                stint = self.upgradable_before(
                    self.start_upstream(script), timeouts={"drain": "60s"}, route_limits=["n"], limits={
                        "n": {"requests": 1, "per": "1h", "refund": [503], "algorithm": algorithm}})
                client = RawClient(stint.port)
                self.addCleanup(client.close)
                client.send_request()
                self.assertTrue(began.wait(10))
                stint.upgrade()
                stint.upgrade()
                self.assertEqual(fetch(stint.port).status, 429)
                goes.set()
                self.assertEqual(client.read_response().status, 503)
                wait_until(lambda stint=stint: stint.admin.limit("n")["used"] == 0, "it is given back")


class Leases(UpgradeTest):
    def before(self, **more):
        self.stint = self.start_upgradable(locks_config(permits={"max_ttl": "60s"}, timeouts={"drain": "30s"}, **more))

    def locker(self, hold=None) -> LockClient:
        client = LockClient(permits_port(self.stint), 40, hold=hold)
        self.addCleanup(client.close)
        return client

    def assert_held_over_upgrades(self) -> None:
        holder, other, fence = self.locker(), self.locker(), 0
        held = holder.acquire("jobs", owner="w1", ttl_ms=60000)
        self.assertEqual(held.status, 201, held.body)
        semaphore = [holder.acquire("three", max=3, ttl_ms=60000) for _ in range(2)]
        for _ in range(3):
            self.stint.upgrade()
            self.assertEqual(other.acquire("jobs", owner="w2").status, 409)
            self.assertEqual(other.lock("jobs").body["holders"][0]["owner"], "w1")
            renewed = holder.renew("jobs", held.body["lease"], ttl_ms=60000)
            self.assertEqual((renewed.status, renewed.body["fence"]), (200, held.body["fence"]))
            third = other.acquire("three", max=3)
            self.assertEqual((third.status, other.acquire("three", max=3).status), (201, 409))
            self.assertGreater(third.body["fence"], max(fence, semaphore[-1].body["fence"]))
            fence = third.body["fence"]
            self.assertEqual(other.release("three", third.body["lease"]).status, 204)
        self.assertEqual(holder.release("jobs", held.body["lease"]).status, 204)
        again = other.acquire("jobs", owner="w2")
        self.assertEqual(again.status, 201)
        self.assertGreater(again.body["fence"], fence)
        self.assertEqual(holder.renew("jobs", held.body["lease"]).status, 410)

    def test_who_holds_goes_on_holding(self):
        self.before()
        self.assert_held_over_upgrades()

    def test_who_holds_goes_on_holding_with_a_state_file(self):
        self.before(state=str(self.new_folder() / "state.db"))
        self.assert_held_over_upgrades()

    def test_a_lease_ends_when_it_would_have_ended(self):
        self.before()
        begun = time.monotonic()
        self.assertEqual(self.locker().acquire("jobs", ttl_ms=4000).status, 201)
        time.sleep(1)
        self.stint.upgrade()
        granted = self.locker().acquire("jobs", wait_ms=30000)
        self.assertEqual(granted.status, 201)
        self.assertGreater(time.monotonic() - begun, 3.9)
        self.assertLess(time.monotonic() - begun, 15)

    def test_one_of_a_connection_lives_until_its_ttl(self):
        self.before()
        bound = self.locker("connection")
        held = bound.acquire("jobs", ttl_ms=8000)
        self.assertEqual(held.status, 201)
        begun = held.sent

        self.stint.upgrade()

        bound.sock.settimeout(20)
        self.assertEqual(bound.sock.recv(100), b"")  # as in a drain
        self.assertEqual(self.locker().acquire("jobs").status, 409)
        granted = self.locker().acquire("jobs", wait_ms=30000)
        self.assertEqual(granted.status, 201)
        self.assertGreater(time.monotonic() - begun, 7.9)

    def test_one_of_a_connection_is_bound_again_by_a_renewal(self):
        self.before()
        bound = self.locker("connection")
        held = bound.acquire("jobs", ttl_ms=60000)
        self.assertEqual(held.status, 201)
        self.stint.upgrade()
        again = self.locker("connection")
        renewed = again.renew("jobs", held.body["lease"])
        self.assertEqual((renewed.status, renewed.body["fence"]), (200, held.body["fence"]))

        again.close()

        self.assertEqual(self.locker().acquire("jobs", wait_ms=20000).status, 201)

    def test_with_a_state_file_a_holder_outlives_a_kill_right_after_it(self):
        self.before(state=str(self.new_folder() / "state.db"))
        held = self.locker().acquire("jobs", ttl_ms=60000)
        self.assertEqual(held.status, 201)
        self.stint.upgrade()
        late = self.locker().acquire("late", ttl_ms=60000)
        self.assertEqual(late.status, 201)
        self.stint.await_former()
        self.stint.kill()
        self.stint.start()
        other = self.locker()
        for name, lease in (("jobs", held.body["lease"]), ("late", late.body["lease"])):
            self.assertEqual(other.acquire(name).status, 409)
            self.assertEqual(other.release(name, lease).status, 204)
        self.assertGreater(other.acquire("jobs").body["fence"], late.body["fence"])


class Operators(UpgradeTest):
    def change(self, method, path, body=None):
        answered = self.stint.admin.request(method, path, body=body and json.dumps(body))
        self.assertEqual(answered.status, 200, answered.text())

    def admitted(self, key, count) -> int:
        return sum(fetch(self.stint.port, fields=[("X-Key", key)]).status == 200 for _ in range(count))

    def test_changes_of_limits_stay(self):
        self.stint = self.upgradable_before(
            self.start_upstream(), route_limits=["by_key", "all"],
            limits={"by_key": {"requests": 2, "per": "1h", "key": "header:X-Key"},
                    "all": {"requests": 1000, "per": "1h"}})
        self.change("PUT", "/limits/by_key/overrides/a", {"requests": 5, "who": "anna"})
        self.change("PUT", "/limits/all/overrides", {"requests": 500})
        self.change("POST", "/limits/by_key/block", {"key": "b", "for": "1h"})
        self.change("PUT", "/limits/by_key/overrides/soon", {"requests": 9, "expires_in_ms": 600000})
        shown = self.stint.admin.get("/changes")["changes"]
        for _ in range(2):
            self.stint.upgrade()
            now = self.stint.admin.get("/changes")["changes"]
            self.assertEqual([(each["limit"], each.get("key"), each.get("who")) for each in now],
                             [(each["limit"], each.get("key"), each.get("who")) for each in shown])
            self.assertEqual(self.stint.admin.limit("all")["limit"], 500)
            self.assertEqual(self.admitted("b", 2), 0)
        self.assertEqual(self.admitted("a", 8), 5)
        self.assertEqual(self.admitted("c", 8), 2)
        left = self.stint.admin.limit("by_key")["overrides"]["soon"]["expires_in_ms"]
        self.assertTrue(0 < left < 600000, left)
        self.change("DELETE", "/limits/by_key/overrides/a")
        self.stint.upgrade()
        self.assertNotIn("a", self.stint.admin.limit("by_key").get("overrides", {}))

    def test_a_pause_that_an_upstream_has_asked_for_goes_on(self):
        upstream = self.start_upstream(lambda connection: connection.read_request() and connection.send(
            response_bytes(status="429 Too Many Requests", fields=[("Retry-After", "120")])))
        self.stint = self.upgradable_before(upstream, upstream={"cooldown": "on"})
        self.assertEqual(fetch(self.stint.port).status, 429)
        self.assertEqual(len(upstream.requests), 1)
        before, = self.stint.admin.get("/cooldowns")["cooldowns"]
        for _ in range(2):
            self.stint.upgrade()
            shown, = self.stint.admin.get("/cooldowns")["cooldowns"]
            self.assertEqual((shown["state"], shown["status"]), ("paused", 429))
            self.assertLessEqual(shown["remaining_ms"], before["remaining_ms"])
            self.assertGreater(shown["remaining_ms"], 30_000)
            refused = fetch(self.stint.port)
            self.assertEqual(refused.status, 429)
            self.assertGreater(int(refused.get("Retry-After-Ms")), 30_000)
        self.assertEqual(len(upstream.requests), 1)

    def test_a_pause_that_callers_have_reported_goes_on(self):
        self.stint = self.start_upgradable(locks_config(limits={"even": {"requests": 100, "per": "1h"}}))
        with PermitClient(permits_port(self.stint)) as client:
            paused = client.request(post("/v1/feedback", {"limit": "even", "status": 429, "retry_after": "120"}))
            self.assertEqual(paused.status, 200)
            self.assertEqual(client.take("even").status, 429)

            self.stint.upgrade()

            refused = client.take("even")
            self.assertEqual(refused.status, 429)
            self.assertGreater(refused.retry_after, 30)


if __name__ == "__main__":
    unittest.main()
