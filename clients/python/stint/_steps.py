"""A decision that needs the network or time is written once, as a generator that yields what it waits
for; a thread or an event loop does the waiting. What goes wrong while waiting is thrown into it."""

from typing import Any, Generator, TypeVar

T = TypeVar("T")

# Yields objects with run() and run_async(), and is sent what these return.
Steps = Generator[Any, Any, T]


def run(steps: "Steps[T]") -> T:
    """Takes the steps in this thread."""
    try:
        effect = next(steps)
        while True:
            try:
                result = effect.run()
            except BaseException as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as done:
        returned: T = done.value
        return returned


async def run_async(steps: "Steps[T]") -> T:
    """Takes the steps in the running event loop, which goes on meanwhile."""
    try:
        effect = next(steps)
        while True:
            try:
                result = await effect.run_async()
            except BaseException as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as done:
        returned: T = done.value
        return returned
