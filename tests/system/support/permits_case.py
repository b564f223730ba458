"""The test case of docs/migrating.md: limits, as users of a zmq locker or a RateLimiter class need them."""

import sys

from .case import FULL, SystemTest, report
from .permits_client import PermitClient, permits_config, permits_port
from .stint import ROOT, Stint
from .waiting import wait_until

# The client library, as the repository has it, and the helpers of its own tests. These come last: a module
# of theirs is called support, too.
CLIENT = ROOT / "clients" / "python"
if str(CLIENT) not in sys.path:
    sys.path.insert(0, str(CLIENT))
    sys.path.append(str(CLIENT / "tests"))


class PermitsTest(SystemTest):
    topic = ""  # under which scripts/acceptance and docs/migrating.md have the figures

    def permits(self, limits: dict | None = None, *, preexec=None, **top) -> Stint:
        return self.start_stint(permits_config(limits, **top), preexec=preexec)

    def client(self, stint, **more) -> PermitClient:
        client = PermitClient(permits_port(stint), **more)
        self.addCleanup(client.close)
        return client

    def wait_for_waiting(self, stint, count: int) -> None:
        """Until so many takes wait for their turn."""
        wait_until(lambda: stint.admin.metrics().sum("stint_permit_waiting") == count, f"{count} takes wait")

    def figure(self, name: str, wanted: str, seen, good: bool) -> None:
        """A number that needs a quiet machine: reported always, and checked by scripts/acceptance alone."""
        report(f"{self.topic}: {name}", wanted, seen, good)
        if FULL:
            with self.subTest(name):  # a failure does not keep the next ones from being checked
                self.assertTrue(good, f"{name}: wanted {wanted}, seen {seen}")

    def count(self, name: str, wanted: str, seen, good: bool) -> None:
        """A number that must be right on any machine."""
        report(f"{self.topic}: {name}", wanted, seen, good)
        self.assertTrue(good, f"{name}: wanted {wanted}, seen {seen}")


def gateway_url(stint) -> str:
    """As the client library wants it."""
    return f"http://127.0.0.1:{permits_port(stint)}"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"
