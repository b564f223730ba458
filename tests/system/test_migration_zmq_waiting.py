"""A zmq locker's users (docs/migrating.md): takes that wait in place of a refusal, and limits on proxied requests."""

import threading
import time
import unittest

from support.case import SystemTest, scaled
from support.load import Load
from support.messages import response_bytes
from support.permits_case import PermitsTest, milliseconds
from support.permits_client import PermitClient, crowd, percentile, permits_port, takes, windows

FIVE = {"requests": 5, "per": "0.8s"}


class WaitingTakes(PermitsTest):
    topic = "zmq server, waiting"

    def before_the_end(self, seconds: float, per: float, asks: int, wait: float):
        """5 per `per`, used up; `asks` clients that ask, one after the other, so long before the end."""
        stint = self.permits({"turns": {"requests": 5, "per": f"{per}s"}})
        first = self.client(stint)
        opened = first.take("turns").sent
        self.assertEqual([first.take("turns").status for _ in range(5)], [200] * 4 + [429])
        time.sleep(max(0.0, opened + per - seconds - time.monotonic()))
        clients = []
        for _ in range(asks):
            client = self.client(stint)
            client.asks("turns", wait_ms=int(wait * 1000))
            clients.append(client)
            time.sleep(0.02)
        return stint, clients

    def test_no_more_are_parked_than_the_next_window_holds(self):
        _, clients = self.before_the_end(1.0, 2.0, 8, 1.5)

        refused = [client.read() for client in clients[5:]]
        granted = [client.read() for client in clients[:5]]

        self.assertEqual([answer.status for answer in refused + granted], [429] * 3 + [200] * 5)
        self.assertLess(max(answer.took for answer in refused), 0.5)  # at once, not after the wait
        self.assertGreater(granted[0].body["waited_ms"], 100)

    def test_the_parked_go_in_the_order_in_which_they_came(self):
        stint = self.permits({"turns": {"requests": 1, "per": "1s"}})
        clients = [self.client(stint) for _ in range(4)]
        self.assertTrue(clients[0].take("turns").granted)
        for number, client in enumerate(clients):
            client.asks("turns", wait_ms=10_000)
            self.wait_for_waiting(stint, number + 1)

        answers = [client.read() for client in clients]

        self.assertEqual([answer.status for answer in answers], [200] * 4)
        waited = [answer.body["waited_ms"] + answer.sent * 1000 for answer in answers]
        self.assertEqual(waited, sorted(waited))

    def test_parked_clients_that_are_killed_leave_their_slots_to_others(self):
        stint, clients = self.before_the_end(2.0, 3.0, 5, 2.9)
        for client in clients[1:4]:
            client.close()
        self.wait_for_waiting(stint, 2)

        others = [self.client(stint) for _ in range(4)]
        for client in others:
            client.asks("turns", wait_ms=2900)
            time.sleep(0.02)
        statuses = [client.read().status for client in (clients[0], clients[4], *others)]

        self.count("3 of 5 parked killed, their slots", "3 others go", statuses[2:].count(200),
                   statuses == [200] * 5 + [429])

    def test_text_clients_that_wait_up_to_200_ms(self):
        seconds = scaled(2.0, 6.0)
        stint = self.permits({"turns": {**FIVE, "anchor": "clock"}})
        time.sleep((0.6 - time.time()) % 0.8)  # 6 s from here touch nine windows

        def rest(answer):  # each go is followed by work; who is refused comes back for the opening
            return 0.9 if answer.granted else max(0.0, answer.retry_after - 0.1)

        answers = crowd(permits_port(stint), takes("turns", 8, wait_ms=200), seconds, rest)

        seen = [len(window) for window in windows(answers, 0.8)]
        self.assertLessEqual(max(seen), 5)
        longest = max(answer.took for answer in answers)
        self.figure("latest answer, wait_ms 200", "<= 205 ms", milliseconds(longest), longest <= 0.205)
        self.figure("5 per 0.8 s, 8 text clients, 6 s", ">= 40, 5 a window", seen, sum(seen) >= 40)
        longest = max(self.needs(answers))
        self.figure("longest from need to go", "<= 0.75 s", f"{longest:.2f} s", longest <= 0.75)

    def needs(self, answers):
        """Of each go: since when its client has wanted it."""
        since, found = {}, []
        for answer in sorted(answers, key=lambda answer: answer.received):
            asked = since.setdefault(answer.client, answer.sent)
            if answer.granted:
                found.append(answer.received - asked)
                del since[answer.client]
        return found

    def test_another_limit_is_not_held_up(self):
        stint = self.permits({"turns": FIVE, "other": {"requests": 1_000_000, "per": "1h"}})
        port, took, stop = permits_port(stint), [], threading.Event()

        def asks_another():
            with PermitClient(port) as client:
                while not stop.wait(0.005):
                    took.append(client.take("other").took)

        thread = threading.Thread(target=asks_another)
        thread.start()
        # Those who wait are quiet, and so is this process but for the one thread.
        crowd(port, takes("turns", 8, wait_ms=200), scaled(1.0, 6.0), lambda answer: 0.05)
        stop.set()
        thread.join()

        p99 = percentile(took, 0.99)
        self.figure("another limit meanwhile, p99", "<= 1 ms", milliseconds(p99), p99 <= 0.001)
        self.assertLess(percentile(took, 0.5), 0.1)


