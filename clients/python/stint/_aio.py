"""The connections of an event loop: one for each request under way, kept for the next ones, and one for
each lease that is held."""

import asyncio
from typing import Any, AsyncGenerator, Coroutine, Dict, List, Optional, Tuple
from weakref import WeakSet

from . import _fork
from ._address import Address, no_gateway
from ._errors import StintUnavailable
from ._fork import PerProcess
from ._wire import Answer, check_there, parse

_CONNECTIONS = 256  # of one loop; further requests wait for one of them
_KEPT = 16

_Exchanged = Tuple[Answer, "Optional[LoopConnection]"]


class LoopConnection(asyncio.Protocol):
    def __init__(self) -> None:
        self._transport: Optional[asyncio.Transport] = None
        self._received = b""
        self._answer: "Optional[asyncio.Future[Answer]]" = None
        self._generation = _fork.generation
        self.loop = asyncio.get_running_loop()
        self._lease: Optional[str] = None
        self.served = False
        self.open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.open = True
        _fork.close_in_children(self)

    def fileno(self) -> int:
        made = self._transport.get_extra_info("socket") if self._transport is not None else None
        return -1 if made is None else int(made.fileno())

    def tie(self, lease: str) -> None:
        self._lease = lease

    def give_back(self) -> None:
        """The lease has ended, and the connection is of use for others."""
        self._lease = None

    def untie(self, lease: str) -> None:
        """From any thread: the lease has ended somehow. Its connection is closed unless it was given back."""
        if self._lease == lease:
            try:
                self.loop.call_soon_threadsafe(self.close)
            except RuntimeError:
                pass  # the loop has ended, and the connection with it

    @property
    def has_ended(self) -> bool:
        return not self.open or self._generation != _fork.generation

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._answer is None or self._answer.done():
            self.close()  # nothing was asked
            return
        answer = parse(self._received)
        if answer is not None:
            self._answer.set_result(answer)

    def connection_lost(self, error: Optional[Exception]) -> None:
        self.open = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError(str(error or "the connection was closed")))

    def close(self) -> None:
        self.open = False
        if self._transport is not None:
            self._transport.abort()

    @property
    def nothing_received(self) -> bool:
        return not self._received

    async def exchange(self, request: bytes) -> Answer:
        assert self._transport is not None
        self._received = b""
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            answer = await self._answer
        finally:
            self._answer = None
        self._received = b""
        self.served = True
        if answer.last:
            self.close()
        return answer


class _Pool:
    def __init__(self) -> None:
        self.room = asyncio.Semaphore(_CONNECTIONS)
        self.idle: List[LoopConnection] = []
        self.leased: "WeakSet[LoopConnection]" = WeakSet()
        self.wanted = 0  # requests under way, those that wait for room too
        self._end = self._until_the_loop_ends()

    async def start(self) -> None:
        await self._end.__anext__()

    async def _until_the_loop_ends(self) -> AsyncGenerator[None, None]:
        """asyncio.run() closes generators that are still open: the moment to close connections, too."""
        try:
            yield
        finally:
            while self.leased:
                self.leased.pop().close()
            await self.close()

    def keep(self, connection: LoopConnection) -> None:
        """For the next request, if it is fit for one and there are not too many."""
        if connection.open:
            if len(self.idle) < max(_KEPT, self.wanted):
                self.idle.append(connection)
            else:
                connection.close()

    async def close(self) -> None:
        while self.idle:
            self.idle.pop().close()
        await asyncio.sleep(0)  # in which the transports close


