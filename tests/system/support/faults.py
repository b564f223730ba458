"""Peers for test_faults.py: clients that measure, clients that go on and on, an upstream that flaps."""

import collections
import selectors
import socket
import threading
import time

from .client import RawClient
from .messages import request_bytes, response_bytes
from .stream import EndOfStream
from .waiting import PATIENCE


class Timed:
    """Requests one after the other, each on the same connection; when each was answered."""

    def __init__(self, port):
        self.took = []
        self.failures = []
        self._port = port
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(30)

    def _run(self):
        try:
            with RawClient(self._port) as client:
                while not self._stop.wait(0.01):
                    begun = time.monotonic()
                    status = client.request(target="/well-behaved").status
                    self.took.append(time.monotonic() - begun)
                    if status != 200:
                        self.failures.append(status)
        except (OSError, EndOfStream) as error:
            self.failures.append(repr(error))


class Reopened:
    """An upstream on a port of its own whose listening socket and connections come and go."""

    def __init__(self, port):
        self._port = port
        self._listening = None
        self._connections = []
        self._lock = threading.Lock()

    def open(self):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", self._port))
        sock.listen(128)
        self._listening = sock
        threading.Thread(target=self._accept, args=(sock,), daemon=True).start()

    def shut(self):
        if self._listening:
            self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()
            self._listening = None
        with self._lock:
            connections, self._connections = self._connections, []
        for sock in connections:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()

    close = shut

    def _accept(self, listening):
        while True:
            try:
                sock, _ = listening.accept()
            except OSError:
                return
            with self._lock:
                self._connections.append(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    @staticmethod
    def _serve(sock):
        try:
            data = b""
            while more := sock.recv(65536):
                data += more
                while b"\r\n\r\n" in data:
                    data = data.partition(b"\r\n\r\n")[2]
                    sock.sendall(response_bytes())
        except OSError:
            pass


class KeepAliveClients:
    """Clients that ask, think, and ask again, from one thread, until their connection is closed or an
    answer says that it will be. A request is lost when a part of its answer came, or an error of
    Stint's own. One to which nothing came may have been sent in the moment of the close: it crossed."""

    REQUEST = request_bytes()
    THINK = 0.02  # seconds

    def __init__(self, port, count):
        self.answered = 0
        self.crossed = 0
        self.failures = []
        self._selector = selectors.DefaultSelector()
        self._data = {}    # of each connection with a request under way: what has come of its answer
        self._thinking = collections.deque()  # (until when, connection)
        self._thread = threading.Thread(target=self._run, daemon=True)
        for _ in range(count):
            sock = socket.create_connection(("127.0.0.1", port), PATIENCE)
            sock.setblocking(False)
            self._thinking.append((0.0, sock))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._thread.join(30)
        if self._thread.is_alive():
            self.failures.append("a client hangs")

    def _run(self):
        try:
            while self._thinking or self._data:
                while self._thinking and self._thinking[0][0] <= time.monotonic():
                    self._ask(self._thinking.popleft()[1])
                for key, _ in self._selector.select(0.002):
                    self._read(key.fileobj)
        except Exception as error:  # pylint: disable=broad-except
            self.failures.append(repr(error))

    def _ask(self, sock):
        try:
            if sock.recv(1, socket.MSG_PEEK) == b"":
                sock.close()  # while it was thinking: nothing is lost
                return
            self.failures.append("bytes that nobody asked for")
        except BlockingIOError:
            pass
        sock.send(self.REQUEST)
        self._data[sock] = b""
        self._selector.register(sock, selectors.EVENT_READ)

    def _read(self, sock):
        try:
            data = sock.recv(65536)
        except ConnectionResetError:
            data = b""
        self._data[sock] += data
        answer_ended = self._data[sock].endswith(b"\r\n\r\nanswered\n") or b"\r\n0\r\n\r\n" in self._data[sock]
        if data and not answer_ended:
            return
        self._selector.unregister(sock)
        got = self._data.pop(sock)
        if not answer_ended and not got:
            self.crossed += 1
        elif not answer_ended or not got.startswith(b"HTTP/1.1 200 "):
            self.failures.append(f"{got!r} and no more")
        else:
            self.answered += 1
        if answer_ended and b"\r\nConnection: close\r\n" not in got:
            self._thinking.append((time.monotonic() + self.THINK, sock))
        else:
            sock.close()
