"""A connection's bytes on their way from the gateway to a server and back, kept in their order."""

import re
import socket
import threading
from collections import defaultdict
from dataclasses import dataclass

from .stream import EndOfStream

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_START = re.compile(rb"(" + _TOKEN + rb") (\*|/[\x21\x24-\x3b\x3d\x3f-\x5b\x5d-\x7e]*) HTTP/1\.1")
_FIELD = re.compile(rb"(" + _TOKEN + rb"):(?: ([\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)?")


@dataclass
class Forwarded:
    """A request as the gateway has put it on the wire."""

    tag: str  # its X-Tag
    method: str
    target: str
    host: str
    repeated: list  # names of fields that stand there more than once, in lower case
    body: bytes
    whole: bool
    answered: bool  # something came back after its head


class Tap:
    """Listens before the server at `port`."""

    def __init__(self, port: int):
        self._port = port
        self._lock = threading.Lock()
        self._connections = []  # of each: [(from the gateway?, bytes)]
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                gateway, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._port))
            except OSError:
                return
            events = []
            with self._lock:
                self._connections.append(events)
            threading.Thread(target=self._relay, args=(gateway, server, events), daemon=True).start()

    def _relay(self, gateway, server, events):
        with gateway, server:
            back = threading.Thread(target=self._pump, args=(server, gateway, False, events), daemon=True)
            back.start()
            self._pump(gateway, server, True, events)
            back.join()

    @staticmethod
    def _pump(source, sink, up, events):
        """Until the source ends, which the sink is then told; where either is gone, both are."""
        try:
            while data := source.recv(65536):
                events.append((up, data))
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it is closed

    def close(self) -> None:
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()

    @property
    def connections(self) -> int:
        """That ever came."""
        return len(self._connections)

    def forwarded(self):
        """(every request, every fault): what a strict reader makes of the gateway's bytes."""
        requests, faults = [], []
        for events in self._connections:
            reader = _Reader(events)
            try:
                while (request := reader.next()) is not None:
                    requests.append(request)
            except ValueError as fault:
                faults.append(f"{fault}: {reader.bytes[reader.at - 200:reader.at + 200]!r}")
        return requests, faults


class _Reader:
    """Of messages that everybody reads alike; anything else is a ValueError."""

    def __init__(self, events):
        self.bytes = b"".join(data for up, data in events if up)
        self.at = 0
        self._answers = []  # where in `bytes` the gateway was when something came back
        sent = 0
        for up, data in events:
            if up:
                sent += len(data)
            else:
                self._answers.append(sent)

    def _until(self, marker):
        end = self.bytes.find(marker, self.at)
        if end < 0:
            raise EndOfStream
        data, self.at = self.bytes[self.at:end], end + len(marker)
        return data

    def _exactly(self, size):
        data = self.bytes[self.at:self.at + size]
        self.at += len(data)
        return data

    def next(self):
        """The next request, or None; the last one may be cut off."""
        try:
            start, *lines = self._until(b"\r\n\r\n").split(b"\r\n")
        except EndOfStream:
            return None
        head_end = self.at
        match = _START.fullmatch(start)
        fields = [_FIELD.fullmatch(line) for line in lines]
        if not match or not all(fields):
            raise ValueError("not a head")
        values = defaultdict(list)
        for field in fields:
            values[field[1].lower()].append((field[2] or b"").decode("latin-1"))
        lengths, codings = values[b"content-length"], values[b"transfer-encoding"]
        if len(values[b"host"]) != 1 or len(lengths) + len(codings) > 1 or len(values[b"x-tag"]) > 1:
            raise ValueError("Host, framing or tag is not there just once")
        body, whole = self._body(lengths, codings)
        repeated = [name.decode() for name, all_of_it in values.items() if len(all_of_it) > 1]
        return Forwarded(
            "".join(values[b"x-tag"]), match[1].decode(), match[2].decode(), values[b"host"][0], repeated, body, whole,
            any(answer >= head_end and (answer <= self.at or not whole) for answer in self._answers))

    def _body(self, lengths, codings):
        """(what has come of it, whether that is all)"""
        if codings:
            if codings != ["chunked"]:
                raise ValueError("a coding but chunked")
            body = bytearray()
            try:
                self._chunks(body)
            except EndOfStream:
                self.at = len(self.bytes)
                return bytes(body), False
            return bytes(body), True
        if not lengths:
            return b"", True
        if not re.fullmatch("0|[1-9][0-9]*", lengths[0]):
            raise ValueError("a length that is not a number")
        body = self._exactly(int(lengths[0]))
        return body, len(body) == int(lengths[0])

    def _chunks(self, body):
        while (line := self._until(b"\r\n")) != b"0":
            if not re.fullmatch(rb"[1-9a-f][0-9a-f]*", line):
                raise ValueError(f"a chunk's size {line!r}")
            data = self._exactly(int(line, 16))
            body += data
            if len(data) < int(line, 16) or len(self.bytes) < self.at + 2:
                raise EndOfStream
            if self._exactly(2) != b"\r\n":
                raise ValueError("a chunk without its end")
        while line := self._until(b"\r\n"):
            if not _FIELD.fullmatch(line):
                raise ValueError("a trailer that is no field")
