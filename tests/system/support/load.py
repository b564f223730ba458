"""A closed loop of requests on many connections, from one thread."""

import collections
import selectors
import socket
import threading
import time

from .messages import request_bytes


class _Connection:
    def __init__(self, port: int):
        self.sock = socket.create_connection(("127.0.0.1", port), 10)
        self.sock.setblocking(False)
        self.data = b""
        self.asked_at = 0.0

    def take_response(self):
        """The status of a complete response at the front of the data, or None."""
        head, found, rest = self.data.partition(b"\r\n\r\n")
        if not found:
            return None
        lower = head.lower()
        at = lower.find(b"\r\ncontent-length:")
        if at < 0:
            raise ValueError(f"a response without Content-Length: {head!r}")
        length = int(lower[at + 17:].split(b"\r\n")[0])
        if len(rest) < length:
            return None
        self.data = rest[length:]
        return int(head.split(b" ", 2)[1]), b"\r\nconnection: close" in lower


class Load:
    """with Load(port, connections=64) as load: ...; then load.statuses and load.failures.
    pause: seconds a connection waits after each response before it asks again. keep: load.kept has
    of each response when it was asked for, when it had come (time.monotonic()), and its status."""

    def __init__(self, port: int, *, connections=64, target="/", pause=0.0, keep=False):
        self.port = port
        self.statuses = collections.Counter()
        self.failures = []
        self.kept = []
        self._keep = keep
        self._count = connections
        self._request = request_bytes("GET", target)
        self._pause = pause
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.finish()

    def finish(self) -> None:
        """Waits for the responses that are due, then ends."""
        self._stop.set()
        self._thread.join(30)
        if self._thread.is_alive():
            self.failures.append("responses still due after 30 s")

    @property
    def total(self) -> int:
        return sum(self.statuses.values())

    def _run(self) -> None:
        self._busy = 0
        with selectors.DefaultSelector() as selector:
            try:
                for _ in range(self._count):
                    connection = _Connection(self.port)
                    selector.register(connection.sock, selectors.EVENT_READ, connection)
                    self._ask(connection)
                while self._busy:
                    for key, _ in selector.select(0.1):
                        self._on_data(selector, key.data)
                    if self._pause:
                        self._stop.wait(self._pause)
            except Exception as error:  # pylint: disable=broad-except
                self.failures.append(repr(error))
            finally:
                for key in list(selector.get_map().values()):
                    key.data.sock.close()

    def _ask(self, connection) -> None:
        connection.asked_at = time.monotonic()
        connection.sock.send(self._request)
        self._busy += 1

    def _on_data(self, selector, connection) -> None:
        try:
            data = connection.sock.recv(65536)
        except OSError as error:
            data = b""
            self.failures.append(f"{error!r} with a response due")
        else:
            if not data:
                self.failures.append("closed with a response due")
        if not data:
            self._drop(selector, connection)
            return
        connection.data += data
        answer = connection.take_response()
        if answer is None:
            return
        status, closes = answer
        self.statuses[status] += 1
        if self._keep:
            self.kept.append((connection.asked_at, time.monotonic(), status))
        self._busy -= 1
        if closes:
            self.failures.append(f"a {status} that closes its connection")
            self._drop(selector, connection, due=False)
        elif self._stop.is_set():
            selector.unregister(connection.sock)
            connection.sock.close()
        else:
            self._ask(connection)

    def _drop(self, selector, connection, due=True) -> None:
        if due:
            self._busy -= 1
        selector.unregister(connection.sock)
        connection.sock.close()


def most_in_a_span(kept, per) -> int:
    """The most admissions that were asked for and answered within a span of `per`: no more than what
    was admitted in it."""
    admitted = sorted(each for each in kept if each[2] == 200)
    most = 0
    for at, (began, _, _) in enumerate(admitted):
        inside = 0
        for asked, came, _ in admitted[at:]:
            if asked >= began + per:
                break
            inside += came < began + per
        most = max(most, inside)
    return most
