"""Requests at a steady pace from a process of their own, and what became of each."""

import contextlib
import gc
import heapq
import itertools
import selectors
import socket
import time
from dataclasses import dataclass
from typing import NamedTuple

from .messages import request_bytes
from .processes import Child


class Asked(NamedTuple):
    """What became of one request. sent, received: seconds on the monotonic clock, which all processes share."""

    row: str
    key: str
    gateway: int
    status: int
    sent: float
    received: float


@dataclass
class Station:
    """Who asks one gateway: `connections`, which together ask `rate` times a second, each for its own part of the
    keys in turn. spans: when it asks, in seconds after the demand began."""

    row: str
    gateway: int
    port: int
    rate: float
    spans: tuple
    target: str = "/"
    keys: tuple = ("",)
    connections: int = 2
    request: bytes = b""  # in place of a GET of the target with a key
    once: bool = False  # each key; then it is done

    def asks(self, at: float) -> bool:
        return any(begin <= at < end for begin, end in self.spans)

    def next_begin(self, at: float) -> "float | None":
        return min((begin for begin, _ in self.spans if begin > at), default=None)


class _Connection:
    def __init__(self, station: Station, number: int):
        self.station = station
        self.every = station.connections / station.rate
        self.due = self.every * number / station.connections
        keys = station.keys[number::station.connections] or station.keys
        once = ((key, station.request or request_bytes("GET", station.target, [("X-Key", key)] if key else []))
                for key in keys)
        self.requests = once if station.once else itertools.cycle(list(once))
        self.next = next(self.requests)
        self.sock = None  # before its first request: gateways close those that are idle
        self.data = b""
        self.key, self.sent = "", 0.0

    def open(self):
        self.sock = socket.create_connection(("127.0.0.1", self.station.port), 10)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.sock

    def close(self, selector) -> None:
        if self.sock:
            selector.unregister(self.sock)
            self.sock.close()

    def ask(self) -> None:
        self.key, request = self.next
        self.sent = time.monotonic()
        self.sock.sendall(request)
        self.next = next(self.requests, None)

    def is_done(self, at: float) -> bool:
        return not self.next or not self.station.asks(at) and self.station.next_begin(at) is None

    def status(self) -> "int | None":
        """Of the response, once it is there."""
        data = self.sock.recv(65536)
        if not data:
            raise ConnectionError(f"closed with an answer due: {self.data[:200]!r}")
        self.data += data
        head, found, rest = self.data.partition(b"\r\n\r\n")
        if not found:
            return None
        at = head.lower().find(b"\r\ncontent-length:")
        if len(rest) < int(head[at + 17:].split(b"\r\n", 1)[0]):
            return None
        self.data = b""
        return int(head[9:12])


def _play(stations, begin: float, seconds: float) -> list:
    """Each connection asks when it is due, at once if it is late, and never twice at a time."""
    seen, busy = [], 0
    connections = [_Connection(station, number) for station in stations for number in range(station.connections)]
    waiting = [(connection.due, number) for number, connection in enumerate(connections)]
    heapq.heapify(waiting)
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        while True:
            now = time.monotonic() - begin
            while waiting and waiting[0][0] <= now:
                due, number = heapq.heappop(waiting)
                connection = connections[number]
                if due >= seconds or now >= seconds:
                    continue
                if not connection.station.asks(now):
                    later = connection.station.next_begin(now)
                    if later is None:
                        connection.close(selector)
                        continue
                    connection.due = later + due % connection.every
                    heapq.heappush(waiting, (connection.due, number))
                    continue
                if connection.sock is None:
                    selector.register(stack.enter_context(connection.open()), selectors.EVENT_READ,
                                      (number, connection))
                connection.ask()
                busy += 1
            if not waiting and not busy:
                break
            pause = max(0.0, waiting[0][0] + begin - time.monotonic()) if waiting else 30.0
            events = selector.select(pause)
            if busy and not waiting and not events:
                raise TimeoutError(f"{busy} answers did not come within 30 s")
            for key, _ in events:
                number, connection = key.data
                status = connection.status()
                if status is None:
                    continue
                received = time.monotonic()
                busy -= 1
                station = connection.station
                seen.append((station.row, connection.key, station.gateway, status, connection.sent, received))
                if connection.is_done(received - begin):
                    connection.close(selector)
                    continue
                connection.due = max(connection.due + connection.every, received - begin)
                heapq.heappush(waiting, (connection.due, number))
    return seen


class Demand:
    """with Demand(stations, seconds) as demand: ...; demand.answers() waits for its end."""

    def __init__(self, stations, seconds: float):
        self._stations, self._seconds = stations, seconds
        self.begin = 0.0

    def __enter__(self) -> "Demand":
        self.begin = time.monotonic() + 0.3

        def work(pipe):
            gc.disable()
            try:
                pipe.send(_play(self._stations, self.begin, self._seconds))
            except Exception as failure:  # pylint: disable=broad-except
                pipe.send(repr(failure))

        self._child = Child(work)
        return self

    def answers(self) -> "list[Asked]":
        """In the order in which they came."""
        heard = self._child.hear(self._seconds + 60)
        if isinstance(heard, str):
            raise AssertionError(f"the demand failed: {heard}")
        return [Asked(*one) for one in heard]

    def __exit__(self, *_) -> None:
        self._child.end()
