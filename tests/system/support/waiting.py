"""Waiting for a fact, never for a time."""

import time

# Ten times what is normal, and more: only a hang or a broken promise reaches it.
PATIENCE = 10.0


def wait_until(condition, what, seconds: float = PATIENCE, pause: float = 0.01):
    """The first true value of condition(); AssertionError when there is none in time. what: a text, or a function
    that makes it in the end, with a log as it is then."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what() if callable(what) else what}")
        time.sleep(pause)
