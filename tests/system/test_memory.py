"""A slow reader on either side never makes the gateway hold a body: memory stays as it was."""

import threading
import time
import unittest

from support.case import SystemTest, report, scaled
from support.client import RawClient
from support.messages import response_bytes

MIB = 1024 * 1024
SIZE = scaled(64, 1024) * MIB
RATE = 50 * MIB     # bytes a second that the slow side reads
MOST_GROWTH = 8 * MIB


class Watch:
    """The most resident memory that a process has had while it was watched."""

    def __init__(self, stint):
        self._stint = stint
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.before = self.most = stint.resident()

    def _run(self):
        while not self._done.wait(0.02):
            self.most = max(self.most, self._stint.resident())

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    @property
    def growth(self) -> int:
        return self.most - self.before


def read_slowly(stream, size=None, until=None) -> int:
    """Reads at RATE, `size` bytes or up to the bytes `until`, and gives how many came."""
    begun = time.monotonic()
    got = 0
    tail = b""
    while size is None or got < size:
        data = stream.read_some(min(262_144, size - got) if size else 262_144)
        got += len(data)
        tail = tail[-len(until):] + data if until else b""
        if not data or (until and until in tail):
            break
        ahead = got / RATE - (time.monotonic() - begun)
        if ahead > 0:
            time.sleep(ahead)
    return got


class Memory(SystemTest):
    block = bytes(MIB)

    def warmed_up(self, upstream, **more):
        """Stint after a few small requests, so that what it keeps for good is there already."""
        stint = self.stint_before(upstream, **more)
        with RawClient(stint.port) as client:
            for _ in range(20):
                client.request(target="/small")
        return stint

    def assert_steady(self, what, watch):
        report(f"{what}, {SIZE // MIB} MiB at {RATE // MIB} MiB/s: growth of resident memory",
               f"< {MOST_GROWTH // MIB} MiB", f"{watch.growth / MIB:.1f} MiB")
        self.assertLess(watch.growth, MOST_GROWTH)

    def test_a_download_by_a_slow_client(self):
        def script(connection):
            while connection.read_request().target == "/small":
                connection.send(response_bytes())
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % SIZE)
            for _ in range(SIZE // MIB):
                connection.send(self.block)

        stint = self.warmed_up(self.start_upstream(script))
        with RawClient(stint.port) as client, Watch(stint) as watch:
            client.send_request(target="/large")
            client.read_response_head()
            self.assertEqual(read_slowly(client, SIZE), SIZE)
        self.assert_steady("download", watch)

    def test_an_upload_to_a_slow_upstream(self):
        def script(connection):
            while True:
                request = connection.read_request_head()
                if request.method == "PUT":
                    break
                connection.send(response_bytes())
            got = read_slowly(connection, SIZE)
            connection.send(response_bytes(str(got).encode()))

        stint = self.warmed_up(self.start_upstream(script))
        with RawClient(stint.port) as client, Watch(stint) as watch:
            client.send_request("PUT", "/large", {"Content-Length": str(SIZE)})
            for _ in range(SIZE // MIB):
                client.send(self.block)
            self.assertEqual(client.read_response().body, str(SIZE).encode())
        self.assert_steady("upload", watch)

    def test_chunked_both_ways_past_slow_readers(self):
        piece = b"%x\r\n%s\r\n" % (MIB, self.block)
        count = SIZE // MIB // 2
        last = b"\r\n0\r\n\r\n"

        def script(connection):
            while connection.read_request_head().method != "PUT":
                connection.send(response_bytes())
            read_slowly(connection, until=last)
            connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(count):
                connection.send(piece)
            connection.send(last[2:])

        stint = self.warmed_up(self.start_upstream(script))
        with RawClient(stint.port) as client, Watch(stint) as watch:
            client.send_request("PUT", "/large", {"Transfer-Encoding": "chunked"})
            for _ in range(count):
                client.send(piece)
            client.send(last[2:])
            client.read_response_head()
            self.assertGreaterEqual(read_slowly(client, until=last), count * MIB)
        self.assert_steady("chunked", watch)

    def test_many_slow_readers_at_once(self):
        clients = 50

        def script(connection):
            while connection.read_request().target == "/small":
                connection.send(response_bytes())
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (100 * MIB))
            while True:
                connection.send(self.block)

        stint = self.warmed_up(self.start_upstream(script))
        readers = [RawClient(stint.port, receive_buffer=4096) for _ in range(clients)]
        with Watch(stint) as watch:
            for reader in readers:
                reader.send_request(target="/large")
                reader.read_response_head()
            time.sleep(1)  # for memory to grow in, if it does
        for reader in readers:
            reader.reset()
        report(f"{clients} readers that stand still: growth of resident memory",
               f"< {clients // 4} MiB", f"{watch.growth / MIB:.1f} MiB")
        self.assertLess(watch.growth, clients * 256 * 1024)
        stint.wait_idle()


if __name__ == "__main__":
    unittest.main()
