"""Stint's permits from Python: rate limits for calls that do not pass through the gateway.

    from stint import RateLimiter, RateLimitException

See RateLimiter. Client has the permit API call by call; Locker answers "go" or "sorry"; stint.scrapy is a
downloader middleware. POSIX systems; needs nothing but the standard library.
"""

from ._errors import RateLimitException, StintError, StintUnavailable
from .client import Client, Feedback, LimitState, Permit
from .limiter import RateLimiter
from .locker import Locker

__all__ = ["Client", "Feedback", "LimitState", "Locker", "Permit", "RateLimitException", "RateLimiter",
           "StintError", "StintUnavailable"]
__version__ = "0.1.0"
