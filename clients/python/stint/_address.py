"""Where the gateway's permit listener is."""

import errno
import os
import socket
from dataclasses import dataclass, field
from typing import Optional
from urllib.parse import unquote, urlsplit

DEFAULT_URL = "http://127.0.0.1:8082"
_NOBODY = (errno.ECONNREFUSED, errno.ENOENT)


@dataclass
class Address:
    """Either `path` of a Unix socket, or `host` and `port`. `authority` goes into the Host field.

    proven: a permit listener has granted something here, to this process or to one that it is a fork of."""

    authority: str
    host: str = ""
    port: int = 0
    path: str = ""
    proven: bool = field(default=False, compare=False)

    def connect(self, timeout: float) -> socket.socket:
        """A connected socket that never blocks. OSError when there is none within `timeout` seconds."""
        if self.path:
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                made.settimeout(timeout)
                made.connect(self.path)
            except BaseException:
                made.close()
                raise
        else:
            made = socket.create_connection((self.host, self.port), timeout)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setblocking(False)
        return made

    def __str__(self) -> str:
        return f"unix:{self.path}" if self.path else f"http://{self.authority}"


def no_gateway(address: Address, problem: OSError) -> str:
    """What is wrong when there is no connection to the address, or none any more."""
    # An event loop that has tried several addresses only tells in words what became of each.
    if problem.errno in _NOBODY or f"[Errno {errno.ECONNREFUSED}]" in str(problem):
        return (f"no gateway at {address}: start one with permits: in its configuration, "
                f"or say in STINT_URL where it is ({problem})")
    return f"{address}: {problem}"


def parse(url: Optional[str]) -> Address:
    """The address that a URL names: http://host:port or unix:/path. None: STINT_URL, then DEFAULT_URL.

    ValueError for anything else; https among it, which this client does not speak.
    """
    text = url if url is not None else os.environ.get("STINT_URL") or DEFAULT_URL
    if text.startswith("unix:"):
        path = unquote(text[len("unix:"):])
        if path.startswith("//"):
            path = path[2:]
        if not path.startswith("/"):
            raise ValueError(f"{text!r}: a Unix socket is named by its absolute path, unix:/path")
        return Address(authority="localhost", path=path)
    parts = urlsplit(text)
    if parts.scheme == "https":
        raise ValueError(f"{text!r}: this client speaks http alone: put TLS in front of both ends, "
                         "or use loopback, a Unix socket or a private network")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"{text!r}: expected http://host:port or unix:/path")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username is not None:
        raise ValueError(f"{text!r}: expected no more than http://host:port")
    return Address(authority=parts.netloc, host=parts.hostname, port=parts.port or 80)
