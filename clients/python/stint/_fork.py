"""What a forked child must not take over from its parent: locks that other threads held, connections,
prefetched permits. Everything that has such state compares `generation` and makes it anew."""

import os
import threading
from typing import Callable, Generic, TypeVar

T = TypeVar("T")

generation = 0  # counts the forks that lie between the first process and this one
_making = threading.Lock()


def _in_child() -> None:
    global generation, _making
    generation += 1
    _making = threading.Lock()


os.register_at_fork(after_in_child=_in_child)


class PerProcess(Generic[T]):
    """A value that each process makes for itself, when it first asks for it."""

    __slots__ = ("_make", "_value", "_generation")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._value = make()
        self._generation = generation

    def get(self) -> T:
        if self._generation != generation:
            with _making:
                if self._generation != generation:
                    self._value = self._make()
                    self._generation = generation
        return self._value
