"""One kept-alive connection for each thread: plain sockets, because this is the path of every permit."""

import select
import socket
import struct
import threading
import time
from typing import Optional, Set

from . import _fork
from ._address import Address, no_gateway
from ._errors import StintUnavailable
from ._wire import Answer, check_there, parse

# A server that went away while nothing was asked is noticed before the next request is sent. Between
# two requests that follow each other directly there is no such look; see Transport.exchange.
_IDLE = 0.005

# Seconds for which recv() waits by itself. Most answers are here by then, and have cost no poll() before it:
# a seventeenth of what a lock costs. A signal lets this time begin anew, so it is shorter than between signals.
_OWN_WAIT = 0.004
_OWN_WAIT_AS_TIMEVAL = struct.pack("ll", 0, round(_OWN_WAIT * 1e6))

_SEND = socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT
_PIECE = 16384


class _Gone(Exception):
    """The connection ended before a byte of the answer came."""


_ENDED = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


class Connection:
    """One thread's, but for the ties, which any thread may make and undo.

    A lease that is tied to it ends when the connection ends. So with ties it outlives the moment from
    which on it is of no use for requests (an answer may still be on its way), until they are undone.
    """

    def __init__(self, made: socket.socket) -> None:
        made.settimeout(None)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _OWN_WAIT_AS_TIMEVAL)
        self._socket = made
        self._readable = select.poll()
        self._readable.register(made, select.POLLIN)
        self._tied: Set[str] = set()
        self._left = False
        self.used = 0.0
        self.generation = _fork.generation
        _fork.close_in_children(self)

    def __del__(self) -> None:
        self._socket.close()  # quietly: its thread has ended, or its limiter is not used any more

    def fileno(self) -> int:
        return self._socket.fileno()

    def leave(self) -> None:
        """There will be no more requests."""
        self._left = True
        if not self._tied:
            self._socket.close()

    def tie(self, lease: str) -> None:
        self._tied.add(lease)

    def untie(self, lease: str) -> None:
        self._tied.discard(lease)
        if self._left and not self._tied:
            self._socket.close()

    @property
    def has_ended(self) -> bool:
        """Whether it is known that nothing can be tied to it any more."""
        number = self._socket.fileno()
        if number < 0 or self.generation != _fork.generation:
            return True
        look = select.poll()
        look.register(number, _ENDED)
        return bool(look.poll(0))

    def is_stale(self, now: float) -> bool:
        """Whatever can be read between two answers is the end of the connection, or makes no sense."""
        return self.generation != _fork.generation or (
            now - self.used > _IDLE and bool(self._readable.poll(0)))

    def exchange(self, request: bytes, now: float, deadline: float) -> Answer:
        """_Gone if the connection had ended before; another OSError if it breaks."""
        received = b""
        try:
            sent = self._socket.send(request, _SEND)
            if sent < len(request):
                self._send_rest(request[sent:], deadline)
            if deadline - now < _OWN_WAIT:
                self._await_more(deadline)
            try:
                received = self._socket.recv(_PIECE)
            except BlockingIOError:
                self._await_more(deadline)
                received = self._socket.recv(_PIECE)
            part = received
            while part:
                answer = parse(received)
                self.used = time.monotonic()
                if answer is not None:
                    return answer
                self._await_more(deadline)
                part = self._socket.recv(_PIECE)
                received += part
            raise ConnectionResetError("the connection was closed")
        except (BrokenPipeError, ConnectionResetError) as error:
            if not received:
                raise _Gone(str(error)) from None
            raise

    def _await_more(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0 or not self._readable.poll(left * 1000 + 1):
            raise TimeoutError

    def _send_rest(self, rest: bytes, deadline: float) -> None:
        writable = select.poll()
        writable.register(self._socket, select.POLLOUT)
        while rest:
            left = deadline - time.monotonic()
            if left <= 0 or not writable.poll(left * 1000 + 1):
                raise TimeoutError
            rest = rest[self._socket.send(rest, _SEND):]


class Transport:
    """Each thread, and each process after a fork, has its own connection to `address`. It is made when
    it is needed, and closed when the thread ends."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._of_thread = threading.local()

    def close(self) -> None:
        """Closes this thread's connection, as soon as no lease is tied to it. The next exchange makes
        another one."""
        connection = self.connection
        self._of_thread.connection = None
        if connection is not None:
            connection.leave()

    @property
    def connection(self) -> Optional[Connection]:
        """This thread's: the one that brought the last answer, unless that said it was the last one."""
        connection: Optional[Connection] = getattr(self._of_thread, "connection", None)
        return connection

    def exchange(self, request: bytes, seconds: float) -> Answer:
        """The answer to this request, which takes `seconds` at most. StintUnavailable when there is none,
        or only a proxy's that the gateway is away.

        A request is sent once more, on a new connection, when a connection that has served before was
        closed without a byte of an answer: the server was restarted in between. If it had counted the
        request all the same, one permit is lost.
        """
        now = time.monotonic()
        deadline = now + seconds
        connection: Optional[Connection] = getattr(self._of_thread, "connection", None)
        try:
            if connection is not None:
                try:
                    if not connection.is_stale(now):
                        answer = connection.exchange(request, now, deadline)
                        if answer.last:
                            self.close()
                        if answer.status > 501:
                            check_there(answer, self._address)
                        return answer
                except _Gone:
                    pass
                self.close()
            return self._exchange_anew(request, deadline)
        except StintUnavailable:
            raise
        except TimeoutError:  # on 3.9 a connect's is another one, but an OSError, too
            problem = f"{self._address}: no answer within {seconds:.3f} s"
        except _Gone as error:
            problem = f"{self._address}: {error}"
        except OSError as error:
            problem = no_gateway(self._address, error)
        except BaseException:
            self.close()  # interrupted: an answer that is still on its way must not be the next one's
            raise
        self.close()
        raise StintUnavailable(problem)

    def _exchange_anew(self, request: bytes, deadline: float) -> Answer:
        connection = Connection(self._address.connect(max(0.001, deadline - time.monotonic())))
        self._of_thread.connection = connection
        answer = connection.exchange(request, time.monotonic(), deadline)
        if answer.last:
            self.close()
        if answer.status > 501:
            check_there(answer, self._address)
        return answer
