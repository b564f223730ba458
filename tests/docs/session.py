"""A folder like the tree's, with Stint and a sample upstream on ports of its own, in which a document's commands
run. The document's ports are replaced by these, and back in what is printed."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from masks import printed
from support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # for one command; only what hangs takes so long
_PORTS = (8080, 8082, 9000, 9901)
_ADDRESS = re.compile(r"address: *(?:127\.0\.0\.1|localhost):(\d+)")


class Session:
    """with Session(stint) as session. stint: the binary."""

    def __init__(self, stint: Path) -> None:
        self._ports = {port: free_port() for port in _PORTS}
        self._running: "list[subprocess.Popen[bytes]]" = []
        self.folder = Path(tempfile.mkdtemp(prefix="stint-docs-"))
        shutil.copytree(ROOT / "config", self.folder / "config")
        shutil.copytree(Path(__file__).parent, self.folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
        for file in self.folder.rglob("*.yaml"):
            file.write_text(self._to_ours(file.read_text(encoding="utf-8")), encoding="utf-8")
        for place in ("build/gateway/stint", "bin/stint"):
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / place).symlink_to(stint)
        self._environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
                             "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1"}

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            _kill(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_upstream(self) -> None:
        """As scripts/run does; it also has /echo."""
        port = self._ports[9000]
        self._start([sys.executable, "-B", "docs/upstream.py", str(port), "config/sample-site"], [port])

    def start_gateway(self, config: str) -> None:
        self._start(["stint", "run", "-c", config], self._listened(config))

    def write(self, name: str, lines: "list[str]") -> None:
        (self.folder / name).write_text(self._to_ours("\n".join(lines) + "\n"), encoding="utf-8")

    def run(self, command: str, ends: "object" = None) -> "tuple[int, list[str]]":
        """Exit code and printed lines of a command at a terminal. ends(lines): true once a command that does not
        end by itself has printed enough. One that ends in & goes on until the session ends."""
        command = self._to_ours(command)
        if command.rstrip().endswith("&"):
            words = command.rstrip()[:-1]
            config = re.search(r"-c (\S+)", words)
            self._start(["bash", "-c", f"exec {words}"], self._listened(config[1]) if config else [])
            return 0, []
        code, raw = _at_terminal(["bash", "-c", command], self.folder, self._environment,
                                 (lambda raw: ends(self._to_theirs(raw))) if ends else None)
        return code, self._to_theirs(raw)

    def _to_ours(self, text: str) -> str:
        def replaced(found: "re.Match[str]") -> str:
            return f"{found[1]}:{self._ports.get(int(found[2]), found[2])}"

        return re.sub(r"\b(localhost|127\.0\.0\.1|0\.0\.0\.0):(\d+)", replaced, text)

    def _to_theirs(self, raw: str) -> "list[str]":
        for theirs, ours in self._ports.items():
            raw = re.sub(rf":{ours}\b", f":{theirs}", raw)
        return printed(raw)

    def _listened(self, config: str) -> "list[int]":
        text = (self.folder / config).read_text(encoding="utf-8")
        return [int(port) for port in _ADDRESS.findall(text)]

    def _start(self, command: "list[str]", ports: "list[int]") -> None:
        log = self.folder / f"{len(self._running)}.log"
        with open(log, "wb") as out:
            process = subprocess.Popen(command, cwd=self.folder, env=self._environment, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=out, start_new_session=True)
        self._running.append(process)
        deadline = time.monotonic() + PATIENCE
        while not all(_is_open(port) for port in ports):
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"{' '.join(command)} does not listen:\n{log.read_text(encoding='utf-8')}")
            time.sleep(0.02)


def _is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _kill(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _at_terminal(command, folder, environment, ends) -> "tuple[int, str]":
    """Programs print other things at a terminal (curl no progress), and in one order."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=theirs, start_new_session=True)
    os.close(theirs)
    raw, deadline = b"", time.monotonic() + PATIENCE
    try:
        while time.monotonic() < deadline:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    part = os.read(ours, 65536)
                except OSError:
                    break  # all who could print have ended
                raw += part
                # Whole lines: of a half one nobody knows what comes.
                if ends is not None and ends(raw[:raw.rfind(b"\n") + 1].decode("utf-8", "replace")):
                    break
        else:
            raw += b"\n(it did not end)\n"
    finally:
        if process.poll() is None and (ends is not None or time.monotonic() >= deadline):
            _kill(process)
        os.close(ours)
    return process.wait(), raw.decode("utf-8", "replace")
