"""Ports that no other test, running at the same time, is given too."""

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

# Below the range from which the kernel takes ports for outgoing connections.
_RANGE = range(10_000, 30_000)


def _bindable(port: int) -> bool:
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                probe.bind((address, port))
            except OSError:
                return False
    return True


def free_port() -> int:
    """A TCP port that nothing is bound to, for a process that cannot be asked which one it took."""
    folder = Path(tempfile.gettempdir()) / f"stint-test-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for port in random.sample(_RANGE, 1000):
        lock = os.open(folder / str(port), os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _bindable(port):
                return port  # and keep the lock for as long as this process lives
        except BlockingIOError:
            pass
        os.close(lock)
    raise RuntimeError("no free port found")
