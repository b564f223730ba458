"""Clients of the lock API that need no library: one on a connection."""

import json
from urllib.parse import quote

from .permits_client import Answer, PermitClient, permits_config


def locks_config(locks: dict | None = None, *, permits=None, **top) -> dict:
    """A configuration of a permit listener and locks, which are there to be had from the start."""
    if locks:
        top["locks"] = locks
    return permits_config(permits={"start_up_grace": "0s", **(permits or {})}, **top)


def lock_path(name: str) -> str:
    return f"/v1/locks/{quote(name, safe='').replace('.', '%2E')}"


def asking(method: str, path: str, body=None) -> bytes:
    """The bytes of a request; body: what becomes JSON."""
    data = b"" if body is None else json.dumps(body).encode()
    length = f"Content-Length: {len(data)}\r\n" if body is not None else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n".encode() + data


def acquiring(name: str, hold: str | None = None, **members) -> bytes:
    """The bytes that ask for a lease."""
    query = f"?hold={hold}" if hold else ""
    return asking("POST", f"{lock_path(name)}/leases{query}", members)


class LockClient(PermitClient):
    """One connection that is kept. Leases are held by it: they end with it, unless hold is None."""

    def __init__(self, port: int, timeout: float = 10, hold: str | None = "connection"):
        super().__init__(port, timeout)
        self.hold = hold

    def acquire(self, name: str, **members) -> Answer:
        return self.request(acquiring(name, self.hold, **members))

    def asks_to_acquire(self, name: str, **members) -> None:
        self.send(acquiring(name, self.hold, **members))

    def renew(self, name: str, lease: str, **members) -> Answer:
        query = f"?hold={self.hold}" if self.hold else ""
        return self.request(asking("PUT", f"{lock_path(name)}/leases/{lease}{query}", members))

    def release(self, name: str, lease: str) -> Answer:
        return self.request(asking("DELETE", f"{lock_path(name)}/leases/{lease}"))

    def lock(self, name: str) -> Answer:
        return self.request(asking("GET", lock_path(name)))
