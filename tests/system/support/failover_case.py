"""Gateways that share limits on servers of which one may be lost, and what they admit meanwhile."""

import math
import os
import time

from .case import SystemTest, config, report, scaled
from .client import fetch
from .load import Load, most_in_a_span
from .waiting import wait_until

ANSWER = {"respond": {"status": 200, "body": "yes"}}
NUMBER = 100  # for each second
LIMITS = {"all": {"requests": NUMBER, "per": "1s", "algorithm": "sliding_window", "shared": "main"},
          "each": {"requests": 2, "per": "1h", "key": "header:X-Key", "shared": "main"}}
FAILOVERS = int(os.environ.get("STINT_FAILOVERS", scaled(2, 20)))  # of each kind


class FailoverTest(SystemTest):
    def place(self, **_) -> dict:
        """The keys of a store that say where it is; with the test's own arguments of gateway()."""
        raise NotImplementedError

    def gateway(self, name, **place):
        """Requests for / count as `all`, those for /key as `each`."""
        made = config("127.0.0.1:1", limits=LIMITS, gateway_id=name,
                      stores={"main": {**self.place(**place), "session": "15s"}})
        del made["upstreams"]
        made["routes"] = [
            {"name": "key", "match": {"path": "/key"}, "limits": ["each"], **ANSWER},
            {"name": "all", "match": {"path": "/"}, "limits": ["all"], **ANSWER}]
        return self.start_stint(made)

    def gateways(self, count, **place):
        made = [self.gateway(f"edge-{i}", **place) for i in range(count)]
        for stint in made:
            wait_until(lambda: self.store(stint)["state"] == "ready", "a session", 20)
        self.assertEqual(made[0].admin.request("POST", "/stores/main/trust").status, 202)
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
        """All answers to the load, which never were above the number. Call it when shares move again: it goes on
        until tell() has whole windows."""
        time.sleep(2)
        for load in loads:
            load.finish()
            self.assertEqual(load.failures, [])
        kept = [each for load in loads for each in load.kept]
        self.assertLessEqual(most_in_a_span(kept, 1), NUMBER)
        return kept

    def tell(self, kept, what, began, recovered):
        # Whole windows: else the share would tell whether the first or the last of them began with a burst.
        windows = math.ceil(recovered + 1 - began)
        around = [each for each in kept if began <= each[1] < began + windows]
        share = sum(each[2] == 200 for each in around) / NUMBER / windows
        seen = (f"{100 * share:.0f} % of N admitted around it; shares moved again after "
                f"{recovered - began:.1f} s")
        print(f"{what}: {seen}", flush=True)
        report(f"shared limits: {what}", "at least 80 % of N", seen, share >= 0.8)
        self.assertGreater(share, 0)
