"""What connections and streams of HTTP/2 cost that wait: resident memory of the process, by their number."""

import socket
import time
import unittest

from support.case import SystemTest, config, report, scaled
from support.certificates import Authority
from support.floods import ACK, DATA, HEADERS, SETTINGS, frame, get, settings
from support.http2 import PREFACE, Gone
from support.upstream import answer

KIB = 1024
CONNECTIONS = scaled(300, 2000)
STREAMS = scaled(1500, 10_000)
EACH = 100  # streams of a connection
PARKED = 1.5  # seconds until a silent connection has given its buffer back
MOST_IDLE = 32 * KIB
MOST_STREAM = 6 * KIB
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
    def start(self, script=None, listener=None):
        upstream = self.start_upstream(script or answer(b"hello"))
        return self.start_stint(config(
            upstream.address, workers=1, max_connections=CONNECTIONS + 2 * EACH,
            listener={"h2c": True, **(listener or {})}))

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
