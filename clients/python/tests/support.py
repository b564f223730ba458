"""What the client's tests share."""

import json
import os
import sys
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fake_gateway import FakeGateway  # noqa: E402
from fake_locks import FakeLocks  # noqa: E402
from stint import _lease, _lock_terms, _locks, _named, named_lock  # noqa: E402

# A machine that is busy with other tests may let a gateway in Python wait for a second. Tests of the
# time itself set it back.
_named.ANSWER_TIME = 15.0
_ABSENCE = _lock_terms.ABSENCE
_ABSENT = (_lease, _lock_terms, _locks, named_lock)
for module in _ABSENT:
    module.ABSENCE = 15.0
FULL = os.environ.get("STINT_SCALE") == "full"
PATIENCE = 20.0  # only a hang or a broken promise lasts so long


def scaled(quick, full):
    """A size for every day, and the one for STINT_SCALE=full."""
    return full if FULL else quick


class ClientTest(unittest.TestCase):
    maxDiff = None

    def gateway(self, limits=None, **more) -> FakeGateway:
        gateway = FakeGateway(limits, **more)
        self.addCleanup(gateway.stop)
        self.addCleanup(gateway.gate.set)
        return gateway

    def answer_time(self, seconds) -> None:
        """What ANSWER_TIME is for the rest of this test."""
        patcher = mock.patch.object(_named, "ANSWER_TIME", seconds)
        patcher.start()
        self.addCleanup(patcher.stop)

    def locks(self, declared=None, **more) -> FakeLocks:
        there = FakeLocks(declared, **more)
        self.addCleanup(there.stop)
        self.addCleanup(there.gate.set)
        return there

    def absence(self, seconds=_ABSENCE) -> float:
        """What ABSENCE is for the rest of this test: as it is for everybody, if nothing is said."""
        for module in _ABSENT:
            patcher = mock.patch.object(module, "ABSENCE", seconds)
            patcher.start()
            self.addCleanup(patcher.stop)
        return seconds

    def figure(self, name, wanted, seen, good) -> None:
        """A number that needs a quiet machine: reported, and held only at STINT_SCALE=full."""
        if file := os.environ.get("STINT_REPORT"):
            with open(file, "a", encoding="utf-8") as out:
                out.write(json.dumps({"name": f"client: {name}", "wanted": wanted, "seen": seen}) + "\n")
        if FULL:
            self.assertTrue(good, f"{name}: wanted {wanted}, seen {seen}")


class VirtualClock:
    """Time that passes when somebody sleeps, and then at once."""

    def __init__(self):
        self.nanoseconds = 10**12
        self.sleeps = []

    def now(self):
        return self.nanoseconds

    def pass_by(self, seconds):
        self.nanoseconds += round(seconds * 1e9)

    def wait(self, lock, seconds):
        if not lock.acquire(blocking=False):
            self.sleeps.append(seconds)
            self.pass_by(seconds)

    async def wait_async(self, future, seconds):
        if not future.done():
            self.sleeps.append(seconds)
            self.pass_by(seconds)


def in_children(count, work):
    """What work(number) returned, 0 to 255, in each of so many forked children."""
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            code = 255
            try:
                code = work(number)
            finally:
                os._exit(code)
        children.append(child)
    return [os.WEXITSTATUS(os.waitpid(child, 0)[1]) for child in children]


def in_threads(count, work):
    """What work(number) returned, or raised, in each of so many threads."""
    results = [None] * count

    def run(number):
        try:
            results[number] = work(number)
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def wait_until(condition, what, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.005)
