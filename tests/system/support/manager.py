"""What a service manager such as systemd hears."""

import socket
import threading
import time


class Manager:
    """Takes messages at a socket, as systemd does."""

    def __init__(self, test, address=None):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        test.addCleanup(self.socket.close)
        self.path = address or str(test.new_folder() / "notify")
        self.socket.bind(self.path.replace("@", "\0", 1) if address else self.path)
        self.messages = []
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while True:
            try:
                message = self.socket.recv(4096).decode()
            except OSError:
                return
            self.messages.append(
                (time.monotonic(), dict(line.split("=", 1) for line in message.split("\n") if line)))

    def told(self, name: str) -> list:
        return [(at, each[name]) for at, each in self.messages if name in each]
