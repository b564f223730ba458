"""Users of a lock over a Redis counter (docs/migrating.md): a crawler's stages, all in the configuration. One worker
may be in stage list, three in product, any number in comments."""

import contextlib
import math
import mmap
import signal
import time
import unittest

from support.case import scaled
from support.locks_case import LocksTest
from support.permits_case import gateway_url as url
from support.permits_client import permits_port
from support.processes import Inside
from support.tap import Tap
from support.waiting import wait_until

from stint import Lock, LockFailureException

INSTANCES = 8
PAGE = 0.01  # seconds
MOST = {"list": None, "product": None, "comments": math.inf}  # None: what the plan says


class Crawl:
    """Instances that take pages of the first stage with room, until they are told to finish."""

    def __init__(self, test, stint):
        self.inside = {stage: Inside(INSTANCES) for stage in MOST}
        self.begin = time.monotonic() + 0.3
        self._finished = mmap.mmap(-1, 1)  # shared with the instances
        self._url = url(stint)
        self.instances = [test.child(lambda pipe, number=number: self._work(pipe, number))
                          for number in range(INSTANCES)]

    def _work(self, pipe, number: int) -> None:
        pages = dict.fromkeys(self.inside, 0)
        stages = {stage: Lock(stage, most, url=self._url, owner=f"{number}") for stage, most in MOST.items()}
        time.sleep(max(0.0, self.begin - time.monotonic()))
        while not self._finished[0]:
            for stage, lock in stages.items():
                with contextlib.suppress(LockFailureException), lock:
                    self.inside[stage].enter(number)
                    time.sleep(PAGE)
                    self.inside[stage].leave(number)
                    pages[stage] += 1
                    break
        pipe.send(pages)

    def kill(self, number: int) -> None:
        """Frozen first, so that it says nothing wrong about where it is."""
        instance = self.instances[number]
        instance.signal(signal.SIGSTOP)
        for stage in self.inside.values():
            stage.leave(number)
        instance.signal(signal.SIGKILL)

    def until(self, seconds: float, most: tuple) -> None:
        """So many seconds of crawling, and on a busy machine until as many have been inside list and product."""
        time.sleep(max(0.0, self.begin + seconds - time.monotonic()))
        wait_until(lambda: self.most >= most, f"{most} inside")

    def finish(self, alive) -> dict:
        """The pages of these instances in all."""
        self._finished[0] = 1
        told = [self.instances[number].hear() for number in alive]
        return {stage: sum(pages[stage] for pages in told) for stage in self.inside}

    @property
    def most(self):
        """Ever inside list and product."""
        return self.inside["list"].most, self.inside["product"].most


class Stages(LocksTest):
    topic = "Redis lock, crawl stages"
    PLAN = {"list": {"max": 1}, "product": {"max": 3}}

    def test_each_stage_keeps_its_number_and_is_full(self):
        stint = self.locks(self.PLAN)
        crawl = Crawl(self, stint)
        crawl.until(scaled(1.5, 8.0), (1, 3))

        pages = crawl.finish(range(INSTANCES))

        self.count("8 instances: most inside list, product", "1, 3", f"{crawl.most[0]}, {crawl.most[1]}",
                   crawl.most == (1, 3))
        self.assertGreater(pages["comments"], 0)
        self.figure("pages of list in 8 s", ">= 600", pages["list"], pages["list"] >= 600)
        self.figure("pages of product in 8 s", ">= 1850", pages["product"], pages["product"] >= 1850)
        self.assertEqual([lock["lock"] for lock in stint.admin.get("/v1/locks")["locks"]], ["list", "product"])
        self.assertEqual([self.held(stint, stage) for stage in self.PLAN], [0, 0])

    def test_the_slots_of_the_killed_are_used_again(self):
        seconds = scaled(0.8, 4.0)
        stint = self.locks(self.PLAN)
        crawl = Crawl(self, stint)
        crawl.until(seconds, (1, 3))

        killed = self.killed(stint, crawl)
        since = time.monotonic()
        wait_until(lambda: [self.held(stint, stage) for stage in self.PLAN] == [1, 3], "the stages are full",
                   pause=0.001)
        took = time.monotonic() - since

        time.sleep(seconds)
        pages = crawl.finish(sorted(set(range(INSTANCES)) - killed))
        self.figure("3 of 8 killed -9: the stages are full again after", "<= 1 s", f"{took:.3f} s", took <= 1)
        self.count("3 of 8 killed -9: most inside list, product", "1, 3", f"{crawl.most[0]}, {crawl.most[1]}",
                   crawl.most == (1, 3))
        self.assertGreater(min(pages.values()), 0)
        self.assertEqual([self.held(stint, stage) for stage in self.PLAN], [0, 0])

    def killed(self, stint, crawl) -> set:
        """Three, and who was seen to hold a slot before the others."""
        holding = [int(holder["owner"]) for stage in self.PLAN for holder in self.shown(stint, stage)["holders"]]
        killed = set(list(dict.fromkeys([*holding, *range(INSTANCES)]))[:3])
        for number in killed:
            crawl.kill(number)
        return killed

    def test_a_stage_without_bound_costs_no_call(self):
        tap = Tap(permits_port(self.locks(self.PLAN)))
        self.addCleanup(tap.close)
        for _ in range(100):
            with Lock("comments", math.inf, url=f"http://{tap.address}"):
                pass

        self.count("100 times a stage without bound: connections", "0", tap.connections, tap.connections == 0)

    def test_a_reload_changes_the_plan(self):
        each = scaled(1.0, 3.0)
        stint = self.locks(self.PLAN)
        crawl = Crawl(self, stint)
        crawl.until(each, (1, 3))
        before = crawl.most
        stint.write({**stint.config, "locks": {**self.PLAN, "product": {"max": 5}}})

        self.assertEqual(stint.admin.reload().status, 200)

        crawl.until(2 * each, (1, 5))
        crawl.finish(range(INSTANCES))
        self.count("a reload from 1 : 3 to 1 : 5: most inside before, after", "1 : 3, 1 : 5",
                   f"{before[0]} : {before[1]}, {crawl.most[0]} : {crawl.most[1]}",
                   before == (1, 3) and crawl.most == (1, 5))


if __name__ == "__main__":
    unittest.main()
