"""Messages whose end is in doubt: the client is told, and the upstream never hears of them."""

import unittest

from support.case import SystemTest
from support.client import RawClient

# What could be smuggled behind a message whose end two readers see differently.
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"


def post(*fields, body=b"", version="1.1", target="/"):
    lines = [f"POST {target} HTTP/{version}".encode(), b"Host: a", *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def get(*fields, target=b"/", version=b"1.1", host=b"Host: a"):
    lines = [b"GET " + target + b" HTTP/" + version, *([host] if host else []), *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n"


TE = b"Transfer-Encoding: chunked"
CHUNKS = b"5\r\nhello\r\n0\r\n\r\n"

# name: (bytes, statuses that are right)
REFUSED = {
    "both framings, gzip first": (post(b"Transfer-Encoding: gzip", b"Content-Length: 5", body=b"hello"), (400,)),
    "both framings": (post(TE, b"Content-Length: 5", body=CHUNKS), (400,)),
    "both framings, length first": (post(b"Content-Length: 5", TE, body=CHUNKS), (400,)),
    "chunked is not last": (post(b"Transfer-Encoding: chunked, gzip", body=CHUNKS), (400, 501)),
    "chunked twice": (post(b"Transfer-Encoding: chunked, chunked", body=CHUNKS), (400, 501)),
    "chunked in two fields": (post(TE, TE, body=CHUNKS), (400, 501)),
    "xchunked": (post(b"Transfer-Encoding: xchunked", body=CHUNKS), (400, 501)),
    "gzip": (post(b"Transfer-Encoding: gzip", body=b"hello"), (501,)),
    "gzip, chunked": (post(b"Transfer-Encoding: gzip, chunked", body=CHUNKS), (501,)),
    "identity": (post(b"Transfer-Encoding: identity", body=b"hello"), (400, 501)),
    "empty transfer coding": (post(b"Transfer-Encoding:", body=CHUNKS), (400, 501)),
    "chunked in HTTP/1.0": (post(TE, body=CHUNKS, version="1.0"), (400,)),
    "lengths in a list": (post(b"Content-Length: 5, 5", body=b"hello"), (400,)),
    "two lengths that differ": (post(b"Content-Length: 5", b"Content-Length: 6", body=b"hello!"), (400,)),
    "length with a plus": (post(b"Content-Length: +5", body=b"hello"), (400,)),
    "length with a minus": (post(b"Content-Length: -5", body=b"hello"), (400,)),
    "hexadecimal length": (post(b"Content-Length: 0x5", body=b"hello"), (400,)),
    "empty length": (post(b"Content-Length:", body=b"hello"), (400,)),
    "length with junk": (post(b"Content-Length: 5 5", body=b"hello"), (400,)),
    "length that overflows": (post(b"Content-Length: 18446744073709551617"), (400, 413)),
    "folded line": (get(b"X-A: one\r\n two"), (400,)),
    "folded length": (post(b"Content-Length:\r\n 5", body=b"hello"), (400,)),
    "line that begins with a blank": (get(b" X-A: one"), (400,)),
    "bare LF": (b"GET / HTTP/1.1\nHost: a\n\n", (400,)),
    "bare LF after a field": (b"GET / HTTP/1.1\r\nHost: a\nX-A: b\r\n\r\n", (400,)),
    "bare CR in a value": (get(b"X-A: a\rb"), (400,)),
    "NUL in a value": (get(b"X-A: a\0b"), (400,)),
    "control in a value": (get(b"X-A: a\x01b"), (400,)),
    "blank before the colon": (post(b"Content-Length : 5", body=b"hello"), (400,)),
    "field without a colon": (get(b"X-A"), (400,)),
    "field without a name": (get(b": value"), (400,)),
    "field name with a bracket": (get(b"X(A: b"), (400,)),
    "no Host": (get(host=None), (400,)),
    "two Hosts": (get(b"Host: b"), (400,)),
    "Host with a blank": (get(host=b"Host: a b"), (400,)),
    "Host with a path": (get(host=b"Host: a/b"), (400,)),
    "target with a fragment": (get(target=b"/a#b"), (400,)),
    "target with a backslash": (get(target=b"/a\\b"), (400,)),
    "target with a control": (get(target=b"/a\x01b"), (400,)),
    "target with two blanks": (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", (400,)),
    "target with a quotation mark": (get(target=b'/a"b'), (400,)),
    "target with bytes that are not ASCII": (get(target=b"/\xc3\xa4"), (400,)),
    "target that climbs": (get(target=b"/a/../../b"), (400,)),
    "target with an encoded NUL": (get(target=b"/a%00"), (400,)),
    "target with half an escape": (get(target=b"/a%2"), (400,)),
    "target without a slash": (get(target=b"a"), (400,)),
    "empty start line": (b" \r\nHost: a\r\n\r\n", (400,)),
    "no version": (b"GET /\r\nHost: a\r\n\r\n", (400, 505)),
    "lower-case version": (b"GET / http/1.1\r\nHost: a\r\n\r\n", (400, 505)),
    "HTTP/1.2": (get(version=b"1.2"), (505,)),
    "HTTP/2.0": (get(version=b"2.0"), (505,)),
    "HTTP/0.9": (get(version=b"0.9"), (400, 505)),
    "HTTP/2 preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (505,)),
    "CONNECT": (b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", (405,)),
    "asterisk with GET": (get(target=b"*"), (400,)),
    "unknown expectation": (post(b"Expect: 200-ok", b"Content-Length: 5", body=b"hello"), (417,)),
    "TLS hello": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40 + b"\r\n\r\n", (400,)),
    "head too long": (get(b"X-Long: " + b"x" * 70_000), (431,)),
    "target too long": (get(target=b"/" + b"x" * 70_000), (414,)),
    "target that does not end": (b"GET /" + b"x" * 9000, (400, 414)),
    "target longer than max_target": (get(target=b"/" + b"x" * 8192), (414,)),
    "two empty lines before a request": (b"\r\n\r\n" + get(), (400,)),
    "LF before a request": (b"\n" + get(), (400,)),
    "TRACE with a body": (b"TRACE / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", (400,)),
    "target with an encoded backslash": (get(target=b"/a%5cb"), (400,)),
    "target that climbs with an encoded slash": (get(target=b"/..%2fb"), (400,)),
    "target that climbs with a parameter": (get(target=b"/..;/b"), (400,)),
    "Host with an empty label": (get(host=b"Host: a..b"), (400,)),
    "Host with a port too large": (get(host=b"Host: a:65536"), (400,)),
    "Host with an escape": (get(host=b"Host: a%2eb"), (400,)),
    "too many fields": (get(*[b"X: y"] * 1000), (431,)),
}

BAD_CHUNKS = {
    "no size": b"\r\nhello\r\n0\r\n\r\n",
    "junk for a size": b"xyz\r\nhello\r\n0\r\n\r\n",
    "size with a sign": b"+5\r\nhello\r\n0\r\n\r\n",
    "size with 0x": b"0x5\r\nhello\r\n0\r\n\r\n",
    "size with a blank": b" 5\r\nhello\r\n0\r\n\r\n",
    "size that overflows": b"fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
    "longer than its size": b"5\r\nhello!\r\n0\r\n\r\n",
    "bare LF after the size": b"5\nhello\r\n0\r\n\r\n",
    "bare LF after the payload": b"5\r\nhello\n0\r\n\r\n",
    "bare LF in an extension": b"5;a=\"\n\"\r\nhello\r\n0\r\n\r\n",
    "extension without an end": b"5;" + b"x" * 100_000,
    "trailers without an end": b"5\r\nhello\r\n0\r\n" + b"X-A: b\r\n" * 20_000,
}


class Refused(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        self.stint = self.stint_before(self.upstream)

    def test_heads_that_are_refused(self):
        for name, (raw, statuses) in REFUSED.items():
            with self.subTest(name), RawClient(self.stint.port) as client:
                client.send(raw + SMUGGLED)
                answered = client.read_response()
                self.assertIn(answered.status, statuses)
                self.assertEqual(answered.get("Content-Type"), "application/problem+json")
                if answered.status not in (405, 417):
                    # Where the next message begins is anybody's guess: the connection ends.
                    self.assertEqual(answered.get("Connection"), "close")
                    self.assertTrue(client.ends())
        self.assertEqual(self.upstream.received, b"")

    def test_heads_that_are_refused_byte_by_byte(self):
        for name, (raw, statuses) in REFUSED.items():
            if len(raw) > 200:
                continue
            with self.subTest(name), RawClient(self.stint.port) as client:
                try:
                    for byte in raw + SMUGGLED:
                        client.send(bytes([byte]))
                except ConnectionError:
                    continue  # refused before its end, and closed
                try:
                    self.assertIn(client.read_response().status, statuses)
                except ConnectionResetError:
                    pass
        self.assertEqual(self.upstream.received, b"")

    def test_chunks_that_are_refused(self):
        for name, body in BAD_CHUNKS.items():
            with self.subTest(name), RawClient(self.stint.port) as client:
                try:
                    client.send(post(TE, target="/body", body=body))
                except ConnectionError:
                    pass  # answered and closed before its end
                answered = client.read_response()
                self.assertEqual(answered.status, 400)
                self.assertTrue(client.ends())
        # A head may have been sent on before its body turned out bad; a whole request never.
        self.assertEqual(self.upstream.requests, [])

    def test_nothing_is_smuggled_behind_a_chunked_body(self):
        with RawClient(self.stint.port) as client:
            client.send(post(TE, target="/first", body=CHUNKS) + get(target=b"/second"))
            self.assertEqual([client.read_response().status for _ in range(2)], [200, 200])
        self.assertEqual([one.target for one in self.upstream.requests], ["/first", "/second"])


class Accepted(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        self.stint = self.stint_before(self.upstream)

    def seen(self, raw):
        with RawClient(self.stint.port) as client:
            client.send(raw)
            self.assertEqual(client.read_response().status, 200)
        return self.upstream.requests[-1]

    def test_a_length_with_leading_zeros_is_written_anew(self):
        request = self.seen(post(b"Content-Length: 005", body=b"hello"))

        self.assertEqual((request.get("Content-Length"), request.body), ("5", b"hello"))

    def test_the_coding_is_known_whatever_its_case(self):
        request = self.seen(post(b"transfer-encoding: Chunked", body=CHUNKS))

        self.assertEqual(request.body, b"hello")

    def test_empty_lines_before_a_request_are_skipped(self):
        self.assertEqual(self.seen(b"\r\n" + get(target=b"/x")).target, "/x")

    def test_an_empty_value_and_blanks_around_values_are_harmless(self):
        request = self.seen(get(b"X-Empty:", b"X-Wide: \t value \t "))

        self.assertEqual((request.get("X-Empty"), request.get("X-Wide")), ("", "value"))


if __name__ == "__main__":
    unittest.main()
