"""Forked children that do a piece of work, who of them is inside, and what a piece of work prints."""

import contextlib
import mmap
import multiprocessing
import os
import sys
import tempfile
import time

FORK = multiprocessing.get_context("fork")


def in_processes(count: int, work, patience: float = 20) -> list:
    """What work(number) returns in each of so many forked children; TimeoutError if one is stuck."""
    pipes, children = [], []
    for number in range(count):
        here, there = FORK.Pipe(duplex=False)
        pipes.append(here)
        children.append(FORK.Process(target=lambda to, number: to.send(work(number)), args=(there, number)))
        children[-1].start()
        there.close()
    try:
        deadline = time.monotonic() + patience
        results = []
        for pipe in pipes:
            if not pipe.poll(max(0.0, deadline - time.monotonic())):
                raise TimeoutError("a child is stuck, or failed")
            results.append(pipe.recv())
        return results
    finally:
        for pipe in pipes:
            pipe.close()
        for child in children:
            child.join(1)
            if child.is_alive():
                child.kill()
                child.join()


@contextlib.contextmanager
def captured_output():
    """What is written to standard output and error inside, by anybody in this process: a function that
    says it."""
    with tempfile.TemporaryFile() as file, contextlib.ExitStack() as stack:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for descriptor in (1, 2):
            kept = os.dup(descriptor)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, descriptor)
            os.dup2(file.fileno(), descriptor)

        def printed() -> str:
            file.seek(0)
            return file.read().decode("utf-8", "replace")

        text = []
        try:
            yield lambda: text[0]
        finally:
            text.append(printed())


class Child:
    """A forked child that does work(pipe), and with which the parent can talk meanwhile."""

    def __init__(self, work):
        self.pipe, there = FORK.Pipe()
        self._process = FORK.Process(target=work, args=(there,))
        self._process.start()
        there.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def hear(self, patience: float = 20):
        """What it says next."""
        if not self.pipe.poll(patience):
            raise TimeoutError("a child is stuck, or failed")
        return self.pipe.recv()

    def tell(self, word) -> None:
        self.pipe.send(word)

    def signal(self, number: int) -> float:
        """When, on the monotonic clock."""
        at = time.monotonic()
        os.kill(self.pid, number)
        return at

    def end(self) -> None:
        """Kills it, if it has not ended by itself, and waits for it."""
        if self._process.is_alive():
            self._process.kill()
        self._process.join()
        self.pipe.close()


class Inside:
    """Which of `count` processes are inside, by what they themselves say: in shared memory, and without a
    lock that a killed one would keep. Forked children share it."""

    def __init__(self, count: int):
        self._flags = mmap.mmap(-1, count)
        self._most = mmap.mmap(-1, count)

    def enter(self, number: int) -> int:
        """How many are inside now."""
        self._flags[number] = 1
        count = sum(self._flags[:])
        self._most[number] = max(self._most[number], count)
        return count

    def leave(self, number: int) -> None:
        self._flags[number] = 0

    @property
    def most(self) -> int:
        """That anybody has seen."""
        return max(self._most[:])
