"""Debian's Chromium without a window, driven by its chromedriver through python3-selenium."""

import json
import os
import subprocess
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

# The first: the tests run as root, where Chromium's sandbox does not start; the pages are their own. Then: no
# connections but those of the page, and none that its loading makes without being asked.
_ARGUMENTS = (
    "--no-sandbox", "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync")
_PREFERENCES = {"net": {"network_prediction_options": 2}}  # no connections on suspicion
PATIENCE = 100  # seconds for a page or a script


class Browser:
    """folder: where its profile, its home and its driver's log go. authority: the only CA beside Chromium's own that it
    believes."""

    def __init__(self, folder: Path, authority):
        home = folder / "home"
        database = home / ".pki" / "nssdb"
        database.mkdir(parents=True)
        for command in (("-N", "--empty-password"),
                        ("-A", "-n", "test", "-t", "C,,", "-i", str(authority.certificate))):
            subprocess.run(["certutil", "-d", f"sql:{database}", *command], check=True, capture_output=True, timeout=30)
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in (*_ARGUMENTS, f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(argument)
        options.add_experimental_option("prefs", _PREFERENCES)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
        service = Service("/usr/bin/chromedriver", log_path=str(folder / "driver.log"),
                          env={**os.environ, "HOME": str(home)})
        self._driver = webdriver.Chrome(service=service, options=options)
        self._driver.set_page_load_timeout(PATIENCE)
        self._driver.set_script_timeout(PATIENCE)
        self._messages = []

    def close(self) -> None:
        self._driver.quit()

    def open(self, url: str) -> None:
        """Returns once the page and all that it names have been loaded, or have failed."""
        self._driver.get(url)

    def run(self, script: str, *arguments):
        """What the script returns in the page that is open; what its promise becomes, if it is one."""
        return self._driver.execute_script(script, *arguments)

    def resources(self) -> list:
        """Of each thing that the page has asked for: path, protocol, status, bytes of the body."""
        return self.run("""
            return performance.getEntriesByType('resource').map(each => {
                const url = new URL(each.name);
                return {path: url.pathname + url.search, protocol: each.nextHopProtocol, status: each.responseStatus,
                        size: each.decodedBodySize};
            });""")

    def connections(self, url: str) -> set:
        """The connections over which responses have come from what the URL begins with."""
        self._messages += [json.loads(entry["message"])["message"] for entry in self._driver.get_log("performance")]
        answers = [each["params"]["response"] for each in self._messages
                   if each["method"] == "Network.responseReceived"]
        return {each["connectionId"] for each in answers
                if each["url"].startswith(url) and not each.get("fromDiskCache")}
