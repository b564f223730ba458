"""RateLimiter: at most so many calls in each period, by the program's own count or by the gateway's."""

import math
from types import TracebackType
from typing import Any, Callable, Optional, Tuple, Type, TypeVar, Union, overload

from ._clock import SYSTEM_CLOCK, Clock
from ._decorate import limited
from ._gateway import Gateway, check_seconds
from ._named import NamedLimit, NamedOptions
from ._own import OwnLimit
from ._steps import run, run_async

F = TypeVar("F", bound=Callable[..., Any])
Key = Union[str, Callable[..., Any], None]

_MOST = 10**12  # as of the gateway
_LARGEST_BATCH = 10**6


class _Default(int):
    """A number that nobody has asked for."""


_CALLS = _Default(10)
_PERIOD = _Default(2)


class RateLimiter:
    """At most `max_calls` calls in each `period` seconds.

        limiter = RateLimiter(max_calls=5, period=2, retry=True)
        @limiter                    # before each call: waits, or raises RateLimitException
        with limiter: ...           # the same before the block
        limiter.limiting()          # raises when the limit is used up; remaining: seconds left
        limiter.sleep_and_retry()   # waits

    and for asyncio `async with limiter`, async functions under @limiter, limiting_async() and
    sleep_and_retry_async(), which do not block the event loop. Threads and tasks may share the object.

    Without `name` the limit is this object's own: exact over all its threads and forked children, made
    before or after the fork. Windows are fixed: one begins with the first call after the former ended,
    or directly behind it when somebody waits. Who waits has its turn in the order of coming.

    With `name` it is the gateway's limit of that name, shared with everything else that uses it. What is
    not given here (url, token) is taken from the environment: STINT_URL, STINT_TOKEN.

    max_calls, period: period in seconds, a fraction if need be. With a name they are sent only if one
        of them is given: the caller brings the limit, or they must be the configured ones.
    retry: whether `with` and the decorator wait.
    key: a text: the counts of different keys are apart. A function: makes the key out of the decorated
        function's arguments. limiting() and sleep_and_retry() can be given one for the call.
    timeout: seconds that one call may take at most. None: a turn is waited for as long as it takes; a
        gateway that does not answer, 1 s.
    max_waiting: so many may wait in one process; who comes then gets RateLimitException at once.
    strategy: "fixed", or "even": one call at a time, period / max_calls apart. For a limit of one's own;
        a named one's is configured at the gateway.
    owner: who asks, for the gateway's fairness; by default this host and process.
    batch: take up to so many permits at once and give them out here, until their window ends. A process
        that ends takes what is left of them with it.
    on_unavailable: what happens while the gateway is away. "raise": StintUnavailable, from a call that
        may wait only after `timeout` (without one: 1 s). "wait": every call waits for it to come back,
        until `timeout` (without one: 60 s). "local_share": this process goes on by itself with 1/share
        of max_calls and period, which must be given, and looks for the gateway every second. Where a proxy
        says that the gateway is away, only if that has granted something before.
    share: for local_share: how many processes use the limit.
    clock: time for a limit of one's own, for tests.
    """

    def __init__(self, max_calls: int = _CALLS, period: float = _PERIOD, retry: bool = False, *,
                 name: Optional[str] = None, key: Key = None, url: Optional[str] = None,
                 token: Optional[str] = None, owner: Optional[str] = None,
                 timeout: Optional[float] = None, batch: Optional[int] = None,
                 on_unavailable: str = "raise", share: Optional[int] = None, strategy: str = "fixed",
                 max_waiting: int = 1000, clock: Clock = SYSTEM_CLOCK) -> None:
        given = max_calls is not _CALLS or period is not _PERIOD
        _check_numbers(max_calls, period)
        if timeout is not None:
            check_seconds("timeout", timeout, " or None,")
        _whole("max_waiting", max_waiting, 0)
        self.retry = retry
        self._key = key
        self._timeout = timeout
        self._prefetched: Optional[Callable[[Optional[str]], bool]] = None
        self._at_once: Optional[Callable[[Optional[str], Optional[float]], bool]] = None
        self._limit: Union[OwnLimit, NamedLimit]
        if name is None:
            if (url, token, owner, batch, share) != (None,) * 5 or on_unavailable != "raise":
                raise ValueError("url, token, owner, batch, on_unavailable and share need a name")
            calls, nanoseconds = _window(max_calls, period, strategy)
            self._limit = OwnLimit(calls, nanoseconds, max_waiting, clock)
        else:
            if strategy != "fixed":
                raise ValueError("the strategy of a named limit is configured at the gateway")
            if batch is not None:
                _whole("batch", batch, 1, _LARGEST_BATCH)
            options = NamedOptions(
                name, owner, batch, on_unavailable, _brought(max_calls, period) if given else None,
                _local_share(max_calls, period, share, on_unavailable, given), max_waiting)
            self._limit = NamedLimit(Gateway(url, token), options)
            self._at_once = self._limit.admit_at_once
            if batch is not None:
                self._prefetched = self._limit.take_prefetched

    @property
    def attempts(self) -> int:
        """Calls that asked: those admitted, refused, waiting, and failed for want of the gateway. Of an own
        limit in all processes that share it, of a named one in this process (as also the next two)."""
        return self._limit.counters[0]

    @property
    def admitted(self) -> int:
        """Calls that were let in."""
        return self._limit.counters[1]

    @property
    def refused(self) -> int:
        """Calls that got RateLimitException."""
        return self._limit.counters[2]

    def limiting(self, key: Optional[str] = None) -> None:
        """Returns if there is a call left, and raises RateLimitException if not. Never waits for a turn."""
        self._enter(self._fixed_key() if key is None else key, False)

    def sleep_and_retry(self, key: Optional[str] = None) -> None:
        """Waits for the turn; RateLimitException if it cannot come, or not within `timeout`."""
        self._enter(self._fixed_key() if key is None else key, True)

    async def limiting_async(self, key: Optional[str] = None) -> None:
        """As limiting(), without blocking the event loop."""
        await self._enter_async(self._fixed_key() if key is None else key, False)

    async def sleep_and_retry_async(self, key: Optional[str] = None) -> None:
        """As sleep_and_retry(), without blocking the event loop."""
        await self._enter_async(self._fixed_key() if key is None else key, True)

    def __enter__(self) -> "RateLimiter":
        self._enter(self._fixed_key(), self.retry)
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        pass

    async def __aenter__(self) -> "RateLimiter":
        await self._enter_async(self._fixed_key(), self.retry)
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        pass

    @overload
    def __call__(self, function: F, *, per_item: bool = ...) -> F: ...

    @overload
    def __call__(self, *, per_item: bool = ...) -> Callable[[F], F]: ...

    def __call__(self, function: Any = None, *, per_item: bool = False) -> Any:
        """The function behind this limiter, which it carries as `.limiter`. per_item: before each item of
        the generator that it returns instead of before the call."""
        if function is None:
            return lambda decorated: self(decorated, per_item=per_item)
        wrapper = limited(function, self._key_of_call, lambda key: self._enter(key, self.retry),
                          lambda key: self._enter_async(key, self.retry), per_item)
        wrapper.limiter = self
        return wrapper

    def close(self) -> None:
        """Closes this thread's connection to the gateway. The object stays usable."""
        self._limit.close()

    async def close_async(self) -> None:
        """Closes the connections that the running event loop keeps."""
        await self._limit.close_async()

    def _enter(self, key: Optional[str], wait: bool) -> None:
        if self._prefetched is not None and self._prefetched(key):
            return
        if not wait and self._at_once is not None and self._at_once(key, self._timeout):
            return
        run(self._limit.admit(key, wait, self._timeout))

    async def _enter_async(self, key: Optional[str], wait: bool) -> None:
        if self._prefetched is not None and self._prefetched(key):
            return
        await run_async(self._limit.admit(key, wait, self._timeout))

    def _fixed_key(self) -> Optional[str]:
        if callable(self._key):
            raise TypeError("the key is a function of a decorated call's arguments: "
                            "limiting(key) and sleep_and_retry(key) must be told one")
        return self._key

    def _key_of_call(self, *args: Any, **kwargs: Any) -> Optional[str]:
        if not callable(self._key):
            return self._key
        made = self._key(*args, **kwargs)
        return made if made is None or isinstance(made, str) else str(made)


