"""Limits that several gateways share on a primary that Sentinels name."""

import signal
import subprocess
import time
import unittest

from support.client import fetch
from support.failover_case import FAILOVERS, FailoverTest
from support.sentinels import Sentinels
from support.stint import binary
from support.waiting import wait_until


class WithSentinels(FailoverTest):
    password = ""

    def setUp(self):
        super().setUp()
        self.sentinels = Sentinels(self, password=self.password)

    def place(self, sentinel=None) -> dict:
        return {"sentinel": {"master": "mymaster", "servers": self.sentinels.addresses(),
                             **(sentinel or {})}}


class Failover(WithSentinels):
    def test_never_above_the_number_through_failovers(self):
        gateways = self.gateways(2)
        loads = self.load(gateways)
        moments = []
        for i in range(2 * FAILOVERS):
            number = signal.SIGKILL if i % 2 == 0 else signal.SIGSTOP
            began = time.monotonic()
            self.sentinels.lose_primary(number)
            self.await_shares(gateways, f"key-{i}")
            moments.append((f"a failover by Sentinel, {signal.Signals(number).name}", began, time.monotonic()))
            self.sentinels.bring_back()
        kept = self.admitted(loads)
        for moment in moments:
            self.tell(kept, *moment)


class Watching(WithSentinels):
    def test_stores_tells_what_each_sentinel_names(self):
        [stint] = self.gateways(1)
        store = self.store(stint)
        primary = self.sentinels.primary.address
        self.assertEqual(store["address"], primary)
        self.assertEqual(store["sentinel"]["master"], "mymaster")
        self.assertEqual(
            store["sentinel"]["servers"],
            [{"address": each, "up": True, "names": primary}
             for each in self.sentinels.addresses()])
        self.assertEqual(stint.admin.get("/config")["stores"]["main"]["sentinel"],
                         {"master": "mymaster", "servers": self.sentinels.addresses()})

    def test_without_a_majority_the_server_is_not_used(self):
        [stint] = self.gateways(1)
        lost = self.sentinels.ports[:2]
        for port in lost:
            self.sentinels.kill(port)
        wait_until(lambda: self.store(stint)["state"] == "unconfirmed", "the loss of a majority")
        failure = self.store(stint)["sentinel"]["failure"]
        self.assertIn("no majority of 3 Sentinels names a primary of mymaster (1 have answered)",
                      failure)
        self.assertIn(f"127.0.0.1:{lost[0]}: connection refused", failure)
        self.assertIn(failure.partition(":")[0], stint.log())
        self.assertEqual(stint.admin.get("/readyz")["stores"], {"main": "unconfirmed"})
        calls = self.store(stint)["calls"]["total"]
        # What the gateway holds goes on; what it does not hold it does not ask for.
        self.assertEqual(fetch(stint.port, target="/key", fields=[("X-Key", "a")]).status, 503)
        self.assertEqual(self.store(stint)["calls"]["total"], calls)
        self.sentinels.start(lost[0])
        wait_until(lambda: self.store(stint)["state"] == "ready", "a majority", 20)

    def test_a_minority_of_the_sentinels_is_not_enough_to_list(self):
        stint = self.gateway("edge", sentinel={"servers": self.sentinels.addresses()[:1]})
        wait_until(lambda: "last_error" in self.store(stint), "the refusal")
        self.assertEqual(self.store(stint)["last_error"]["text"],
                         "redis: no majority of 3 Sentinels names a primary of mymaster "
                         "(1 have answered)")
        self.assertEqual(self.store(stint)["state"], "down")

    def test_a_master_that_no_sentinel_knows(self):
        stint = self.gateway("edge", sentinel={"master": "other"})
        wait_until(lambda: "last_error" in self.store(stint), "the refusal")
        self.assertIn("ERR No such master with that name",
                      self.store(stint)["sentinel"]["servers"][0]["error"])
        self.assertIn("names a primary of other (0 have answered): ", stint.log())


    def test_sentinels_that_wait_for_longer_than_shares_last(self):
        [stint] = self.gateways(1)
        self.assertNotIn("counts as down", stint.log())
        self.sentinels.ask(self.sentinels.ports[1], "set", "mymaster", "down-after-milliseconds", "10000")
        wait_until(lambda: "10000 ms pass before a primary that is silent counts as down" in stint.log(), "the warning")
        done = subprocess.run([binary(), "check", "--store", str(stint.file)], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("sentinel:    10000 ms pass before a primary", done.stdout)
        for each in self.sentinels.addresses():
            self.assertIn(f"sentinel:    {each} names {self.sentinels.primary.address}", done.stdout)
        self.assertIn("role master", done.stdout)


class Password(WithSentinels):
    password = "sesame"

    def test_a_password_of_the_sentinels(self):
        file = self.new_folder() / "password"
        file.write_text("wrong\n")
        stint = self.gateway("edge", sentinel={"password_file": str(file)})
        wait_until(lambda: any("WRONGPASS" in server.get("error", "")
                               for server in self.store(stint)["sentinel"]["servers"]), "the refusal")
        file.write_text(self.password + "\n")
        self.assertEqual(stint.admin.reload().status, 200)
        wait_until(lambda: self.store(stint)["state"] == "ready", "a session", 20)


if __name__ == "__main__":
    unittest.main()
