"""The upstream of the clients' tests: a page with 100 assets, and what its scripts talk to."""

import hashlib
import threading
import time

from support import websocket
from support.messages import response_bytes
from support.waiting import PATIENCE

ASSETS = 100
BIG = bytes(range(256)) * 16_384  # 4 MiB
PIECES = 10


def _content(number: int):
    """An asset's media type and body: in turn a picture, a script and a style sheet, of 100 bytes to 40 KB."""
    padding = "x" * (100 + 400 * number)
    if number % 3 == 0:
        return "image/svg+xml", f'<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"><!--{padding}--></svg>'
    if number % 3 == 1:
        return "text/javascript", f"window.ran = (window.ran || 0) + 1; // {padding}"
    return "text/css", f"/*{padding}*/ :root {{ --style-{number}: 1; }}"


def assets() -> dict:
    """Path to size."""
    return {f"/asset/{number}": len(_content(number)[1]) for number in range(ASSETS)}


def _page() -> bytes:
    tags = ('<img src="{}">', '<script src="{}" defer></script>', '<link rel="stylesheet" href="{}">')
    named = "".join(tags[number % 3].format(f"/asset/{number}") for number in range(ASSETS))
    return f'<!doctype html><title>page</title><link rel="icon" href="data:,"><body>{named}'.encode()


class Site:
    """A script for RawServer. arrivals: (path, seconds since 1970) of each request, once its head has been read."""

    def __init__(self):
        self.arrivals = []
        self._sent = 0      # pieces of the upload in parts that have come
        self._taken = 0     # pieces of the answer in parts that the page has had
        self._changed = threading.Condition()

    def __call__(self, connection):
        while True:
            head = connection.read_request_head()
            with self._changed:
                self.arrivals.append((head.target, time.time()))
            self._answer(connection, head)

    def paths(self) -> list:
        return [path for path, _ in self.arrivals]

    def _answer(self, connection, head):
        path, _, query = head.target.partition("?")
        if path == "/socket":
            return self._echo(connection, head)
        if path == "/parts":
            return self._send_parts(connection)
        if path == "/upload-in-parts":
            return self._take_parts(connection, head)
        connection.read_request_body(head)
        if path == "/greeter/Hello":
            return connection.send(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\nTrailer: grpc-status\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\ngrpc-status: 0\r\n\r\n"
                % (len(head.body), head.body))
        media_type, body = "text/plain", b"ok"
        if path == "/page":
            media_type, body = "text/html", _page()
        elif path == "/empty":
            media_type, body = "text/html", b'<!doctype html><title>empty</title><link rel="icon" href="data:,">'
        elif path.startswith("/asset/"):
            media_type, text = _content(int(path.rpartition("/")[2]))
            body = text.encode()
        elif path == "/big":
            body = BIG
        elif path == "/digest":
            body = hashlib.sha256(head.body).hexdigest().encode()
        elif path == "/taken":
            self._note(taken=int(query))
        elif path == "/sent":
            self._wait(lambda: self._sent >= int(query))
        connection.send(response_bytes(body, fields={"Content-Type": media_type, "Cache-Control": "no-store"}))

    def _note(self, *, sent=None, taken=None):
        with self._changed:
            self._sent = sent or self._sent
            self._taken = taken or self._taken
            self._changed.notify_all()

    def _wait(self, condition):
        with self._changed:
            if not self._changed.wait_for(condition, PATIENCE):
                raise AssertionError("the page does not go on")

    def _send_parts(self, connection):
        """Each piece only after the page has said that it had the one before."""
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(PIECES):
            self._wait(lambda number=number: self._taken >= number)
            connection.send(b"7\r\npiece %d\r\n" % number)
        connection.send(b"0\r\n\r\n")

    def _take_parts(self, connection, head):
        """Notes each piece as it comes, so that the page sends the next."""
        if head.get("Transfer-Encoding") != "chunked":
            raise AssertionError(f"not a body in parts: {head}")
        body = b""
        while size := int(connection.read_until(b"\r\n"), 16):
            body += connection.read_exactly(size)
            connection.read_exactly(2)
            self._note(sent=body.count(b";"))
        connection.read_until(b"\r\n")
        connection.send(response_bytes(body))

    @staticmethod
    def _echo(connection, head):
        """Every frame comes back, also the parts of a message, until the client closes."""
        websocket.answer_handshake(connection, head)
        opcode = None
        while opcode != websocket.CLOSE:
            first = connection.read_exactly(1)
            connection.buffer = first + connection.buffer
            opcode, payload = websocket.read_frame(connection)
            connection.send(websocket.frame(payload, opcode, final=bool(first[0] & 0x80)))
