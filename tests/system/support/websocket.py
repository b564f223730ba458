"""A small peer of RFC 6455, for either end: whole messages, no extensions."""

import base64
import hashlib
import os
import struct

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 section 1.3


def accept_of(key: str) -> str:
    return base64.b64encode(hashlib.sha1((key + _GUID).encode()).digest()).decode()


def frame(payload: bytes, opcode=BINARY, masked=False, final=True) -> bytes:
    """RFC 6455 section 5.2."""
    size = len(payload)
    bit = 0x80 if masked else 0
    head = bytes([(0x80 if final else 0) | opcode])
    if size < 126:
        head += bytes([bit | size])
    elif size < 65536:
        head += bytes([bit | 126]) + struct.pack(">H", size)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", size)
    if not masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + _masked(payload, mask)


def _masked(payload: bytes, mask: bytes) -> bytes:
    size = len(payload)
    key = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
    return (int.from_bytes(payload, "big") ^ key).to_bytes(size, "big")


def read_frame(stream):
    """(opcode, payload), whichever side sent it."""
    first, second = stream.read_exactly(2)
    size = second & 0x7F
    if size == 126:
        size, = struct.unpack(">H", stream.read_exactly(2))
    elif size == 127:
        size, = struct.unpack(">Q", stream.read_exactly(8))
    mask = stream.read_exactly(4) if second & 0x80 else b""
    payload = stream.read_exactly(size)
    return first & 0x0F, _masked(payload, mask) if mask else payload


def handshake(client, target="/", fields=()):
    """Sends the opening request and returns the answer's head; 101 is checked to be for us."""
    key = base64.b64encode(os.urandom(16)).decode()
    client.send_request("GET", target, [
        ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", key), *fields])
    head = client.read_until(b"\r\n\r\n").decode()
    if head.startswith("HTTP/1.1 101 ") and accept_of(key) not in head:
        raise AssertionError(f"not the answer to this handshake: {head}")
    return head


def answer_handshake(connection, request=None):
    """Reads an opening request, unless it was read, and switches."""
    request = request or connection.read_request_head()
    key = request.get("Sec-WebSocket-Key")
    connection.send(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept_of(key).encode() + b"\r\n\r\n")
    return request


def echo(connection):
    """An upstream's script: every message comes back, until the client closes."""
    answer_handshake(connection)
    while True:
        opcode, payload = read_frame(connection)
        if opcode == PING:
            opcode = PONG
        connection.send(frame(payload, opcode))
        if opcode == CLOSE:
            return
