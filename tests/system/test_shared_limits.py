"""Limits that several gateways share, with a real redis-server."""

import json
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support.case import scaled
from support.client import fetch
from support.load import Load
from support.ports import free_port
from support.shared_case import SharedTest
from support.stint import binary
from support.waiting import wait_until


class Together(SharedTest):
    def test_gateways_admit_together_what_one_would(self):
        first, second = self.gateways(2, {"all": {"requests": 10, "per": "1h", "shared": "main"}})

        seen = []
        for _ in range(12):  # each asks for more than half of it
            seen.append(fetch(first.port).status)
            time.sleep(0.02)
            seen.append(fetch(second.port).status)
            time.sleep(0.02)

        self.assertLessEqual(seen.count(200), 10)
        wait_until(lambda: self.admitted([first, second]) == 10, "all ten", 10,
                   pause=0.05)
        self.assertEqual(set(self.statuses(first, 3) + self.statuses(second, 3)), {429})

    def admitted(self, gateways):
        for stint in gateways:
            fetch(stint.port)
        return sum(stint.admin.limit("all")["used"] for stint in gateways)

    def test_never_more_and_hardly_less_under_load(self):
        count, seconds, number = scaled(2, 4), scaled(3, 20), 300
        for algorithm in ("sliding_window", "token_bucket", "fixed_window"):
            with self.subTest(algorithm):
                limits = {f"{algorithm}": {"requests": number, "per": "1s", "shared": "main",
                                           "algorithm": algorithm}}
                # A timeout that a busy machine does not exceed: that would be a 503.
                gateways = self.gateways(count, limits, store={"timeout": "1s"})
                warm = [Load(stint.port, connections=4) for stint in gateways]
                for load in warm:
                    load.__enter__()
                time.sleep(1)
                before = [load.statuses.copy() for load in warm]
                began = time.monotonic()
                time.sleep(seconds)
                after = [load.statuses.copy() for load in warm]
                passed = time.monotonic() - began
                admitted = sum(each[200] for each in after) - sum(each[200] for each in before)
                asked = sum(each.total() for each in after) - sum(each.total() for each in before)
                for load in warm:
                    load.finish()
                    self.assertEqual(load.failures, [])
                    self.assertEqual(set(load.statuses), {200, 429})

                # A fixed window may meet its former one in each gateway.
                spans = passed + (1 if algorithm != "fixed_window" else 2)
                self.assertLessEqual(admitted, number * spans)
                if asked >= 2 * number * passed:  # else the machine is too busy to tell
                    self.assertGreaterEqual(admitted, 0.8 * number * passed)
                for stint in gateways:
                    stint.stop()

    def test_a_clients_first_request_at_another_gateway_is_admitted(self):
        first, second = self.gateways(2, {"l": {"requests": 10, "per": "1h", "shared": "main"}},
                                      store={"timeout": "1s"})
        self.assertEqual(self.statuses(first, 1), [200])
        self.assertEqual(self.statuses(second, 1), [200])

    def test_a_gateway_that_stops_leaves_its_share_to_the_others(self):
        first, second = self.gateways(2, {"cap": {"requests": 4, "per": "1h", "shared": "main"}},
                                      store={"timeout": "1s"})
        self.assertEqual(self.statuses(first, 1), [200])
        second_gets = self.statuses(second, 1)
        first.stop()

        def admitted():
            fetch(second.port)
            return second.admin.limit("cap")["used"] == 3
        wait_until(admitted, "the rest of the number", 10, pause=0.05)
        self.assertIn(second_gets, ([200], [429]))

    def test_a_gateway_alone_answers_as_without_a_store(self):
        both = {"requests": 5, "per": "1h"}
        [shared] = self.gateways(1, {"l": {**both, "shared": "main"}})
        alone = self.gateway({"l": both}, name="alone")
        self.assertEqual(self.statuses(shared, 8), self.statuses(alone, 8))


