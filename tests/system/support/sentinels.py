"""A primary and a replica with three Sentinels: processes of redis-server."""

import signal
import subprocess
import tempfile
from pathlib import Path

from .ports import free_port
from .redis import Redis
from .waiting import wait_until

SETTINGS = """port {port}
bind 127.0.0.1
dir {folder}
sentinel monitor mymaster 127.0.0.1 {primary} 2
sentinel down-after-milliseconds mymaster 500
sentinel failover-timeout mymaster 2000
"""


class Sentinels:
    """password: the Sentinels', not the servers'."""

    def __init__(self, test, *options, count=3, password=""):
        options = ("--repl-diskless-sync-delay", "0", *options)
        self.primary = Redis(test, *options)
        self.replica = Redis(test, *options)
        self.follow(self.replica)
        self._folder = tempfile.TemporaryDirectory()
        self._processes = {}
        self._password = password
        self.ports = []
        test.addCleanup(self._folder.cleanup)
        for _ in range(count):
            self.ports.append(free_port())
            self.start(self.ports[-1])
            test.addCleanup(self.kill, self.ports[-1])
        wait_until(self.is_whole, "Sentinels that know each other and the replica", 30)

    def start(self, port: int) -> None:
        file = Path(self._folder.name) / f"{port}.conf"
        if not file.exists():
            folder = Path(self._folder.name) / str(port)
            folder.mkdir()
            file.write_text(SETTINGS.format(port=port, folder=folder, primary=self.primary.port) +
                            (f"requirepass {self._password}\n"
                             f"sentinel sentinel-pass {self._password}\n"
                             if self._password else ""))
        self._processes[port] = subprocess.Popen(
            ["redis-server", str(file), "--sentinel"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # They look for replicas every 10 s otherwise.
        wait_until(lambda: self.ask(port, "debug", "info-period", "300") == ["OK"], "a Sentinel")

    def kill(self, port: int) -> None:
        if process := self._processes.pop(port, None):
            process.kill()
            process.wait()

    def send_signal(self, port: int, number) -> None:
        self._processes[port].send_signal(number)

    def addresses(self) -> list:
        return [f"127.0.0.1:{port}" for port in self.ports]

    def ask(self, port: int, *words) -> list:
        login = ["--no-auth-warning", "-a", self._password] if self._password else []
        reply = subprocess.run(["redis-cli", *login, "-p", str(port), "SENTINEL", *words],
                               check=False, capture_output=True, text=True, timeout=10)
        return reply.stdout.split()

    def follow(self, server) -> None:
        """The server becomes a replica of the primary, if it is none yet."""
        server.command("REPLICAOF", "127.0.0.1", str(self.primary.port))

    def named(self, port: int) -> int:
        """The port of the primary that the Sentinel names."""
        return int((self.ask(port, "get-master-addr-by-name", "mymaster") or [0, 0])[1])

    def is_whole(self) -> bool:
        """A switch would succeed now: everybody knows everybody, and the replica follows."""
        for port in self.ports:
            told = self.ask(port, "master", "mymaster")
            known = dict(zip(told[::2], told[1::2]))
            replicas = self.ask(port, "replicas", "mymaster")
            flags = dict(zip(replicas[::2], replicas[1::2])).get("flags")
            if (known.get("num-other-sentinels") != str(len(self.ports) - 1) or
                    known.get("flags") != "master" or flags != "slave" or
                    known.get("port") != str(self.primary.port)):
                return False
        return "master_link_status:up" in self.replica.command("INFO", "replication")

    def lose_primary(self, number=signal.SIGKILL) -> None:
        """Kills or stops the primary, and waits until all Sentinels name the replica."""
        lost, self.primary, self.replica = self.primary, self.replica, self.primary
        lost.kill() if number == signal.SIGKILL else lost.send_signal(number)
        wait_until(lambda: all(self.named(port) == self.primary.port for port in self.ports),
                   "a switch", 30, pause=0.05)

    def bring_back(self) -> None:
        """The former primary, killed or stopped, comes back and becomes a replica."""
        if self.replica.running:
            self.replica.send_signal(signal.SIGCONT)
        else:
            self.replica.start()
        wait_until(lambda: self.replica.command("PING") == "PONG\n", "the former primary")
        self.follow(self.replica)
        wait_until(self.is_whole, "a replica again", 30, pause=0.05)
