"""Requests and responses that pass through: framing, fields, bodies of any size, in order."""

import hashlib
import json
import random
import threading
import unittest
import urllib.error
import urllib.request

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.messages import chunked, response_bytes
from support.upstream import answer

MIB = 1024 * 1024


def echo(connection):
    """Answers with the body it was sent."""
    while True:
        request = connection.read_request()
        connection.send(response_bytes(request.body))


def echo_size(connection):
    """Answers with how long the body was."""
    while True:
        connection.send(response_bytes(str(len(connection.read_request().body)).encode()))


class Messages(SystemTest):
    def test_methods_targets_and_bodies_arrive_as_they_were_sent(self):
        upstream = self.start_upstream(echo)
        stint = self.stint_before(upstream)
        asked = [
            ("GET", "/a/b%20c?x=1&y=%2F", b""),
            ("POST", "/form", b"name=value"),
            ("PUT", "/thing", bytes(range(256))),
            ("DELETE", "/thing", b""),
            ("PATCH", "/thing;v=1", b"{}"),
            ("OPTIONS", "/", b""),
            ("PROPFIND", "/dav/", b"<x/>"),
        ]
        with RawClient(stint.port) as client:
            for method, target, body in asked:
                answered = client.request(method, target, body=body)
                self.assertEqual((answered.status, answered.body), (200, body))

        seen = [(request.method, request.target, request.body) for request in upstream.requests]
        self.assertEqual(seen, asked)

    def test_an_asterisk_target_is_forwarded(self):
        upstream = self.start_upstream()
        stint = self.stint_before(upstream)

        self.assertEqual(fetch(stint.port, "OPTIONS", "*").status, 200)

        self.assertEqual(upstream.requests[0].target, "*")

    def test_an_absolute_target_gives_the_host(self):
        upstream = self.start_upstream()
        stint = self.stint_before(upstream, absolute_form="route")

        fetch(stint.port, target="http://real.example/x?y", host="other.example")

        request = upstream.requests[0]
        self.assertEqual((request.target, request.get("Host")), ("/x?y", "real.example"))

    def test_used_as_a_forward_proxy_it_says_that_it_is_none(self):
        upstream = self.start_upstream()
        proxy = f"http://127.0.0.1:{self.stint_before(upstream).port}"
        # Loopback alone, whatever answers: the names are never looked up.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))

        with self.assertRaises(urllib.error.HTTPError) as refused:
            opener.open("http://other.example/", timeout=10)
        with self.assertRaisesRegex(OSError, "405"):
            opener.open("https://other.example/", timeout=10)

        self.assertEqual(refused.exception.code, 421)
        self.assertIn("Stint is no forward proxy", json.loads(refused.exception.read())["detail"])
        self.assertEqual(upstream.requests, [])

    def test_a_head_response_has_its_length_and_no_body(self):
        def script(connection):
            while True:
                connection.read_request()
                connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n")

        stint = self.stint_before(self.start_upstream(script))
        with RawClient(stint.port) as client:
            for _ in range(3):
                answered = client.request("HEAD")
                self.assertEqual((answered.status, answered.get("Content-Length")), (200, "12345"))

    def test_204_and_304_have_no_body(self):
        for status in ("204 No Content", "304 Not Modified"):
            with self.subTest(status):
                raw = f"HTTP/1.1 {status}\r\nETag: \"x\"\r\n\r\n".encode()

                def script(connection, raw=raw):
                    while True:
                        connection.read_request()
                        connection.send(raw)

                stint = self.stint_before(self.start_upstream(script))
                with RawClient(stint.port) as client:
                    for _ in range(3):
                        answered = client.request()
                        self.assertEqual(answered.status, int(status[:3]))
                        self.assertEqual(answered.get("ETag"), '"x"')
                        self.assertIsNone(answered.get("Transfer-Encoding"))

    def test_a_chunked_request_reaches_the_upstream_whole(self):
        upstream = self.start_upstream(echo)
        stint = self.stint_before(upstream)
        pieces = [b"first", b"x" * 70_000, b"last"]

        with RawClient(stint.port) as client:
            client.send_request("POST", fields={"Transfer-Encoding": "chunked"}, body=chunked(*pieces))
            answered = client.read_response()

        self.assertEqual(answered.body, b"".join(pieces))
        self.assertEqual(upstream.requests[0].get("Transfer-Encoding"), "chunked")
        self.assertIsNone(upstream.requests[0].get("Content-Length"))

    def test_chunk_extensions_and_trailers_end_with_the_gateway(self):
        upstream = self.start_upstream(echo)
        stint = self.stint_before(upstream)
        body = b'3;name="a\xff"\r\nabc\r\n0\r\nX-Trailer: evil\r\nContent-Length: 7\r\n\r\n'

        with RawClient(stint.port) as client:
            client.send_request("POST", fields={"Transfer-Encoding": "chunked"}, body=body)
            self.assertEqual(client.read_response().body, b"abc")

        self.assertNotIn(b"name=", upstream.received)
        self.assertIsNone(upstream.requests[0].get("X-Trailer"))

    def test_a_chunked_response_arrives_whole_and_the_connection_is_kept(self):
        pieces = [b"first", b"y" * 70_000, b"last"]

        def script(connection):
            while True:
                connection.read_request()
                connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(*pieces))

        upstream = self.start_upstream(script)
        stint = self.stint_before(upstream, workers=1)
        with RawClient(stint.port) as client:
            for _ in range(3):
                answered = client.request()
                self.assertEqual(answered.body, b"".join(pieces))
                self.assertEqual(answered.get("Transfer-Encoding"), "chunked")

        self.assertEqual(len(upstream.connections), 1)

    def test_a_piece_of_a_response_is_not_held_back_for_the_next(self):
        proceed = threading.Event()

        def script(connection):
            connection.read_request()
            connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nevent\r\n")
            proceed.wait(20)
            connection.send(chunked(b"again"))

        stint = self.stint_before(self.start_upstream(script))
        with RawClient(stint.port) as client:
            client.send_request()
            client.read_response_head()
            self.assertEqual(client.read_exactly(10), b"5\r\nevent\r\n")
            proceed.set()
            self.assertEqual(client.read_exactly(15), chunked(b"again"))

    def close_delimited(self):
        def script(connection):
            connection.read_request()
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end")

        return self.stint_before(self.start_upstream(script))

    def test_a_close_delimited_response_is_chunked_for_http_1_1(self):
        stint = self.close_delimited()
        with RawClient(stint.port) as client:
            for _ in range(2):
                answered = client.request()
                self.assertEqual(answered.get("Transfer-Encoding"), "chunked")
                self.assertEqual(answered.body, b"until the end")

    def test_a_close_delimited_response_stays_so_for_http_1_0(self):
        stint = self.close_delimited()
        with RawClient(stint.port) as client:
            client.send(b"GET / HTTP/1.0\r\nHost: a\r\n\r\n")
            answered = client.read_response()
            self.assertIsNone(answered.get("Transfer-Encoding"))
            self.assertEqual(answered.body, b"until the end")

    def test_an_http_1_0_client_is_closed_unless_it_asks_to_stay(self):
        stint = self.stint_before(self.start_upstream())
        with RawClient(stint.port) as client:
            client.send(b"GET / HTTP/1.0\r\nHost: a\r\n\r\n")
            self.assertEqual(client.read_response().status, 200)
            self.assertTrue(client.ends())
        with RawClient(stint.port) as client:
            for _ in range(2):
                client.send(b"GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
                answered = client.read_response()
                self.assertEqual((answered.status, answered.get("Connection")), (200, "keep-alive"))

    def test_connection_close_is_obeyed(self):
        stint = self.stint_before(self.start_upstream())
        with RawClient(stint.port) as client:
            answered = client.request(fields={"Connection": "close"})
            self.assertEqual(answered.get("Connection"), "close")
            self.assertTrue(client.ends())

    def test_pipelined_requests_are_answered_in_order(self):
        def script(connection):
            while True:
                request = connection.read_request()
                connection.send(response_bytes(request.target.encode() + request.body))

        stint = self.stint_before(self.start_upstream(script))
        with RawClient(stint.port) as client:
            for number in range(40):
                body = b"body" if number % 3 == 0 else b""
                client.send_request("POST" if body else "GET", f"/{number}", body=body)
            bodies = [client.read_response().body for _ in range(40)]

        wanted = [f"/{number}".encode() + (b"body" if number % 3 == 0 else b"") for number in range(40)]
        self.assertEqual(bodies, wanted)

    def test_a_head_that_trickles_in_is_a_head(self):
        stint = self.stint_before(self.start_upstream())
        with RawClient(stint.port) as client:
            for byte in b"GET / HTTP/1.1\r\nHost: a\r\n\r\n":
                client.send(bytes([byte]))
            self.assertEqual(client.read_response().status, 200)

    def test_both_sides_keep_their_connections(self):
        upstream = self.start_upstream()
        stint = self.stint_before(upstream, workers=1)
        with RawClient(stint.port) as client:
            for _ in range(30):
                self.assertEqual(client.request().status, 200)

        self.assertEqual(len(upstream.connections), 1)

    def test_informational_responses_come_before_the_final_one(self):
        def script(connection):
            while True:
                connection.read_request()
                connection.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
                connection.send(response_bytes(b"final"))

        stint = self.stint_before(self.start_upstream(script))
        with RawClient(stint.port) as client:
            for _ in range(2):
                client.send_request()
                early = client.read_response()
                self.assertEqual((early.status, early.get("Link")), (103, "</a.css>"))
                self.assertEqual(client.read_response().body, b"final")


class Fields(SystemTest):
    def seen(self, fields, **more):
        upstream = self.start_upstream()
        stint = self.stint_before(upstream, **more)
        self.answered = fetch(stint.port, fields=fields, host="shop.example:8080")
        return upstream.requests[0]

    def test_end_to_end_fields_arrive_as_they_were_sent(self):
        request = self.seen([("Cookie", "a=1"), ("X-Two", "1"), ("X-Two", "2"), ("Accept", "*/*")])

        self.assertEqual(request.get("Cookie"), "a=1")
        self.assertEqual(request.all("X-Two"), ["1", "2"])
        self.assertEqual(request.get("Accept"), "*/*")

    def test_hop_by_hop_fields_of_a_request_are_removed(self):
        request = self.seen(
            [
                ("Connection", "keep-alive, X-Mine"),
                ("Connection", "X-Other"),
                ("Keep-Alive", "timeout=5"),
                ("Proxy-Connection", "keep-alive"),
                ("TE", "trailers"),
                ("Upgrade", "h2c"),
                ("Proxy-Authorization", "Basic x"),
                ("X-Mine", "1"),
                ("X-Other", "2"),
                ("X-Kept", "3"),
            ]
        )

        names = {name.lower() for name, _ in request.fields}
        gone = {"keep-alive", "proxy-connection", "te", "upgrade", "x-mine", "x-other", "proxy-authorization"}
        self.assertEqual(names & gone, set())
        self.assertEqual(request.get("X-Kept"), "3")
        self.assertNotIn(request.get("Connection", "keep-alive").lower(), ("x-mine", "x-other"))

    def test_connection_cannot_name_host_or_forwarding_fields_away(self):
        request = self.seen([("Connection", "close, Host, X-Forwarded-For, Via")])

        self.assertEqual(request.get("Host"), "shop.example:8080")
        self.assertEqual(request.get("X-Forwarded-For"), "127.0.0.1")
        self.assertIsNotNone(request.get("Via"))

    def test_hop_by_hop_fields_of_a_response_are_removed(self):
        upstream = self.start_upstream(
            answer(
                fields=[
                    ("Connection", "keep-alive, X-Mine"),
                    ("Keep-Alive", "timeout=5"),
                    ("Proxy-Authenticate", "Basic"),
                    ("X-Mine", "1"),
                    ("X-Kept", "2"),
                    ("Set-Cookie", "a=1"),
                    ("Set-Cookie", "b=2"),
                ]
            )
        )
        answered = fetch(self.stint_before(upstream).port)

        for name in ("Keep-Alive", "X-Mine", "Proxy-Authenticate"):
            self.assertIsNone(answered.get(name), name)
        self.assertEqual(answered.get("X-Kept"), "2")
        self.assertEqual(answered.all("Set-Cookie"), ["a=1", "b=2"])

    def test_forwarding_fields_are_replaced_and_via_is_added(self):
        request = self.seen(
            [
                ("X-Forwarded-For", "6.6.6.6"),
                ("X-Forwarded-For", "7.7.7.7"),
                ("X-Forwarded-Proto", "https"),
                ("X-Forwarded-Host", "evil.example"),
                ("Via", "1.0 before"),
            ]
        )

        self.assertEqual(request.get("X-Forwarded-For"), "127.0.0.1")
        self.assertEqual(request.get("X-Forwarded-Proto"), "http")
        self.assertEqual(request.get("X-Forwarded-Host"), "shop.example:8080")
        via = ", ".join(request.all("Via"))
        self.assertTrue(via.startswith("1.0 before, 1.1 "), via)

    def test_via_has_another_name_where_the_configuration_says_so(self):
        upstream = self.start_upstream(answer(b"hello"))
        stint = self.start_stint({**config(upstream.address), "via": "edge-1"})

        fetch(stint.port, fields=[("Via", "1.0 before")])

        self.assertEqual(upstream.requests[0].all("Via"), ["1.0 before, 1.1 edge-1"])
        self.assertEqual(stint.admin.get("/config")["via"], "edge-1")

    def test_via_is_left_to_the_client_where_it_is_off(self):
        upstream = self.start_upstream(answer(b"hello"))
        stint = self.start_stint({**config(upstream.address), "via": "off"})

        answered = fetch(stint.port)
        fetch(stint.port, fields=[("Via", "1.0 before")])

        self.assertEqual([request.all("Via") for request in upstream.requests], [[], ["1.0 before"]])
        self.assertIsNone(answered.get("Via"))

    def test_the_host_is_kept(self):
        self.assertEqual(self.seen([]).get("Host"), "shop.example:8080")

    def test_the_host_is_set_where_the_upstream_says_so(self):
        request = self.seen([], upstream={"host": "inner.example"})

        self.assertEqual(request.get("Host"), "inner.example")
        self.assertEqual(request.get("X-Forwarded-Host"), "shop.example:8080")

    def test_a_well_formed_request_id_is_kept(self):
        request = self.seen([("X-Request-Id", "abc-123")])

        self.assertEqual(request.get("X-Request-Id"), "abc-123")
        self.assertEqual(self.answered.get("X-Request-Id"), "abc-123")

    def test_a_request_id_is_made_where_there_is_none_or_a_bad_one(self):
        uuid7 = r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
        for fields in ([], [("X-Request-Id", "has spaces and \"quotes\"")], [("X-Request-Id", "x" * 500)]):
            with self.subTest(fields):
                made = self.seen(fields).get("X-Request-Id")
                self.assertRegex(made, uuid7)
                self.assertEqual(self.answered.get("X-Request-Id"), made)


class Expecting(SystemTest):
    def test_a_client_that_waits_for_100_is_told_to_go_on(self):
        upstream = self.start_upstream(echo)
        stint = self.stint_before(upstream)
        with RawClient(stint.port) as client:
            for _ in range(2):
                client.send_request("POST", fields={"Expect": "100-continue", "Content-Length": "4"})
                self.assertEqual(client.read_response_head().status, 100)
                client.send(b"body")
                self.assertEqual(client.read_response().body, b"body")

    def test_a_refused_request_gets_no_100(self):
        stint = self.stint_before(
            self.start_upstream(), limits={"n": {"requests": 1, "per": "1h"}}, route_limits=["n"]
        )
        fetch(stint.port)
        with RawClient(stint.port) as client:
            client.send_request("POST", fields={"Expect": "100-continue", "Content-Length": "4"})
            self.assertEqual(client.read_response().status, 429)


class LargeBodies(SystemTest):
    SIZE = 24 * MIB

    def setUp(self):
        super().setUp()
        self.block = random.Random(7).randbytes(MIB)

    def test_a_large_download_arrives_unchanged(self):
        def script(connection):
            while True:
                connection.read_request()
                connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % self.SIZE)
                for _ in range(self.SIZE // MIB):
                    connection.send(self.block)

        stint = self.stint_before(self.start_upstream(script))
        with RawClient(stint.port) as client:
            client.send_request()
            client.read_response_head()
            self.assertEqual(self.digest_of(client), self.wanted())

    def test_a_large_upload_arrives_unchanged(self):
        def script(connection):
            connection.read_request_head()
            connection.send(response_bytes(self.digest_of(connection).encode()))

        stint = self.stint_before(self.start_upstream(script))
        with RawClient(stint.port) as client:
            client.send_request("PUT", fields={"Content-Length": str(self.SIZE)})
            for _ in range(self.SIZE // MIB):
                client.send(self.block)
            self.assertEqual(client.read_response().body.decode(), self.wanted())

    def test_a_chunked_upload_is_passed_on_in_large_pieces(self):
        # The first read finds the head and as much body as its buffer holds.
        upstream = self.start_upstream(echo_size)
        stint = self.stint_before(upstream)
        with RawClient(stint.port) as client:
            body = chunked(*[self.block] * 4)
            client.send_request("PUT", fields={"Transfer-Encoding": "chunked"}, body=body)
            self.assertEqual(client.read_response().body, str(4 * MIB).encode())

        self.assertLess(len(upstream.received), 4.1 * MIB)

    def test_a_body_can_flow_both_ways_at_once(self):
        def script(connection):
            request = connection.read_request_head()
            size = int(request.get("Content-Length"))
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            while size:
                data = connection.read_some()
                connection.send(data)
                size -= len(data)

        stint = self.stint_before(self.start_upstream(script))
        with RawClient(stint.port) as client:
            client.send_request("POST", fields={"Content-Length": str(self.SIZE)})
            sender = threading.Thread(
                target=lambda: [client.send(self.block) for _ in range(self.SIZE // MIB)], daemon=True
            )
            sender.start()
            client.read_response_head()
            self.assertEqual(self.digest_of(client), self.wanted())
            sender.join()

    def wanted(self):
        return hashlib.sha256(self.block * (self.SIZE // MIB)).hexdigest()

    def digest_of(self, stream):
        digest, left = hashlib.sha256(), self.SIZE
        while left:
            data = stream.read_some(min(left, 262_144))
            if not data:
                raise AssertionError(f"{left} bytes are missing")
            digest.update(data)
            left -= len(data)
        return digest.hexdigest()


class EarlyResponses(SystemTest):
    def test_a_response_before_the_body_is_there_reaches_the_client(self):
        def script(connection):
            connection.read_request_head()
            connection.send(response_bytes(b"too big", "413 Content Too Large", {"Connection": "close"}))
            connection.read_to_end()

        stint = self.stint_before(self.start_upstream(script))
        with RawClient(stint.port) as client:
            client.send_request("POST", fields={"Content-Length": "50000000"}, body=b"x" * 100_000)
            answered = client.read_response()

        self.assertEqual((answered.status, answered.body), (413, b"too big"))
        stint.wait_idle()


if __name__ == "__main__":
    unittest.main()