class Store(SharedTest):
    def test_a_new_store_gives_nothing_until_it_is_trusted(self):
        [stint] = self.gateways(1, {"l": {"requests": 5, "per": "1h", "shared": "main"}},
                                trust=False)
        refused = fetch(stint.port)
        self.assertEqual(refused.status, 503)
        self.assertEqual(refused.get("Retry-After"), "1")
        self.trust(stint)
        wait_until(lambda: fetch(stint.port).status == 200, "a share", 5, pause=0.05)
        self.assertEqual(stint.admin.request("POST", "/stores/other/trust").status, 404)

    def test_no_key_is_in_the_store_in_clear(self):
        [stint] = self.gateways(1, {"l": {"requests": 5, "per": "1h", "key": "header:X-Key",
                                          "shared": "main"}})
        self.assertEqual(self.statuses(stint, 1, fields=[("X-Key", "very secret")]), [200])
        names = self.redis.command("KEYS", "*").split()
        values = "".join(self.redis.command("HGETALL", name) for name in names)
        self.assertEqual(len(names), 2)
        self.assertNotIn("secret", "".join(names) + values)
        for name in names:
            self.assertGreater(int(self.redis.command("PTTL", name)), 0)

    def test_a_store_that_is_gone_leaves_each_limit_its_policy(self):
        def limit(policy):
            return {"requests": 3, "per": "1h", "key": "header:X-Key",
                    "shared": {"store": "main", "on_store_failure": policy}}
        for policy, known, unknown in (("share", [200, 200, 429], [503, 503]),
                                       ("open", [200, 200, 429], [200, 200]),
                                       ("closed", [503, 503, 503], [503, 503])):
            with self.subTest(policy):
                [stint] = self.gateways(1, {policy: limit(policy)})
                self.assertEqual(self.statuses(stint, 1, fields=[("X-Key", "a")]), [200])
                self.redis.kill()
                wait_until(lambda: self.store(stint)["state"] == "down", "a store that is down")
                self.assertEqual(self.statuses(stint, 3, fields=[("X-Key", "a")]), known)
                self.assertEqual(self.statuses(stint, 2, fields=[("X-Key", "b")]), unknown)
                self.assertEqual(stint.admin.get("/readyz")["stores"], {"main": "down"})
                self.assertEqual(
                    stint.admin.metrics().sum("stint_store_up", store="main"), 0)
                self.redis.start()
                self.wait_until_ready(stint)
                stint.stop()

    def test_a_gateway_stops_while_the_store_owes_it_answers(self):
        # Some requests have given up, and a dry run's never wait.
        limits = {"l": {"requests": 3, "per": "1h", "key": "header:X-Key", "shared": "main"},
                  "dry": {"requests": 3, "per": "1h", "key": "header:X-Key", "shared": "main",
                          "enforce": False}}
        [stint] = self.gateways(1, limits)
        self.redis.send_signal(signal.SIGSTOP)
        try:
            for i in range(8):
                self.assertEqual(
                    self.statuses(stint, 1, fields=[("X-Key", f"k{i}")]), [503])
            stint.stop()
        finally:
            self.redis.send_signal(signal.SIGCONT)

    def test_two_processes_cannot_be_one_gateway(self):
        [first] = self.gateways(1, {"l": {"requests": 5, "per": "1h", "shared": "main"}})
        second = self.gateway({"l": {"requests": 5, "per": "1h", "shared": "main"}}, name="edge-0")
        wait_until(lambda: self.store(second)["state"] == "taken", "the refusal")
        self.assertEqual(fetch(second.port).status, 503)
        self.assertEqual(fetch(first.port).status, 200)
        self.assertIn("another process is gateway edge-0", second.log())

    def test_a_state_file_keeps_a_gateways_name(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)

        def gateway(state):
            return self.gateway({"l": {"requests": 5, "per": "1h", "shared": "main"}}, name=None,
                                state=str(folder / state))
        first = gateway("a.db")
        self.wait_until_ready(first)
        name = self.store(first)["gateway_id"]
        for file in folder.glob("a.db*"):
            shutil.copy(file, folder / file.name.replace("a.db", "b.db"))
        copied = gateway("b.db")
        wait_until(lambda: self.store(copied)["state"] == "taken", "the refusal")
        self.assertEqual(self.store(copied)["gateway_id"], name)
        copied.stop()
        other = gateway("c.db")
        self.wait_until_ready(other)
        self.assertNotEqual(self.store(other)["gateway_id"], name)

        first.process.kill()
        first.process.wait()
        again = gateway("a.db")
        self.assertEqual(self.store(again)["gateway_id"], name)
        wait_until(lambda: self.store(again)["state"] == "ready",
                   "a session once the former one is given up", 15)

    def test_a_reload_changes_the_store_and_who_shares(self):
        [stint] = self.gateways(1, {"l": {"requests": 5, "per": "1h", "shared": "main"}})
        self.assertEqual(self.statuses(stint, 2), [200, 200])
        del stint.config["limits"]["l"]["shared"]
        stint.write(stint.config)
        self.assertEqual(stint.admin.reload().status, 200)
        self.assertEqual(self.statuses(stint, 6), [200] * 5 + [429])  # another limit
        stint.config["limits"]["l"]["shared"] = "main"
        stint.write(stint.config)
        self.assertEqual(stint.admin.reload().status, 200)
        wait_until(lambda: fetch(stint.port).status == 200, "the share", 10, pause=0.05)


    def test_another_number_holds_for_all_after_a_reload_of_one(self):
        limit = {"requests": 4, "per": "1h", "shared": "main"}
        first, second = self.gateways(2, {"l": limit})
        self.assertEqual(self.statuses(first, 4) + self.statuses(second, 1), [200] * 4 + [429])
        first.config["limits"]["l"]["requests"] = 6
        first.write(first.config)
        self.assertEqual(first.admin.reload().status, 200)

        used = []

        def all_six():  # the second one's own number is 4 still, of which it has what is left
            fetch(first.port)
            fetch(second.port)
            used.append(sum(stint.admin.limit("l")["used"] for stint in (first, second)))
            return used[-1] == 6
        wait_until(all_six, "the two more", 10, pause=0.05)
        self.assertEqual(self.statuses(first, 1) + self.statuses(second, 1), [429, 429])
        self.assertLessEqual(max(used), 6)


    def test_a_lower_number_holds_for_all(self):
        limit = {"requests": 60, "per": "1s", "algorithm": "sliding_window", "shared": "main"}
        gateways = self.gateways(2, {"l": limit})
        loads = [Load(stint.port, connections=2, pause=0.005) for stint in gateways]
        for load in loads:
            load.__enter__()
        time.sleep(1)
        for stint in gateways:
            stint.config["limits"]["l"]["requests"] = 20
            stint.write(stint.config)
            self.assertEqual(stint.admin.reload().status, 200)

        def admitted_in_a_second():
            before = sum(load.statuses[200] for load in loads)
            began = time.monotonic()
            time.sleep(1)
            after = sum(load.statuses[200] for load in loads)
            return (after - before) / (time.monotonic() - began)
        wait_until(lambda: admitted_in_a_second() <= 20 + 1, "the lower number", 20)
        for load in loads:
            load.finish()