class AioTransport:
    """The same promises as Transport.exchange gives, for any number of tasks in any number of loops.
    A task that is cancelled closes its connection, by which the gateway learns that nobody waits."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._pools: "PerProcess[Dict[asyncio.AbstractEventLoop, _Pool]]" = PerProcess(dict)

    async def close(self) -> None:
        """Closes what the running loop keeps for later."""
        await (await self._pool()).close()

    async def exchange(self, request: bytes, seconds: float) -> Answer:
        return (await self._within(seconds, self._exchange(request)))[0]

    async def acquire(self, request: bytes, seconds: float) -> "Tuple[Answer, Optional[LoopConnection]]":
        """As exchange(). If the answer is 201, with the connection, which is from now on the lease's alone,
        until it is given to release() or the lease unties it: one that were shared would end with the
        next task that is cancelled in a wait."""
        return await self._within(seconds, self._acquire(request))

    async def release(self, connection: LoopConnection, request: bytes, seconds: float) -> Answer:
        """As exchange(), on the connection that acquire() gave away, if this is its loop."""
        if connection.has_ended or connection.loop is not asyncio.get_running_loop():
            return await self.exchange(request, seconds)
        return (await self._within(seconds, self._release(connection, request)))[0]

    async def _within(self, seconds: float, work: "Coroutine[Any, Any, _Exchanged]") -> "_Exchanged":
        task = asyncio.ensure_future(work)
        try:
            # Not wait_for: before 3.12 it may swallow a cancellation that comes along with the answer.
            await asyncio.wait({task}, timeout=seconds)
        except BaseException:
            _give_up(task)
            raise
        if not task.done():
            _give_up(task)
            raise StintUnavailable(f"{self._address}: no answer within {seconds:.3f} s")
        try:
            exchanged = task.result()
        except OSError as error:
            raise StintUnavailable(no_gateway(self._address, error)) from None
        check_there(exchanged[0], self._address)
        return exchanged

    async def _exchange(self, request: bytes) -> "_Exchanged":
        pool = await self._pool()
        pool.wanted += 1
        try:
            async with pool.room:
                answer, connection = await self._exchange_in(pool, request)
                pool.keep(connection)
                return answer, None
        finally:
            pool.wanted -= 1

    async def _acquire(self, request: bytes) -> "_Exchanged":
        pool = await self._pool()
        pool.wanted += 1
        try:
            answer, connection = await self._exchange_in(pool, request)
        finally:
            pool.wanted -= 1
        if answer.status != 201 or not connection.open:
            pool.keep(connection)
            return answer, None
        pool.leased.add(connection)
        return answer, connection

    async def _release(self, connection: LoopConnection, request: bytes) -> "_Exchanged":
        pool = await self._pool()
        try:
            answer = await connection.exchange(request)
        except BaseException:
            connection.close()
            raise
        finally:
            pool.leased.discard(connection)
        if answer.status > 501:  # perhaps a proxy's, and then it is asked again: until untie() it is the lease's
            pool.leased.add(connection)
            return answer, None
        connection.give_back()
        pool.keep(connection)
        return answer, None

    async def _exchange_in(self, pool: _Pool, request: bytes) -> "Tuple[Answer, LoopConnection]":
        while pool.idle:
            connection = pool.idle.pop()
            if connection.open:
                break
        else:
            connection = await self._connect()
        try:
            try:
                return await connection.exchange(request), connection
            except ConnectionResetError:
                if not (connection.served and connection.nothing_received):
                    raise
                connection = await self._connect()
                return await connection.exchange(request), connection
        except BaseException:
            connection.close()
            raise

    async def _connect(self) -> LoopConnection:
        loop = asyncio.get_running_loop()
        if self._address.path:
            _, made = await loop.create_unix_connection(LoopConnection, self._address.path)
        else:
            _, made = await loop.create_connection(LoopConnection, self._address.host, self._address.port)
        return made

    async def _pool(self) -> _Pool:
        pools = self._pools.get()
        loop = asyncio.get_running_loop()
        pool = pools.get(loop)
        if pool is None:
            for other in [other for other in list(pools) if other.is_closed()]:
                pools.pop(other, None)
            pool = pools[loop] = _Pool()
            await pool.start()
        return pool


def _give_up(task: "asyncio.Future[_Exchanged]") -> None:
    """Its connection is closed, be it in the midst of an exchange or a lease's by now."""
    if not task.cancel() and not task.cancelled() and task.exception() is None:
        connection = task.result()[1]
        if connection is not None:
            connection.close()
