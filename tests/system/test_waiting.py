"""when_exceeded: wait. Who waits, who goes first, who is refused, and that the upstream sees nothing of it."""

import os
import signal
import threading
import time
import unittest

from support.case import SystemTest, report, scaled
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.upstream import answer
from support.waiting import wait_until


class Noting:
    """An upstream's script that notes when each request came, and answers."""

    def __init__(self):
        self.came = []  # (wall time, target)
        self._lock = threading.Lock()

    def __call__(self, connection):
        while True:
            request = connection.read_request_head()
            now = time.time()
            with self._lock:
                self.came.append((now, request.target))
            connection.send(response_bytes())

    def targets(self):
        return [target for _, target in self.came]


class Waiting(SystemTest):
    def before(self, script=None, route_limits=("turns",), *, limit, more_limits=None, **more):
        self.script = script or Noting()
        self.upstream = self.start_upstream(self.script)
        limits = {"turns": {"when_exceeded": "wait", **limit}, **(more_limits or {})}
        return self.stint_before(self.upstream, limits=limits, route_limits=list(route_limits), **more)

    def client(self, stint, **more):
        client = RawClient(stint.port, **more)
        self.addCleanup(client.close)
        return client

    def waits(self, stint, target="/", **more):
        """A client whose request waits for its turn."""
        before = stint.admin.limit("turns")["waiting"]
        client = self.client(stint, **more)
        client.send_request(target=target)
        wait_until(lambda: stint.admin.limit("turns")["waiting"] == before + 1, "it waits")
        return client


