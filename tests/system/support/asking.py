"""Clients that ask again and again, over connections that they keep or open anew, over TLS and HTTP/2 as well; and what
they had to ask a second time, as a server may close an idle connection at any time."""

import collections
import socket
import ssl
import threading
import time

from .http2 import Gone, Http2Client
from .messages import request_bytes
from .stream import EndOfStream, Stream

REFUSED_STREAM = 7


def connected(port: int, context: "ssl.SSLContext | None" = None, session=None) -> Stream:
    sock = socket.create_connection(("127.0.0.1", port), 10)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context:
            sock = context.wrap_socket(sock, server_hostname="localhost", session=session)
    except OSError:
        sock.close()
        raise
    return Stream(sock)


class _Asking(threading.Thread):
    """statuses: of all responses; failures: requests without one; retried: those that were asked again, as they had
    surely not been begun; connections: that were opened; kept: (sent, received, status) of each response."""

    def __init__(self, port: int, target: str, context):
        super().__init__(daemon=True)
        self.port, self.target, self.context = port, target, context
        self.statuses = collections.Counter()
        self.failures, self.kept = [], []
        self.retried = self.connections = 0
        self.over = threading.Event()

    def run(self) -> None:
        try:
            while not self.over.is_set():
                self.ask()
        except Exception as failure:  # pylint: disable=broad-except
            self.failures.append(f"{self.target}: {failure!r}")

    def ask(self) -> None:
        raise NotImplementedError


class Asker(_Asking):
    """One request at a time. keeps: over one connection, while the server lets it. pause: seconds between them."""

    def __init__(self, port, *, target="/", context=None, keeps=True, pause=0.0):
        super().__init__(port, target, context)
        self._keeps, self._pause = keeps, pause
        self._request = request_bytes("GET", target)
        self._stream = None

    def run(self) -> None:
        super().run()
        self._close()

    def ask(self) -> None:
        reused = self._stream is not None
        if not reused:
            self._stream = connected(self.port, self.context)
            self.connections += 1
        self._stream.received = b""
        sent = time.monotonic()
        try:
            self._stream.send(self._request)
            response = self._stream.read_response()
        except (OSError, EndOfStream) as failure:
            if isinstance(failure, TimeoutError) or not reused or self._stream.received:
                raise
            self.retried += 1
            self._close()
            return
        self.kept.append((sent, time.monotonic(), response.status))
        self.statuses[response.status] += 1
        if not self._keeps or response.get("Connection") == "close":
            self._close()
        self.over.wait(self._pause)

    def _close(self) -> None:
        if self._stream:
            self._stream.close()
            self._stream = None


class Http2Asker(_Asking):
    """Keeps `streams` requests under way, over one connection until the server says that it is the last."""

    def __init__(self, port, *, target="/", context=None, streams=8, pause=0.0):
        super().__init__(port, target, context)
        self._streams, self._pause = streams, pause

    def ask(self) -> None:
        """The requests of a connection."""
        client = Http2Client.to(self.port, self.context)
        self.connections += 1
        pending = set()
        try:
            while not self.over.is_set() and not client.goaways:
                while len(pending) < self._streams:
                    pending.add(client.request("GET", self.target))
                self._take(client, pending)
                self.over.wait(self._pause)
            while pending:
                self._take(client, pending)
        except Gone:
            self._read_rest(client)
            self._sort(client, pending)
            if pending:
                self.failures.append(f"{self.target}: {len(pending)} streams neither answered nor refused; "
                                     f"GOAWAY: {client.goaways}")
        finally:
            client.close()

    @staticmethod
    def _read_rest(client) -> None:
        try:
            while True:
                client.frame()
        except (Gone, TimeoutError):
            pass

    def _take(self, client, pending) -> None:
        client.frame()
        self._sort(client, pending)

    def _sort(self, client, pending) -> None:
        """Takes out who has ended, and who is surely not served."""
        for stream in list(pending):
            response = client.responses.get(stream)
            if response and response.ended:
                self.statuses[response.status] += 1
            elif response and response.reset is not None and response.reset != REFUSED_STREAM:
                self.failures.append(f"{self.target}: a stream was reset with {response.reset}")
            elif response and response.reset or client.goaways and stream > client.goaways[-1][0]:
                self.retried += 1
            else:
                continue
            pending.remove(stream)
            client.responses.pop(stream, None)


class Crowd:
    """with Crowd(of the same askers) as crowd: ...; then what all of them have seen, together."""

    def __init__(self, askers):
        self.askers = list(askers)

    def __enter__(self) -> "Crowd":
        for each in self.askers:
            each.start()
        return self

    def __exit__(self, *_) -> None:
        self.finish()

    def finish(self) -> None:
        for each in self.askers:
            each.over.set()
        for each in self.askers:
            each.join(60)
            if each.is_alive():
                each.failures.append(f"{each.target}: a response is still due after 60 s")

    @property
    def statuses(self) -> collections.Counter:
        return sum((each.statuses for each in self.askers), collections.Counter())

    @property
    def total(self) -> int:
        return sum(self.statuses.values())

    @property
    def failures(self) -> list:
        return [failure for each in self.askers for failure in each.failures]

    @property
    def kept(self) -> list:
        return [one for each in self.askers for one in each.kept]

    @property
    def retried(self) -> int:
        return sum(each.retried for each in self.askers)

    @property
    def connections(self) -> int:
        return sum(each.connections for each in self.askers)
