"""A Stint that is upgraded: its program file is a copy that a test can replace, and its process is another one after
each upgrade."""

import ctypes
import os
import select
import shutil
import signal
import subprocess
import time

from .case import SystemTest, config
from .stint import Stint, binary
from .waiting import wait_until

PR_SET_CHILD_SUBREAPER = 36
UNKNOWN = 256  # in place of an exit code that another parent has taken


def processes_of(file) -> list:
    """The pids of all live processes that have this file as an argument."""
    name, found = os.fsencode(file), []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as arguments:
                    if name in arguments.read().split(b"\0"):  # a zombie has none
                        found.append(int(entry))
            except OSError:
                pass  # it has ended meanwhile
    return found


class Process:
    """A process that this test has not started itself, with the methods of subprocess.Popen. Its exit code is known
    if its parent has ended before it, so that the test has become its parent."""

    def __init__(self, pid: int):
        self.pid = pid
        self.returncode = None
        self._descriptor = os.pidfd_open(pid)

    def poll(self) -> "int | None":
        return self._wait_for(0)

    def wait(self, timeout=None) -> int:
        code = self._wait_for(None if timeout is None else timeout * 1000)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self._descriptor, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _wait_for(self, milliseconds) -> "int | None":
        if self.returncode is None:
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            if poll.poll(milliseconds):
                self.returncode = self._code()
                os.close(self._descriptor)
        return self.returncode

    def _code(self) -> int:
        try:
            return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        except ChildProcessError:
            return UNKNOWN


class Upgradable(Stint):
    """former: the processes that upgrades have replaced, the oldest first. `process` is the one that serves."""

    def __init__(self, folder, config, **more):
        # A process whose parent has ended becomes a child of the test, which so learns its exit code.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.program = folder / "stint"
        self.former = []
        super().__init__(folder, config, program=self.program, **more)
        self.replace_program()

    def start(self) -> "Upgradable":
        self.former = []
        super().start()
        return self

    def replace_program(self, script: "str | None" = None) -> None:
        """By a shell script, or by Stint again: another file of the same name, as a package manager does it."""
        aside = self.folder / "stint.new"
        if script is None:
            shutil.copy(binary(), aside)
        else:
            aside.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            aside.chmod(0o755)
        aside.rename(self.program)

    def others(self) -> list:
        """Pids of this Stint's processes that are neither the one that serves nor a former one."""
        known = {self.pid, *(each.pid for each in self.former)}
        return [pid for pid in processes_of(self.file) if pid not in known]

    def serving(self) -> str:
        """Which process answers: two differ in when they started."""
        return self.admin.get("/version")["started_at"]

    def upgrade(self, seconds: float = 60):
        """Replaces the process. Returns the former one, which may still have requests in flight. No question of the
        operator may fail meanwhile."""
        before = self.serving()
        self.signal(signal.SIGUSR2)
        wait_until(
            lambda: self.serving() != before, lambda: f"another process serves; the log: {self.log()[-2000:]}", seconds)
        return self.follow()

    def upgrade_at_last(self, seconds: float = 60) -> None:
        """Like upgrade(), where the end of an upgrade that has failed may not have been noticed yet: then a signal
        has no effect."""
        before, signalled = self.serving(), 0.0

        def is_another():
            nonlocal signalled
            if time.monotonic() > signalled + 3 and not self.others():
                self.signal(signal.SIGUSR2)
                signalled = time.monotonic()
            return self.serving() != before

        wait_until(is_another, "another process serves, after one that has failed", seconds)
        self.follow()

    def follow(self):
        """Goes on with the process that serves now. Returns the former one."""
        wait_until(lambda: len(self.others()) == 1, "one new process")
        former, [pid] = self.process, self.others()
        self.former.append(former)
        self.process = Process(pid)
        return former

    def settle(self, seconds: float = 60) -> bool:
        """After a process was killed: goes on with the only one that is left, once it serves. False: none is left."""

        def settled():
            left = processes_of(self.file)
            if not left:
                return [None]
            return left if len(left) == 1 and self._answers() else None

        [pid] = wait_until(
            settled, lambda: f"one process serves, or none is left; the log: {self.log()[-2000:]}", seconds)
        self.former = []
        if pid not in (None, self.pid):
            self.process = Process(pid)
        return pid is not None

    def _answers(self) -> bool:
        try:
            return self.admin.request("GET", "/readyz").status == 200
        except OSError:
            return False

    def await_former(self, seconds: float = 30) -> None:
        """Until all former processes have ended, each with 0."""
        for each in self.former:
            code = each.wait(seconds)
            if code not in (0, UNKNOWN):
                raise AssertionError(f"a former process exited with {code}:\n{self.log()}")

    def stop(self, seconds: float = 30) -> None:
        """The former processes end first, for else the exit code of this one is theirs to know."""
        self.await_former(seconds)
        super().stop(seconds)

    def kill_all(self) -> None:
        for each in (self.process, *self.former):
            each.kill()
            each.wait()
        for pid in processes_of(self.file):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class UpgradeTest(SystemTest):
    """After the test the former processes must have ended with 0, and no other one may be left."""

    def start_upgradable(self, configuration, kind=Upgradable, **more) -> Upgradable:
        stint = kind(self.new_folder(), configuration, **more)
        stint.start()
        self.addCleanup(self._finish, stint)
        return stint

    def upgradable_before(self, *upstreams, **more) -> Upgradable:
        return self.start_upgradable(config(*(up.address for up in upstreams), **more))

    def _finish(self, stint) -> None:
        try:
            if stint.process.returncode is None:
                super()._finish(stint)
                self.assertEqual(processes_of(stint.file), [], "a process is left")
        finally:
            stint.kill_all()