def _whole(name: str, value: Any, least: int, most: int = _MOST) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} is a whole number from {least} to {most}, not {value!r}")


def _check_numbers(max_calls: Any, period: Any) -> None:
    _whole("max_calls", max_calls, 0)
    check_seconds("period", period)


def _window(max_calls: int, period: float, strategy: str) -> Tuple[int, int]:
    """Calls and nanoseconds of the window by which the strategy is kept."""
    nanoseconds = round(period * 1e9)
    if strategy == "fixed" or (strategy == "even" and max_calls == 0):
        return max_calls, nanoseconds
    if strategy == "even":
        return 1, math.ceil(nanoseconds / max_calls)
    raise ValueError(f'strategy is "fixed" or "even", not {strategy!r}')


def _brought(max_calls: int, period: float) -> Tuple[int, int]:
    """Requests and milliseconds, as the gateway is told them."""
    _whole("max_calls of a limit that the gateway keeps", max_calls, 1)
    milliseconds = round(period * 1000)
    if milliseconds < 1 or abs(milliseconds - period * 1000) > 1e-6 * milliseconds:
        raise ValueError(f"the gateway counts periods in whole milliseconds, not {period!r} s")
    return max_calls, milliseconds


def _local_share(max_calls: int, period: float, share: Optional[int], on_unavailable: str,
                 given: bool) -> Optional[Tuple[int, int]]:
    """Calls and nanoseconds for this process alone, or None where it goes on by itself never."""
    if on_unavailable not in ("raise", "wait", "local_share"):
        raise ValueError(f'on_unavailable is "raise", "wait" or "local_share", not {on_unavailable!r}')
    if on_unavailable != "local_share":
        if share is not None:
            raise ValueError('share needs on_unavailable="local_share"')
        return None
    if share is None or not given:
        raise ValueError('on_unavailable="local_share" needs max_calls, period and share')
    _whole("share", share, 1)
    nanoseconds = round(period * 1e9)
    if max_calls == 0 or max_calls >= share:
        return max_calls // share, nanoseconds
    return 1, math.ceil(nanoseconds * share / max_calls)
