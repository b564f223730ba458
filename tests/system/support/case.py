"""The test case of all system tests."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from .nginx import Nginx
from .over_tls import listener_settings
from .ports import free_port
from .stint import Stint
from .upstream import RawServer

FULL = os.environ.get("STINT_SCALE") == "full"


def scaled(quick, full):
    """A size for scripts/test, and the one for scripts/acceptance."""
    return full if FULL else quick


def config(*endpoints, limits=None, route_limits=(), timeouts=None, upstream=None, listener=None,
           **top) -> dict:
    """One listener on a free port, one upstream `up`, one route `all` for everything."""
    route = {"name": "all", "match": {"path": "/"}, "upstream": "up"}
    if route_limits:
        route["limits"] = list(route_limits)
    made = {
        "workers": 2,
        "max_connections": 1000,  # within the limit on open files of any machine
        "listeners": [{"address": f"127.0.0.1:{free_port()}", **listener_settings(),
                       **(listener or {})}],
        "upstreams": {"up": {"endpoints": list(endpoints), **(upstream or {})}},
        "routes": [route],
    }
    if limits:
        made["limits"] = limits
    if timeouts:
        made["timeouts"] = timeouts
    return {**made, **top}


def report(name: str, wanted, seen, good: bool | None = None) -> None:
    """A figure for scripts/acceptance, which shows it whether or not the test then passes. good: whether
    it is what was wanted; None: if the whole file passes."""
    if file := os.environ.get("STINT_REPORT"):
        line = {"name": name, "wanted": str(wanted), "seen": str(seen)}
        if good is not None:
            line["good"] = good
        with open(file, "a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")


class SystemTest(unittest.TestCase):
    """Every Stint that a test has started must, when the test is over, be alive, hold no slot of
    any cap, and exit 0 on SIGTERM."""

    maxDiff = None

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="stint-test-")))
        self._folders = 0

    def new_folder(self) -> Path:
        self._folders += 1
        folder = self.folder / str(self._folders)
        folder.mkdir()
        return folder

    def start_upstream(self, script=None, **more) -> RawServer:
        server = RawServer(script, **more)
        self.addCleanup(server.close)
        return server

    def start_nginx(self, locations: str, **more) -> Nginx:
        nginx = Nginx(self.new_folder(), locations, **more)
        self.addCleanup(nginx.stop)
        return nginx.start()

    def start_stint(self, configuration, **more) -> Stint:
        stint = Stint(self.new_folder(), configuration, **more)
        stint.start()
        self.addCleanup(self._finish, stint)
        return stint

    def stint_before(self, *upstreams, **more) -> Stint:
        """Stint in front of these upstreams (RawServer or Nginx), with config()'s arguments."""
        return self.start_stint(config(*(up.address for up in upstreams), **more))

    def _finish(self, stint: Stint) -> None:
        if stint.process.returncode is not None:
            return  # the test stopped it itself
        try:
            self.assertIsNone(stint.process.poll(), f"Stint ended by itself:\n{stint.log()}")
            stint.wait_idle()
            stint.stop()
        finally:
            stint.kill()
