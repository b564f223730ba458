"""Limits that several gateways share on a Redis Cluster."""

import os
import signal
import subprocess
import time
import unittest

from support.case import SystemTest, config, report, scaled
from support.client import fetch
from support.cluster import Cluster
from support.load import Load, most_in_a_span
from support.stint import binary
from support.waiting import wait_until

ANSWER = {"respond": {"status": 200, "body": "yes"}}
NUMBER = 100  # for each second
LIMITS = {"all": {"requests": NUMBER, "per": "1s", "algorithm": "sliding_window", "shared": "main"},
          "each": {"requests": 2, "per": "1h", "key": "header:X-Key", "shared": "main"}}
FAILOVERS = int(os.environ.get("STINT_FAILOVERS", scaled(2, 20)))  # of each kind


class WithCluster(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster(self)

    def gateway(self, name, *, nodes=None, **store):
        """Requests for / count as `all`, those for /key as `each`."""
        made = config("127.0.0.1:1", limits=LIMITS, gateway_id=name,
                      stores={"main": {"cluster": nodes or self.cluster.addresses()[:3],
                                       "session": "15s", **store}})
        del made["upstreams"]
        made["routes"] = [
            {"name": "key", "match": {"path": "/key"}, "limits": ["each"], **ANSWER},
            {"name": "all", "match": {"path": "/"}, "limits": ["all"], **ANSWER}]
        return self.start_stint(made)

    def gateways(self, count, **more):
        made = [self.gateway(f"edge-{i}", **more) for i in range(count)]
        for stint in made:
            wait_until(lambda: self.store(stint)["state"] == "ready", "a session", 20)
        self.assertEqual(made[0].admin.request("POST", "/stores/main/trust").status, 200)
        for stint in made:
            wait_until(lambda: self.store(stint)["session"]["learned"], "shares that move")
        return made

    def store(self, stint):
        return stint.admin.get("/stores")["stores"][0]

    def await_shares(self, gateways, key):
        """A key that nobody has a share of gets one from the store, at each gateway."""
        for number, stint in enumerate(gateways):
            fields = [("X-Key", f"{key}-{number}")]
            wait_until(lambda: fetch(stint.port, target="/key", fields=fields).status == 200,
                       "a new share", 30, pause=0.05)

    def load(self, gateways):
        loads = [Load(stint.port, connections=4, pause=0.005, keep=True) for stint in gateways]
        for load in loads:
            load.__enter__()
        time.sleep(2)
        return loads

    def admitted(self, loads):
        time.sleep(1)
        for load in loads:
            load.finish()
            self.assertEqual(load.failures, [])
        kept = [each for load in loads for each in load.kept]
        self.assertLessEqual(most_in_a_span(kept, 1), NUMBER)
        return kept

    def tell(self, kept, what, began, recovered):
        around = [each for each in kept if began <= each[1] < recovered + 1]
        share = sum(each[2] == 200 for each in around) / NUMBER / (recovered + 1 - began)
        print(f"{what}: {100 * share:.0f} % of N admitted around it; shares moved again after "
              f"{recovered - began:.1f} s", flush=True)
        report(f"shared limits on a Cluster: {what}", "at least 80 % of N",
               f"{100 * share:.0f} %, shares moved again after {recovered - began:.1f} s",
               share >= 0.8)
        self.assertGreater(share, 0)


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
        for i in range(200):
            self.assertEqual(fetch(gateways[i % 2].port, target="/key",
                                   fields=[("X-Key", f"a-{i}")]).status, 200)
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
