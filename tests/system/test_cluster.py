"""Limits that several gateways share on a Redis Cluster."""

import signal
import subprocess
import time
import unittest

from support.case import config
from support.client import fetch
from support.cluster import Cluster
from support.failover_case import FAILOVERS, LIMITS, FailoverTest
from support.stint import binary
from support.waiting import wait_until


class WithCluster(FailoverTest):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster(self)

    def place(self, nodes=None) -> dict:
        return {"cluster": nodes or self.cluster.addresses()[:3]}


class Failover(WithCluster):
    def test_never_above_the_number_through_failovers(self):
        gateways = self.gateways(2)
        loads = self.load(gateways)
        moments = []
        for i in range(2 * FAILOVERS):
            number = signal.SIGKILL if i % 2 == 0 else signal.SIGSTOP
            # One in four is not the owner, but another primary, that votes.
            lost = self.cluster.others()[0] if i % 4 == 2 else self.cluster.owner
            what = f"{'a voter' if i % 4 == 2 else 'the owner'} lost by {signal.Signals(number).name}"
            began = time.monotonic()
            self.cluster.lose(lost, number)
            self.await_shares(gateways, f"key-{i}")
            moments.append((what, began, time.monotonic()))
            self.cluster.bring_back(lost)
        kept = self.admitted(loads)
        for moment in moments:
            self.tell(kept, *moment)


class Migration(WithCluster):
    def test_never_above_the_number_while_the_slot_moves(self):
        gateways = self.gateways(2)
        for i in range(200):  # 503: the store's answer took longer than `timeout`
            wait_until(lambda i=i: fetch(gateways[i % 2].port, target="/key",
                                         fields=[("X-Key", f"a-{i}")]).status == 200, f"a share of a-{i}")
        loads = self.load(gateways)
        source, to = self.cluster.owner, self.cluster.others()[0]
        began = time.monotonic()
        # All keys are there, and the others name the source still: ASK leads the gateways.
        self.cluster.move_slot(to, before_the_end=lambda: wait_until(
            lambda: all(self.store(stint).get("address") == to.address and
                        self.store(stint)["session"]["learned"] for stint in gateways),
            "the use of the server that takes the slot over"))
        self.await_shares(gateways, "b")
        recovered = time.monotonic()
        time.sleep(3)  # words of before are no longer valid
        for stint in gateways:
            self.assertEqual(self.store(stint)["state"], "ready")
            self.assertEqual(self.store(stint)["address"], to.address)
            self.assertEqual({each["names"] for each in self.store(stint)["cluster"]["nodes"]},
                             {to.address})
        self.tell(self.admitted(loads), "the slot has moved", began, recovered)
        self.assertEqual(source.command("CLUSTER", "COUNTKEYSINSLOT", str(self.cluster.slot)),
                         "0\n")


class Watching(WithCluster):
    def test_stores_tells_what_each_node_names(self):
        listed = self.cluster.addresses()[0]
        [stint] = self.gateways(1, nodes=[listed])
        owner = self.cluster.owner.address
        store = self.store(stint)
        self.assertEqual(store["address"], owner)
        self.assertEqual({each["address"]: each["names"] for each in store["cluster"]["nodes"]},
                         dict.fromkeys([listed, *self.cluster.primaries()], owner))
        self.assertEqual(stint.admin.get("/config")["stores"]["main"]["cluster"], [listed])
        done = subprocess.run([binary(), "check", "--store", str(stint.file)], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"address:     {owner}\n", done.stdout)
        self.assertIn("role master, part of a Cluster\n", done.stdout)
        self.assertIn(f"node:        {listed} names {owner}\n", done.stdout)
        self.assertIn("a failover within that time costs no request", done.stdout)

    def test_without_a_majority_the_owner_is_not_used(self):
        [stint] = self.gateways(1)
        lost = self.cluster.others()
        for node in self.cluster.nodes:  # no replica can take a place
            if node is not self.cluster.owner and node not in lost:
                node.kill()
        for node in lost:
            node.stop()
        wait_until(lambda: self.store(stint)["state"] == "unconfirmed", "the loss of a majority")
        failure = self.store(stint)["cluster"]["failure"]
        self.assertIn(f"primaries of the Cluster names an owner of slot {self.cluster.slot} (",
                      failure)
        self.assertIn("names an owner of slot", stint.log())
        self.assertEqual(fetch(stint.port, target="/key", fields=[("X-Key", "a")]).status, 503)
        for node in lost:
            node.go_on()
        wait_until(lambda: self.store(stint)["state"] == "ready", "a majority", 20)

    def test_a_server_that_is_no_part_of_a_cluster_is_refused(self):
        made = config("127.0.0.1:1", limits=LIMITS, gateway_id="edge",
                      stores={"main": {"redis": self.cluster.owner.address}})
        stint = self.start_stint(made)
        wait_until(lambda: self.store(stint)["state"] == "unfit", "the refusal")
        self.assertIn("list the Cluster's nodes under `cluster`", self.store(stint)["unfit"])


if __name__ == "__main__":
    unittest.main()
