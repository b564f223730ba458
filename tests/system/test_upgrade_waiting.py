"""Upgrades (SIGUSR2) while requests wait: they go on waiting in the new process, in their order and over their
connections, and their time is not begun anew."""

import threading
import time
import unittest

from support.case import config
from support.client import RawClient, fetch
from support.locks_client import LockClient, locks_config
from support.messages import chunked, response_bytes
from support.permits_client import PermitClient, permits_port
from support.upgrade import UpgradeTest
from support.waiting import wait_until

class Upstream:
    """A script that notes each request with its time, and answers; /holds not before `release`."""

    def __init__(self):
        self.came = []
        self.release = threading.Event()

    def __call__(self, connection):
        while True:
            request = connection.read_request()
            self.came.append((time.monotonic(), request))
            if request.target == "/holds":
                self.release.wait(60)
            connection.send(response_bytes(request.body or b"ok"))

    def targets(self) -> list:
        return [request.target for _, request in self.came]


class Waiting(UpgradeTest):
    def before(self, limit, **more):
        self.upstream = Upstream()
        self.addCleanup(self.upstream.release.set)
        return self.start_upgradable(self.settings(limit, **more))

    def settings(self, limit, **more) -> dict:
        return config(self.start_upstream(self.upstream).address, timeouts={"drain": "30s"},
                      limits={"turns": {"when_exceeded": "wait", **limit}}, route_limits=["turns"], **more)

    def client(self, stint) -> RawClient:
        client = RawClient(stint.port)
        self.addCleanup(client.close)
        return client

    def await_waiting(self, stint, count: int) -> None:
        wait_until(lambda: stint.admin.limit("turns")["waiting"] == count, f"{count} wait")

    def let_go(self, stint, count: int) -> None:
        """So many in the present window, those that went already included."""
        stint.config["limits"]["turns"]["requests"] = count
        stint.write(stint.config)
        self.assertEqual(stint.admin.reload().status, 200)

    def line_up(self, stint, count: int) -> list:
        """As many clients whose requests wait, each after the one before it."""
        clients = [self.client(stint) for _ in range(count)]
        for number, client in enumerate(clients):
            client.send_request(target=f"/{number}")
            self.await_waiting(stint, number + 1)
        return clients


class Windows(Waiting):
    def test_they_go_in_their_order_and_over_their_connections(self):
        stint = self.before({"requests": 1, "per": "1h", "max_wait": "10h"}, workers=1)
        self.assertEqual(fetch(stint.port, target="/first").status, 200)
        clients = self.line_up(stint, 8)

        former = stint.upgrade()

        self.await_waiting(stint, 8)
        self.assertEqual(former.wait(20), 0)  # it waits for none of them
        self.assertEqual(self.upstream.targets(), ["/first"])
        for number, client in enumerate(clients):  # one at a time: else two reach the upstream in any order
            self.let_go(stint, number + 2)
            self.assertEqual(client.read_response().status, 200)
            self.await_waiting(stint, 7 - number)
        self.assertEqual(self.upstream.targets()[1:], [f"/{number}" for number in range(8)])
        self.let_go(stint, 100)
        self.assertEqual({client.request().status for client in clients}, {200})  # and go on
        self.assertEqual(stint.admin.limit("turns")["used"], 17)

    def test_a_window_opens_in_the_new_process_for_as_many_as_in_the_old_one(self):
        stint = self.before({"requests": 3, "per": "3s", "max_wait": "60s"}, workers=1)
        for _ in range(3):
            self.assertEqual(fetch(stint.port, target="/first").status, 200)
        clients = self.line_up(stint, 6)

        stint.upgrade()

        self.assertEqual([client.read_response().status for client in clients], [200] * 6)
        targets = self.upstream.targets()[3:]
        self.assertEqual([sorted(targets[:3]), sorted(targets[3:])], [["/0", "/1", "/2"], ["/3", "/4", "/5"]])
        at = [when for when, _ in self.upstream.came]
        # A window begins with its first request, at the earliest 3 s after the one before it; the upstream notes
        # requests late, hence a little less.
        self.assertGreater(at[6] - at[0], 5.5)
        self.assertGreater(at[8] - at[2], 5.5)

    def test_they_stay_in_line_over_two_upgrades(self):
        stint = self.before({"requests": 1, "per": "1h", "max_wait": "10h"}, workers=1)
        self.assertEqual(fetch(stint.port, target="/first").status, 200)
        clients = self.line_up(stint, 3)
        for _ in range(2):
            self.assertEqual(stint.upgrade().wait(20), 0)
            self.await_waiting(stint, 3)
        later = self.client(stint)
        later.send_request(target="/later")
        self.await_waiting(stint, 4)

        for number, client in enumerate((*clients, later)):
            self.let_go(stint, number + 2)
            self.assertEqual(client.read_response().status, 200)
        self.assertEqual(self.upstream.targets(), ["/first", "/0", "/1", "/2", "/later"])

    def test_a_client_that_leaves_frees_its_place(self):
        stint = self.before({"requests": 1, "per": "1h", "max_wait": "10h"})
        self.assertEqual(fetch(stint.port, target="/first").status, 200)
        clients = self.line_up(stint, 3)
        stint.upgrade()
        self.await_waiting(stint, 3)

        clients[1].reset()
        clients[2].close()

        self.await_waiting(stint, 1)

    def test_the_new_configuration_may_let_them_go(self):
        stint = self.before({"requests": 1, "per": "1h", "max_wait": "10h"})
        self.assertEqual(fetch(stint.port, target="/first").status, 200)
        clients = self.line_up(stint, 3)
        stint.config["limits"]["turns"]["requests"] = 10
        stint.write(stint.config)

        stint.upgrade()

        self.assertEqual([client.read_response().status for client in clients], [200] * 3)
        self.assertEqual(stint.admin.limit("turns")["used"], 4)


