"""A small permit listener in Python, as far as the client's tests need one: fixed windows, waiting,
batches, dynamic limits, feedback, a token. It can also be stopped, frozen, and made to answer nonsense."""

import json
import math
import os
import socket
import threading
import time
from urllib.parse import unquote


PERMIT = {"granted": True, "limit": 5, "remaining": 4, "reset_ms": 0, "waited_ms": 0}  # for a script


class Window:
    def __init__(self, requests, per_ms):
        self.requests = requests
        self.per = per_ms / 1000
        self.start = -math.inf
        self.used = 0

    def at(self, now):
        if now >= self.start + self.per:
            self.start, self.used = now, 0
        return self

    def left_ms(self, now):
        return max(0, math.ceil((self.start + self.per - now) * 1000))


class FakeGateway:
    """limits: name -> (requests, per_ms). Keys are separate windows. path: of a Unix socket, instead of
    a port. asked: every (method and path, headers, body object) in the order in which they came."""

    def __init__(self, limits=None, *, token=None, path=None, dynamic=True):
        self.limits = dict(limits or {})
        self.token = token
        self.path = path
        self.dynamic = dynamic
        self.asked = []
        self.paused = {}  # name -> until
        self.script = None  # bytes to answer whatever comes, or a function of the request
        self.gate = threading.Event()  # closed: requests are read and not answered
        self.gate.set()
        self.latency = 0  # seconds before each answer, and twice that before the first one of a connection
        self._windows = {}
        self._lock = threading.Lock()
        self._connections = set()
        self._port = 0
        self._placeholder = None  # bound to the port while nobody listens
        self.accepted = 0
        self.start()

    @property
    def url(self):
        return f"unix:{self.path}" if self.path else f"http://127.0.0.1:{self._port}"

    def start(self):
        if self.path:
            self._listener = socket.socket(socket.AF_UNIX)
            if os.path.exists(self.path):
                os.unlink(self.path)
            self._listener.bind(self.path)
        else:
            self._listener = socket.socket()
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._bind()
            self._port = self._listener.getsockname()[1]
        self._listener.listen(512)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _bind(self):
        self._let_go_of_port()
        self._listener.bind(("127.0.0.1", self._port))

    def stop(self):
        """As a process that was killed: nobody listens, every connection is cut."""
        if self._listener.fileno() >= 0:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            if not self.path:
                self._hold_port()
        self.cut()

    def _hold_port(self):
        """Nobody is there, but no other test's server either."""
        self._placeholder = socket.socket()
        self._placeholder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._placeholder.bind(("127.0.0.1", self._port))

    def _let_go_of_port(self):
        if self._placeholder is not None:
            self._placeholder.close()
            self._placeholder = None

    def cut(self):
        """Cuts every connection, and waits until the clients can see it."""
        with self._lock:
            connections, self._connections = self._connections, set()
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()

    def bodies(self):
        return [body for _, _, body in self.asked]

    def open_connections(self):
        return len(self._connections)

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.accepted += 1
            with self._lock:
                self._connections.add(connection)
            if not self.path:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        stream = connection.makefile("rb")
        round_trips = 2
        try:
            while line := stream.readline():
                fields = {}
                while (field := stream.readline()) not in (b"\r\n", b""):
                    name, _, value = field.decode("latin-1").partition(":")
                    fields[name.lower()] = value.strip()
                content = stream.read(int(fields.get("content-length", 0)))
                request = line.decode("ascii").rsplit(" ", 1)[0]
                body = json.loads(content or b"{}")
                self.asked.append((request, fields, body))
                self.gate.wait()
                time.sleep(self.latency * round_trips)
                round_trips = 1
                connection.sendall(self._reply(connection, request, fields, body))
        except (OSError, ValueError):
            pass
        finally:
            with self._lock:
                self._connections.discard(connection)
            self._ended(connection)
            stream.close()
            connection.close()

    def _ended(self, connection):
        """For what hangs on a connection."""

    def _reply(self, connection, request, fields, body):
        return self._answer(request, fields, body)

    def _answer(self, request, fields, body):
        if self.script is not None:
            return self.script(request) if callable(self.script) else self.script
        if self.token is not None and fields.get("authorization") != f"Bearer {self.token}":
            return answer(401, {"title": "Unauthorized", "detail": "no token, or a wrong one"})
        method, path = request.split(" ")
        if path == "/v1/feedback":
            return self._feedback(body)
        if path == "/v1/limits/take":
            return self._take_all(body)
        parts = path.split("/")
        if method != "POST" or len(parts) != 5 or parts[1:3] + parts[4:] != ["v1", "limits", "take"]:
            return answer(404, {"title": "Not Found", "detail": f"no {path}"})
        return self._take(unquote(parts[3]), body)

    def _limit(self, name, body):
        numbers = (body["requests"], body["per_ms"]) if "requests" in body else None
        known = self.limits.get(name)
        if known is None and numbers and self.dynamic:
            known = self.limits[name] = numbers
        if known is None:
            return None, answer(404, {"title": "Not Found", "detail": f"no limit {name}"})
        if numbers and numbers != tuple(known):
            return None, answer(409, {"title": "Conflict", "detail": "the numbers differ"})
        return self._windows.setdefault((name, body.get("key")), Window(*known)), None

    def _take(self, name, body):
        begun = time.monotonic()
        end = begun + body.get("wait_ms", 0) / 1000
        cost = body.get("cost", 1)
        while True:
            with self._lock:
                window, problem = self._limit(name, body)
                if problem:
                    return problem
                now = time.monotonic()
                if (until := self.paused.get(name, 0)) > now:
                    return refusal(503, math.ceil((until - now) * 1000))
                window.at(now)
                if cost > window.requests:
                    return answer(429, {"title": "Too Many Requests", "detail": "more than it ever has"})
                if window.used + cost <= window.requests:
                    count = min(body.get("batch", cost), window.requests - window.used)
                    window.used += count
                    granted = {"granted": True, "limit": window.requests,
                               "remaining": window.requests - window.used,
                               "reset_ms": window.left_ms(now), "waited_ms": int((now - begun) * 1000)}
                    if "batch" in body:
                        granted["count"] = count
                    if body.get("ticket"):
                        granted["permit"] = "p_" + "0" * 32
                    return answer(200, granted)
                if window.start + window.per > end:
                    return refusal(429, window.left_ms(now))
                pause = window.start + window.per - now
            time.sleep(max(0, pause))

    def _take_all(self, body):
        states, windows = [], []
        with self._lock:
            for limit in body["limits"]:
                window, problem = self._limit(limit["name"], limit)
                if problem:
                    return problem
                now = time.monotonic()
                window.at(now)
                if window.used + limit.get("cost", 1) > window.requests:
                    return refusal(429, window.left_ms(now))
                windows.append((limit, window))
            for limit, window in windows:
                window.used += limit.get("cost", 1)
                states.append({"name": limit["name"], "limit": window.requests,
                               "remaining": window.requests - window.used,
                               "reset_ms": window.left_ms(now)})
        return answer(200, {"granted": True, "waited_ms": 0, "limits": states})

    def _feedback(self, body):
        if body["status"] not in (429, 503):
            return answer(200, {"paused": False, "paused_ms": 0})
        seconds = int(body.get("retry_after", 1))
        self.paused[body.get("limit")] = time.monotonic() + seconds
        return answer(200, {"paused": True, "paused_ms": seconds * 1000})


def answer(status, body, fields=""):
    if status >= 400:
        body = {"status": status, **body}  # as every problem document of a gateway has it
    content = json.dumps(body).encode()
    kind = "application/json" if status < 300 else "application/problem+json"
    return (f"HTTP/1.1 {status} Whatever\r\nContent-Type: {kind}\r\n{fields}"
            f"Content-Length: {len(content)}\r\n\r\n").encode() + content


def refusal(status, milliseconds):
    return answer(status, {"title": "Too Many Requests", "detail": "used up"},
                  f"Retry-After: {math.ceil(milliseconds / 1000)}\r\nRetry-After-Ms: {milliseconds}\r\n")
