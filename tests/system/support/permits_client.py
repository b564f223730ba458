"""Clients of the permit listener that need no library: one on a connection, and crowds in one thread."""

import contextlib
import gc
import heapq
import json
import selectors
import socket
import time
from dataclasses import dataclass
from urllib.parse import quote

from . import admissions
from .ports import free_port


def permits_config(limits: dict | None = None, *, permits=None, **top) -> dict:
    """A configuration of a permit listener alone."""
    made = {"workers": 2, "max_connections": 2000,
            "permits": {"address": f"127.0.0.1:{free_port()}", **(permits or {})}}
    if limits:
        made["limits"] = limits
    return {**made, **top}


def permits_port(stint) -> int:
    return int(stint.config["permits"]["address"].rpartition(":")[2])


def post(path: str, body, fields=()) -> bytes:
    """The bytes of a request; body: what becomes JSON, or bytes as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{head}"
            f"Content-Length: {len(data)}\r\n\r\n").encode() + data


def take_path(name: str) -> str:
    return f"/v1/limits/{quote(name, safe='')}/take"


@dataclass(slots=True)
class Answer:
    status: int
    head: str
    body: dict
    sent: float  # on the monotonic clock
    received: float
    client: int = 0  # its number in a crowd

    @property
    def granted(self) -> bool:
        return self.status == 200

    @property
    def took(self) -> float:
        return self.received - self.sent

    def field(self, name: str):
        for line in self.head.split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return None

    @property
    def retry_after(self) -> float:
        """Seconds, as the milliseconds' field tells."""
        return int(self.field("Retry-After-Ms")) / 1000


class _Connection:
    def __init__(self, port: int, timeout: float, number: int = 0):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data = b""
        self.sent = 0.0
        self.number = number

    def send(self, request: bytes) -> None:
        self.sent = time.monotonic()
        self.sock.sendall(request)

    def answer(self) -> Answer | None:
        """The complete response at the front of the data, if there is one."""
        head, found, rest = self.data.partition(b"\r\n\r\n")
        if not found:
            return None
        at = head.lower().find(b"\r\ncontent-length:")
        length = int(head[at + 17:].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(rest) < length:
            return None
        self.data = rest[length:]
        text = head.decode("latin-1")
        body = json.loads(rest[:length]) if length else {}
        return Answer(int(text[9:12]), text, body, self.sent, time.monotonic(), self.number)

    def receive(self) -> None:
        data = self.sock.recv(65536)
        if not data:
            raise ConnectionError(f"closed with an answer due; not yet used: {self.data[:200]!r}")
        self.data += data


class PermitClient(_Connection):
    """One connection that is kept; asks and waits for the answer."""

    def __init__(self, port: int, timeout: float = 10):
        super().__init__(port, timeout)

    def request(self, request: bytes) -> Answer:
        self.send(request)
        return self.read()

    def read(self) -> Answer:
        while (answer := self.answer()) is None:
            self.receive()
        return answer

    def take(self, name: str, **members) -> Answer:
        return self.request(post(take_path(name), members))

    def asks(self, name: str, **members) -> None:
        self.send(post(take_path(name), members))

    def close(self) -> None:
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def crowd(port: int, requests, seconds: float, pause=lambda answer: 0.0) -> list:
    """All answers that so many clients got, who ask for `seconds`. requests: the bytes that each of
    them sends again and again. pause: for how long a client rests after an answer; None: for good."""
    answers, resting, busy = [], [], 0  # resting: a heap of (due, number)
    connections = [_Connection(port, 10, number) for number in range(len(requests))]
    end = time.monotonic() + seconds
    with contextlib.ExitStack() as stack:
        gc.disable()  # with a hundred thousand answers it would stand still for 0.3 s
        stack.callback(gc.enable)
        selector = stack.enter_context(selectors.DefaultSelector())
        for connection in connections:
            stack.callback(connection.sock.close)
            selector.register(connection.sock, selectors.EVENT_READ, connection)
            heapq.heappush(resting, (0.0, connection.number))
        while busy or resting:
            now = time.monotonic()
            while resting and resting[0][0] <= now:
                _, number = heapq.heappop(resting)
                if now < end:
                    connections[number].send(requests[number])
                    busy += 1
            if not busy and (not resting or resting[0][0] >= end):
                break
            wait = max(0.0, resting[0][0] - time.monotonic()) if resting else 10.0
            for key, _ in selector.select(wait):
                connection = key.data
                connection.receive()
                if (answer := connection.answer()) is None:
                    continue
                busy -= 1
                answers.append(answer)
                rest = pause(answer)
                if rest is not None:
                    heapq.heappush(resting, (time.monotonic() + rest, connection.number))
    return answers


def takes(name: str, clients: int, **members) -> list:
    """What a crowd of equal clients sends."""
    return [post(take_path(name), members)] * clients


def windows(answers, per: float) -> list:
    """The grants by the fixed window that they came from, which each of them says when it ends."""
    ends = sorted(((answer.received + answer.body["reset_ms"] / 1000, answer)
                   for answer in answers if answer.granted), key=lambda pair: pair[0])
    found, last = [], float("-inf")
    for end, answer in ends:
        if end - last > per / 2:
            found.append([])
        found[-1].append(answer)
        last = end
    return found


def most_in_a_span(answers, span: float) -> int:
    """The most grants that were certainly within a span of this length."""
    return admissions.most_in_a_span([(one.sent, one.received) for one in answers if one.granted], span)


def percentile(values, share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
