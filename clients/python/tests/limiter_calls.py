"""Calls that are counted or timed. The system tests use them, too."""

import time

from stint import RateLimitException


def granted(call, times):
    """How many of so many calls a limiter grants."""
    count = 0
    for _ in range(times):
        try:
            call()
            count += 1
        except RateLimitException:
            pass
    return count


def time_to_raise(case, error, call):
    """The seconds until call() raises the error; the test case fails if it does not."""
    begun = time.monotonic()
    with case.assertRaises(error):
        call()
    return time.monotonic() - begun
