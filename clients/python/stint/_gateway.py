"""Asking a gateway: from threads and event loops, with and without patience while it is away."""

import asyncio
import math
import os
import socket
import time
from typing import Any, Callable, Optional

from . import _fork
from ._address import parse
from ._aio import AioTransport
from ._errors import StintUnavailable
from ._steps import Steps
from ._transport import Transport
from ._wire import Answer, Requests

ANSWER_TIME = 1.0  # seconds in which a gateway that does not let the caller wait has answered
LONGEST_WAIT = 60_000  # milliseconds that the gateway lets a caller wait at most
_LONGEST = 366 * 86400
_AGAIN = 0.03  # seconds between two tries to reach a gateway that is away


class Ask:
    """One request and its answer."""

    __slots__ = ("_gateway", "_request", "_seconds")

    def __init__(self, gateway: "Gateway", request: bytes, seconds: float) -> None:
        self._gateway = gateway
        self._request = request
        self._seconds = seconds

    def run(self) -> Answer:
        return self._gateway.threads.exchange(self._request, self._seconds)

    async def run_async(self) -> Answer:
        return await self._gateway.loops.exchange(self._request, self._seconds)


class Pause:
    """Time that passes."""

    __slots__ = ("_seconds",)

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def run(self) -> None:
        time.sleep(min(self._seconds, _LONGEST))

    async def run_async(self) -> None:
        await asyncio.sleep(self._seconds)


class Gateway:
    """Its address, the way there, and how to put a question to it."""

    def __init__(self, url: Optional[str], token: Optional[str]) -> None:
        self.address = parse(url)
        token = token if token is not None else os.environ.get("STINT_TOKEN") or None
        self.requests = Requests(self.address.authority, token)
        self.threads = Transport(self.address)
        self.loops = AioTransport(self.address)

    def ask(self, request: Callable[[], "tuple[bytes, float]"], patience: float,
            end: float = math.inf, way: "Callable[[Gateway, bytes, float], Any]" = Ask) -> "Steps[Any]":
        """The answer to request(), which also says how many seconds that may take. way: Ask, or another
        step that brings an answer or raises StintUnavailable.

        A gateway that is away is asked again, with request() made anew, for `patience` seconds after
        the first failure, but not after `end` of time.monotonic(). Then StintUnavailable is raised.
        """
        patient_until: Optional[float] = None
        former: Optional[StintUnavailable] = None
        while True:
            content, seconds = request()
            try:
                return (yield way(self, content, seconds))
            except StintUnavailable as error:
                now = time.monotonic()
                if patient_until is None:
                    patient_until = min(end, now + patience)
                if now + _AGAIN > patient_until:
                    # What a last try had no time for says less than the one before it.
                    raise former or error if seconds < _AGAIN else error
                former = error
            yield Pause(_AGAIN)


def check_seconds(name: str, value: Any, other: str = "") -> None:
    """ValueError unless it is a time that can pass."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (
            0 < value <= _LONGEST) or round(value * 1e9) < 1:
        raise ValueError(f"{name} is a number of seconds above 0, a year at most,{other} not {value!r}")


def wait_within(seconds: float) -> int:
    """The wait_ms by which an answer is here within `seconds`: a little less, for the way there and back."""
    return max(0, min(LONGEST_WAIT, int((seconds - min(0.02, seconds / 10)) * 1000)))


_owner = (-1, "")


def default_owner() -> str:
    """Who this process is, to a limit that is fair between its callers: host and process id. Its threads
    are one caller; they have a fair queue's places in the order in which they came."""
    global _owner
    if _owner[0] != _fork.generation:
        _owner = (_fork.generation, f"{socket.gethostname()}-{os.getpid()}")
    return _owner[1]
