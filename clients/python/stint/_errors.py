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
    """The gateway could not be asked, or did not answer in time, or a proxy before it said that it is away. What it
    decided is unknown: at most one permit is lost with each such call, and none is ever made up."""


class Unproven(StintUnavailable):
    """Something says that the gateway behind it is away, where no permit listener has ever granted anything: there
    may be none. Nobody is let in by a local share in its place."""


class StintError(Exception):
    """The gateway understood nothing to decide: wrong name, token, numbers; or what answered is no permit listener.
    Trying again is useless.

    status, title, detail: of its problem document (RFC 9457).
    """

    def __init__(self, message: str = "", status: int = 0, title: str = "",
                 detail: Optional[str] = None) -> None:
        super().__init__(message)
        self.status = status
        self.title = title
        self.detail = detail


class LockFailureException(RateLimitException):
    """The lock is held by as many as it lets in, and the caller's timeout is over.

    held, max: of the lock, as far as the gateway told them. retry_after: seconds, as `remaining`.
    status: 409, or 503 where the gateway has no room for another lock.
    """

    def __init__(self, message: str = "the lock is held", retry_after: float = 0.0, *,
                 held: Optional[int] = None, max: Optional[int] = None, status: int = 409) -> None:
        super().__init__(message, retry_after, status=status)
        self.held = held
        self.max = max

    @property
    def retry_after(self) -> float:
        """Seconds after which asking again makes sense."""
        return self.remaining


class LeaseLost(StintError):
    """The lease had ended before it was released: by its ttl, with its connection, or by force. Somebody
    else may have been inside meanwhile; the lease's fencing token tells a storage who is late."""


class NotHeld(StintError, RuntimeError):
    """What was to be released is not held here: never acquired, released before, or of another process."""


def attach(failure: Exception, error: BaseException) -> None:
    """A release that failed goes along with the block's own exception, and does not take its place."""
    if hasattr(error, "add_note"):
        error.add_note(f"and the lock was not released: {type(failure).__name__}: {failure}")
    elif error.__context__ is None:
        error.__context__ = failure
