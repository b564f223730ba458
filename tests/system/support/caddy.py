"""Debian's Caddy, over a configuration of its own."""

import os
import socket
import subprocess
from pathlib import Path

from .waiting import wait_until


class Caddy:
    """caddyfile: all of it; port: where that listens, on 127.0.0.1."""

    def __init__(self, folder: Path, caddyfile: str, port: int):
        self.folder = folder
        self.port = port
        self.process = None
        (folder / "Caddyfile").write_text(caddyfile, encoding="utf-8")

    def start(self) -> "Caddy":
        home = str(self.folder)
        with open(self.folder / "output", "wb") as output:
            self.process = subprocess.Popen(
                ["/usr/bin/caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env={**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home},
            )
        wait_until(self._listens, "Caddy listens", seconds=20)
        return self

    def _listens(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError("caddy: " + (self.folder / "output").read_text(encoding="utf-8"))
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
