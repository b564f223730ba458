"""Every wait has an end: the client's head, its body, idle connections, connecting, the response."""

import socket
import time
import unittest

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.messages import request_bytes, response_bytes
from support.permits_client import permits_port
from support.ports import free_port
from support.waiting import wait_until

SOON = "200ms"
LATE = "60s"


class Timeouts(SystemTest):
    def before(self, script=None, route=None, upstream=None, **timeouts):
        late = {name: LATE for name in ("head", "body_idle", "idle", "connect", "response")}
        self.upstream = self.start_upstream(script)
        made = config(self.upstream.address, timeouts={**late, **timeouts}, upstream=upstream,
                      limits={"cap": {"concurrent": 100}}, route_limits=["cap"])
        made["routes"][0].update(route or {})
        return self.start_stint(made)

    def test_a_head_that_never_ends_is_a_408(self):
        stint = self.before(head=SOON)
        with RawClient(stint.port) as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")

            self.assertEqual(client.read_response().status, 408)
            self.assertTrue(client.ends())
        self.assertEqual(self.upstream.received, b"")

    def test_a_head_that_trickles_is_not_given_more_time(self):
        stint = self.before(head="500ms")
        begun = time.monotonic()
        with RawClient(stint.port) as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
            while client.silent(0.02) and time.monotonic() - begun < 10:
                client.send(b"x")
            self.assertEqual(client.read_response().status, 408)

    def test_the_first_heads_time_begins_with_the_connection(self):
        """So a client that begins late ends before one that connects after it."""
        stint = self.before(head="2s")
        with RawClient(stint.port) as late:
            time.sleep(1)
            with RawClient(stint.port) as silent:
                late.send(b"GET / HTTP/1.1\r\nHost: a\r\n")
                self.assertEqual(late.read_response().status, 408)
                self.assertTrue(silent.silent(0.01))
                self.assertEqual(silent.read_to_end(), b"")

    def test_a_connection_on_which_nothing_was_ever_sent_is_closed(self):
        stint = self.before(head=SOON, idle=SOON)
        with RawClient(stint.port) as client:
            self.assertIn(client.read_to_end()[:12], (b"", b"HTTP/1.1 408"))

    def test_an_idle_connection_is_closed_without_a_word(self):
        stint = self.before(idle=SOON)
        with RawClient(stint.port) as client:
            self.assertEqual(client.request().status, 200)

            self.assertTrue(client.ends())

    def test_the_idle_time_begins_anew_with_every_response(self):
        stint = self.before(idle="500ms")
        with RawClient(stint.port) as client:
            for _ in range(10):
                self.assertEqual(client.request().status, 200)
                self.assertTrue(client.silent(0.1))

    def test_a_body_that_pauses_is_given_up(self):
        stint = self.before(lambda connection: connection.read_request(), body_idle=SOON)
        with RawClient(stint.port) as client:
            client.send_request("POST", fields={"Content-Length": "10"}, body=b"12345")

            self.assertEqual(client.read_response().status, 408)
            self.assertTrue(client.ends())
        stint.wait_idle()
        wait_until(lambda: self.upstream.connections[0].sock.fileno() < 0, "the upstream's side is closed")

    def test_a_body_without_long_pauses_may_take_its_time(self):
        stint = self.before(body_idle="500ms", response="500ms")
        with RawClient(stint.port) as client:
            client.send_request("POST", fields={"Content-Length": "10"})
            for byte in b"0123456789":
                self.assertTrue(client.silent(0.1))
                client.send(bytes([byte]))
            self.assertEqual(client.read_response().status, 200)

    def test_a_response_body_that_pauses_is_given_up(self):
        def script(connection):
            connection.read_request()
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
            connection.ends()

        stint = self.before(script, body_idle=SOON)
        with RawClient(stint.port) as client:
            client.send_request()
            self.assertEqual(client.read_response_head().status, 200)
            self.assertEqual(client.read_what_comes(), b"12345")
        stint.wait_idle()

    def test_a_client_that_stops_reading_is_given_up(self):
        def script(connection):
            connection.read_request()
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            while True:
                connection.send(b"x" * 65536)

        stint = self.before(script, body_idle=SOON)
        with RawClient(stint.port, receive_buffer=4096) as client:
            client.send_request()
            wait_until(lambda: self.upstream.requests, "the request at the upstream")
            stint.wait_idle(5)

    def test_a_caller_that_reads_no_replies_is_reset(self):
        stint = self.start_stint({
            "workers": 1, "max_connections": 100, "timeouts": {"head": SOON},
            "permits": {"address": f"127.0.0.1:{free_port()}", "start_up_grace": "0s"}})
        requests = 1000 * request_bytes("GET", "/v1/limits/none", host="localhost")
        with RawClient(permits_port(stint), receive_buffer=4096) as caller:
            with self.assertRaises((ConnectionResetError, BrokenPipeError)):
                while True:
                    caller.send(requests)

    def silent(self):
        return lambda connection: connection.read_request() and connection.ends()

    def test_a_response_that_does_not_begin_is_a_504(self):
        stint = self.before(self.silent(), response=SOON)

        self.assertEqual(fetch(stint.port).status, 504)
        stint.wait_idle()

    def test_an_upstream_may_set_its_own(self):
        stint = self.before(self.silent(), upstream={"timeouts": {"response": SOON}})

        self.assertEqual(fetch(stint.port).status, 504)

    def test_a_route_may_set_its_own(self):
        stint = self.before(
            self.silent(),
            upstream={"timeouts": {"response": LATE}},
            route={"timeouts": {"response": SOON}},
        )

        self.assertEqual(fetch(stint.port).status, 504)

    def test_the_response_time_out_does_not_count_the_upload(self):
        def script(connection):
            connection.read_request()
            connection.send(response_bytes())

        stint = self.before(script, response="300ms")
        with RawClient(stint.port) as client:
            client.send_request("POST", fields={"Content-Length": "8"})
            for byte in b"01234567":
                self.assertTrue(client.silent(0.1))
                client.send(bytes([byte]))
            self.assertEqual(client.read_response().status, 200)

    def test_an_upstream_that_does_not_accept_is_a_504(self):
        # A listener whose queue is full: the kernel drops further attempts to connect.
        with socket.socket() as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            waiting = []
            for _ in range(4):
                sock = socket.socket()
                sock.setblocking(False)
                sock.connect_ex(full.getsockname())
                waiting.append(sock)
            stint = self.start_stint(
                config(f"127.0.0.1:{full.getsockname()[1]}", timeouts={"connect": SOON})
            )

            self.assertEqual(fetch(stint.port).status, 504)

            for sock in waiting:
                sock.close()


if __name__ == "__main__":
    unittest.main()
