"""The test case of docs/migrating.md: locks, as users of a Redis counter or GET_LOCK need them."""

from .locks_client import LockClient, lock_path, locks_config
from .permits_case import PermitsTest
from .permits_client import permits_port
from .processes import Child
from .relay import Relay
from .stint import Stint
from .waiting import wait_until


def letters(outcomes) -> str:
    """T T F, as docs/migrating.md has it."""
    return " ".join("FT"[bool(one)] for one in outcomes)


class LocksTest(PermitsTest):
    def locks(self, locks: dict | None = None, *, preexec=None, **top) -> Stint:
        stint = self.start_stint(locks_config(locks, **top), preexec=preexec)
        self.addCleanup(self._free, stint)
        return stint

    def locker(self, stint, **more) -> LockClient:
        client = LockClient(permits_port(stint), **more)
        self.addCleanup(client.close)
        return client

    def child(self, work) -> Child:
        """Forked: make it before the test opens connections whose end matters, for it has them, too."""
        child = Child(work)
        self.addCleanup(child.end)
        return child

    def relay(self, stint, **more) -> Relay:
        relay = Relay(permits_port(stint), **more)
        self.addCleanup(relay.close)
        return relay

    def granted(self, answer):
        self.assertEqual(answer.status, 201, answer.body)
        return answer

    def enters(self, stint, name: str, count: int, **members) -> str:
        """How as many entries end, of clients of their own."""
        return letters(self.locker(stint).acquire(name, **members).status == 201 for _ in range(count))

    def shown(self, stint, name: str) -> dict:
        """The lock as the admin listener shows it."""
        response = stint.admin.request("GET", lock_path(name))
        if response.status == 404:  # nobody has named it, or nobody any more
            return {"lock": name, "held": 0, "waiting": 0, "holders": [], "waiters": []}
        self.assertEqual(response.status, 200)
        return response.json()

    def held(self, stint, name: str) -> int:
        return self.shown(stint, name)["held"]

    def wait_for_waiters(self, stint, name: str, count: int) -> None:
        wait_until(lambda: self.shown(stint, name)["waiting"] == count, f"{count} wait for {name}", pause=0.002)

    def wait_for_held(self, stint, name: str, count: int) -> None:
        wait_until(lambda: self.held(stint, name) == count, f"{count} hold {name}", pause=0.002)

    def _free(self, stint) -> None:
        """What a test has not given back is not its concern."""
        if not stint.running:
            return
        for lock in stint.admin.get("/v1/locks")["locks"]:
            for holder in lock["holders"]:
                if "lease" in holder:
                    stint.admin.request("DELETE", f"{lock_path(lock['lock'])}/leases/{holder['lease']}")
