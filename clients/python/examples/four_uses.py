#!/usr/bin/env python3
"""The four uses of RateLimiter, with limits of the program's own: no gateway is needed.

    python3 four_uses.py

With RateLimiter(name="shop_budget", url="http://127.0.0.1:8082") instead, the same four share the numbers
that a gateway keeps for everybody.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # not needed where stint is installed

from stint import RateLimiter, RateLimitException  # noqa: E402


def limiting():
    """limiting() raises when the limit is used up, and says for how long it will be."""
    limiter = RateLimiter(max_calls=4, period=2)
    try:
        for number in range(10):
            limiter.limiting()
            print(number, end=" ")
    except RateLimitException as refused:
        print(f"- {refused}; .remaining is {refused.remaining:.3f}")


def sleep_and_retry():
    """sleep_and_retry() waits: 9 calls at 5 per 2 s take 2 s."""
    limiter = RateLimiter(max_calls=5, period=2)
    for number in range(9):
        limiter.sleep_and_retry()
        print(number, end=" ", flush=True)


def decorator():
    """A decorated function waits too, if the limiter was made with retry: 12 calls at 5 per 2 s take 4 s."""
    @RateLimiter(max_calls=5, period=2, retry=True)
    def show(number):
        print(number, end=" ", flush=True)

    for number in range(12):
        show(number)


def with_statement():
    """So does a with block: 14 calls at 10 per 2 s take 2 s."""
    limiter = RateLimiter(max_calls=10, period=2, retry=True)
    for number in range(14):
        with limiter:
            print(number, end=" ", flush=True)


def main():
    for use in (limiting, sleep_and_retry, decorator, with_statement):
        print(f"{use.__name__}: ", end="")
        begun = time.monotonic()
        use()
        if use is not limiting:
            print(f"- took {time.monotonic() - begun:.2f} s")


if __name__ == "__main__":
    main()