class Check(SharedTest):
    def checked(self, *words, redis=None, **more):
        file = self.new_folder() / "stint.yaml"
        file.write_text(json.dumps({
            "listeners": [{"address": "127.0.0.1:0"}], "routes": [],
            "stores": {"main": {"redis": redis or self.redis.address, **more},
                       "other": {"redis": self.redis.address, "prefix": "other"}}}))
        return subprocess.run([binary(), "check", *words, str(file)], capture_output=True, text=True,
                              timeout=60, check=False)

    def test_a_store_is_tried(self):
        done = self.checked("--store")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("store main:\n  address:     " + self.redis.address, done.stdout)
        self.assertIn("\n  can be used: all gateways together", done.stdout)
        self.assertIn("store other:\n", done.stdout)

    def test_one_that_cannot_be_used_fails_the_check(self):
        self.redis.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
        done = self.checked("--store=main")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be used: its eviction policy is volatile-lru", done.stdout)
        self.assertNotIn("store other", done.stdout)
        self.redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        silent = self.checked("--store", redis=f"127.0.0.1:{free_port()}")
        self.assertEqual(silent.returncode, 1)
        self.assertIn("connection refused", silent.stdout)
        self.assertIn("\n  can be used", silent.stdout)  # the other one

    def test_a_name_that_is_no_store(self):
        done = self.checked("--store=third")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no such store", done.stderr)

    def test_without_the_word_no_store_is_asked(self):
        self.redis.kill()
        self.assertEqual(self.checked().returncode, 0)


class Permits(SharedTest):
    def test_permits_and_requests_count_together(self):
        port = free_port()
        [stint] = self.gateways(1, {"l": {"requests": 3, "per": "1h", "shared": "main"}},
                                permits={"address": f"127.0.0.1:{port}"})
        body = json.dumps({}).encode()
        taken = fetch(port, "POST", "/v1/limits/l/take", body=body, host=f"127.0.0.1:{port}")
        self.assertEqual(taken.status, 200)
        self.assertEqual(self.statuses(stint, 3), [200, 200, 429])


if __name__ == "__main__":
    unittest.main()
