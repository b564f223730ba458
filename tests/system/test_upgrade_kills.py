"""kill -9 of either process at a random moment of an upgrade, while counts, leases and operators' changes are written:
what was answered is there after it, and no window is filled anew."""

import os
import random
import signal
import time
import unittest

from support.case import config, report, scaled
from support.client import RawClient, fetch
from support.locks_client import LockClient, locks_config
from support.permits_client import permits_port
from support.upgrade import UpgradeTest
from support.waiting import wait_until
from test_state_kills import Changes, Charges, Leases

KILLS = scaled(6, 50)
FULL = 20


class Holders(Leases):
    def __init__(self, stint, fence: int, number: int):
        super().__init__(stint, fence)
        self.prefix = f"round-{number}"


class ChangesToTheEnd(Changes):
    """stops: whether it may be told that the process stops."""

    stops = False

    def do(self) -> None:
        try:
            super().do()
        except AssertionError as failure:
            if self.stops and "is stopping" in str(failure):
                raise ConnectionError from failure  # then it is over, as when the process is killed
            raise


class Kills(UpgradeTest):
    def setUp(self):
        super().setUp()
        kept = self.new_folder()
        limits = {"n": {"requests": 10**9, "per": "1h"}, "changed": {"requests": 10**9, "per": "1h"},
                  "full": {"requests": FULL, "per": "1h"}}
        routes = [{"name": "full", "match": {"path": "/full"}, "upstream": "up", "limits": ["full"]},
                  {"name": "all", "match": {"path": "/"}, "upstream": "up", "limits": ["n", "changed"]}]
        self.stint = self.start_upgradable(
            locks_config(permits={"max_ttl": "60s"}, **config(
                self.start_upstream().address, limits=limits, routes=routes, timeouts={"drain": "2s"},
                state=str(kept / "state.db"))),
            arguments=("--upgrade-timeout", "10"))
        self.random = random.Random(52)
        self.sent = self.admitted = self.fence = self.admitted_to_full = 0
        self.number = 10**9
        self.outcomes = {}

    def await_rounds(self, count: int) -> None:
        """Until so many rounds of writes have ended: each takes another time."""
        rounds = set()

        def ended():
            rounds.add(self.stint.admin.metrics().sum("stint_state_round_seconds"))
            return len(rounds) > count

        wait_until(ended, f"{count} rounds of writes", 30, 0.01)

    def ask_full(self) -> None:
        with RawClient(self.stint.port) as client:
            self.admitted_to_full += sum(client.request(target="/full").status == 200 for _ in range(FULL + 5))
        self.assertEqual(self.admitted_to_full, FULL)

    def test_nothing_is_lost_that_was_answered_and_kept(self):
        self.ask_full()
        self.await_rounds(2)
        begun = time.monotonic()
        self.stint.upgrade()
        self.takes = time.monotonic() - begun
        self.ask_full()
        for number in range(KILLS):
            self.live_and_die(number)
        report(f"kill -9 of either process around an upgrade, {KILLS} times: requests, changes, the last fence",
               "none refilled, none half, none twice", f"{self.sent}, {self.number - 10**9}, {self.fence}")
        report("who was killed, and who was left", "any", self.outcomes)
        report("admitted to a window that was full before the first kill", FULL, self.admitted_to_full)

    def kill_one(self, victim: str, delay: float) -> None:
        stint = self.stint
        stint.signal(signal.SIGUSR2)
        if victim == "the former":
            time.sleep(delay)
            stint.process.kill()
            stint.process.wait()
            return
        pid = wait_until(stint.others, "the new process", 30, 0.0005)[0]
        time.sleep(delay)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            self.fail(f"the new process has ended by itself:\n{stint.log()[-2000:]}")

    def live_and_die(self, number: int) -> None:
        stint = self.stint
        charges = Charges(stint, self.sent, self.admitted)
        changes = ChangesToTheEnd(stint, self.number)
        leases = Holders(stint, self.fence, number)
        lives = (charges, changes, leases)
        for each in lives:
            each.start()
        wait_until(lambda: charges.admitted > self.admitted and leases.leases or not all(
            each.is_alive() for each in lives), "the first answers", 30)
        surely = charges.admitted
        self.await_rounds(2)  # the second one has begun after that
        victim, former = self.random.choice(("the former", "the new")), stint.pid
        self.kill_one(victim, self.random.uniform(0, 1.5 * self.takes))
        survived = stint.settle()
        left = "none" if not survived else "the former" if stint.pid == former else "the new"
        self.outcomes[f"{victim} killed, {left} left"] = self.outcomes.get(f"{victim} killed, {left} left", 0) + 1
        if survived:
            counted = charges.admitted if left == "the former" else surely  # that one has never stopped counting
            self.assertGreaterEqual(stint.admin.limit("n")["used"], counted)
            self.ask_full()
            surely = self.end_survivor(charges, changes, surely)
        for each in lives:
            each.join(30)
            self.assertFalse(each.is_alive())
            if hasattr(each, "client"):
                each.client.close()
            self.assertIsNone(each.failure)
        stint.start()
        self.judge(surely, charges, changes, leases)

    def end_survivor(self, charges, changes, surely: int) -> int:
        """How many are surely kept: if it is killed no more than before, if it ends by itself all."""
        if self.random.random() < 0.5:
            time.sleep(self.random.uniform(0, 0.6))
            self.stint.kill()
            return surely
        changes.stops = True
        self.stint.stop()
        charges.join(30)
        return charges.admitted

    def judge(self, surely: int, charges, changes, leases) -> None:
        used = self.stint.admin.limit("n")["used"]
        self.assertGreaterEqual(used, surely)
        self.assertLessEqual(used, charges.sent)
        self.sent, self.admitted = charges.sent, used
        self.ask_full()
        change, = (each for each in self.stint.admin.get("/changes")["changes"] if each["limit"] == "changed")
        limit = change["value"]["limit"]
        self.assertTrue(changes.kept <= limit <= changes.number, f"{changes.kept} {limit} {changes.number}")
        self.assertEqual(change["who"], f"number {limit}")
        self.assertEqual(self.stint.admin.limit("changed")["limit"], limit)
        self.number, self.fence = changes.number, leases.fence
        with LockClient(permits_port(self.stint), hold=None) as client:
            for name, lease in leases.leases.items():
                self.assertEqual(client.acquire(name).status, 409, name)
                self.assertEqual(client.release(name, lease).status, 204, name)
        self.assertEqual(fetch(self.stint.port).status, 200)
        self.sent, self.admitted = self.sent + 1, self.admitted + 1


if __name__ == "__main__":
    unittest.main()