class Uploads(Waiting):
    def upload(self, send) -> RawClient:
        """A request that send(client) has sent while it waits, over an upgrade; once it may go."""
        stint = self.before({"requests": 1, "per": "1h", "max_wait": "10h"})
        self.assertEqual(fetch(stint.port, target="/first").status, 200)
        client = self.client(stint)
        send(client)
        self.await_waiting(stint, 1)
        time.sleep(0.3)  # time enough for it to read what it may read
        self.assertEqual(stint.upgrade().wait(20), 0)
        self.await_waiting(stint, 1)
        self.assertEqual(self.upstream.targets(), ["/first"])
        self.let_go(stint, 100)
        return client

    def assert_arrived(self, body: bytes) -> None:
        wait_until(lambda: len(self.upstream.came) >= 2, "the upload")
        request = self.upstream.came[1][1]
        self.assertEqual((request.target, len(request.body), request.get("X-Own")), ("/up", len(body), "kept"))
        self.assertTrue(request.body == body)

    def test_a_body_with_a_length_that_was_sent_while_it_waited(self):
        for size in (11, 5_000, 300_000):
            with self.subTest(size):
                body = (b"0123456789" * size)[:size]
                sender = []

                def send(client, body=body, sender=sender):
                    client.send(b"POST /up HTTP/1.1\r\nHost: a\r\nX-Own: kept\r\nContent-Length: %d\r\n\r\n" % len(body)
                                + body[:7])
                    sender.append(threading.Thread(target=client.send, args=(body[7:],), daemon=True))
                    sender[0].start()  # what the kernel has no room for waits as well

                client = self.upload(send)
                self.assertEqual(client.read_response().status, 200)
                sender[0].join(20)
                self.assert_arrived(body)
                self.assertEqual(client.request(target="/next").status, 200)

    def test_a_chunked_body_that_was_sent_while_it_waited_and_a_pipelined_request(self):
        pieces = (b"hello", b" world", b"!" * 2000)

        def send(client):
            client.send(b"POST /up HTTP/1.1\r\nHost: a\r\nX-Own: kept\r\nTransfer-Encoding: chunked\r\n\r\n"
                        b"5\r\nhello\r\n6")
            time.sleep(0.1)
            client.send(chunked(*pieces).removeprefix(b"5\r\nhello\r\n6") + b"GET /next HTTP/1.1\r\nHost: a\r\n\r\n")

        client = self.upload(send)

        self.assertEqual([client.read_response().status for _ in range(2)], [200, 200])
        self.assert_arrived(b"".join(pieces))
        wait_until(lambda: self.upstream.targets() == ["/first", "/up", "/next"], "the pipelined request")

    def test_a_chunked_body_of_which_a_part_comes_after_the_upgrade(self):
        client = self.upload(lambda client: client.send(
            b"POST /up HTTP/1.1\r\nHost: a\r\nX-Own: kept\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"))

        client.send(b"lo\r\n6\r\n world\r\n0\r\n\r\n")

        self.assertEqual(client.read_response().status, 200)
        self.assert_arrived(b"hello world")

    def test_a_client_that_waits_for_100_continue_gets_it_from_the_new_process(self):
        client = self.upload(lambda client: client.send(
            b"POST /up HTTP/1.1\r\nHost: a\r\nX-Own: kept\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"))

        self.assertEqual(client.read_response_head().status, 100)
        client.send(b"hello")

        self.assertEqual(client.read_response().status, 200)
        self.assert_arrived(b"hello")


