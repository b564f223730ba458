"""Upgrades (SIGUSR2): the sockets that the new process has from the former one, the configuration that it reads, what a
service manager hears, and that a process after many upgrades is as the first one."""

import http.client
import json
import os
import signal
import socket
import threading
import unittest
from pathlib import Path

from support.activation import apart, handed, listening
from support.case import config
from support.client import RawClient, fetch
from support.manager import Manager
from support.messages import response_bytes
from support.permits_client import permits_config
from support.ports import free_port
from support.stint import Admin
from support.upgrade import Process, Upgradable, UpgradeTest
from support.waiting import wait_until


def no_grace() -> dict:
    """A configuration with permits and without a state: its locks are not full after a start."""
    made = permits_config()
    made["permits"]["start_up_grace"] = "0s"
    return made


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class UnixAdmin(Admin):
    def _connect(self):
        return _UnixConnection(self.port)


class UnixStint(Upgradable):
    """Its admin listener is a Unix socket."""

    def write(self, config):
        super().write(json.dumps(config))  # as text, in which no port is found
        self.config = config
        self.admin = UnixAdmin(config["admin"]["address"].removeprefix("unix:"))


class Sockets(UpgradeTest):
    def test_unix_sockets_stay_in_their_place(self):
        paths = {name: self.new_folder() / f"{name}.sock" for name in ("own", "admin", "permits")}
        made = config(self.start_upstream().address, listeners=[
            {"address": f"unix:{paths['own']}", "mode": "0600"}, {"address": f"127.0.0.1:{free_port()}"}])
        made["admin"] = {"address": f"unix:{paths['admin']}"}
        made["permits"] = {"address": f"unix:{paths['permits']}", "start_up_grace": "0s"}
        stint = self.start_upgradable(made, UnixStint)
        kept = RawClient(str(paths["own"]))
        self.addCleanup(kept.close)
        self.assertEqual(kept.request().status, 200)
        places = {name: (path.stat().st_ino, path.stat().st_mode) for name, path in paths.items()}

        for _ in range(2):
            self.assertEqual(stint.upgrade().wait(20), 0)

            self.assertEqual({name: (path.stat().st_ino, path.stat().st_mode) for name, path in paths.items()}, places)
            self.assertEqual([fetch(str(paths["own"])).status, kept.request().status], [200, 200])
            self.assertEqual(fetch(str(paths["permits"]), target="/v1/locks").status, 200)
            self.assertEqual(stint.admin.request("GET", "/readyz").status, 200)

        stint.stop()
        self.assertEqual([name for name, path in paths.items() if path.exists()], [])

    def test_sockets_of_a_service_manager_stay_its_own(self):
        first, path = listening(), self.new_folder() / "handed.sock"
        unix = apart(socket.socket(socket.AF_UNIX))
        for each in (first, unix):
            self.addCleanup(each.close)
        unix.bind(str(path))
        unix.listen(10)
        made = config(self.start_upstream().address, listeners=[
            {"address": "127.0.0.1:%d" % first.getsockname()[1]}, {"address": f"unix:{path}"}])
        stint = self.start_upgradable(made, **handed(first, unix))
        for _ in range(2):
            stint.upgrade()
            stint.await_former()
            self.assertEqual([fetch(stint.port).status, fetch(str(path)).status], [200, 200])
        stint.stop()
        self.assertTrue(path.exists())
        with socket.create_connection(("127.0.0.1", stint.port), 5):
            pass  # the manager still listens

    def test_an_upgrade_takes_the_configuration_that_has_changed(self):
        kept, gone, new = (free_port() for _ in range(3))
        made = config(self.start_upstream().address, limits={"n": {"requests": 3, "per": "1h"}}, route_limits=["n"],
                      listeners=[{"address": f"127.0.0.1:{port}"} for port in (kept, gone)])
        stint = self.start_upgradable(made)
        self.assertEqual([fetch(kept).status, fetch(gone).status], [200, 200])
        stint.config["limits"]["n"]["requests"] = 4
        stint.config["listeners"][1]["address"] = f"127.0.0.1:{new}"
        stint.write(stint.config)

        self.assertEqual(stint.upgrade().wait(20), 0)

        self.assertEqual([fetch(kept).status, fetch(new).status, fetch(kept).status], [200, 200, 429])
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", gone), 5)
        self.assertEqual(stint.admin.get("/config")["limits"]["n"]["requests"], 4)


class Operator(threading.Thread):
    """Asks one question after the other: which process answers, and whether it is ready."""

    def __init__(self, stint):
        super().__init__(daemon=True)
        self.stint = stint
        self.seen, self.failures = [], []
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            try:
                if (status := self.stint.admin.request("GET", "/readyz").status) != 200:
                    self.failures.append(status)
                self.seen.append(self.stint.serving())
            except (OSError, http.client.HTTPException, AssertionError) as failure:
                self.failures.append(repr(failure))


