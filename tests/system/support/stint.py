"""Stint itself, as a process."""

import http.client
import json
import os
import re
import signal
import subprocess
import threading
from pathlib import Path

from .ports import free_port
from .waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]


def binary() -> str:
    return os.environ.get("STINT_BINARY") or str(ROOT / "build" / "gateway" / "stint")


class AdminResponse:
    def __init__(self, response: http.client.HTTPResponse):
        self.status = response.status
        self.fields = response.getheaders()
        self.body = response.read()

    def get(self, name: str, default=None):
        found = [value for key, value in self.fields if key.lower() == name.lower()]
        return found[0] if found else default

    def json(self):
        return json.loads(self.body)

    def text(self) -> str:
        return self.body.decode()


class Admin:
    """The admin listener, through an ordinary HTTP client: one connection a request. context: an
    ssl.SSLContext where it speaks TLS. timeout: seconds for an answer."""

    def __init__(self, port: int, token: str | None = None, context=None, timeout=10.0):
        self.port = port
        self.token = token
        self.context = context
        self.timeout = timeout

    def _connect(self) -> http.client.HTTPConnection:
        if self.context:
            return http.client.HTTPSConnection(
                "localhost", self.port, timeout=self.timeout, context=self.context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)

    def request(self, method: str, path: str, headers=None, body=None) -> AdminResponse:
        headers = dict(headers or {})
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        connection = self._connect()
        try:
            connection.request(method, path, body=body, headers=headers)
            return AdminResponse(connection.getresponse())
        finally:
            connection.close()

    def get(self, path: str):
        response = self.request("GET", path)
        if response.status != 200:
            raise AssertionError(f"GET {path}: {response.status} {response.text()}")
        return response.json()

    def reload(self) -> AdminResponse:
        return self.request("POST", "/config/reload")

    def limits(self) -> dict:
        """Name to live state."""
        return {limit["name"]: limit for limit in self.get("/limits")["limits"]}

    def limit(self, name: str) -> dict:
        return self.get(f"/limits/{name}")

    def metrics(self) -> "Metrics":
        return Metrics(self.request("GET", "/metrics").text())


class Metrics:
    """Samples of the Prometheus text format."""

    _SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$")
    _LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

    def __init__(self, text: str):
        self.text = text
        self.samples = []  # (name, labels, value)
        for line in text.splitlines():
            if line and not line.startswith("#"):
                match = self._SAMPLE.match(line)
                if not match:
                    raise AssertionError(f"not a sample: {line!r}")
                name, labels, value = match.groups()
                self.samples.append((name, dict(self._LABEL.findall(labels or "")), float(value)))

    def names(self) -> set:
        return {name for name, _, _ in self.samples}

    def sum(self, name: str, **labels) -> float:
        """Over all samples of the name that carry these labels."""
        return sum(
            value
            for sample, have, value in self.samples
            if sample == name and labels.items() <= have.items()
        )


class Stint:
    """`stint run` over a configuration: a dictionary (an admin listener is added when there is
    none) or text. Flow style JSON is YAML. Its output is kept in folder/stdout and folder/stderr.
    within: a command that runs it, slowly. program: the file that is run, if not binary()."""

    def __init__(self, folder: Path, config, *, token: str | None = None, preexec=None, stdout=None,
                 admin_context=None, environment: dict | None = None, within=(), pass_fds=(), program=None,
                 arguments=()):
        self.folder = folder
        self.file = folder / "stint.yaml"
        self.config = None
        self.admin_port = None
        self.process = None
        self._token = token
        self._admin_context = admin_context
        self._preexec = preexec
        self._stdout = stdout
        self._environment = {**os.environ, **environment} if environment else None
        self._within = within
        self._pass_fds = pass_fds
        self._program = program
        self._arguments = arguments
        self._log_lock = threading.Lock()
        self.write(config)

    def write(self, config) -> None:
        """Puts a configuration in place; a running Stint takes it at its next reload."""
        if isinstance(config, str):
            found = re.search(r"admin:\s*\{?\s*address:\s*\S*?:(\d+)", config)
            self.admin_port = int(found[1]) if found else None
            text = config
        else:
            self.config = json.loads(json.dumps(config))
            if "admin" not in self.config:
                self.admin_port = self.admin_port or free_port()
                self.config["admin"] = {"address": f"127.0.0.1:{self.admin_port}"}
            else:
                self.admin_port = int(self.config["admin"]["address"].rpartition(":")[2])
            text = json.dumps(self.config, indent=1)
        self.file.write_text(text, encoding="utf-8")
        self.admin = Admin(self.admin_port, self._token, self._admin_context, 200 if self._within else 10)

    @property
    def port(self) -> int:
        return int(self.config["listeners"][0]["address"].rpartition(":")[2])

    @property
    def pid(self) -> int:
        return self.process.pid

    def start(self) -> "Stint":
        stdout = self._stdout or open(self.folder / "stdout", "ab")
        with open(self.folder / "stderr", "ab") as stderr:
            self.process = subprocess.Popen(
                [*self._within, str(self._program or binary()), "run", "-c", str(self.file), *self._arguments],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=self._environment,
                preexec_fn=self._preexec,
                pass_fds=self._pass_fds,
            )
        if not self._stdout:
            stdout.close()
        try:
            wait_until(self._ready, "Stint is ready", seconds=200 if self._within else 30)
        except BaseException:
            self.kill()
            raise
        return self

    def _ready(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"Stint exited with {self.process.returncode}:\n{self.log()}")
        try:
            return self.admin.request("GET", "/readyz").status == 200
        except OSError:
            return False

    def log(self) -> str:
        return (self.folder / "stderr").read_text(encoding="utf-8", errors="replace")

    def access_log(self) -> list:
        """The lines on standard output, parsed."""
        text = (self.folder / "stdout").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def wait_for_lines(self, count: int) -> list:
        def enough():
            try:
                lines = self.access_log()
            except json.JSONDecodeError:  # a line that is only half written
                return None
            return lines if len(lines) >= count else None

        return wait_until(enough, f"{count} lines in the access log")

    def in_flight(self) -> int:
        """Slots held, over all caps."""
        return sum(limit.get("in_flight", 0) for limit in self.admin.limits().values())

    def wait_idle(self, seconds: float = 1.0) -> None:
        """Every slot is free within ten times the 100 ms that are promised."""
        wait_until(lambda: self.in_flight() == 0, "every cap's slots are free", seconds)

    def resident(self) -> int:
        """Resident memory in bytes."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def freeze(self) -> None:
        """SIGSTOP; no thread runs any more when this returns."""
        self.signal(signal.SIGSTOP)
        tasks = Path(f"/proc/{self.pid}/task")
        wait_until(lambda: all(re.search(r"State:\tT", (task / "status").read_text(encoding="ascii"))
                               for task in tasks.iterdir()), "Stint stands still", pause=0.0005)

    def stop(self, seconds: float = 30) -> None:
        """SIGTERM; Stint drains and exits 0."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"Stint did not stop within {seconds:g} s:\n{self.log()}") from None
        if code != 0:
            raise AssertionError(f"Stint exited with {code}:\n{self.log()}")

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None
