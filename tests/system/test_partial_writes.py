"""Where a socket takes a part of a request: tests/support/small_buffers makes sure that every one does."""

import re
import socket
import ssl
import time
import unittest
from pathlib import Path

from support.case import SystemTest, config
from support.certificates import Authority
from support.client import RawClient
from support.messages import request_bytes, response_bytes
from support.stream import SMALL_BUFFERS
from support.waiting import wait_until

BODY = b"POST /forbidden HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".rjust(64, b"\n") * 1024
TOO_LARGE = response_bytes(b"too large", "413 Content Too Large", [("Connection", "close")])


def queues(port: int) -> tuple[int, int]:
    """(not yet acknowledged by the peers of connections to this port, not yet read by whoever listens there)"""
    unsent = unread = 0
    for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]:
        _, own, peer, state, sizes = line.split()[:5]
        waiting = [int(size, 16) for size in sizes.split(":")]
        if state != "0A":  # a listener's are connections
            unsent += waiting[0] if peer.endswith(f":{port:04X}") else 0
            unread += waiting[1] if own.endswith(f":{port:04X}") else 0
    return unsent, unread


@unittest.skipUnless(SMALL_BUFFERS, "run by tests/support/small_buffers")
class Namespace(SystemTest):
    def test_a_socket_takes_a_part_of_a_write(self):
        upstream = self.start_upstream(lambda connection: time.sleep(1))
        with socket.create_connection(("127.0.0.1", upstream.port)) as sock:
            sock.setblocking(False)
            self.assertLess(sock.send(BODY), 16 * 1024)


@unittest.skipUnless(SMALL_BUFFERS, "run by tests/support/small_buffers")
class PartialWrites(SystemTest):
    def after_the_first(self, go_on, timeouts=None):
        """Stint with a pooled connection, on which go_on(connection) says what becomes of the next request."""
        def script(connection):
            connection.read_request()
            connection.send(response_bytes(b"first"))
            go_on(connection)

        upstream = self.start_upstream(script)
        stint = self.stint_before(upstream, timeouts=timeouts)
        client = self.enterContext(RawClient(stint.port))
        self.assertEqual(client.request().body, b"first")
        return upstream, stint, client

    @staticmethod
    def upload(client, method="POST"):
        client.send(request_bytes(method, "/upload", (), BODY))

    def test_the_first_write_is_partial(self):
        upstream, _, client = self.after_the_first(lambda connection: time.sleep(3))
        self.upload(client)
        unsent, unread = wait_until(
            lambda: all(seen := queues(upstream.port)) and seen, "the upstream has a part of the request")
        self.assertLess(unsent + unread, len(BODY) // 4)

    def test_no_rest_of_a_body_is_sent_as_a_request(self):
        for method in ("POST", "PUT"):
            with self.subTest(method):
                self.look_behind_a_reset(method)

    def look_behind_a_reset(self, method):
        def reset(connection):
            connection.read_some(1000)
            wait_until(lambda: queues(upstream.port)[0], "a part of it is still with Stint")
            connection.reset()

        upstream, _, client = self.after_the_first(reset)
        self.upload(client, method)
        status = client.read_response().status
        wait_until(lambda: not any(queues(upstream.port)), "nothing is under way")
        later = [connection.received for connection in upstream.connections[1:]]
        for bytes_there in later:
            self.assertTrue(re.match(rb"PUT /upload HTTP/1.1\r\n", bytes_there), bytes_there[:80])
        if method == "POST":
            self.assertEqual((status, later), (502, []))

    def test_a_record_that_was_taken_later_was_taken(self):
        """TLS: the socket takes a part of the first record, which is nothing yet, and then the rest of it."""
        authority = Authority(self.new_folder())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        pair = authority.issue("localhost", "IP:127.0.0.1")
        context.load_cert_chain(pair.certificate, pair.key)

        def script(connection):
            connection.sock = context.wrap_socket(connection.sock, server_side=True)
            connection.read_request()
            connection.send(response_bytes(b"first"))
            connection.read_until(b"POST /upload")
            wait_until(lambda: queues(upstream.port)[0], "a part of it is still with Stint")
            connection.half_close()
            time.sleep(1)

        upstream = self.start_upstream(script)
        stint = self.start_stint(config(
            f"https://{upstream.address}", upstream={"tls": {"ca": str(authority.certificate)}}))
        client = self.enterContext(RawClient(stint.port))
        self.assertEqual(client.request().body, b"first")
        self.upload(client)
        self.assertEqual(client.read_response().status, 502)
        self.assertEqual([one.method for one in upstream.requests], ["GET"])

    def test_an_answer_during_the_first_write_reaches_the_client(self):
        def refuse(connection):
            connection.read_some(1000)
            wait_until(lambda: queues(upstream.port)[0], "a part of it is still with Stint")
            connection.send(TOO_LARGE)
            time.sleep(5)

        upstream, _, client = self.after_the_first(refuse, timeouts={"body_idle": "3s"})
        self.upload(client)
        self.assertEqual(client.read_response().status, 413)  # and no 504, for which it would wait so long

    def test_a_first_write_may_take_long_while_it_goes_on(self):
        def read_slowly(connection):
            for _ in range(0, len(BODY), 2048):
                connection.read_some(2048)
                time.sleep(0.1)
            connection.read_until(BODY[-1000:])
            connection.send(response_bytes(b"all there"))

        _, _, client = self.after_the_first(read_slowly, timeouts={"body_idle": "1s"})
        self.upload(client)
        self.assertEqual(client.read_response().body, b"all there")


if __name__ == "__main__":
    unittest.main()
