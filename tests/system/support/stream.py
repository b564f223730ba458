"""A socket under full control: exact bytes out, whole messages in, every way to go away."""

import os
import socket
import ssl
import struct

from .messages import Request, Response, parse_fields, parse_head
from .waiting import PATIENCE


# See tests/support/small_buffers.
SMALL_BUFFERS = bool(os.environ.get("STINT_SMALL_BUFFERS"))


def set_receive_buffer(sock: socket.socket, size: int | None = None) -> None:
    """SO_RCVBUF, of a socket that is not connected yet, or that listens. Without a size: what tests have
    where writes are to be partial, else the kernel's."""
    if size or SMALL_BUFFERS:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size or 4096)


class EndOfStream(Exception):
    """The peer closed where more was expected."""


class Stream:
    def __init__(self, sock: socket.socket):
        sock.settimeout(PATIENCE)
        self.sock = sock
        self.buffer = b""
        self.received = b""  # all that was ever read; large bodies are read with read_some()

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def _receive(self, most: int) -> bytes:
        try:
            return self.sock.recv(most)
        except ssl.SSLZeroReturnError:  # the peer's end, where ours was said before
            return b""

    def read_some(self, most: int = 65536) -> bytes:
        """What is there, at least one byte; b"" at the end. Not kept in `received`."""
        if self.buffer:
            data, self.buffer = self.buffer[:most], self.buffer[most:]
            return data
        return self._receive(most)

    def _fill(self) -> None:
        data = self._receive(65536)
        if not data:
            raise EndOfStream(f"closed; not yet used: {self.buffer[:200]!r}")
        self.buffer += data
        self.received += data

    def read_until(self, marker: bytes) -> bytes:
        while marker not in self.buffer:
            self._fill()
        end = self.buffer.index(marker) + len(marker)
        data, self.buffer = self.buffer[:end], self.buffer[end:]
        return data

    def read_exactly(self, size: int) -> bytes:
        while len(self.buffer) < size:
            self._fill()
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def read_to_end(self) -> bytes:
        """Everything up to the peer's close."""
        return self._read_until_raised(EndOfStream)

    def read_what_comes(self) -> bytes:
        """Everything up to the peer's close or reset: how a message ends that has no end."""
        return self._read_until_raised(EndOfStream, ConnectionResetError)

    def _read_until_raised(self, *ends) -> bytes:
        try:
            while True:
                self._fill()
        except ends:
            data, self.buffer = self.buffer, b""
            return data

    def ends(self) -> bool:
        """Whether the peer closes (or resets) without sending anything more."""
        try:
            return not self.buffer and self._receive(1) == b""
        except ConnectionError:
            return True

    def silent(self, seconds: float) -> bool:
        """Whether nothing arrives, not even the end, for so long."""
        if self.buffer:
            return False
        self.sock.settimeout(seconds)
        try:
            self.buffer += self._receive(65536)
            return False
        except TimeoutError:
            return True
        finally:
            self.sock.settimeout(PATIENCE)

    def _read_chunked(self, message) -> None:
        while True:
            size = int(self.read_until(b"\r\n").split(b";")[0], 16)
            if size == 0:
                break
            message.body += self.read_exactly(size)
            if self.read_exactly(2) != b"\r\n":
                raise AssertionError("a chunk is longer than its size says")
        lines = []
        while line := self.read_until(b"\r\n").removesuffix(b"\r\n"):
            lines.append(line.decode("latin-1"))
        message.trailers = parse_fields(lines)

    def read_request(self) -> Request:
        request = self.read_request_head()
        self.read_request_body(request)
        return request

    def read_request_body(self, request) -> None:
        if request.get("Transfer-Encoding"):
            self._read_chunked(request)
        else:
            request.body = self.read_exactly(int(request.get("Content-Length", 0)))

    def read_request_head(self) -> Request:
        return parse_head(Request, self.read_until(b"\r\n\r\n"))

    def read_response_head(self) -> Response:
        return parse_head(Response, self.read_until(b"\r\n\r\n"))

    def read_response(self, method: str = "GET") -> Response:
        response = self.read_response_head()
        if method == "HEAD" or response.status < 200 or response.status in (204, 304):
            return response
        if response.get("Transfer-Encoding"):
            self._read_chunked(response)
        elif response.get("Content-Length") is not None:
            response.body = self.read_exactly(int(response.get("Content-Length")))
        else:
            response.body = self.read_to_end()
        return response

    def half_close(self) -> None:
        if not isinstance(self.sock, ssl.SSLSocket):
            return self.sock.shutdown(socket.SHUT_WR)
        # Its own shutdown() would forget TLS, its unwrap() wait for the peer.
        self.sock.settimeout(0)
        try:
            self.sock._sslobj.shutdown()
        except ssl.SSLWantReadError:
            pass
        finally:
            self.sock.settimeout(PATIENCE)

    def reset(self) -> None:
        """Closes with RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def close(self) -> None:
        # close() alone would not wake a thread that reads from this socket.
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