class Caps(Waiting):
    def holding(self, limit):
        """Stint with a request that holds the only slot until the upstream's release."""
        stint = self.before({"concurrent": 1, **limit})
        holder = self.client(stint)
        holder.send_request(target="/holds")
        wait_until(lambda: self.upstream.came, "the holder")
        return stint, holder

    def test_max_wait_counts_from_the_arrival(self):
        stint, holder = self.holding({"max_wait": "6s"})
        client = self.client(stint)
        begun = time.monotonic()
        client.send_request(target="/late")
        self.await_waiting(stint, 1)
        time.sleep(4)

        stint.upgrade()
        refused = client.read_response()

        took = time.monotonic() - begun
        self.assertEqual((refused.status, refused.json()["limit"]), (429, "turns"))
        self.assertGreaterEqual(took, 5.9)
        self.assertLess(took, 9.5)  # begun anew it were 10 s
        self.upstream.release.set()
        self.assertEqual(holder.read_response().status, 200)
        self.assertEqual(client.request(target="/again").status, 200)  # over the same connection
        self.assertNotIn("/late", self.upstream.targets())

    def test_a_slot_that_a_request_of_the_former_process_frees_goes_to_who_waits_in_the_new_one(self):
        stint, holder = self.holding({"max_wait": "60s"})
        clients = self.line_up(stint, 3)
        former = stint.upgrade()
        self.await_waiting(stint, 3)
        self.assertEqual(self.upstream.targets(), ["/holds"])

        self.upstream.release.set()

        self.assertEqual([client.read_response().status for client in (holder, *clients)], [200] * 4)
        self.assertEqual(self.upstream.targets(), ["/holds", "/0", "/1", "/2"])
        self.assertEqual(former.wait(20), 0)

    def test_so_does_that_of_a_former_process_that_is_killed(self):
        stint, holder = self.holding({"max_wait": "60s"})
        clients = self.line_up(stint, 2)
        former = stint.upgrade()
        self.await_waiting(stint, 2)

        former.kill()
        former.wait()
        stint.former.remove(former)

        self.assertTrue(holder.ends())
        self.assertEqual([client.read_response().status for client in clients], [200] * 2)


class Permits(UpgradeTest):
    def setUp(self):
        super().setUp()
        self.stint = self.start_upgradable(locks_config(
            limits={"turns": {"requests": 2, "per": "6s"}}, permits={"max_ttl": "60s"}, timeouts={"drain": "30s"}))

    def locker(self, **more) -> LockClient:
        client = LockClient(permits_port(self.stint), 40, **more)
        self.addCleanup(client.close)
        return client

    def test_a_take_that_waits_is_granted(self):
        clients = [PermitClient(permits_port(self.stint), 40) for _ in range(4)]
        for client in clients:
            self.addCleanup(client.close)
        for client in clients[:2]:
            self.assertEqual(client.take("turns").status, 200)
        for client in clients[2:]:
            client.asks("turns", wait_ms=60000)
        wait_until(lambda: self.stint.admin.metrics().sum("stint_permit_waiting") == 2, "they wait")
        time.sleep(1)

        self.stint.upgrade()

        for client in clients[2:]:
            granted = client.read()
            self.assertEqual(granted.status, 200, granted.body)
            # From when it was sent, not from the upgrade.
            self.assertAlmostEqual(granted.body["waited_ms"] / 1000, granted.took, delta=0.5)
            self.assertGreater(granted.body["waited_ms"], 1000)
        self.assertEqual(self.stint.admin.limit("turns")["used"], 2)
        self.assertEqual(clients[0].take("turns", cost=0).status, 200)  # over its old connection

    def test_who_waits_for_a_lock_gets_it_once_it_is_released(self):
        for hold in (None, "connection"):
            with self.subTest(hold=hold):
                name = f"jobs-{hold}"
                holder, waiting = self.locker(hold=None), [self.locker(hold=hold) for _ in range(2)]
                held = holder.acquire(name, ttl_ms=60000)
                self.assertEqual(held.status, 201)
                for number, each in enumerate(waiting, 1):
                    each.asks_to_acquire(name, wait_ms=30000, ttl_ms=60000, owner=f"w{number}")
                    wait_until(lambda number=number, name=name: holder.lock(name).body["waiting"] == number, "it waits")

                self.stint.upgrade()

                wait_until(lambda name=name: holder.lock(name).body["waiting"] == 2, "both wait on")
                self.assertEqual(holder.release(name, held.body["lease"]).status, 204)
                fence = held.body["fence"]
                for each in waiting:
                    granted = each.read()
                    self.assertEqual(granted.status, 201, granted.body)
                    self.assertGreater(granted.body["fence"], fence)
                    fence = granted.body["fence"]
                    self.assertEqual(self.locker().acquire(name).status, 409)
                    self.assertEqual(holder.release(name, granted.body["lease"]).status, 204)


if __name__ == "__main__":
    unittest.main()
