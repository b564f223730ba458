"""A redis-server of its own, without files."""

import signal
import socket
import subprocess
import tempfile

from .ports import free_port
from .waiting import wait_until


class Redis:
    """preexec: for the server's start."""

    def __init__(self, test, *options, preexec=None):
        self.port = free_port()
        self._folder = tempfile.TemporaryDirectory()
        self._options = options
        self._preexec = preexec
        self._process = None
        self.stopped = False
        test.addCleanup(self._folder.cleanup)
        test.addCleanup(self.kill)
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
             "--appendonly", "no", "--dir", self._folder.name, *self._options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=self._preexec)
        wait_until(self._answers, "redis-server")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        return self._process is not None

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self.stopped = False

    def stop(self) -> None:
        self.send_signal(signal.SIGSTOP)
        self.stopped = True

    def go_on(self) -> None:
        self.send_signal(signal.SIGCONT)
        self.stopped = False

    def send_signal(self, number) -> None:
        self._process.send_signal(number)

    def command(self, *words) -> str:
        """The reply as redis-cli prints it."""
        return subprocess.run(["redis-cli", "-p", str(self.port), *words], check=True,
                              capture_output=True, text=True, timeout=10).stdout

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as sock:
                sock.sendall(b"PING\r\n")
                return sock.recv(16) == b"+PONG\r\n"
        except OSError:
            return False
