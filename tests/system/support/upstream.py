"""A scripted upstream: one thread a connection runs the test's own script on raw bytes."""

import os
import socket
import threading
import traceback

from .messages import response_bytes
from .stream import EndOfStream, Stream, set_receive_buffer
from .waiting import wait_until


class Connection(Stream):
    def __init__(self, sock, server):
        super().__init__(sock)
        self.server = server

    def read_request(self):
        request = super().read_request()
        self.server.note(request)
        return request

    def read_request_head(self):
        request = super().read_request_head()
        self.server.note_head(request)
        return request


def answer(body=b"ok", status="200 OK", fields=()):
    """A script: the same response to every request, the connection kept."""
    raw = response_bytes(body, status, fields)

    def script(connection):
        while True:
            connection.read_request()
            connection.send(raw)

    return script


class RawServer:
    """script(connection) may return, or raise EndOfStream/ConnectionError when its peer leaves;
    the connection is then closed. Any other exception fails the test at close()."""

    def __init__(self, script=None, *, host="127.0.0.1", path=None):
        self.script = script or answer()
        self.connections = []
        self.requests = []  # read to their end
        self.heads = []     # of which the head was read
        self.failures = []
        self._lock = threading.Lock()
        if path:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.bind(os.fspath(path))
            self.address = f"unix:{path}"
        else:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self.sock = socket.socket(family)
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            set_receive_buffer(self.sock)
            self.sock.bind((host, 0))
            self.port = self.sock.getsockname()[1]
            self.address = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self.sock.listen(4096)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.sock.accept()
            except OSError:
                return
            connection = Connection(sock, self)
            # An upstream waits as long as the gateway keeps the connection in its pool.
            sock.settimeout(None)
            with self._lock:
                self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            self.script(connection)
        except (EndOfStream, ConnectionError):
            pass
        except OSError:
            if connection.sock.fileno() >= 0:  # not one that the test itself closed
                self.failures.append(traceback.format_exc())
        except Exception:  # pylint: disable=broad-except
            self.failures.append(traceback.format_exc())
        finally:
            connection.close()

    def note(self, request):
        with self._lock:
            self.requests.append(request)

    def note_head(self, request):
        with self._lock:
            self.heads.append(request)

    @property
    def received(self) -> bytes:
        """Every byte that any connection has read."""
        return b"".join(connection.received for connection in list(self.connections))

    def wait_for_requests(self, count: int):
        wait_until(lambda: len(self.requests) >= count, f"{count} requests at the upstream")

    def close(self):
        # shutdown() wakes accept(), close() would not.
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()
        for connection in list(self.connections):
            connection.close()
        if self.failures:
            raise AssertionError("the upstream's script failed:\n" + "\n".join(self.failures))
