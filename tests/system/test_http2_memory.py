"""What connections and streams of HTTP/2 cost that wait: resident memory of the process, by their number."""

import socket
import time
import unittest

from support.case import SystemTest, config, report, scaled
from support.certificates import Authority
from support.floods import ACK, DATA, HEADERS, SETTINGS, frame, get, post, settings
from support.http2 import PREFACE, Gone
from support.upstream import answer

KIB = 1024
CONNECTIONS = scaled(300, 2000)
STREAMS = scaled(1500, 10_000)
EACH = 100  # streams of a connection
PARKED = 1.5  # seconds until a silent connection has given its buffer back
MOST_IDLE = 32 * KIB
MOST_STREAM = 6 * KIB
BLOCK = KIB // 2  # what keeps the bytes of a body takes beside them
OPENING = PREFACE + frame(SETTINGS) + frame(SETTINGS, ACK)


class Connection:
    """A client that reads by hand; frames: how many of a type have come."""

    def __init__(self, port, context=None):
        self.sock = socket.create_connection(("127.0.0.1", port), 20)
        if context:
            self.sock = context.wrap_socket(self.sock, server_hostname="localhost")
        self._data = b""

    def send(self, data):
        self.sock.sendall(data)

    def frames(self, kind, number):
        """Reads until so many frames of the type have come."""
        while number:
            data = self._data
            if len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[:3], "big"):
                number -= data[3] == kind
                self._data = data[9 + int.from_bytes(data[:3], "big"):]
                continue
            more = self.sock.recv(65536)
            if not more:
                raise Gone("closed")
            self._data += more


class MemoryTest(SystemTest):
    def start(self, script=None, *, limits=None, listener=None, **bounds):
        upstream = self.start_upstream(script or answer(b"hello"))
        made = config(upstream.address, workers=1, max_connections=CONNECTIONS + 100, limits=limits or None,
                      route_limits=list(limits or ()),
                      listener={"h2c": True, "http2": {"max_streams": EACH, **bounds}, **(listener or {})})
        return self.start_stint(made)

    def connection(self, stint, context=None, asks=True) -> Connection:
        made = Connection(stint.port, context)
        self.addCleanup(made.sock.close)
        made.send(OPENING + (get(0) if asks else b""))
        if asks:
            made.frames(DATA, 1)
        return made

    def growth(self, stint, make, number):
        """What `number` times make() adds to memory, for each. They come a hundred at a time, so that no more than
        those have a buffer at once; the first hundred do not count, for what is kept for good."""
        for i in range(-EACH, number):
            if i % EACH == 0:
                time.sleep(PARKED)
            if i == 0:
                before = stint.resident()
            make()
        time.sleep(PARKED)
        return (stint.resident() - before) / number

    def assert_at_most(self, what, most, seen):
        report(what, f"<= {most / KIB:.1f} KiB", f"{seen / KIB:.1f} KiB", seen <= most)
        self.assertLessEqual(seen, most, f"{what}: {seen / KIB:.1f} KiB")


class Idle(MemoryTest):
    def test_in_clear_text(self):
        stint = self.start()
        self.assert_at_most("an idle connection of HTTP/2", MOST_IDLE,
                            self.growth(stint, lambda: self.connection(stint), CONNECTIONS))

    def test_over_tls(self):
        authority = Authority(self.new_folder())
        listener = {"h2c": False, "http": ["h2", "http/1.1"],
                    "tls": {"certificates": [authority.issue("localhost").tls()]}}
        context = authority.context()

        def over_http1(stint):
            sock = context.wrap_socket(
                socket.create_connection(("127.0.0.1", stint.port), 20), server_hostname="localhost")
            self.addCleanup(sock.close)
            sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            while not sock.recv(65536).endswith(b"hello"):
                pass

        context.set_alpn_protocols(["http/1.1"])
        first = self.start(listener=listener)
        http1 = self.growth(first, lambda: over_http1(first), CONNECTIONS)
        context.set_alpn_protocols(["h2"])
        second = self.start(listener=listener)
        http2 = self.growth(second, lambda: self.connection(second, context), CONNECTIONS)
        report("an idle connection of HTTP/1.1 over TLS", "a figure", f"{http1 / KIB:.1f} KiB", True)
        self.assert_at_most("an idle connection of HTTP/2 over TLS", MOST_IDLE + http1, http2)


class Streams(MemoryTest):
    """Each beside its connection, which is open before, and has had as many streams."""

    def of_streams(self, stint, begin, number=STREAMS):
        """What begin() adds to memory for each stream that it begins on a connection."""
        connections = [self.connection(stint) for _ in range(number // EACH + 2)]
        for each in connections[:2]:
            begin(each)
        time.sleep(PARKED)
        before = stint.resident()
        for each in connections[2:]:
            begin(each)
        time.sleep(PARKED)
        return (stint.resident() - before) / number

    def test_that_wait_for_a_limit(self):
        for what, head, body in (("without a body", get, b""), ("with 4 KiB of its body", post, b"x" * 4096)):
            with self.subTest(what):
                stint = self.start(max_waiting_streams=EACH, connection_window="8MiB", limits={"l": {
                    "requests": STREAMS // EACH + 2, "per": "500s", "algorithm": "fixed_window",
                    "when_exceeded": "wait", "max_wait": "60000s", "max_waiting": 100_000}})

                def begin(connection):
                    connection.send(b"".join(
                        head(i) + (frame(DATA, 0, 1 + 2 * i, body) if body else b"") for i in range(1, EACH + 1)))

                each = self.of_streams(stint, begin)
                self.assertEqual(stint.admin.limit("l")["waiting"], STREAMS + 2 * EACH)
                most = MOST_STREAM + (BLOCK if body else 0)
                self.assert_at_most(f"a stream that waits, {what}, beside that", most, each - len(body))

    def test_whose_client_opens_no_window(self):
        size = 1000
        stint = self.start(answer(b"x" * size))

        def begin(connection):
            connection.send(settings(initial_window_size=0) + b"".join(get(i) for i in range(1, EACH + 1)))
            connection.frames(HEADERS, EACH)

        self.assert_at_most("a stream that stalls, beside 1 KB of its response", MOST_STREAM,
                            self.of_streams(stint, begin) - size)


if __name__ == "__main__":
    unittest.main()
