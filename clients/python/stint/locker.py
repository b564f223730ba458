"""For who had a locker behind a zmq REQ socket: "go" or "sorry"."""

from typing import Any, Dict, Optional

from ._errors import RateLimitException
from .limiter import RateLimiter


class Locker:
    """Locker("http://127.0.0.1:8082", "shop_budget").next() is "go" or "sorry", as long as there is a gateway.

    name: the limit at the gateway. max_calls, period (s): the limit itself, if the gateway is configured
    to let callers bring theirs. timeout: seconds after which a question has been answered, or raises
    StintUnavailable; a gateway that is not there yet is waited for as long. Threads may share the object.
    """

    def __init__(self, url: Optional[str] = None, name: str = "default",
                 max_calls: Optional[int] = None, period: Optional[float] = None, *,
                 key: Optional[str] = None, token: Optional[str] = None, timeout: float = 1.0) -> None:
        if (max_calls is None) != (period is None):
            raise ValueError("max_calls and period are given together")
        numbers: Dict[str, Any] = {} if max_calls is None else {"max_calls": max_calls, "period": period}
        self.limiter = RateLimiter(**numbers, name=name, key=key, url=url, token=token, timeout=timeout,
                                   on_unavailable="wait")

    def next(self) -> str:
        """"go": take one. "sorry": there is none for now."""
        try:
            self.limiter.limiting()
        except RateLimitException:
            return "sorry"
        return "go"