class Windows(Waiting):
    def test_exactly_n_go_at_each_opening_while_three_times_as_many_wait(self):
        stint = self.before(limit={"requests": 5, "per": "1s", "anchor": "clock", "max_wait": "10s"})
        time.sleep(1.05 - time.time() % 1)  # the beginning of a window
        clients = [self.client(stint) for _ in range(20)]
        for number, client in enumerate(clients):
            client.send_request(target=f"/{number}")

        statuses = [client.read_response().status for client in clients]

        self.assertEqual(statuses, [200] * 20)
        seconds = [int(came) for came, _ in self.script.came]
        self.assertEqual([seconds.count(seconds[0] + i) for i in range(4)], [5] * 4)

    def test_one_client_s_requests_go_in_the_order_in_which_they_came(self):
        # Two workers would read in the order in which they get their cores, whatever was sent first.
        stint = self.before(limit={"requests": 1, "per": "200ms", "max_wait": "10s"}, workers=1)
        self.assertEqual(fetch(stint.port, target="/first").status, 200)
        clients = [self.client(stint) for _ in range(6)]
        for number, client in enumerate(clients):
            client.send_request(target=f"/{number}")
            time.sleep(0.01)

        self.assertEqual([client.read_response().status for client in clients], [200] * 6)
        self.assertEqual(self.script.targets(), ["/first"] + [f"/{i}" for i in range(6)])

    def test_a_greedy_client_does_not_lift_a_polite_one_s_wait(self):
        stint = self.before(limit={"requests": 2, "per": "500ms", "max_wait": "10s"})
        greedy = [self.client(stint, source="127.0.0.1") for _ in range(22)]
        for client in greedy:
            client.send_request(target="/greedy")
        wait_until(lambda: stint.admin.limit("turns")["waiting"] >= 18, "the greedy wait")
        before = len(self.script.came)

        polite = fetch(stint.port, target="/polite", source="127.0.0.2")

        self.assertEqual(polite.status, 200)
        self.assertIn("/polite", self.script.targets()[before:before + 4])  # with one of the next two openings

    def test_who_would_wait_longer_than_max_wait_is_refused_at_once(self):
        stint = self.before(limit={"requests": 1, "per": "1h"})
        self.assertEqual(fetch(stint.port).status, 200)

        begun = time.monotonic()
        refused = fetch(stint.port)

        self.assertLess(time.monotonic() - begun, 0.5)
        self.assertEqual(refused.status, 429)
        self.assertAlmostEqual(int(refused.get("Retry-After-Ms")), 3_600_000, delta=5_000)
        self.assertEqual(len(self.script.came), 1)

    def test_the_retry_after_of_one_without_a_place_allows_for_those_who_wait(self):
        stint = self.before(limit={"requests": 1, "per": "2s", "max_wait": "2s"})
        self.assertEqual(fetch(stint.port).status, 200)
        waiting = self.waits(stint)

        refused = fetch(stint.port)

        self.assertEqual(refused.status, 429)
        self.assertGreater(int(refused.get("Retry-After-Ms")), 2000)
        self.assertLessEqual(int(refused.get("Retry-After-Ms")), 4000)
        self.assertEqual(waiting.read_response().status, 200)

    def test_who_is_pushed_past_max_wait_is_refused_at_that_moment(self):
        stint = self.before(limit={"requests": 1, "per": "2s", "max_wait": "3s"})
        self.assertEqual(fetch(stint.port, source="127.0.0.1").status, 200)
        first = self.waits(stint, target="/first", source="127.0.0.1")
        time.sleep(1.1)  # from now on a request can wait for two openings
        second = self.waits(stint, target="/second", source="127.0.0.1")

        polite = self.client(stint, source="127.0.0.2")
        polite.send_request(target="/polite")

        refused = second.read_response()
        self.assertEqual(refused.status, 429)
        self.assertGreater(int(refused.get("Retry-After-Ms")), 2000)
        self.assertEqual(first.read_response().status, 200)
        self.assertEqual(polite.read_response().status, 200)
        self.assertEqual(self.script.targets()[1:], ["/first", "/polite"])

    def test_a_client_that_goes_away_frees_its_place(self):
        stint = self.before(limit={"requests": 1, "per": "1500ms", "max_wait": "10s", "max_waiting": 2})
        self.assertEqual(fetch(stint.port).status, 200)
        gone = self.waits(stint)
        stays = self.waits(stint)
        self.assertEqual(fetch(stint.port).status, 429)

        gone.reset()

        wait_until(lambda: stint.admin.limit("turns")["waiting"] == 1, "the place is free", seconds=1)
        other = self.client(stint)
        other.send_request()
        self.assertEqual([stays.read_response().status, other.read_response().status], [200, 200])
        line = next(line for line in stint.wait_for_lines(5) if line["status"] == 499)
        self.assertEqual(line["decision"], "client_gone")
        self.assertGreater(line["waited_ms"], 0)

    def test_a_body_is_read_and_the_client_told_to_continue_only_when_its_turn_has_come(self):
        stint = self.before(answer(), limit={"requests": 1, "per": "700ms", "max_wait": "10s"})
        self.assertEqual(fetch(stint.port).status, 200)
        client = self.client(stint)
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 200000\r\n\r\n")

        self.assertTrue(client.silent(0.3))
        self.assertEqual(len(self.upstream.heads), 1)
        self.assertEqual(client.read_response_head().status, 100)
        client.send(b"x" * 200_000)

        self.assertEqual(client.read_response().status, 200)
        self.assertEqual(len(self.upstream.requests[1].body), 200_000)

    def test_what_has_come_of_a_body_and_a_pipelined_request_survive_the_wait(self):
        stint = self.before(answer(), limit={"requests": 1, "per": "300ms", "max_wait": "10s"})
        self.assertEqual(fetch(stint.port).status, 200)
        client = self.client(stint)
        client.send(b"POST /1 HTTP/1.1\r\nHost: a\r\nX-Own: kept\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        time.sleep(0.1)
        client.send(b"6\r\n world\r\n0\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")

        self.assertEqual([client.read_response().status for _ in range(2)], [200, 200])
        sent = self.upstream.requests[1]
        self.assertEqual((sent.target, sent.body, sent.get("X-Own")), ("/1", b"hello world", "kept"))
        self.assertEqual(self.upstream.requests[2].target, "/2")

    def test_a_reload_that_raises_the_number_lets_the_waiting_go_at_once(self):
        stint = self.before(limit={"requests": 1, "per": "1h", "max_wait": "10h"})
        self.assertEqual(fetch(stint.port).status, 200)
        clients = [self.waits(stint) for _ in range(3)]
        stint.config["limits"]["turns"]["requests"] = 3
        stint.write(stint.config)

        begun = time.monotonic()
        self.assertEqual(stint.admin.reload().status, 200)

        wait_until(lambda: len(self.script.came) == 3, "two more went", seconds=1)
        self.assertLess(time.monotonic() - begun, 1)
        self.assertEqual(stint.admin.limit("turns")["waiting"], 1)
        del clients

    def test_a_window_beside_a_cap_counts_only_who_goes(self):
        stint = self.before(
            limit={"requests": 2, "per": "1s", "max_wait": "10s"},
            more_limits={"slot": {"concurrent": 1, "when_exceeded": "wait", "max_wait": "10s"}},
            route_limits=["turns", "slot"],
        )
        clients = [self.client(stint) for _ in range(6)]
        begun = time.monotonic()
        for client in clients:
            client.send_request()

        self.assertEqual([client.read_response().status for client in clients], [200] * 6)
        self.assertGreaterEqual(time.monotonic() - begun, 1.9)
        stint.wait_idle()

    def test_how_late_a_waiter_wakes_after_an_opening(self):
        rounds = scaled(10, 50)
        stint = self.before(limit={"requests": 1, "per": "200ms", "anchor": "clock", "max_wait": "1h"})
        clients = [self.client(stint) for _ in range(rounds + 1)]
        for client in clients:
            client.send_request()
        self.assertEqual({client.read_response().status for client in clients}, {200})

        late = sorted(came % 0.2 for came, _ in self.script.came[1:])
        report("waiting: wakes after an opening, median of all", "<= 10 ms", f"{late[len(late) // 2] * 1000:.2f} ms")
        report("waiting: wakes after an opening, latest", "<= 10 ms", f"{late[-1] * 1000:.2f} ms")
        if os.environ.get("STINT_SCALE") == "full":
            self.assertLessEqual(late[-1], 0.010)
        self.assertLessEqual(late[len(late) // 2], 0.040)  # a busy machine: earlier than a tick's 50 ms


class Caps(Waiting):
    def holding(self, limit):
        """Stint with one request that holds the only slot until `release` is set."""
        self.release = threading.Event()

        def script(connection):
            while True:
                request = connection.read_request()
                if request.target == "/holds":
                    self.release.wait(20)
                connection.send(response_bytes())

        stint = self.before(script, limit={"concurrent": 1, **limit})
        holder = self.client(stint)
        holder.send_request(target="/holds")
        self.upstream.wait_for_requests(1)
        return stint, holder

    def test_a_freed_slot_goes_to_who_waits_for_it(self):
        stint, holder = self.holding({"max_wait": "20s"})
        waiting = [self.waits(stint) for _ in range(3)]
        self.assertEqual(len(self.upstream.heads), 1)

        self.release.set()

        self.assertEqual([client.read_response().status for client in [holder, *waiting]], [200] * 4)

    def test_who_waits_for_a_slot_longer_than_max_wait_is_refused(self):
        stint, _ = self.holding({"max_wait": "300ms"})
        client = self.client(stint)

        begun = time.monotonic()
        refused = client.request()

        self.assertEqual(refused.status, 429)
        self.assertGreaterEqual(time.monotonic() - begun, 0.3)
        self.assertLess(time.monotonic() - begun, 1.0)
        self.assertEqual(refused.json()["limit"], "turns")
        metrics = stint.admin.metrics()
        self.assertEqual(metrics.sum("stint_limit_refused_after_waiting_total", limit="turns"), 1)
        self.assertEqual(stint.admin.limit("turns")["refused"], 1)
        line = next(line for line in stint.wait_for_lines(1) if line["status"] == 429)
        self.assertGreaterEqual(line["waited_ms"], 300)
        self.release.set()

    def test_what_waits_is_shown(self):
        stint, holder = self.holding({"max_wait": "20s"})
        waiting = self.waits(stint)
        self.assertEqual(stint.admin.metrics().sum("stint_limit_waiting", limit="turns"), 1)

        self.release.set()

        self.assertEqual([holder.read_response().status, waiting.read_response().status], [200, 200])
        metrics = stint.admin.metrics()
        self.assertEqual(metrics.sum("stint_limit_waiting", limit="turns"), 0)
        self.assertEqual(metrics.sum("stint_limit_wait_seconds_count", limit="turns"), 1)
        shown = stint.admin.get("/config")["limits"]["turns"]
        self.assertEqual(
            (shown["when_exceeded"], shown["max_wait"], shown["max_waiting"], shown["fair_by"]),
            ("wait", "20s", 1000, "client_ip"),
        )
        lines = stint.wait_for_lines(2)  # of two workers, in any order
        self.assertEqual(sorted("waited_ms" in line for line in lines), [False, True])

    def test_who_waits_when_the_drain_begins_is_served_within_it(self):
        stint, holder = self.holding({"max_wait": "20s"})
        waiting = self.waits(stint)

        stint.signal(signal.SIGTERM)
        time.sleep(0.2)
        self.release.set()

        self.assertEqual([holder.read_response().status, waiting.read_response().status], [200, 200])
        self.assertEqual(stint.process.wait(10), 0)

    def test_who_still_waits_at_the_drain_s_end_is_cut_off(self):
        self.release = threading.Event()
        self.addCleanup(self.release.set)
        stint = self.before(
            lambda connection: connection.read_request() and self.release.wait(20),
            limit={"concurrent": 1, "max_wait": "20s"}, timeouts={"drain": "300ms"},
        )
        holder = self.client(stint)
        holder.send_request()
        self.upstream.wait_for_requests(1)
        waiting = self.waits(stint)

        stint.signal(signal.SIGTERM)

        self.assertTrue(waiting.ends())
        self.assertEqual(stint.process.wait(10), 0)


if __name__ == "__main__":
    unittest.main()
