"""Locks of a gateway in Python, for the client's tests: as docs/locks.md has them, but for streams and
proxied requests. stop() and start() are a restart with kept `state`; forget=True, one without."""

import json
import math
import secrets
import select
import threading
import time
from collections import deque
from urllib.parse import unquote

from fake_gateway import FakeGateway, answer, refusal

_MAX_TTL = 60_000
_LOOK = 0.02  # seconds after which a waiter looks whether it still has a client


class Held:
    def __init__(self, name, fence, body, connection):
        self.id = "l_" + secrets.token_hex(16)
        self.name = name
        self.fence = fence
        self.owner = body.get("owner")
        self.key = body.get("idempotency_key")
        self.tie = connection
        self.ttl = body.get("ttl_ms", 30_000) / 1000
        self.renew()

    def renew(self):
        self.until = time.monotonic() + self.ttl


class Slots:
    def __init__(self, most):
        self.max = most
        self.held = {}
        self.waiting = deque()


class FakeLocks(FakeGateway):
    """declared: name -> max. lose: how many replies to requests that were carried out get lost from now on,
    with their connection. most_held: name -> the largest number of holders seen."""

    def __init__(self, declared=None, **more):
        self.slots = {name: Slots(most) for name, most in (declared or {}).items()}
        self.declared = set(self.slots)
        self.changed = threading.Condition()
        self.released = set()
        self.fence = 1000
        self.lose = 0
        self.most_held = {}
        self._stopping = False
        super().__init__(**more)

    def stop(self):
        with self.changed:
            self._stopping = True
        super().stop()

    def start(self, forget=False):
        with self.changed:
            self._stopping = False
            for lock in self.slots.values():
                if forget:
                    lock.held.clear()
                for lease in lock.held.values():
                    lease.tie = None
                    lease.renew()
        super().start()

    def held(self, name):
        """The leases of this lock that live."""
        with self.changed:
            lock = self.slots.get(name)
            if lock is None:
                return []
            self._expire(lock)
            return list(lock.held.values())

    def waiting(self, name):
        return len(self.slots[name].waiting) if name in self.slots else 0

    def end(self, name):
        """Forced release of whatever is held."""
        with self.changed:
            self.slots[name].held.clear()
            self.changed.notify_all()

    def requests(self, method=""):
        return [request for request, _, _ in self.asked if request.startswith(method)]

    def _ended(self, connection):
        with self.changed:
            if self._stopping:
                return
            for lock in self.slots.values():
                for lease in [lease for lease in lock.held.values() if lease.tie is connection]:
                    del lock.held[lease.id]
            self.changed.notify_all()

    def _reply(self, connection, request, fields, body):
        method, path = request.split(" ")
        path, _, query = path.partition("?")
        parts = path.split("/")
        if self.script is not None or parts[1:3] != ["v1", "locks"]:
            return super()._reply(connection, request, fields, body)
        if self.token is not None and fields.get("authorization") != f"Bearer {self.token}":
            return answer(401, {"title": "Unauthorized", "detail": "no token, or a wrong one"})
        name = unquote(parts[3])
        if any(character < " " for character in name) or len(name.encode()) > 1024:
            return answer(400, {"title": "Bad Request", "detail": "no name of a lock"})
        tie = connection if query == "hold=connection" else None
        if method == "GET":
            reply = self._show(name)
        elif method == "POST":
            reply = self._acquire(name, body, connection, tie)
        else:
            reply = (self._renew if method == "PUT" else self._release)(name, parts[5], tie)
        if self.lose:
            self.lose -= 1
            raise OSError("lost on purpose")
        return reply

    def _acquire(self, name, body, connection, tie):
        end = time.monotonic() + body.get("wait_ms", 0) / 1000
        begun = time.monotonic()
        ticket = object()
        with self.changed:
            lock = self.slots.setdefault(name, Slots(body.get("max", 1)))
            if body.get("max", lock.max) != lock.max:
                return answer(422, {"title": "Unprocessable", "detail": f"max is {lock.max}", "max": lock.max})
            for lease in lock.held.values():
                if lease.key is not None and lease.key == body.get("idempotency_key"):
                    lease.renew()
                    lease.tie = tie
                    return self._granted(lease, lock, begun, 201)
            lock.waiting.append(ticket)
            try:
                while True:
                    self._expire(lock)
                    now = time.monotonic()
                    if lock.waiting[0] is ticket and len(lock.held) < lock.max:
                        return self._grant(name, lock, body, tie, begun)
                    if now >= end:
                        return self._busy(name, lock)
                    if _has_ended(connection):
                        raise OSError("the waiter is gone")
                    self.changed.wait(min(_LOOK, end - now))
            finally:
                lock.waiting.remove(ticket)
                self.changed.notify_all()

    def _grant(self, name, lock, body, tie, begun):
        self.fence += 1
        lease = Held(name, self.fence, body, tie)
        lock.held[lease.id] = lease
        self.most_held[name] = max(self.most_held.get(name, 0), len(lock.held))
        return self._granted(lease, lock, begun, 201)

    def _granted(self, lease, lock, begun, status):
        told = {"lease": lease.id, "lock": lease.name, "fence": lease.fence, "max": lock.max, "count": 1,
                "expires_in_ms": math.ceil((lease.until - time.monotonic()) * 1000)}
        if status == 201:
            told["waited_ms"] = math.ceil((time.monotonic() - begun) * 1000)
        return compact(status, told, f"Location: /v1/locks/x/leases/{lease.id}\r\n")

    def _busy(self, name, lock):
        whole = refusal(409, 250)
        content = json.dumps({"title": "Conflict", "detail": "The lock is held.", "lock": name,
                              "max": lock.max, "held": len(lock.held), "retry_after_ms": 250}).encode()
        head = whole[:whole.index(b"Content-Length")]
        return head + f"Content-Length: {len(content)}\r\n\r\n".encode() + content

    def _renew(self, name, lease_id, tie):
        with self.changed:
            lock = self.slots.get(name)
            lease = self._living(lock, lease_id)
            if lease is None:
                return answer(410, {"title": "Gone", "detail": "not a living lease"})
            lease.renew()
            lease.tie = tie or lease.tie
            return self._granted(lease, lock, 0, 200)

    def _release(self, name, lease_id, _):
        with self.changed:
            lock = self.slots.get(name)
            if self._living(lock, lease_id) is not None:
                del lock.held[lease_id]
                self.released.add(lease_id)
                self.changed.notify_all()
            if lease_id in self.released:
                return b"HTTP/1.1 204 No Content\r\nServer: stint\r\n\r\n"
            return answer(410, {"title": "Gone", "detail": "it had ended"})

    def _show(self, name):
        with self.changed:
            lock = self.slots.get(name)
            if lock is None:
                return answer(404, {"title": "Not Found", "detail": "no such lock", "lock": name})
            self._expire(lock)
            if not lock.held and not lock.waiting and name not in self.declared:
                return answer(404, {"title": "Not Found", "detail": "no such lock", "lock": name})
            return answer(200, {"lock": name, "max": lock.max, "held": len(lock.held), "proxied": 0})

    def _living(self, lock, lease_id):
        if lock is None:
            return None
        self._expire(lock)
        return lock.held.get(lease_id)

    def _expire(self, lock):
        now = time.monotonic()
        for lease in [lease for lease in lock.held.values() if lease.until <= now]:
            del lock.held[lease.id]


def compact(status, body, fields):
    content = json.dumps(body, separators=(",", ":")).encode()
    return (f"HTTP/1.1 {status} Whatever\r\nContent-Type: application/json\r\n{fields}"
            f"Content-Length: {len(content)}\r\n\r\n").encode() + content


def _has_ended(connection):
    look = select.poll()
    look.register(connection, select.POLLRDHUP | select.POLLHUP)
    return bool(look.poll(0))
