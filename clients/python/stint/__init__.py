"""Stint's permits from Python: rate limits for calls that do not pass through the gateway, and locks.

    from stint import RateLimiter, RateLimitException
    from stint import Lock, LockFailureException, NamedLock

See RateLimiter, Lock and NamedLock. Client has the permit API call by call; Locker answers "go" or "sorry"; stint.scrapy is a
downloader middleware. POSIX systems; needs nothing but the standard library.
"""

from ._errors import (LeaseLost, LockFailureException, NotHeld, RateLimitException, StintError,
                      StintUnavailable)
from ._lease import Lease
from .client import Client, Feedback, LimitState, Permit
from .limiter import RateLimiter
from .lock import Lock
from .locker import Locker
from .named_lock import NamedLock

__all__ = ["Client", "Feedback", "Lease", "LeaseLost", "LimitState", "Lock", "LockFailureException", "Locker",
           "NamedLock", "NotHeld", "Permit", "RateLimitException", "RateLimiter", "StintError",
           "StintUnavailable"]
__version__ = "0.1.0"
