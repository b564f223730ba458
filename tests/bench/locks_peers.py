"""What scripts/bench-locks compares: a server each, and how one of its clients acquires a lock and
releases it.

A peer is a context manager, with the server running inside it; connect(key, wait) is called in each
client's own process and returns the function that does both once. wait: seconds for which it waits
where somebody else holds the lock; 0: nobody else ever does. What a client needs, it makes once: connection,
cursor, script, Lock.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import permits_peers
from permits_peers import until
from support.ports import free_port

MAX, TTL = 1, 30


class Stint(permits_peers.Stint):
    """A worker on each core, or one on the core that is `pinned`: MariaDB has a thread a connection."""

    def __init__(self, binary: str, *, state: bool = False, unix: bool = False, pinned: str | None = None):
        super().__init__(binary, pinned=pinned)
        self.state, self.unix = state, unix
        self.name = "stint" + ", state" * state + ", unix" * unix

    def configuration(self) -> str:
        address = f"127.0.0.1:{self.port}"
        if self.unix:
            address = self.url = f"unix:{self.folder.name}/permits"
        state = f"state: {{file: {self.folder.name}/state.db}}\n" if self.state else ""
        return (f"pin_workers: true\n{state}permits: {{address: '{address}', start_up_grace: 0s}}\n"
                "locks: {bench: {max: 1000000}}\n")

    def connect(self, key: str = "probe", wait: float = 0):
        from stint import Lock

        lock = Lock(key, MAX, timeout=wait, ttl=TTL, url=self.url)

        def once():
            with lock:
                pass

        return once


class RedisCounter(permits_peers.Redis):
    """The counter that people write: 10 commands in 6 round trips. (Theirs loses slots where it does not
    retry; this one does. It frees nothing when its holder dies.)"""

    name = "redis counter"

    def connect(self, key: str, wait: float):
        import redis

        assert not wait
        connection = redis.Redis(port=self.port)

        def changed(change) -> bool:
            while True:
                with connection.pipeline() as pipe:
                    try:
                        pipe.watch(key)
                        count = int(pipe.get(key) or 0)
                        if change == 1 and count >= MAX:
                            return False
                        pipe.multi()
                        pipe.incrby(key, change)
                        pipe.execute()
                        return True
                    except redis.WatchError:
                        pass

        def once():
            assert changed(1)
            assert changed(-1)

        return once


ENTER = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0
"""
LEAVE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class RedisLease(permits_peers.Redis):
    """One script to enter, one to leave. Without order, fencing numbers, or a wait but polling."""

    name = "redis lease"

    def connect(self, key: str, wait: float):
        import redis

        assert not wait
        connection = redis.Redis(port=self.port, single_connection_client=True)
        enter, leave = connection.script_load(ENTER), connection.script_load(LEAVE)
        ours, number = os.getpid(), 0

        def once():
            nonlocal number
            number += 1
            token = f"{ours}-{number}"
            assert connection.evalsha(enter, 1, key, token, TTL * 1000) == 1
            assert connection.evalsha(leave, 1, key, token) == 1

        return once


class MariaDb:
    """GET_LOCK and RELEASE_LOCK, with the client in C: over TCP as the others, or over a Unix socket."""

    def __init__(self, *, unix: bool = False):
        self.unix = unix
        self.name = "mariadb, unix" if unix else "mariadb"
        self.port = free_port()

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="stint-bench-")
        self.socket = f"{self.folder.name}/socket"
        with open(Path(self.folder.name) / "log", "wb") as log:
            # An empty folder will do for a server without privileges.
            self.process = subprocess.Popen(
                ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.folder.name}", f"--socket={self.socket}",
                 f"--pid-file={self.folder.name}/pid", f"--port={self.port}", "--bind-address=127.0.0.1",
                 "--skip-name-resolve", "--skip-grant-tables",
                 *(["--user=root"] if os.geteuid() == 0 else [])], stdout=log, stderr=log)
        until(self._answers, "mariadb answers")
        return self

    def _answers(self) -> bool:
        import MySQLdb

        try:
            self._connection().close()
            return True
        except MySQLdb.OperationalError:
            return False

    def _connection(self):
        import MySQLdb

        where = {"unix_socket": self.socket} if self.unix else {"host": "127.0.0.1", "port": self.port}
        return MySQLdb.connect(**where, user="root", autocommit=True)

    def connect(self, key: str, wait: float):
        cursor = self._connection().cursor()

        def once():
            cursor.execute("SELECT GET_LOCK(%s, %s)", (key, wait))
            assert cursor.fetchone() == (1,)
            cursor.execute("SELECT RELEASE_LOCK(%s)", (key,))
            assert cursor.fetchone() == (1,)

        return once

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()
