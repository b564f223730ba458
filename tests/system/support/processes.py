"""Forked children that do a piece of work, and what a piece of work prints."""

import contextlib
import multiprocessing
import os
import sys
import tempfile

FORK = multiprocessing.get_context("fork")


def in_processes(count: int, work, patience: float = 20) -> list:
    """What work(number) returns in each of so many forked children; TimeoutError if one is stuck."""
    here, there = FORK.Pipe(duplex=False)
    children = [FORK.Process(target=lambda number: there.send(work(number)), args=(number,))
                for number in range(count)]
    for child in children:
        child.start()
    try:
        results = []
        for _ in children:
            if not here.poll(patience):
                raise TimeoutError("a child is stuck, or failed")
            results.append(here.recv())
        return results
    finally:
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
