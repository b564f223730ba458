"""Locks in proxied requests: routes that take their slots, and routes that ask writers for a number."""

import json
import subprocess
import threading
import unittest

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.permits_client import permits_config
from support.stint import binary
from support.waiting import wait_until


class Stalling:
    """An upstream's script that answers each request once the test says so."""

    def __init__(self):
        self.release = threading.Event()

    def __call__(self, connection):
        while True:
            connection.read_request()
            if not self.release.wait(20):
                return
            connection.send(response_bytes(b"done"))


class ProxiedLocks(SystemTest):
    def before(self, script=None, *, locks=None, permits=None, **route):
        self.upstream = self.start_upstream(script)
        made = config(
            self.upstream.address,
            permits=permits_config(permits={"start_up_grace": "0s", **(permits or {})})["permits"],
            locks=locks or {"product": {"max": 3}, "jobs": {}})
        made["routes"][0].update(route)
        return self.start_stint(made)

    def explain(self, stint, **described):
        return stint.admin.request("POST", "/explain", body=json.dumps(described)).json()


class Slots(ProxiedLocks):
    def test_the_fourth_request_at_once_is_refused_and_a_freed_slot_admits_again(self):
        script = Stalling()
        stint = self.before(script, limits=[{"lock": "product"}])
        clients = [RawClient(stint.port) for _ in range(4)]
        for client in clients:
            self.addCleanup(client.close)
        for client in clients[:3]:
            client.send_request()
        self.upstream.wait_for_requests(3)

        refused = clients[3].request()
        lock = stint.admin.limit("lock:product")
        script.release.set()
        answers = [client.read_response() for client in clients[:3]]

        self.assertEqual(refused.status, 429)
        self.assertEqual(refused.json()["limit"], "lock:product")
        self.assertGreaterEqual(int(refused.get("Retry-After")), 1)
        self.assertEqual(
            (lock["kind"], lock["lock"], lock["limit"], lock["in_flight"], lock["refused"]),
            ("cap", "product", 3, 3, 1))
        self.assertEqual({answer.status for answer in answers}, {200})
        self.assertEqual(clients[3].request().status, 200)
        metrics = stint.admin.metrics()
        self.assertEqual(metrics.sum("stint_refusals_total", limit="lock:product", route="all"), 1)

    def test_a_request_waits_for_the_lock_where_it_says_so(self):
        script = Stalling()
        stint = self.before(
            script, locks={"jobs": {"when_exceeded": "wait", "max_wait": "20s"}},
            limits=[{"lock": "jobs"}])
        with RawClient(stint.port) as first, RawClient(stint.port) as second:
            first.send_request()
            self.upstream.wait_for_requests(1)
            second.send_request()
            wait_until(lambda: stint.admin.limit("lock:jobs")["waiting"] == 1, "one waits")

            script.release.set()

            self.assertEqual(first.read_response().status, 200)
            self.assertEqual(second.read_response().status, 200)

    def test_a_reload_that_lowers_max_throws_nobody_out(self):
        script = Stalling()
        stint = self.before(script, limits=[{"lock": "product"}])
        clients = [RawClient(stint.port) for _ in range(3)]
        for client in clients:
            self.addCleanup(client.close)
            client.send_request()
        self.upstream.wait_for_requests(3)

        stint.config["locks"]["product"]["max"] = 2
        stint.write(stint.config)
        self.assertEqual(stint.admin.reload().status, 200)
        self.assertEqual(fetch(stint.port).status, 429)
        self.assertEqual(stint.admin.limit("lock:product")["in_flight"], 3)
        script.release.set()

        self.assertEqual({client.read_response().status for client in clients}, {200})
        self.assertEqual(stint.admin.limit("lock:product")["limit"], 2)