class Readiness(UpgradeTest):
    def test_one_process_answers_at_any_time(self):
        stint = self.upgradable_before(self.start_upstream())
        operators = [Operator(stint) for _ in range(3)]
        for each in operators:
            each.start()
        try:
            for number in range(2, 5):
                stint.upgrade()
                wait_until(lambda number=number: all(len(set(each.seen)) >= number for each in operators),
                           "all hear the new one")
        finally:
            for each in operators:
                each.over.set()
                each.join(20)
        for each in operators:
            self.assertEqual(each.failures, [])
            runs = [one for one, before in zip(each.seen, [None, *each.seen]) if one != before]
            self.assertEqual(len(runs), 4, "a former process has answered after a new one")


class Again(UpgradeTest):
    def test_a_signal_to_a_process_that_still_takes_over_has_its_effect_afterwards(self):
        stint = self.start_upgradable(config(
            self.start_upstream().address, route_limits=["n"], limits={"n": {"requests": 10, "per": "1h"}}))
        self.assertEqual(fetch(stint.port).status, 200)
        for used in (2, 3, 4):
            stint.signal(signal.SIGUSR2)
            [pid] = wait_until(stint.others, "a new process")
            second = Process(pid)
            second.send_signal(signal.SIGUSR2)
            stint.former += [stint.process, second]
            [pid] = wait_until(stint.others, lambda: f"a third process; the log: {stint.log()[-2000:]}", 60)
            stint.process = Process(pid)
            stint.await_former()
            self.assertEqual(fetch(stint.port).status, 200)
            self.assertEqual(stint.admin.limit("n")["used"], used)


class Messages(UpgradeTest):
    def started(self, manager, **environment):
        return self.start_upgradable(no_grace(), environment={"NOTIFY_SOCKET": manager.path, **environment})

    def test_the_new_process_is_the_main_one(self):
        manager = Manager(self)
        stint = self.started(manager)
        wait_until(lambda: manager.told("READY"), "READY")
        for number in range(1, 4):
            self.assertEqual(stint.upgrade().wait(20), 0)
            wait_until(lambda number=number: len(manager.told("MAINPID")) == number, "MAINPID")
            self.assertEqual(manager.told("MAINPID")[-1][1], str(stint.pid))
            wait_until(lambda number=number: len(manager.told("READY")) == number + 1, "READY")
            self.assertEqual(manager.told("STOPPING"), [])
        stint.stop()
        self.assertEqual(len(manager.told("STOPPING")), 1)

    def test_the_watchdog_is_fed_by_the_new_process(self):
        """Although it is the former one's pid that the service manager has put into its environment."""
        manager = Manager(self)
        stint = self.start_upgradable(
            no_grace(), within=("/bin/bash", "-c", 'WATCHDOG_PID=$$ exec "$@"', "stint"),
            environment={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000"})
        wait_until(lambda: len(manager.told("WATCHDOG")) >= 2, "the watchdog")
        self.assertEqual(stint.upgrade().wait(20), 0)
        before = len(manager.told("WATCHDOG"))
        wait_until(lambda: len(manager.told("WATCHDOG")) >= before + 3, "the watchdog")


class Leftovers(UpgradeTest):
    def seen(self, stint) -> dict:
        process = Path(f"/proc/{stint.pid}")
        return {
            "arguments": (process / "cmdline").read_bytes(),
            "environment": sorted(each.partition(b"=")[0] for each in (process / "environ").read_bytes().split(b"\0")),
            "folder": os.readlink(process / "cwd"),
            "descriptors": len(os.listdir(process / "fd")),
            "threads": len(os.listdir(process / "task")),
        }

    def test_each_new_process_is_as_the_first_one(self):
        stint = self.upgradable_before(self.start_upstream(), state=str(self.new_folder() / "state.db"))
        stint.upgrade()
        stint.await_former()
        first = self.seen(stint)
        for _ in range(4):
            stint.upgrade()
            stint.await_former()
        wait_until(lambda: self.seen(stint)["descriptors"] <= first["descriptors"], "no descriptor is left")
        self.assertEqual({**self.seen(stint), "descriptors": 0}, {**first, "descriptors": 0})

    def test_connections_to_upstreams_end_with_the_process_that_has_made_them(self):
        ended = []

        def script(connection):
            try:
                while connection.read_request():
                    connection.send(response_bytes())
            finally:
                ended.append(connection)

        upstream = self.start_upstream(script)
        stint = self.upgradable_before(upstream)
        for number in range(1, 4):
            self.assertEqual(fetch(stint.port).status, 200)
            stint.upgrade()
            stint.await_former()
            wait_until(lambda number=number: len(ended) == number, "its connection has ended")

    def test_the_program_may_be_another_file_of_the_same_name(self):
        stint = self.upgradable_before(self.start_upstream())
        for _ in range(2):
            stint.replace_program()
            stint.upgrade()
            self.assertEqual(os.readlink(f"/proc/{stint.pid}/exe"), str(stint.program))
        self.assertEqual(fetch(stint.port).status, 200)


if __name__ == "__main__":
    unittest.main()
