"""Clients and upstreams that go away at any moment: random, many at once, and nothing is left behind."""

import os
import random
import threading
import time
import unittest

from support.case import SystemTest, config, scaled
from support.client import RawClient, fetch
from support.messages import chunked, request_bytes, response_bytes
from support.stream import EndOfStream
from support.upstream import answer
from support.waiting import wait_until

THREADS = 16
SECONDS = scaled(4, 60)
SEED = int(os.environ.get("STINT_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
# What a broken-off conversation looks like from either end.
GONE = (OSError, EndOfStream, ValueError, IndexError)


def some_body(dice) -> bytes:
    return bytes(dice.choice((0, 1, 100, 5000, 70_000, 400_000)))


def some_request(dice) -> bytes:
    body = some_body(dice)
    fields = [("Expect", "100-continue")] if dice.random() < 0.1 else []
    if dice.random() < 0.4:
        half = len(body) // 2
        pieces = [piece for piece in (body[:half], body[half:]) if piece]
        return request_bytes("PUT", "/", [*fields, ("Transfer-Encoding", "chunked")]) + chunked(*pieces)
    if dice.random() < 0.6:
        return request_bytes(dice.choice(("GET", "HEAD", "POST")), "/", fields)
    return request_bytes("POST", "/", fields, body)


def some_response(dice) -> bytes:
    body = some_body(dice)
    kind = dice.random()
    if kind < 0.1:
        return b"HTTP/1.1 200 OK\r\nContent-Length: nonsense\r\n\r\n"
    if kind < 0.3:
        return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(*([body] if body else []))
    if kind < 0.4:
        return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body
    if kind < 0.5:
        return b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + response_bytes(body)
    return response_bytes(body)


def send_some(dice, stream, data: bytes) -> None:
    """All of the data or a part, in one piece or several, now and then with a pause."""
    if dice.random() < 0.3:
        data = data[: dice.randrange(len(data) + 1)]
    for _ in range(dice.choice((0, 0, 1, 3))):
        cut = dice.randrange(len(data) + 1)
        stream.send(data[:cut])
        data = data[cut:]
        time.sleep(dice.choice((0, 0, 0.001, 0.01)))
    stream.send(data)


def go_away(dice, stream) -> None:
    way = dice.random()
    if way < 0.5:
        stream.reset()
    elif way < 0.8:
        stream.close()
    else:
        stream.half_close()
        stream.sock.settimeout(0.05)
        try:
            stream.read_what_comes()
        finally:
            stream.close()


class Aborts(SystemTest):
    def setUp(self):
        super().setUp()
        self.count = 0

    def unreliable(self, connection):
        """An upstream's script, seeded by the connection's number."""
        dice = random.Random(f"{SEED} upstream {len(connection.server.connections)}")
        connection.sock.settimeout(0.5)
        try:
            while True:
                if dice.random() < 0.7:
                    connection.read_until(b"\r\n\r\n")
                if dice.random() < 0.3:
                    connection.read_some()
                time.sleep(dice.choice((0, 0, 0, 0.002, 0.03)))
                if dice.random() < 0.15:
                    break
                send_some(dice, connection, some_response(dice))
                connection.buffer = b""
            go_away(dice, connection)
        except GONE:
            connection.close()

    def client(self, port: int, number: int, until: float):
        dice = random.Random(f"{SEED} client {number}")
        while time.monotonic() < until:
            try:
                self.converse(dice, port)
            except GONE:
                pass
            self.count += 1

    @staticmethod
    def converse(dice, port: int):
        client = RawClient(port)
        try:
            client.sock.settimeout(dice.choice((0.002, 0.05, 0.5)))
            for _ in range(dice.choice((1, 1, 2, 5))):
                send_some(dice, client, some_request(dice) * dice.choice((1, 1, 1, 3)))
                if dice.random() < 0.7:
                    client.read_response()
            go_away(dice, client)
        finally:
            client.close()

    @staticmethod
    def answers_well(port: int) -> bool:
        """False, too, where the pool still had a connection that runs the script of before, and it broke off."""
        try:
            return fetch(port).body == b"well"
        except GONE:
            return False

    def test_nothing_is_left_behind(self):
        upstream = self.start_upstream(self.unreliable)
        stint = self.start_stint(config(
            upstream.address,
            limits={"slots": {"concurrent": 12}, "by_key": {"concurrent": 12, "key": "client_ip"}},
            route_limits=["slots", "by_key"],
            timeouts={"response": "100ms", "body_idle": "150ms", "head": "200ms", "idle": "300ms"},
        ))
        files = len(os.listdir(f"/proc/{stint.pid}/fd"))
        until = time.monotonic() + SECONDS
        clients = [
            threading.Thread(target=self.client, args=(stint.port, number, until)) for number in range(THREADS)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()

        with self.subTest(f"STINT_SEED={SEED}"):
            self.assertTrue(stint.running, stint.log())
            self.assertGreater(self.count, THREADS)
            wait_until(lambda: stint.in_flight() == 0, "every slot is free")
            metrics = stint.admin.metrics
            wait_until(lambda: metrics().sum("stint_connections_open") == 0, "every connection is closed")
            wait_until(lambda: metrics().sum("stint_requests_in_flight") == 0, "no request is under way")
            upstream.script = answer(b"well")
            wait_until(lambda: self.answers_well(stint.port), "an ordinary request is answered")
            wait_until(lambda: len(os.listdir(f"/proc/{stint.pid}/fd")) <= files + 4, "no descriptor is left")


if __name__ == "__main__":
    unittest.main()
