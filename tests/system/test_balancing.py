"""Several endpoints: shares, an endpoint that dies and comes back, checks, drain and enable."""

import os
import signal
import socket
import unittest
from pathlib import Path
from urllib.parse import quote

from support.case import SystemTest, config, report, scaled
from support.client import RawClient, fetch
from support.load import Load
from support.nginx import most_at_once
from support.ports import free_port
from support.upstream import answer
from support.waiting import wait_until

NAMED = "location / { return 200 '%s'; }"
# Connections are new, and each request takes a while: when it dies some are in flight, and none may be renewed.
SLOW = "keepalive_timeout 0; location / { echo_sleep 0.01; echo_exec @answer; } location @answer { return 200 ok; }"


def kill(nginx) -> None:
    """As a crash: nobody says good-bye."""
    children = Path(f"/proc/{nginx.process.pid}/task/{nginx.process.pid}/children").read_text("ascii")
    for pid in [nginx.process.pid, *map(int, children.split())]:
        os.kill(pid, signal.SIGKILL)
    nginx.process.wait()


def endpoints_of(stint, upstream="up") -> dict:
    """An endpoint's text to what /upstreams says of it."""
    upstreams = {each["name"]: each for each in stint.admin.get("/upstreams")["upstreams"]}
    return {each["endpoint"]: each for each in upstreams[upstream]["endpoints"]}


def change(stint, endpoint, what, upstream="up"):
    path = f"/upstreams/{upstream}/endpoints/{quote(endpoint, safe='')}/{what}"
    return stint.admin.request("POST", path)


