"""kill -9 while counts, leases and operators' changes are written: what was answered is there after it, and nothing is
half of what it was."""

import http.client
import json
import random
import threading
import time
import unittest

from support.case import SystemTest, config, report, scaled
from support.client import RawClient
from support.locks_client import LockClient, locks_config
from support.permits_client import permits_port
from support.stint import Stint
from support.stream import EndOfStream
from support.waiting import wait_until

KILLS = scaled(4, 50)


class Life(threading.Thread):
    """Something that is done again and again until its Stint dies."""

    def __init__(self, stint: Stint):
        super().__init__(daemon=True)
        self.stint = stint
        self.failure = None

    def run(self) -> None:
        try:
            while True:
                self.do()
        except (OSError, EndOfStream, http.client.HTTPException):
            pass  # it was killed
        except Exception as failure:  # pylint: disable=broad-except
            self.failure = failure

    def do(self) -> None:
        raise NotImplementedError


class Charges(Life):
    def __init__(self, stint, sent: int, admitted: int):
        super().__init__(stint)
        self.sent, self.admitted = sent, admitted
        self.client = RawClient(stint.port)

    def do(self) -> None:
        self.sent += 1
        if self.client.request().status == 200:
            self.admitted += 1


class Changes(Life):
    """An override in two parts, which belong together."""

    def __init__(self, stint, number: int):
        super().__init__(stint)
        self.number, self.kept = number, number

    def do(self) -> None:
        self.number += 1
        body = json.dumps({"requests": self.number, "who": f"number {self.number}"})
        answered = self.stint.admin.request("PUT", "/limits/changed/overrides", body=body)
        if answered.status == 503 and "being replaced" in answered.text():  # by a connection to the former process
            answered = self.stint.admin.request("PUT", "/limits/changed/overrides", body=body)
        if answered.status != 200:
            raise AssertionError(answered.text())
        if "kept" not in answered.json():  # else the file is late, and the answer says so
            self.kept = self.number


class Leases(Life):
    def __init__(self, stint, fence: int):
        super().__init__(stint)
        self.leases, self.fence = {}, fence  # lease by lock
        # Locks of this life alone: a former one may hold a lease whose answer was lost.
        self.prefix = f"job-{stint.pid}"
        self.number = 0
        self.client = LockClient(permits_port(stint), hold=None)

    def do(self) -> None:
        name = f"{self.prefix}-{self.number}"
        self.number += 1
        if lease := self.granted(name):
            self.leases[name] = lease["lease"]
        again = self.granted("again", ttl_ms=200, wait_ms=5000)  # its holder may have died with its Stint
        if not again:
            return
        if again["fence"] <= self.fence:
            raise AssertionError(f"the fence {again['fence']} after {self.fence}")
        self.fence = again["fence"]
        self.client.release("again", again["lease"])

    def granted(self, name, **members) -> dict:
        """The lease; nothing if the file is late, so that Stint grants none."""
        answered = self.client.acquire(name, **members)
        if answered.status not in (201, 503):
            raise AssertionError(f"{name}: {answered.status} {answered.body}")
        return answered.body if answered.status == 201 else {}


class Kills(SystemTest):
    def setUp(self):
        super().setUp()
        kept = self.folder / "kept"
        kept.mkdir()
        settings = locks_config(**config(
            self.start_upstream().address, limits={name: {"requests": 10**9, "per": "1h"} for name in ("n", "changed")},
            route_limits=["n", "changed"], state=str(kept / "state.db")))
        self.stint = self.start_stint(settings)
        self.random = random.Random(49)
        self.sent = self.admitted = self.fence = 0
        self.number = 10**9

    def await_rounds(self, count: int) -> None:
        """Until so many rounds of writes have ended: each takes another time."""
        rounds = set()

        def ended():
            rounds.add(self.stint.admin.metrics().sum("stint_state_round_seconds"))
            return len(rounds) > count

        wait_until(ended, f"{count} rounds of writes", 30, 0.01)

    def test_what_was_answered_is_there_after_each(self):
        for _ in range(KILLS):
            self.live_and_die()
        report(f"kill -9 during writes, {KILLS} times: requests, changes, the last fence",
               "none refilled, none half, none twice",
               f"{self.sent}, {self.number - 10**9}, {self.fence}")

    def live_and_die(self) -> None:
        charges = Charges(self.stint, self.sent, self.admitted)
        changes, leases = Changes(self.stint, self.number), Leases(self.stint, self.fence)
        lives = (charges, changes, leases)
        for each in lives:
            each.start()
        wait_until(lambda: charges.admitted > self.admitted and leases.leases, "the first answers", 30)
        surely = charges.admitted
        self.await_rounds(2)  # the second one has begun after that
        time.sleep(self.random.uniform(0, 0.6))
        self.stint.kill()
        for each in lives:
            each.join(30)
            if hasattr(each, "client"):
                each.client.close()
            self.assertIsNone(each.failure)
        self.stint.start()
        self.judge(surely, charges, changes, leases)

    def judge(self, surely: int, charges, changes, leases) -> None:
        used = self.stint.admin.limit("n")["used"]
        self.assertGreaterEqual(used, surely)
        self.assertLessEqual(used, charges.sent)
        self.sent, self.admitted = charges.sent, used
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


if __name__ == "__main__":
    unittest.main()
