"""Memory that forked children share with their parent, and the lock that goes with it."""

import fcntl
import mmap
import os
import tempfile
import threading
import time
import weakref
from types import TracebackType
from typing import Optional, Type

from . import _fork

# Seconds. Inside the lock are a few microseconds of work: who waits as long as this waits for a process
# that was stopped, not for one that a busy machine leaves without a processor.
_PATIENCE = 10.0


def _close(descriptor: int, identity: "tuple[int, int]") -> None:
    try:
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) == identity:
            os.close(descriptor)
    except OSError:
        pass


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("stint")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class SharedMemory:
    """`size` bytes of zeros in `memory`, to be touched only in `with shared:`, which lets in one thread
    of one process at a time.

    The lock is the kernel's, of the whole process, on a file without a name: a process that is killed
    inside gives it back. Threads of one process keep each other out by a lock of their own.
    """

    def __init__(self, size: int) -> None:
        self._descriptor = _nameless_file()
        status = os.fstat(self._descriptor)
        self._identity = (status.st_dev, status.st_ino)
        weakref.finalize(self, _close, self._descriptor, self._identity)
        os.ftruncate(self._descriptor, size)
        self.memory = mmap.mmap(self._descriptor, size)
        self._generation = _fork.generation
        self._threads = _fork.PerProcess(threading.Lock)

    def __enter__(self) -> "SharedMemory":
        if self._generation != _fork.generation:
            self._check_descriptor()
        threads = self._threads.get()
        if not threads.acquire(timeout=_PATIENCE):
            raise RuntimeError("a thread stands still inside this limiter")
        try:
            self._lock_file()
        except BaseException:
            threads.release()
            raise
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN)
        finally:
            self._threads.get().release()

    def _lock_file(self) -> None:
        pause, end = 20e-6, 0.0
        while True:
            try:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except (BlockingIOError, PermissionError):  # POSIX allows EAGAIN and EACCES
                now = time.monotonic()
                end = end or now + _PATIENCE
                if now > end:
                    raise RuntimeError("a process stands still inside this limiter") from None
            time.sleep(pause)
            pause = min(2 * pause, 1e-3)

    def _check_descriptor(self) -> None:
        """A child that closed what it inherited may have another file under the number by now."""
        try:
            status = os.fstat(self._descriptor)
        except OSError:
            status = None
        if status is None or (status.st_dev, status.st_ino) != self._identity:
            raise RuntimeError("the file descriptor of this limiter was closed: make the limiter after "
                               "the process has become a daemon, or keep its descriptors open")
        self._generation = _fork.generation
