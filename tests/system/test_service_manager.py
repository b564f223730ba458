"""What a service manager such as systemd is told, and the sockets that it hands over."""

import os
import signal
import socket
import subprocess
import threading
import time
import unittest

from support.activation import apart, handed, listening
from support.case import SystemTest, config
from support.client import fetch
from support.manager import Manager
from support.ports import free_port
from support.stint import ROOT, Stint, binary
from support.stream import EndOfStream
from support.waiting import wait_until

ANSWER = {"respond": {"status": 200, "body": "yes"}}


def answering(**more) -> dict:
    made = config("127.0.0.1:1", **more)
    del made["upstreams"]
    made["routes"] = [{"name": "all", "match": {"path": "/"}, **ANSWER}]
    return made


def listens(port: int) -> bool:
    hexadecimal = f"0100007F:{port:04X}"
    with open("/proc/net/tcp", encoding="ascii") as lines:
        return any(line.split()[1] == hexadecimal for line in lines)


class Messages(SystemTest):
    def test_what_it_is_told(self):
        manager = Manager(self)
        stint = self.start_stint(answering(), environment={"NOTIFY_SOCKET": manager.path})
        wait_until(lambda: manager.told("READY"), "READY")
        self.assertEqual(manager.told("STATUS")[0][1], "configuration 1 is in force")
        self.assertEqual(fetch(stint.port).status, 200)

        began = time.monotonic_ns() // 1000
        stint.process.send_signal(signal.SIGHUP)
        wait_until(lambda: len(manager.told("READY")) == 2, "READY after a reload")
        [(_, at)] = manager.told("MONOTONIC_USEC")
        self.assertLessEqual(began, int(at))
        self.assertLessEqual(int(at), time.monotonic_ns() // 1000)
        self.assertEqual(manager.told("STATUS")[1][1], "configuration 2 is in force")
        stint.file.write_text("nonsense")
        stint.process.send_signal(signal.SIGHUP)
        wait_until(lambda: len(manager.told("READY")) == 3, "READY after a reload that fails")
        self.assertEqual(manager.told("STATUS")[2][1],
                         "configuration 2 is in force: the last reload has failed")
        self.assertEqual(manager.told("WATCHDOG"), [])
        self.assertEqual(manager.told("STOPPING"), [])
        stint.stop()
        self.assertEqual(len(manager.told("STOPPING")), 1)

    def test_an_abstract_address(self):
        manager = Manager(self, f"@stint-test-{os.getpid()}")
        self.start_stint(answering(), environment={"NOTIFY_SOCKET": manager.path})
        wait_until(lambda: manager.told("READY"), "READY")

    def test_a_manager_that_has_gone(self):
        self.start_stint(answering(), environment={"NOTIFY_SOCKET": str(self.new_folder() / "none")})
        self.start_stint(answering(), environment={"NOTIFY_SOCKET": "/" + "x" * 200})
        self.start_stint(answering(), environment={"NOTIFY_SOCKET": "nonsense"})

    def test_the_watchdog_is_told_while_all_workers_live_also_while_it_drains(self):
        manager = Manager(self)
        stint = self.start_stint(answering(timeouts={"drain": "30s"}), environment={
            "NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000"})
        wait_until(lambda: len(manager.told("WATCHDOG")) >= 5, "the watchdog")
        client = socket.create_connection(("127.0.0.1", stint.port))
        client.sendall(b"GET / HTTP/1.1\r\n")  # half a head keeps the drain from its end
        wait_until(lambda: stint.admin.metrics().sum("stint_connections_open") >= 1, "the connection")
        stint.process.send_signal(signal.SIGTERM)
        wait_until(lambda: manager.told("STOPPING"), "STOPPING")
        before = len(manager.told("WATCHDOG"))
        wait_until(lambda: len(manager.told("WATCHDOG")) >= before + 3, "the watchdog in the drain")
        client.close()
        stint.process.wait(10)

    def test_another_process_watchdog_is_not_fed(self):
        manager = Manager(self)
        self.start_stint(answering(), environment={
            "NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000", "WATCHDOG_PID": "1"})
        wait_until(lambda: manager.told("READY"), "READY")
        time.sleep(0.5)
        self.assertEqual(manager.told("WATCHDOG"), [])


class Sockets(SystemTest):
    def listening(self, port=0) -> socket.socket:
        made = listening(port)
        self.addCleanup(made.close)
        return made

    def activated(self, configuration, *sockets):
        return self.start_stint(configuration, **handed(*sockets))

    def test_listeners_and_the_admin_listener_take_the_sockets(self):
        first, admin = self.listening(), self.listening()
        path = str(self.new_folder() / "stint.sock")
        unix = apart(socket.socket(socket.AF_UNIX))
        self.addCleanup(unix.close)
        unix.bind(path)
        unix.listen(10)
        made = answering(admin={"address": "127.0.0.1:%d" % admin.getsockname()[1]})
        made["listeners"] = [{"address": "127.0.0.1:%d" % first.getsockname()[1]},
                             {"address": f"unix:{path}"}]
        stint = self.activated(made, first, admin, unix)
        self.assertEqual({fetch(stint.port).status for _ in range(20)}, {200})
        self.assertEqual(stint.admin.reload().status, 200)
        self.assertEqual(fetch(stint.port).status, 200)
        client = socket.socket(socket.AF_UNIX)
        client.connect(path)
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        self.assertIn(b"200 OK", client.recv(1000))
        client.close()
        stint.stop()
        self.assertTrue(os.path.exists(path))  # it is the service manager's

    def test_a_socket_without_a_listener_is_closed(self):
        extra = self.listening()
        port = extra.getsockname()[1]
        stint = self.activated(answering(), extra)
        extra.close()
        self.assertIn(f"the service manager has opened 127.0.0.1:{port}, where no listener is "
                      "configured: it is closed", stint.log())
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 5)
        self.assertEqual(fetch(stint.port).status, 200)

    def test_what_is_no_listening_socket_is_left_alone(self):
        other = apart(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.addCleanup(other.close)
        stint = self.activated(answering(), other)
        self.assertIn("descriptor 3 is no listening socket: it is closed", stint.log())

    def test_sockets_of_another_process_are_not_taken(self):
        stint = self.start_stint(answering(), environment={"LISTEN_FDS": "1", "LISTEN_PID": "1"})
        self.assertEqual(fetch(stint.port).status, 200)

    def test_no_connect_is_refused_over_restarts(self):
        kept = self.listening()
        port = kept.getsockname()[1]
        made = answering()
        made["listeners"] = [{"address": f"127.0.0.1:{port}"}]
        seen = []
        over = threading.Event()

        def ask():
            while not over.is_set():
                seen.append(fetch(port).status)  # raises if it is refused or reset

        failures = []

        def client():
            try:
                ask()
            except (OSError, EndOfStream) as failure:
                failures.append(failure)

        stint = self.activated(made, kept)
        threads = [threading.Thread(target=client) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            time.sleep(0.2)
            stint.stop()
            stint = self.activated(made, kept)
        over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(set(seen), {200})
        self.assertGreater(len(seen), 50)


class Unit(SystemTest):
    def test_the_units_are_right_and_give_few_rights(self):
        folder = self.new_folder()
        for name in ("stint.service", "stint.socket"):
            text = (ROOT / "config" / "systemd" / name).read_text(encoding="utf-8")
            (folder / name).write_text(text.replace("/usr/bin/stint", binary()), encoding="utf-8")
        environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"}
        said = subprocess.run(  # the manual pages are the package's
            ["systemd-analyze", "--man=no", "verify", *(str(folder / each) for each in ("stint.service", "stint.socket"))],
            capture_output=True, text=True, timeout=60, check=False, env=environment)
        self.assertEqual((said.returncode, [line for line in said.stderr.splitlines() if "stint." in line]), (0, []))
        said = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(folder / "stint.service")],
            capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(said.returncode, 0, said.stdout[-300:] + said.stderr)

    def test_it_serves_over_the_sockets_of_systemd(self):
        port, made = free_port(), answering()
        made["listeners"] = [{"address": f"127.0.0.1:{port}"}]
        stint = Stint(self.new_folder(), made)
        process = subprocess.Popen(
            ["systemd-socket-activate", "--listen", f"127.0.0.1:{port}", binary(), "run", "-c", str(stint.file)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        wait_until(lambda: listens(port), "the socket")
        self.assertEqual(fetch(port).status, 200)  # the first connection starts it


if __name__ == "__main__":
    unittest.main()
