"""scripts/run-cluster: what it starts, what it prints, and that nothing is left of it."""

import os
import re
import signal
import socket
import subprocess
import unittest

from support.case import SystemTest
from support.client import fetch
from support.ports import free_port
from support.stint import ROOT, Admin, binary
from support.waiting import wait_until

NUMBER = 12  # config/cluster.yaml: in all


class RunCluster(SystemTest):
    def setUp(self):
        super().setUp()
        self.ports = [free_port() for _ in range(8)]
        self.log = self.folder / "log"
        self.temporary = self.new_folder()
        with open(self.log, "wb") as log:
            self.script = subprocess.Popen(
                [ROOT / "scripts/run-cluster", "--binary", binary(), *map(str, self.ports)], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True, env={**os.environ, "TMPDIR": str(self.temporary)})
        self.addCleanup(self.end)
        wait_until(lambda: "Ctrl-C ends all" in self.printed(), "what to try", 30)
        self.admins = [Admin(port) for port in self.ports[4:7]]

    def printed(self) -> str:
        self.assertIsNone(self.script.poll(), self.log.read_text(encoding="utf-8"))
        return self.log.read_text(encoding="utf-8")

    def end(self) -> int:
        """As an impatient Ctrl-C does."""
        def has_ended():
            self.script.send_signal(signal.SIGINT)
            return self.script.poll() is not None
        # One after another: each gateway may take all of its `timeouts.drain`.
        wait_until(has_ended, "all of it has ended", 60, pause=0.005)
        return self.script.returncode

    def commands(self, beginning: str) -> list:
        """Those that are printed and begin so."""
        found = re.findall(rf"^  ({re.escape(beginning)}.*?)(?: {{3,}}.*)?$", self.printed(), re.M)
        self.assertTrue(found, f"{beginning} is not among:\n{self.printed()}")
        return found

    def run_printed(self, command: str) -> str:
        return subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True, timeout=60).stdout

    def states(self) -> list:
        return [admin.get("/stores")["stores"][0]["state"] for admin in self.admins]

    def test_what_it_prints_works(self):
        asking, stores, limits = self.commands("for ")

        self.assertEqual(self.run_printed(asking).split().count("200"), NUMBER)

        refused = self.run_printed(self.commands("curl -i ")[0])
        self.assertIn(" 429 ", refused.splitlines()[0])
        self.assertIn("Retry-After: ", refused)
        self.assertEqual(self.run_printed(stores).count('"state": "ready"'), 3)
        self.assertEqual(sum(map(int, re.findall(r'"used": (\d+)', self.run_printed(limits)))), NUMBER)

        killing, stopping, continuing = self.commands("kill ")
        self.run_printed(stopping)
        wait_until(lambda: self.states() == ["down"] * 3, "a store that is down", 30)
        self.assertIn(fetch(self.ports[0]).status, (429, 503))
        self.run_printed(continuing)
        wait_until(lambda: self.states() == ["ready"] * 3, "a store that is back", 30)
        self.run_printed(killing)
        for _ in range(6):
            self.assertIn(fetch(self.ports[0]).status, (200, 429, 503))

    def test_nothing_is_left_of_it(self):
        self.run_printed(self.commands("kill -STOP")[0])
        self.assertEqual(self.end(), 0)
        for port in self.ports:
            with socket.socket() as tried:
                self.assertNotEqual(tried.connect_ex(("127.0.0.1", port)), 0, port)
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_port_in_use_is_said(self):
        ended = subprocess.run(
            [ROOT / "scripts/run-cluster", "--binary", binary(), *map(str, self.ports)], capture_output=True,
            text=True, timeout=30, check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(f"port {self.ports[0]} is in use", ended.stderr)


if __name__ == "__main__":
    unittest.main()
