"""Stint, nginx and HAProxy as scripts/bench measures them: each in a process of its own on the cores given,
configured by the templates in configs/, in front of one origin."""

import contextlib
import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system"))

from support.ports import free_port  # noqa: E402

TEMPLATES = {"stint": "stint.yaml", "nginx": "nginx.conf", "haproxy": "haproxy.cfg"}
COMMANDS = {
    "stint": ["{binary}", "run", "-c", "{file}"],
    "nginx": ["{binary}", "-p", "{folder}", "-e", "{folder}/error.log", "-c", "{file}"],
    "haproxy": ["{binary}", "-db", "-f", "{file}"],
}
# The first two that may be used; with one core all share that.
PROXY_CORES, LOAD_CORES = map(str, (sorted(os.sched_getaffinity(0)) * 2)[:2])


@dataclass(frozen=True)
class Tools:
    """Where the programs are."""

    stint: Path
    folder: Path  # of bench_load and bench_origin

    def binary(self, program):
        if program == "stint":
            return str(self.stint)
        found = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        return found or sys.exit(f"{program} is not installed: see scripts/install-deps bench")


def filled(text, tags, marks):
    """A template without the lines that are for other tags, and with its @MARKS@ replaced."""
    lines = []
    for line in text.splitlines():
        kept, mark, wanted = line.partition("#@")
        if not mark or tags & set(wanted.split()):
            lines.append(kept.rstrip())
    return re.sub(r"@([A-Z]+)@", lambda mark: str(marks[mark[1]]), "\n".join(lines)) + "\n"


def family(process):
    """It and all its descendants."""
    found, pending = [], [process]
    while pending:
        one = pending.pop()
        found.append(one)
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                pending += map(int, children.read_text().split())
    return found


class Server:
    """A process that listens, until the context ends."""

    def __init__(self, command, cores, port, folder=None, start_within=10):
        self.port = port
        self.log = tempfile.TemporaryFile("w+", dir=folder)
        self.process = subprocess.Popen(
            ["taskset", "-c", cores, *map(str, command)], stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, start_new_session=True)
        try:
            self._wait(start_within)
        except BaseException:
            self.stop()
            raise

    def _wait(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        self.log.seek(0)
        raise RuntimeError(f"{' '.join(self.process.args)}: does not listen\n{self.log.read()[-2000:]}")

    def processes(self):
        return family(self.process.pid)

    def memory_kb(self):
        """What is resident, pages that its processes share counted once."""
        total = 0
        for process in self.processes():
            with contextlib.suppress(OSError):
                smaps = Path(f"/proc/{process}/smaps_rollup").read_text()
                total += int(re.search(r"^Pss:\s+(\d+)", smaps, re.M)[1])
        return total

    def stop(self):
        processes = self.processes()
        self.process.terminate()
        try:
            self.process.wait(60)  # under valgrind it takes a while
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for process in processes[1:]:  # those of a parent that had to be killed
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Origin(Server):
    def __init__(self, tools):
        port = free_port()
        super().__init__([tools.folder / "bench_origin", port], LOAD_CORES, port)


class Proxy(Server):
    """subject: a program, or one in another setting ("haproxy+splice"). tags: what its workload wants of the
    template. configuration: a text with marks instead of the template. under: a command to run it under."""

    def __init__(self, tools, origin, subject, tags, *, cores=PROXY_CORES, workers=1, configuration=None, under=()):
        program, *settings = subject.split("+")
        self.folder = tempfile.TemporaryDirectory(prefix=f"stint-bench-{program}-")
        port = free_port()
        marks = {"PORT": port, "ADMIN": free_port(), "ORIGIN": origin.port, "FOLDER": self.folder.name,
                 "USER": getpass.getuser(), "WORKERS": workers}
        template = configuration or (HERE / "configs" / TEMPLATES[program]).read_text("utf-8")
        file = Path(self.folder.name, TEMPLATES[program])
        file.write_text(filled(template, {*tags, *settings}, marks), "utf-8")
        words = {"binary": tools.binary(program), "file": file, "folder": self.folder.name}
        under = [word.format(**words) for word in under]
        command = [word.format(**words) for word in COMMANDS[program]]
        super().__init__([*under, *command], cores, port, self.folder.name, start_within=60)
        time.sleep(0.2)  # what it does after it listens

    def ended(self, folder):
        """Called once it has ended, before its folder goes."""

    def stop(self):
        super().stop()
        self.ended(Path(self.folder.name))
        self.folder.cleanup()
