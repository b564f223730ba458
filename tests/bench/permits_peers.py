"""What scripts/bench-permits compares: a server each, and what one of its clients does for a decision.

A peer is a context manager, with the server running inside it; connect() is called in each client's
own process and returns the function that asks once.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "system"), str(ROOT / "clients" / "python")]

from support.ports import free_port  # noqa: E402

FORK = multiprocessing.get_context("fork")
# More than anybody takes: all three grant, and none is measured raising exceptions.
LIMIT, PERIOD = 1_000_000_000, 1.0


def until(condition, what: str) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"not within 10 s: {what}")
        time.sleep(0.02)


class Stint:
    name = "stint"

    def __init__(self, binary: str, *, pinned: str | None = None):
        self.port, self.binary, self.pinned = free_port(), binary, pinned
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="stint-bench-")
        file = Path(self.folder.name) / "stint.yaml"
        file.write_text(self.configuration())
        on = ["taskset", "-c", self.pinned] if self.pinned else []
        self.process = subprocess.Popen([*on, self.binary, "run", "-c", file], stderr=subprocess.DEVNULL)
        until(self._answers, "Stint answers")
        return self

    def configuration(self) -> str:
        return (f"workers: 1\npermits: {{address: 127.0.0.1:{self.port}, h2c: true, http2: {{max_requests: off}}}}\n"
                f"limits: {{bench: {{requests: {LIMIT}, per: {PERIOD}s}}}}\n")

    def _answers(self) -> bool:
        try:
            self.connect()()
            return True
        except Exception:  # pylint: disable=broad-except
            if self.process.poll() is not None:
                raise RuntimeError("Stint did not start") from None
            return False

    def connect(self):
        from stint import RateLimiter

        return RateLimiter(name="bench", url=self.url).limiting

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def zmq_locker(port: int) -> None:
    """The locker that people write: a fixed window, "go" or "sorry"."""
    import zmq

    socket = zmq.Context().socket(zmq.REP)
    socket.bind(f"tcp://127.0.0.1:{port}")
    begun, count = time.monotonic(), 0
    while True:
        socket.recv()
        now = time.monotonic()
        if now - begun >= PERIOD:
            begun, count = now, 0
        count += 1
        socket.send(b"go" if count <= LIMIT else b"sorry")


class Zmq:
    name = "zmq"

    def __init__(self):
        self.port = free_port()

    def __enter__(self):
        self.process = FORK.Process(target=zmq_locker, args=(self.port,), daemon=True)
        self.process.start()
        return self

    def connect(self):
        import zmq

        socket = zmq.Context().socket(zmq.REQ)
        socket.connect(f"tcp://127.0.0.1:{self.port}")

        def ask():
            socket.send(b"next")
            assert socket.recv() == b"go"

        return ask

    def __exit__(self, *_):
        self.process.terminate()
        self.process.join()


FIXED_WINDOW = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if count <= tonumber(ARGV[1]) then return 0 end
return redis.call('PTTL', KEYS[1])
"""


class Redis:
    name = "redis"

    def __init__(self):
        self.port = free_port()

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="stint-bench-")
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--dir", self.folder.name], stdout=subprocess.DEVNULL)
        until(self._answers, "redis answers")
        return self

    def _answers(self) -> bool:
        import redis

        try:
            return redis.Redis(port=self.port).ping()
        except redis.ConnectionError:
            return False

    def connect(self):
        import redis

        connection = redis.Redis(port=self.port)
        script = connection.script_load(FIXED_WINDOW)

        def ask():
            assert connection.evalsha(script, 1, "bench", LIMIT, int(PERIOD * 1000)) == 0

        return ask

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()