class Fences(ProxiedLocks):
    def test_a_write_shows_a_number_or_is_refused_before_the_upstream(self):
        stint = self.before(require_fence="jobs", limits=[{"lock": "jobs"}])
        fences = [(), [("X-Stint-Fence", "")], [("X-Stint-Fence", "x1")],
                  [("X-Stint-Fence", "-1")], [("X-Stint-Fence", "1"), ("X-Stint-Fence", "2")]]
        with RawClient(stint.port) as client:
            for fields in fences:
                with self.subTest(fields):
                    refused = client.request("PUT", fields=fields, body=b"hello")
                    self.assertEqual(refused.status, 412)
                    self.assertEqual(refused.get("Content-Type"), "application/problem+json")
                    self.assertEqual(refused.json()["lock"], "jobs")
                    self.assertEqual(refused.json()["status"], 412)
                    self.assertIn("X-Stint-Fence", refused.json()["detail"])
            self.assertEqual(self.upstream.heads, [])
            highest = stint.admin.get("/v1/locks/jobs")["fence"]  # of whatever was before the start
            late = client.request("POST", fields=[("X-Stint-Fence", str(highest - 1))], body=b"hello")
            self.assertEqual(late.status, 412)
            for number in (str(highest), str(highest + 1), "18446744073709551615"):
                with self.subTest(number):
                    answer = client.request("POST", fields=[("X-Stint-Fence", number)], body=b"hello")
                    self.assertEqual(answer.status, 200)
            for method in ("GET", "HEAD", "OPTIONS"):
                with self.subTest(method):
                    self.assertEqual(client.request(method).status, 200)

        metrics = stint.admin.metrics()
        self.assertEqual(
            metrics.sum("stint_fence_refusals_total", limit="lock:jobs", route="all"), len(fences) + 1)
        line = stint.wait_for_lines(len(fences) + 1)[0]
        self.assertEqual(
            (line["status"], line["decision"], line["limit"]), (412, "refused", "lock:jobs"))
        self.assertNotIn("upstream", line)

    def test_explain_says_what_becomes_of_a_write(self):
        stint = self.before(require_fence="jobs")
        fetch(stint.port, "PUT", fields=[("X-Request-Id", "writer-1")])

        described = self.explain(stint, method="PUT", path="/")
        number = str(stint.admin.get("/v1/locks/jobs")["fence"])
        with_number = self.explain(stint, method="PUT", path="/", headers={"X-Stint-Fence": number})
        seen = self.explain(stint, request_id="writer-1")

        self.assertEqual(
            (described["decision"], described["status"], described["decided_by"],
             described["require_fence"]),
            ("deny", 412, "lock:jobs", "jobs"))
        self.assertEqual(with_number["decision"], "admit")
        self.assertEqual((seen["decision"], seen["decided_by"]), ("deny", "lock:jobs"))


class Shown(ProxiedLocks):
    def test_the_configuration_shows_locks_and_what_permits_say_of_them(self):
        permits = {"max_ttl": "5s", "dynamic_locks": 7, "start_up_grace": "1ms"}
        stint = self.before(permits=permits, require_fence="jobs")

        shown = stint.admin.get("/config")

        self.assertEqual(shown["locks"]["product"]["max"], 3)
        self.assertEqual(shown["locks"]["jobs"]["max_waiting"], 10_000)
        self.assertEqual(shown["limits"], {})
        self.assertEqual(shown["routes"][0]["require_fence"], "jobs")
        self.assertEqual(
            [shown["permits"][name] for name in ("dynamic_locks", "max_ttl", "start_up_grace")],
            [7, "5s", "1ms"])

    def test_a_lock_has_no_keys_and_so_no_overrides(self):
        stint = self.before(limits=[{"lock": "product"}])

        refused = stint.admin.request(
            "PUT", "/limits/lock:product/overrides/a", body='{"concurrent": 5}')

        self.assertEqual(refused.status, 400)
        self.assertIn("A lock has no overrides", refused.json()["detail"])
        self.assertEqual(stint.admin.limit("lock:product")["limit"], 3)

    def test_a_lock_is_no_limit_that_permits_are_taken_of(self):
        stint = self.before()
        port = int(stint.config["permits"]["address"].rpartition(":")[2])

        refused = fetch(port, "POST", "/v1/limits/lock:product/take", {"Host": "localhost"})

        self.assertEqual(refused.status, 400)
        self.assertIn("cap", refused.json()["detail"])

    def test_check_names_what_a_forward_auth_proxy_does_not_get(self):
        stint = self.before(limits=[{"lock": "product"}], require_fence="jobs")

        checked = self.run_stint("check", str(stint.file))

        self.assertEqual(checked.returncode, 0)
        self.assertIn("/v1/check leaves out the limit lock:product: it does not learn the request's end",
                      checked.stdout + checked.stderr)

    def test_a_log_is_simulated_against_locks(self):
        stint = self.before(limits=[{"lock": "product"}], require_fence="jobs")
        for method in ("GET", "PUT"):
            fetch(stint.port, method)
        stint.wait_for_lines(2)

        simulated = self.run_stint(
            "simulate", "--json", "-c", str(stint.file), str(stint.folder / "stdout"))

        self.assertEqual((simulated.returncode, simulated.stderr), (0, ""))
        self.assertEqual(json.loads(simulated.stdout)["log"]["requests"], 2)

    def run_stint(self, *arguments):
        return subprocess.run(
            [binary(), *arguments], capture_output=True, text=True, timeout=60, check=False)


if __name__ == "__main__":
    unittest.main()
