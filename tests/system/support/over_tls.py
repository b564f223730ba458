"""The same tests once more over TLS: with STINT_TEST_TLS=1 the listeners that support.case.config
makes speak it, and so does RawClient."""

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from .certificates import Authority

OVER_TLS = bool(os.environ.get("STINT_TEST_TLS"))


@cache
def _made():
    folder = Path(tempfile.mkdtemp(prefix="stint-tls-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    authority = Authority(folder)
    return authority.issue("localhost", "IP:127.0.0.1"), authority.context()


def listener_settings() -> dict:
    """What a listener has beside its address."""
    return {"tls": _made()[0].tls()} if OVER_TLS else {}


def wrap(sock):
    """A connection to Stint, with TLS where tests are run so."""
    return _made()[1].wrap_socket(sock, server_hostname="localhost") if OVER_TLS else sock


def asyncio_settings() -> dict:
    """The same, as asyncio.open_connection has it."""
    return {"ssl": _made()[1], "server_hostname": "localhost"} if OVER_TLS else {}
