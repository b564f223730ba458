"""A zmq locker's users (docs/migrating.md): changes of the wall clock, restarts, and hostile clients."""

import multiprocessing
import time
import unittest

from support import hostile
from support.case import scaled
from support.permits_case import PermitsTest, milliseconds
from support.permits_client import crowd, percentile, permits_port, takes, windows
from support.wall_clock import WallClock


class ClockChange(PermitsTest):
    topic = "zmq server, clock change"

    def test_a_clock_that_is_set_changes_nothing(self):
        seconds = scaled(1.3, 3.0)
        wall = WallClock(self.folder / "clock")
        stint = self.permits({"turns": {"requests": 5, "per": "0.5s"}}, preexec=wall.preexec)

        for name, offset in (("as it is", 0), ("set back by an hour", -3600), ("set forward by an hour", 3600)):
            with self.subTest(name):
                wall.set(offset)
                answers = crowd(permits_port(stint), takes("turns", 1), seconds, lambda _: 0.01)

                seen = [len(window) for window in windows(answers, 0.5)]
                self.assertEqual((max(seen), set(seen[1:-1]) | {5}), (5, {5}), seen)
                self.assertGreaterEqual(sum(seen), 10)
                self.figure(f"5 per 0.5 s, 3 s, clock {name}", "25 to 35", sum(seen), 25 <= sum(seen) <= 35)
                self.assertTrue(wall.shows(stint, offset), "the test's own clock was not set")


class Restart(PermitsTest):
    topic = "zmq server, restart"
    LIMITS = {"turns": {"requests": 5, "per": "30s"}}

    def killed_and_started(self, stint):
        stint.kill()
        stint.start()
        return self.client(stint)

    def used_up(self):
        stint = self.permits(self.LIMITS, state={"file": str(self.folder / "state.db")})
        client = self.client(stint)
        begun = time.monotonic()
        self.assertEqual([client.take("turns").status for _ in range(6)], [200] * 5 + [429])
        return stint, begun

    def test_a_kill_does_not_refill_what_was_written(self):
        stint, begun = self.used_up()
        time.sleep(1.5)  # it is written every second

        client = self.killed_and_started(stint)

        answers = [client.take("turns") for _ in range(8)]
        self.count("8 asks after SIGKILL and a start, state kept", "0 go",
                   sum(answer.granted for answer in answers), not any(answer.granted for answer in answers))
        self.assertLessEqual(answers[0].retry_after, 30 - (answers[0].sent - begun) + 0.1)
        self.assertGreater(answers[0].retry_after, 15)
        if scaled(False, True):
            self.until_it_opens(client, begun, "state kept")

    def test_closed_at_the_start_until_a_window_has_passed(self):
        stint, begun = self.used_up()
        stint.write({**stint.config, "state": {**stint.config["state"], "on_start": "closed"}})

        client = self.killed_and_started(stint)

        answers = [client.take("turns") for _ in range(8)]
        self.count("8 asks after SIGKILL at once, on_start: closed", "0 go",
                   sum(answer.granted for answer in answers), not any(answer.granted for answer in answers))
        self.assertLessEqual(answers[0].retry_after, 30)
        if scaled(False, True):
            self.until_it_opens(client, begun, "on_start: closed")

    def until_it_opens(self, client, begun, name):
        """Asks every 0.1 s: nothing before the 30 s are over, five then."""
        while not (answer := client.take("turns")).granted:
            time.sleep(0.1)
            self.assertLess(time.monotonic() - begun, 40)
        after = answer.received - begun
        self.count(f"the first go after the first, {name}", ">= 30 s", f"{after:.2f} s", after >= 30)
        self.assertEqual([client.take("turns").status for _ in range(5)], [200] * 4 + [429])

    def test_a_reload_refills_nothing_and_cuts_no_connection(self):
        stint = self.permits(self.LIMITS)
        client = self.client(stint)
        self.assertEqual([client.take("turns").status for _ in range(5)], [200] * 5)

        self.assertEqual(stint.admin.reload().status, 200)

        seen = [client.take("turns").status for _ in range(8)]
        self.count("8 asks on the old connection after a reload", "0 go", seen.count(200), seen == [429] * 8)


def good_clients(port: int, seconds: float, to) -> None:
    """Four of them, at a pace that leaves the machine room; what they saw goes into a pipe."""
    answers = crowd(port, takes("wide", 4), seconds, lambda _: 0.002)
    to.send(([answer.took for answer in answers], {answer.status for answer in answers}))


class HostileClients(PermitsTest):
    topic = "zmq server, hostile clients"

    def test_no_client_ends_it_or_stalls_the_others(self):
        seconds = scaled(0.6, 5.0)
        stint = self.permits({"wide": {"requests": 10_000_000, "per": "1h"}}, max_connections=900)
        port, pid = permits_port(stint), stint.pid
        usual = self.p99(port, seconds, lambda *_: time.sleep(seconds))

        for harm in hostile.ALL:
            with self.subTest(harm.__name__):
                seen = self.p99(port, seconds, harm)
                self.figure(f"4 good clients' p99 beside {harm.__name__.replace('_', ' ')}",
                            f"<= 2 x {milliseconds(usual)}", milliseconds(seen), seen <= 2 * usual)
                self.assertEqual(stint.process.poll(), None)
        self.assertEqual(stint.pid, pid)
        self.assertTrue(self.client(stint).take("wide").granted)

    def p99(self, port, seconds, harm) -> float:
        here, there = multiprocessing.Pipe()
        good = multiprocessing.get_context("fork").Process(target=good_clients, args=(port, seconds, there))
        good.start()
        harm(port, seconds)
        self.assertTrue(here.poll(30), "the good clients are stuck")
        took, statuses = here.recv()
        good.join()
        self.assertEqual(statuses, {200})
        return percentile(took, 0.99)


if __name__ == "__main__":
    unittest.main()
