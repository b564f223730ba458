"""What the callers of this package must be ready to catch."""

from typing import Optional


class RateLimitException(Exception):
    """The limit is used up and the caller does not want to wait, or not as long as it would take.

    remaining: seconds until another attempt can succeed, never negative; `math.inf` when the gateway
        says that none ever will.
    never: waiting does not help: the limit admits nothing, or less than the call costs.
    status: 429, or 503 where the gateway pauses the limit or has no room for another one.
    """

    def __init__(self, message: str = "the limit is used up", remaining: float = 0.0, *,
                 never: bool = False, status: int = 429) -> None:
        super().__init__(message)
        self.remaining = max(0.0, remaining)
        self.never = never
        self.status = status


class StintUnavailable(ConnectionError):
    """The gateway could not be asked, or did not answer in time. What it decided is unknown: at most
    one permit is lost with each such call, and none is ever made up."""


class StintError(Exception):
    """The gateway understood nothing to decide: wrong name, token, numbers. Trying again is useless.

    status, title, detail: of its problem document (RFC 9457).
    """

    def __init__(self, message: str = "", status: int = 0, title: str = "",
                 detail: Optional[str] = None) -> None:
        super().__init__(message)
        self.status = status
        self.title = title
        self.detail = detail