class Balancing(SystemTest):
    def ask(self, stint, count=1, fields=()):
        """The bodies of that many answers, on one connection."""
        with RawClient(stint.port) as client:
            return [client.request(fields=fields).body for _ in range(count)]

    def named(self, *names):
        return [self.start_upstream(answer(name)) for name in names]

    def test_weights_hold_over_10_000_requests(self):
        upstreams = [self.start_nginx(NAMED % name) for name in "abc"]
        endpoints = [
            {"address": each.address, "weight": weight} for each, weight in zip(upstreams, (1, 2, 5))
        ]
        stint = self.start_stint(config(*endpoints))
        with Load(stint.port, connections=16) as load:
            wait_until(lambda: load.total >= 10_000, "10,000 answers", seconds=120)

        self.assertEqual((load.failures, set(load.statuses)), ([], {200}))
        for each in upstreams:
            each.stop()
        served = [len(each.served()) for each in upstreams]
        for taken, weight in zip(served, (1, 2, 5)):
            wanted = sum(served) * weight / 8
            report(f"share of weight {weight}", f"{wanted:.0f} within 5 %", taken)
            self.assertLess(abs(taken - wanted), 0.05 * wanted)

    def test_a_key_goes_to_one_endpoint_in_every_stint(self):
        upstreams = self.named(b"a", b"b", b"c")
        by_session = {"upstream": {"balance": "hash", "hash_key": "cookie:session"}}
        stints = [self.stint_before(*upstreams, **by_session) for _ in range(2)]
        seen = set()
        for session in range(20):
            cookie = [("Cookie", f"session=s{session}")]
            asked = {body for stint in stints for body in self.ask(stint, 3, cookie)}
            self.assertEqual(len(asked), 1)
            seen |= asked
        self.assertEqual(seen, {b"a", b"b", b"c"})

    def test_an_endpoint_killed_under_load_fails_only_what_it_had_and_comes_back(self):
        upstreams = [self.start_nginx(SLOW) for _ in "ab"]
        stint = self.start_stint(
            config(
                *(each.address for each in upstreams),
                upstream={"ejection": {"failures": 3, "for": "500ms", "most": "2s"}},
            )
        )
        victim = upstreams[0]
        with Load(stint.port, connections=64) as load:
            wait_until(lambda: load.total >= scaled(2_000, 20_000), "load")
            kill(victim)
            wait_until(lambda: endpoints_of(stint)[victim.address]["ejections"], "an ejection")
            total = load.total
            wait_until(lambda: load.total >= total + scaled(2_000, 20_000), "load goes on")
            failed = load.total - load.statuses[200]
            victim.start()
            lines = len(victim.served())
            wait_until(lambda: len(victim.served()) > lines + 100, "it serves again")
            wait_until(lambda: endpoints_of(stint)[victim.address]["state"] == "up", "it is up")

        self.assertEqual(load.failures, [])
        report("requests failed by a killed endpoint", "at most 64", failed)
        self.assertLessEqual(failed, 64)  # what 64 connections can have in flight
        self.assertEqual(load.total - load.statuses[200], failed, "none failed afterwards")
        self.assertEqual(endpoints_of(stint)[upstreams[1].address]["ejections"], 0)

    def test_with_retries_an_endpoint_killed_under_load_fails_nothing(self):
        upstreams = [self.start_nginx(SLOW) for _ in "ab"]
        stint = self.start_stint(
            config(
                *(each.address for each in upstreams),
                upstream={
                    "ejection": {"failures": 3, "for": "500ms", "most": "2s"},
                    "retry": {"on": ["connect", "reset", 502, 503, 504], "attempts": 2, "budget": "20%"},
                },
            )
        )
        victim = upstreams[0]
        with Load(stint.port, connections=64) as load:
            wait_until(lambda: load.total >= scaled(2_000, 20_000), "load")
            kill(victim)
            wait_until(lambda: endpoints_of(stint)[victim.address]["ejections"], "an ejection")
            total = load.total
            wait_until(lambda: load.total >= total + scaled(2_000, 20_000), "load goes on")
            victim.start()
            lines = len(victim.served())
            wait_until(lambda: len(victim.served()) > lines + 100, "it serves again")

        metrics = stint.admin.metrics()
        report("requests failed by a killed endpoint, with retries", 0, load.total - load.statuses[200])
        self.assertEqual((load.failures, set(load.statuses)), ([], {200}))
        self.assertGreater(metrics.sum("stint_upstream_retries_total"), 0)
        self.assertEqual(metrics.sum("stint_upstream_retries_over_budget_total"), 0)

    def test_a_handshake_that_fails_or_stalls_is_retried_elsewhere(self):
        def plain(connection):
            connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.read_to_end()

        good = self.start_upstream(answer(b"good"))
        with socket.create_server(("127.0.0.1", 0)) as silent:
            for name, port, said in (
                ("it speaks plain text", self.start_upstream(plain).port, "could not connect: "),
                ("it says nothing", silent.getsockname()[1], "connecting took too long"),
            ):
                with self.subTest(name):
                    bad = f"https://127.0.0.1:{port}"
                    stint = self.start_stint(
                        config(
                            bad,
                            good.address,
                            workers=1,
                            timeouts={"connect": "300ms"},
                            upstream={"retry": {"on": ["connect"]}, "tls": {"verify": False}, "host": "h"},
                        )
                    )
                    self.assertEqual(self.ask(stint, 2), [b"good"] * 2)
                    shown = endpoints_of(stint)[bad]
                    self.assertGreater(shown["failures"], 0)
                    self.assertTrue(shown["last_failure"].startswith(said), shown)
                    self.assertGreater(stint.admin.metrics().sum("stint_upstream_retries_total"), 0)

    def test_429_and_404_do_not_eject(self):
        for status in ("429 Too Many Requests", "404 Not Found"):
            with self.subTest(status):
                failing = self.start_upstream(answer(b"no", status))
                stint = self.stint_before(failing, self.start_upstream(), workers=1,
                                          upstream={"ejection": {"failures": 2}})
                self.ask(stint, 20)
                shown = endpoints_of(stint)[failing.address]
                self.assertEqual((shown["state"], shown["failures"]), ("up", 0))

    def test_503s_eject_one_of_two_but_never_both(self):
        failing = [self.start_upstream(answer(b"no", "503 Service Unavailable")) for _ in range(2)]
        stint = self.stint_before(*failing, workers=1, upstream={"ejection": {"failures": 2, "for": "1m"}})
        self.ask(stint, 20)

        states = sorted(each["state"] for each in endpoints_of(stint).values())
        self.assertEqual(states, ["ejected", "up"])
        metrics = stint.admin.metrics()
        self.assertEqual(metrics.sum("stint_endpoint_ejections_total"), 1)
        self.assertEqual(metrics.sum("stint_endpoint_up"), 1)
        self.assertGreaterEqual(metrics.sum("stint_endpoint_failures_total"), 18)
        shown = next(each for each in endpoints_of(stint).values() if each["state"] == "ejected")
        self.assertGreater(shown["ejected_for_ms"], 50_000)
        self.assertEqual(shown["last_failure"], "answered 503")

    def test_drain_and_enable_which_survive_a_reload(self):
        upstreams = self.named(b"a", b"b")
        first = upstreams[0].address
        stint = self.stint_before(*upstreams)

        drained = change(stint, first, "drain")

        self.assertEqual((drained.status, drained.json()["state"]), (200, "drained"))
        self.assertEqual(set(self.ask(stint, 6)), {b"b"})
        self.assertEqual(stint.admin.reload().status, 200)
        self.assertEqual(set(self.ask(stint, 6)), {b"b"})
        self.assertEqual(endpoints_of(stint)[first]["state"], "drained")
        self.assertEqual(stint.admin.metrics().sum("stint_endpoint_up", endpoint=first), 0)
        self.assertEqual(change(stint, first, "enable").json()["state"], "up")
        self.assertEqual(set(self.ask(stint, 6)), {b"a", b"b"})

    def test_all_drained_is_a_503_with_retry_after(self):
        stint = self.stint_before(*self.named(b"a"))
        change(stint, next(iter(endpoints_of(stint))), "drain")

        refused = fetch(stint.port)

        self.assertEqual((refused.status, refused.get("Retry-After")), (503, "1"))
        self.assertEqual(refused.get("Content-Type"), "application/problem+json")

    def test_what_cannot_be_drained(self):
        stint = self.stint_before(*self.named(b"a"))
        for path, status in (
            ("/upstreams/nobody/endpoints/a/drain", 404),
            ("/upstreams/up/endpoints/127.0.0.1:1/drain", 404),
            ("/upstreams/up/endpoints/%zz/drain", 400),
            ("/upstreams/up/endpoints/a/stop", 404),
        ):
            with self.subTest(path):
                refused = stint.admin.request("POST", path)
                self.assertEqual(refused.status, status)
                self.assertEqual(refused.get("Content-Type"), "application/problem+json")
        self.assertEqual(stint.admin.request("GET", "/upstreams/up/endpoints/a/drain").status, 405)

    def test_a_change_needs_the_token(self):
        token = self.folder / "token"
        token.write_text("a-long-enough-secret-token\n", encoding="ascii")
        upstream = self.start_upstream()
        made = config(upstream.address)
        made["admin"] = {"address": f"127.0.0.1:{free_port()}", "token_file": str(token)}
        stint = self.start_stint(made)

        self.assertEqual(change(stint, upstream.address, "drain").status, 401)
        self.assertEqual(endpoints_of(stint)[upstream.address]["state"], "up")

    def test_active_checks_find_an_endpoint_ill_and_well_again(self):
        folder = self.new_folder()
        ill = folder / "ill"
        upstreams = [
            self.start_nginx(
                NAMED % name + f" location /up {{ if (-f {ill}-{name}) {{ return 500; }} return 204; }}"
            )
            for name in "ab"
        ]
        health = {"path": "/up", "interval": "50ms", "healthy_after": 2, "unhealthy_after": 2}
        stint = self.start_stint(
            config(*(each.address for each in upstreams), upstream={"health": health})
        )
        first = upstreams[0].address
        Path(f"{ill}-a").touch()
        wait_until(lambda: endpoints_of(stint)[first]["state"] == "unhealthy", "it is found ill")

        self.assertEqual(set(self.ask(stint, 6)), {b"b"})
        self.assertEqual(endpoints_of(stint)[first]["last_check"]["found"], "500")
        self.assertEqual(stint.admin.reload().status, 200)
        self.assertEqual(endpoints_of(stint)[first]["state"], "unhealthy")
        Path(f"{ill}-b").touch()
        wait_until(lambda: fetch(stint.port).status == 503, "nobody is up")
        self.assertEqual(fetch(stint.port).get("Retry-After"), "1")
        Path(f"{ill}-a").unlink()
        wait_until(lambda: fetch(stint.port).status == 200, "it is well again")
        checks = stint.admin.metrics()
        for result in ("passed", "failed"):
            self.assertGreater(
                checks.sum("stint_endpoint_health_checks_total", endpoint=first, result=result), 1
            )

    def test_a_reload_without_checks_brings_back_what_they_found_ill(self):
        dead = f"127.0.0.1:{free_port()}"
        health = {"path": "/", "interval": "20ms", "unhealthy_after": 1}
        made = config(dead, upstream={"health": health})
        stint = self.start_stint(made)
        wait_until(lambda: endpoints_of(stint)[dead]["state"] == "unhealthy", "it is found ill")
        del made["upstreams"]["up"]["health"]
        made["admin"] = stint.config["admin"]
        stint.write(made)

        self.assertEqual(stint.admin.reload().status, 200)

        self.assertEqual(endpoints_of(stint)[dead]["state"], "up")
        self.assertEqual(fetch(stint.port).status, 502)

    def test_a_check_that_hangs_does_not_hold_up_the_end(self):
        silent = self.start_upstream(lambda connection: connection.read_request() and connection.ends())
        health = {"path": "/", "interval": "20ms", "timeout": "1m"}
        stint = self.stint_before(silent, upstream={"health": health})
        silent.wait_for_requests(1)

        stint.stop(seconds=5)

    def test_max_requests_hold_over_all_workers_and_the_rest_wait(self):
        slow = self.start_nginx("location / { echo_sleep 0.02; echo -n ok; echo_flush; }")
        endpoint = {"address": slow.address, "max_requests": 4}
        queue = {"max_waiting": 100, "max_wait": "10s"}
        stint = self.start_stint(config(endpoint, upstream={"queue": queue}))
        clients = [RawClient(stint.port) for _ in range(24)]
        for client in clients:
            client.send_request()
        statuses = [client.read_response("GET").status for client in clients]
        for client in clients:
            client.close()

        self.assertEqual(statuses, [200] * 24)
        slow.stop()
        self.assertLessEqual(most_at_once(slow.served()), 4)
        wait_until(
            lambda: endpoints_of(stint)[slow.address]["requests_in_flight"] == 0, "free slots")
        self.assertEqual(endpoints_of(stint)[slow.address]["max_requests"], 4)


if __name__ == "__main__":
    unittest.main()
