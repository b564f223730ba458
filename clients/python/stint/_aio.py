"""The connections of an event loop: one for each request under way, kept for the next ones."""

import asyncio
from typing import AsyncGenerator, Dict, List, Optional

from ._address import Address
from ._errors import StintUnavailable
from ._fork import PerProcess
from ._wire import Answer, parse

_CONNECTIONS = 256  # of one loop; further requests wait for one of them
_KEPT = 16


class _Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self._transport: Optional[asyncio.Transport] = None
        self._received = b""
        self._answer: "Optional[asyncio.Future[Answer]]" = None
        self.served = False
        self.open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.open = True

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._answer is None or self._answer.done():
            self.close()  # nothing was asked
            return
        try:
            answer = parse(self._received)
        except StintUnavailable as error:
            self.close()
            self._answer.set_exception(error)
            return
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
        self.idle: List[_Connection] = []
        self.wanted = 0  # requests under way, those that wait for room too
        self._end = self._until_the_loop_ends()

    async def start(self) -> None:
        await self._end.__anext__()

    async def _until_the_loop_ends(self) -> AsyncGenerator[None, None]:
        """asyncio.run() closes generators that are still open: the moment to close connections, too."""
        try:
            yield
        finally:
            await self.close()

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
        try:
            return await asyncio.wait_for(self._exchange(request), seconds)
        except asyncio.TimeoutError:
            problem = f"no answer within {seconds:.3f} s"
        except OSError as error:
            problem = str(error)
        raise StintUnavailable(f"{self._address}: {problem}")

    async def _exchange(self, request: bytes) -> Answer:
        pool = await self._pool()
        pool.wanted += 1
        try:
            async with pool.room:
                return await self._exchange_in(pool, request)
        finally:
            pool.wanted -= 1

    async def _exchange_in(self, pool: _Pool, request: bytes) -> Answer:
        while pool.idle:
            connection = pool.idle.pop()
            if connection.open:
                break
        else:
            connection = await self._connect()
        try:
            try:
                answer = await connection.exchange(request)
            except ConnectionResetError:
                if not (connection.served and connection.nothing_received):
                    raise
                connection = await self._connect()
                answer = await connection.exchange(request)
        except BaseException:
            connection.close()
            raise
        if connection.open:
            if len(pool.idle) < max(_KEPT, pool.wanted):
                pool.idle.append(connection)
            else:
                connection.close()
        return answer

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        if self._address.path:
            _, made = await loop.create_unix_connection(_Connection, self._address.path)
        else:
            _, made = await loop.create_connection(_Connection, self._address.host, self._address.port)
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
