"""A Redis Cluster of three primaries with a replica each: processes of redis-server."""

import signal
import subprocess
import time

from .ports import free_port
from .redis import Redis
from .waiting import wait_until

SILENCE = "500"  # ms until a node counts as down


class Node(Redis):
    def __init__(self, test):
        super().__init__(test, "--cluster-enabled", "yes", "--cluster-port", str(free_port()),
                         "--cluster-node-timeout", SILENCE,
                         "--cluster-require-full-coverage", "no",
                         "--repl-diskless-sync-delay", "0")


def binary_crc(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


class Cluster:
    """owner: of the slot of the tag."""

    def __init__(self, test, tag="stint", primaries=3):
        self.slot = binary_crc(tag.encode()) % 16384
        self.nodes = [Node(test) for _ in range(2 * primaries)]
        self._cli("--cluster", "create", *[each.address for each in self.nodes],
                  "--cluster-replicas", "1", "--cluster-yes")
        wait_until(self.is_whole, "a whole Cluster", 30, pause=0.05)

    def addresses(self) -> list:
        return [each.address for each in self.nodes]

    def primaries(self, node=None) -> dict:
        """By address: the slots' first ranges, as the node sees them."""
        found = {}
        for line in (node or self.owner).command("CLUSTER", "NODES").splitlines():
            words = line.split()
            if "master" in words[2] and "fail" not in words[2] and len(words) > 8:
                found[words[1].partition("@")[0]] = words[8:]
        return found

    @property
    def owner(self) -> Node:
        """The node that the others name."""
        for node in self.nodes:
            if node.running and not node.stopped:
                for address, ranges in self.primaries(node).items():
                    for each in ranges:
                        first, _, last = each.partition("-")
                        if first.isdigit() and int(first) <= self.slot <= int(last or first):
                            return self.at(address)
        raise AssertionError("nobody owns the slot")

    def at(self, address) -> Node:
        return next(each for each in self.nodes if each.address == address)

    def others(self) -> list:
        """The primaries that do not own the slot."""
        owner = self.owner
        return [self.at(each) for each in self.primaries(owner) if each != owner.address]

    def is_whole(self) -> bool:
        """Each primary has a replica that follows it, and all agree."""
        views = set()
        for node in self.nodes:
            views.add(tuple(sorted(self.primaries(node))))
            facts = node.command("CLUSTER", "INFO")
            if "cluster_state:ok" not in facts or "cluster_known_nodes:6" not in facts:
                return False
            role = node.command("ROLE").split()
            if role[0] == "slave" and "connected" not in role:
                return False
            if role[0] == "master" and len(role) < 5:
                return False
        return len(views) == 1

    def lose(self, node, number=signal.SIGKILL) -> None:
        """Kills or stops a primary, and waits until its replica has taken its place."""
        survivor = next(each for each in self.nodes if each is not node)
        if number == signal.SIGKILL:
            node.kill()
        else:
            node.stop()
        wait_until(lambda: node.address not in self.primaries(survivor) and
                   len(self.primaries(survivor)) == 3, "a replica in its place", 30, pause=0.05)

    def bring_back(self, node) -> None:
        if node.running:
            node.go_on()
        else:
            node.start()
        wait_until(self.is_whole, "a replica again", 30, pause=0.05)

    def move_slot(self, to, *, keys_at_once=10, before_the_end=None) -> None:
        """Migrates the slot as redis-cli does."""
        source = self.owner
        ids = {each.address: each.command("CLUSTER", "MYID").strip() for each in (source, to)}
        slot = str(self.slot)
        to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source.address])
        source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to.address])
        while keys := source.command("CLUSTER", "GETKEYSINSLOT", slot, str(keys_at_once)).split():
            source.command("MIGRATE", "127.0.0.1", str(to.port), "", "0", "5000", "KEYS", *keys)
        if before_the_end:
            before_the_end()
        for node in (to, source, *[each for each in self.others() if each not in (to, source)]):
            node.command("CLUSTER", "SETSLOT", slot, "NODE", ids[to.address])

    def _cli(self, *words) -> None:
        # The nodes meet within a second or two; until then the first attempt may fail.
        for _ in range(5):
            done = subprocess.run(["redis-cli", *words], capture_output=True, text=True, timeout=60,
                                  check=False)
            if done.returncode == 0:
                return
            time.sleep(0.5)
        raise AssertionError(done.stdout + done.stderr)
