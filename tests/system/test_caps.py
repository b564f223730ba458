"""Concurrency caps: a slot is held from admission to the end of the response, and no longer."""

import threading
import unittest

from support.case import SystemTest
from support.client import RawClient, fetch
from support.messages import chunked, response_bytes
from support.waiting import wait_until


class Stalling:
    """An upstream's script that reads a request, then does what the test says."""

    def __init__(self, then=None):
        self.release = threading.Event()
        self._then = then

    def __call__(self, connection):
        while True:
            connection.read_request()
            if not self.release.wait(20):
                return
            if self._then:
                self._then(connection)
                return
            connection.send(response_bytes(b"done"))


class Caps(SystemTest):
    def before(self, script, slots=1, **more):
        self.upstream = self.start_upstream(script)
        return self.stint_before(
            self.upstream, limits={"cap": {"concurrent": slots}}, route_limits=["cap"], **more
        )

    def taken(self, stint):
        """A client whose request waits in the upstream."""
        client = RawClient(stint.port)
        self.addCleanup(client.close)
        client.send_request()
        wait_until(lambda: stint.in_flight() == 1, "the slot is taken")
        self.upstream.wait_for_requests(1)
        return client

    def test_as_many_as_the_cap_says_are_in_flight_and_no_more(self):
        script = Stalling()
        stint = self.before(script, slots=3)
        clients = [RawClient(stint.port) for _ in range(8)]
        for client in clients[:3]:
            client.send_request()
        self.upstream.wait_for_requests(3)

        refused = [client.request() for client in clients[3:]]

        self.assertEqual({answer.status for answer in refused}, {429})
        self.assertEqual(refused[0].json()["limit"], "cap")
        self.assertTrue(all(int(answer.get("Retry-After")) >= 1 for answer in refused))
        self.assertEqual(len(self.upstream.heads), 3)
        script.release.set()
        self.assertEqual([client.read_response().status for client in clients[:3]], [200] * 3)
        stint.wait_idle()
        for client in clients:
            client.close()

    def test_the_normal_end_frees_the_slot_at_once(self):
        script = Stalling()
        script.release.set()
        stint = self.before(script)

        with RawClient(stint.port) as client:
            statuses = [client.request().status for _ in range(50)]

        self.assertEqual(statuses, [200] * 50)

    def test_a_response_that_is_still_being_relayed_holds_its_slot(self):
        half = threading.Event()

        def script(connection):
            connection.read_request()
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
            half.wait(20)
            connection.send(b"67890")

        stint = self.before(script)
        with RawClient(stint.port) as client:
            client.send_request()
            client.read_response_head()
            self.assertEqual(client.read_exactly(5), b"12345")

            self.assertEqual(fetch(stint.port).status, 429)

            half.set()
            self.assertEqual(client.read_exactly(5), b"67890")
        stint.wait_idle()

    def test_a_client_that_resets_frees_the_slot(self):
        stint = self.before(Stalling())
        self.taken(stint).reset()
        stint.wait_idle()
        wait_until(lambda: self.upstream.connections[0].ends(), "the upstream's connection is closed")

    def test_a_client_that_closes_frees_the_slot(self):
        stint = self.before(Stalling())
        self.taken(stint).close()
        stint.wait_idle()

    def test_a_client_that_closes_its_sending_side_counts_as_gone(self):
        stint = self.before(Stalling())
        client = self.taken(stint)

        client.half_close()

        stint.wait_idle()
        self.assertTrue(client.ends())

    def test_a_client_that_leaves_in_the_middle_of_the_response_frees_the_slot(self):
        def script(connection):
            connection.read_request()
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst")
            connection.ends()

        stint = self.before(script)
        client = RawClient(stint.port)
        client.send_request()
        client.read_response_head()

        client.reset()

        stint.wait_idle()

    def test_a_client_that_leaves_in_the_middle_of_its_body_frees_the_slot(self):
        stint = self.before(lambda connection: connection.read_request())
        client = RawClient(stint.port)
        client.send_request("POST", fields={"Content-Length": "100000"}, body=b"x" * 1000)
        wait_until(lambda: stint.in_flight() == 1, "the slot is taken")

        client.reset()

        stint.wait_idle()

    def test_pipelined_bytes_do_not_count_as_leaving(self):
        script = Stalling()
        stint = self.before(script)
        client = self.taken(stint)
        client.send_request(target="/second")

        script.release.set()

        self.assertEqual(client.read_response().status, 200)
        self.assertEqual(client.read_response().status, 200)

    def test_leaving_with_pipelined_bytes_unread_frees_the_slot(self):
        stint = self.before(Stalling())
        client = self.taken(stint)
        client.send_request(target="/second")
        self.assertTrue(client.silent(0.05))

        client.reset()

        stint.wait_idle()

    def test_an_upstream_that_resets_frees_the_slot(self):
        script = Stalling(then=lambda connection: connection.reset())
        stint = self.before(script)
        client = self.taken(stint)

        script.release.set()

        self.assertEqual(client.read_response().status, 502)
        stint.wait_idle()

    def test_an_upstream_that_breaks_off_in_the_middle_frees_the_slot(self):
        def script(connection):
            connection.read_request()
            connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
            connection.reset()

        stint = self.before(script)
        with RawClient(stint.port) as client:
            client.send_request()
            rest = client.read_what_comes()

        self.assertNotIn(chunked(), rest)  # the client must see that something is missing
        stint.wait_idle()

    def test_an_upstream_that_stalls_costs_its_time_out_and_frees_the_slot(self):
        stint = self.before(Stalling(), timeouts={"response": "300ms"})
        client = self.taken(stint)

        self.assertEqual(client.read_response().status, 504)

        stint.wait_idle()

    def test_stopping_gives_up_what_does_not_end_in_time(self):
        stint = self.before(Stalling(), timeouts={"drain": "200ms"})
        client = self.taken(stint)

        stint.stop(seconds=5)

        self.assertNotIn(b" 200 ", client.read_what_comes()[:20])

    def test_retry_after_of_a_cap_is_an_estimate_of_at_least_a_second(self):
        stint = self.before(Stalling())
        self.taken(stint)

        refused = fetch(stint.port)

        self.assertGreaterEqual(int(refused.get("Retry-After")), 1)
        self.assertGreaterEqual(int(refused.get("Retry-After-Ms")), 1)

    def test_a_cap_by_address_counts_each_one_alone(self):
        self.upstream = self.start_upstream(Stalling())
        stint = self.stint_before(
            self.upstream, limits={"cap": {"concurrent": 1, "key": "client_ip"}}, route_limits=["cap"]
        )
        clients = []
        for source in ("127.0.0.1", "127.0.0.2"):
            clients.append(RawClient(stint.port, source=source))
            clients[-1].send_request()
        self.upstream.wait_for_requests(2)

        self.assertEqual(fetch(stint.port, source="127.0.0.1").status, 429)

        for client in clients:
            client.close()
        stint.wait_idle()


class HalfCloseAllowed(SystemTest):
    def test_the_response_still_comes(self):
        script = Stalling()
        upstream = self.start_upstream(script)
        stint = self.stint_before(
            upstream,
            limits={"cap": {"concurrent": 1}},
            route_limits=["cap"],
            listener={"half_close": "allow"},
        )
        with RawClient(stint.port) as client:
            client.send_request()
            upstream.wait_for_requests(1)
            client.half_close()
            self.assertTrue(client.silent(0.2))
            self.assertEqual(stint.in_flight(), 1)

            script.release.set()

            self.assertEqual(client.read_response().body, b"done")
            self.assertTrue(client.ends())
        stint.wait_idle()

    def test_a_reset_still_frees_the_slot(self):
        upstream = self.start_upstream(Stalling())
        stint = self.stint_before(
            upstream,
            limits={"cap": {"concurrent": 1}},
            route_limits=["cap"],
            listener={"half_close": "allow"},
        )
        client = RawClient(stint.port)
        client.send_request()
        upstream.wait_for_requests(1)
        client.half_close()
        self.assertTrue(client.silent(0.1))

        client.reset()

        stint.wait_idle()


if __name__ == "__main__":
    unittest.main()