class EndOfWindow(PermitsTest):
    topic = "zmq server, end of window"

    def test_usable_again_when_the_window_ends(self):
        rounds = scaled(4, 20)
        stint = self.permits({"turns": {"requests": 1, "per": "0.5s"}})
        client = self.client(stint)
        self.assertTrue(client.take("turns").granted)
        late = []

        for _ in range(rounds):
            refused = client.take("turns")
            if refused.granted:  # a busy machine: the window was over already
                continue
            opening = refused.sent + refused.retry_after - 0.001  # no later than it is
            parked = client.take("turns", wait_ms=2000)
            self.assertTrue(parked.granted)
            late.append(parked.received - opening)

        self.figure(f"go after the end of the window, latest of {rounds}", "<= 5 ms",
                    milliseconds(max(late)), max(late) <= 0.005)
        self.assertGreaterEqual(min(late), 0.0)


class ProxiedRequests(SystemTest):
    """The gateway limits the requests that it forwards to the upstream."""

    def noting(self):
        came, lock = [], threading.Lock()

        def script(connection):
            while True:
                connection.read_request_head()
                with lock:
                    came.append(time.time())
                connection.send(response_bytes())

        return script, came

    def through(self, **limit):
        script, came = self.noting()
        upstream = self.start_upstream(script)
        stint = self.stint_before(
            upstream, route_limits=["turns"],
            limits={"turns": {"requests": 50, "per": "1s", "anchor": "clock", **limit}})
        time.sleep(1.05 - time.time() % 1)
        with Load(stint.port, connections=16) as load:
            time.sleep(scaled(2.0, 6.0))
        self.assertEqual(load.failures, [])
        return came, load.statuses

    def test_the_upstream_sees_what_was_admitted_and_nothing_else(self):
        came, statuses = self.through()

        self.assertEqual(len(came), statuses[200])
        self.assertEqual(set(statuses), {200, 429})
        self.assert_windows(came)

    def test_those_who_wait_in_the_path_see_no_refusal(self):
        came, statuses = self.through(when_exceeded="wait", max_wait="10s")

        self.assertEqual(len(came), statuses[200])
        self.assertEqual(set(statuses), {200})
        self.assert_windows(came)

    def assert_windows(self, came):
        seconds = [int(at) for at in came]
        seen = [seconds.count(second) for second in sorted(set(seconds))]
        self.assertEqual(seen[:-1], [50] * (len(seen) - 1))
        self.assertLessEqual(seen[-1], 50)


if __name__ == "__main__":
    unittest.main()
