"""What a forked child must not take over from its parent: locks that other threads held, connections,
prefetched permits. Everything that has such state compares `generation` and makes it anew."""

import os
import threading
import weakref
from typing import Any, Callable, Generic, TypeVar

T = TypeVar("T")

generation = 0  # counts the forks that lie between the first process and this one
_making = threading.Lock()
_connections: "weakref.WeakSet[Any]" = weakref.WeakSet()


def close_in_children(connection: Any) -> None:
    """A connection ends with its process only if no forked child has it open, too: what hangs on its
    end, a lease, would be held on by a child that knows nothing of it. connection: has a fileno()."""
    _connections.add(connection)


def _in_child() -> None:
    global generation, _making, _connections
    generation += 1
    _making = threading.Lock()
    inherited, _connections = list(_connections), weakref.WeakSet()
    if inherited:
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for connection in inherited:
            if (number := connection.fileno()) >= 0:
                os.dup2(nothing, number, inheritable=False)  # its owner in the child may still close the number
        os.close(nothing)


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
