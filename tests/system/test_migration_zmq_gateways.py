"""A zmq locker's users (docs/migrating.md): several servers with one limit."""

import threading
import time
import unittest

from support.case import scaled
from support.demand import Demand, Station
from support.permits_case import PermitsTest
from support.permits_client import permits_port, post, take_path
from support.ports import free_port
from support.relay import Relay
from support.shared_case import SharedTest
from support.shared_rows import Judged
from support.wall_clock import WallClock

NUMBER, PER = 100, 1.0
CLIENTS = 8
WITHOUT_PAUSE = scaled(300, 1e6)  # asked of a node a second, at most
LIMITS = {
    "window": {"requests": NUMBER, "per": "1s", "anchor": "clock", "shared": "main"},
    "strict": {"requests": NUMBER, "per": "1s", "algorithm": "sliding_window", "shared": "main"},
}


class SeveralGateways(SharedTest, PermitsTest):
    topic = "zmq server, several gateways"

    def nodes(self, count, *, relays=(), preexecs=(), store=None) -> list:
        """relays, preexecs: by node, if it has one. store: further settings of the store."""
        nodes = [self.gateway(
            LIMITS, name=f"edge-{i}", permits={"address": f"127.0.0.1:{free_port()}"},
            store_port=dict(relays).get(i), within={"preexec": dict(preexecs).get(i)}, store=store or {}) for i in range(count)]
        for node in nodes:
            self.wait_until_ready(node)
        self.trust(nodes[0])
        return nodes

    def play(self, nodes, limit, seconds, spans=None, meanwhile=lambda begin: None) -> Judged:
        """Of takes by 8 clients without pause at all nodes, or at those that `spans` has, when it says so."""
        spans = spans or [((0.0, seconds),)] * len(nodes)
        stations = []
        for number, node in enumerate(nodes):
            for span in spans[number]:
                sharing = sum(any(begin <= span[0] < end for begin, end in each) for each in spans)
                stations.append(Station(
                    limit, number, permits_port(node), WITHOUT_PAUSE, (span,), connections=CLIENTS // sharing,
                    request=post(take_path(limit), {})))
        with Demand(stations, seconds) as demand:
            self.begin = demand.begin
            thread = threading.Thread(target=meanwhile, args=(demand.begin,), daemon=True)
            thread.start()
            answers = demand.answers()
            thread.join()
        judged = Judged("clock" if limit == "window" else "sliding_window", NUMBER, PER, answers)
        self.assertLessEqual(set(judged.statuses), {200, 429, 503})
        return judged

    def never_above(self, name, judged) -> None:
        most, promised = judged.most()
        self.count(name, f"<= {promised}", most, most <= promised)

    def a_second(self, judged, begin, end) -> float:
        """Admitted in each, on average, from the middle of a window on, and in whole ones."""
        ahead = time.time() - time.monotonic()
        first = (self.begin + begin + ahead + 0.499) // 1 + 0.5 - ahead
        whole = int(self.begin + end - first)
        return judged.parts(first, first + whole)[1] * NUMBER if whole > 0 else 0.0

    def test_each_window_of_all_nodes(self):
        seconds = scaled(2.2, 8.0)
        for count in (2, 4):
            nodes = self.nodes(count)
            for limit, what in (("window", "most in a window"), ("strict", "most in any second")):
                judged = self.play(nodes, limit, seconds)
                self.never_above(f"{count} nodes, {what}", judged)
                mean = self.a_second(judged, 1.0, seconds)
                self.figure(f"{count} nodes, {limit}, a second", ">= 95", f"{mean:.1f}", mean >= 95)
            for node in nodes:
                node.stop()

    def test_all_clients_go_to_one_node(self):
        before, seconds = scaled((1.0, 4.0), (4.0, 10.0))
        nodes = self.nodes(4)
        alone = ((0.0, before), (before, seconds))
        judged = self.play(nodes, "strict", seconds, [alone, *[((0.0, before),)] * 3])
        self.never_above("all clients go to one node, most in any second", judged)
        after = self.a_second(judged, before + 2 * PER, seconds)
        self.figure("all clients at one node, a second, after 2 windows", ">= 95", f"{after:.1f}", after >= 95)

    def test_a_node_is_killed(self):
        at, seconds = scaled((1.0, 2.5), (3.0, 15.0))
        # What a dead gateway held is free a session and a little more than `per` later.
        nodes = self.nodes(4, store=scaled({}, {"session": "500ms"}))
        rest = ((0.0, at), (at, seconds))

        def kill(begin):
            time.sleep(max(0.0, begin + at + 0.1 - time.monotonic()))
            nodes[3].kill()
        judged = self.play(nodes, "strict", seconds, [rest, rest, rest, ((0.0, at),)], kill)
        self.never_above("a node is killed, most in any second", judged)
        steps = [at + 0.1 + i / 4 for i in range(int((seconds - at - 1.2) * 4))]
        again = next((step for step in steps
                      if judged.parts(self.begin + step, self.begin + step + 1)[1] >= 0.9), seconds)
        self.figure("a node of 4 is killed, until 90 a second", "<= 2 s", f"{again - at:.1f} s", again - at <= 2)

    def test_the_link_of_a_node_is_cut(self):
        at, length, seconds = scaled((1.0, 0.5, 2.6), (3.0, 3.0, 10.0))
        relay = Relay(self.redis.port)
        self.addCleanup(relay.close)
        nodes = self.nodes(2, relays={1: relay.port}.items())

        def cut(begin):
            time.sleep(max(0.0, begin + at - time.monotonic()))
            relay.cut()
            time.sleep(max(0.0, begin + at + length - time.monotonic()))
            relay.mend()
        judged = self.play(nodes, "strict", seconds, meanwhile=cut)
        self.never_above("a link is cut, most in any second of both sides", judged)
        back = self.a_second(judged, at + length + scaled(0, 2), seconds)
        self.figure("the link is back, a second, after 2 s", ">= 95", f"{back:.1f}", back >= 95)

    def test_the_clock_of_a_node_is_wrong(self):
        seconds = scaled(2.2, 8.0)
        wall = WallClock(self.folder / "clock")
        wall.set(5)
        nodes = self.nodes(2, preexecs={1: wall.preexec}.items())
        judged = self.play(nodes, "strict", seconds)
        self.never_above("a node's clock is 5 s ahead, most in any second", judged)
        mean = self.a_second(judged, 1.0, seconds)
        self.figure("a node's clock is 5 s ahead, a second", ">= 95", f"{mean:.1f}", mean >= 95)


if __name__ == "__main__":
    unittest.main()
