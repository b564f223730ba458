"""A client of exact bytes."""

import socket

from .messages import request_bytes
from .over_tls import wrap
from .stream import Stream, set_receive_buffer


class RawClient(Stream):
    """address: a port on 127.0.0.1, (host, port), or a Unix socket's path.
    receive_buffer: bytes of SO_RCVBUF, for readers that are slow on purpose."""

    def __init__(self, address, *, source=None, receive_buffer=None):
        if isinstance(address, int):
            address = ("127.0.0.1", address)
        if isinstance(address, tuple):
            family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        else:
            family = socket.AF_UNIX
        sock = socket.socket(family)
        try:
            set_receive_buffer(sock, receive_buffer)
            if source:
                sock.bind((source, 0))
            sock.settimeout(10)
            sock.connect(address)
            sock = wrap(sock)
        except OSError:
            sock.close()
            raise
        super().__init__(sock)

    def send_request(self, method="GET", target="/", fields=(), body=b"", **more):
        self.send(request_bytes(method, target, fields, body, **more))

    def request(self, method="GET", target="/", fields=(), body=b"", **more):
        """Sends one request and reads its final response."""
        self.send_request(method, target, fields, body, **more)
        return self.read_response(method)


def fetch(address, method="GET", target="/", fields=(), body=b"", *, source=None, **more):
    """One request on a connection of its own."""
    with RawClient(address, source=source) as client:
        return client.request(method, target, fields, body, **more)
