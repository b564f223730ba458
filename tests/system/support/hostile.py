"""What a listener must bear: each is a function that does its harm until the time is over."""

import contextlib
import random
import socket
import time


def _connected(port: int) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), 5)
    sock.settimeout(2)
    return sock


def _again_and_again(port: int, data: bytes, seconds: float, *, answer=True) -> None:
    """A connection with these bytes, one after the other, with a breath between them."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), _connected(port) as sock:
            sock.sendall(data)
            if answer:
                while sock.recv(65536):
                    pass
        time.sleep(0.02)


def _post(path: str, body: bytes, fields: str = "") -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: a\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body


TAKE = "/v1/limits/wide/take"


def multi_part(port: int, seconds: float) -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n{}\r\n--x--\r\n'
    _again_and_again(port, _post(TAKE, part, "Connection: close\r\nContent-Type: multipart/form-data; boundary=x\r\n"),
                     seconds)


def oversized_head(port: int, seconds: float) -> None:
    _again_and_again(port, _post(TAKE, b"{}", f"X-Large: {'x' * 100_000}\r\n"), seconds)


def truncated(port: int, seconds: float) -> None:
    _again_and_again(port, _post(TAKE, b'{"key": "half')[:-4], seconds, answer=False)


def random_bytes(port: int, seconds: float) -> None:
    _again_and_again(port, random.Random(7).randbytes(4096), seconds)


def large_body(port: int, seconds: float) -> None:
    _again_and_again(port, _post(TAKE, b'{"key": "' + b"x" * 10_000_000), seconds)


def deep_json(port: int, seconds: float) -> None:
    _again_and_again(port, _post(TAKE, b"[" * 60_000, "Connection: close\r\n"), seconds)


def half_open(port: int, seconds: float) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(500):
            stack.enter_context(_connected(port)).sendall(b"POST /v1/lim")
        time.sleep(seconds)


def slow_bytes(port: int, seconds: float) -> None:
    """A byte a second on each of 100 connections."""
    data = _post(TAKE, b"{}")
    end = time.monotonic() + seconds
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(_connected(port)) for _ in range(100)]
        for byte in data:
            if time.monotonic() >= end:
                break
            for sock in socks:
                with contextlib.suppress(OSError):
                    sock.sendall(bytes([byte]))
            time.sleep(1)


ALL = (multi_part, oversized_head, truncated, random_bytes, large_body, deep_json, half_open, slow_bytes)
