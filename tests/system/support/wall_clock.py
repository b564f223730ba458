"""A wall clock for Stint that a test can set; the monotonic one goes on as it is."""

import glob
import os
import time
from pathlib import Path


class WallClock:
    """preexec: for Stint's start."""

    def __init__(self, file: Path):
        self._file = file
        self.set(0)

    def set(self, offset: int) -> None:
        """Seconds by which it is off from now on."""
        self._file.write_text(f"{offset:+}")

    def preexec(self, *libraries: str) -> None:
        os.environ.update(
            LD_PRELOAD=" ".join((glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")[0], *libraries)),
            FAKETIME_TIMESTAMP_FILE=str(self._file), FAKETIME_NO_CACHE="1", FAKETIME_DONT_FAKE_MONOTONIC="1",
            ASAN_OPTIONS=f"verify_asan_link_order=0:{os.environ.get('ASAN_OPTIONS', '')}")

    def preexec_redis(self) -> None:
        """With libc's malloc: its own one asks for the time before there is any."""
        self.preexec(glob.glob("/lib/*/libc.so.6")[0])

    @staticmethod
    def shows(stint, offset: int) -> bool:
        """Whether Stint's clock is as far off: the date of its answers says so."""
        told = stint.admin.request("GET", "/version").get("Date")
        return abs(time.mktime(time.strptime(told, "%a, %d %b %Y %H:%M:%S GMT")) - time.timezone
                   - time.time() - offset) < 60
