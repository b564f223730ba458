"""Four gateways under load while their store, or what is between them, fails.

What is admitted stays within each limit's number throughout, by the bounds of test_shared_rows.py, and what docs/shared.md
says of the fault is seen. scripts/acceptance has the faults that last, 30 s in place of a second, and those that
scripts/test has elsewhere."""

import signal
import threading
import time
import unittest

from support.case import FULL, report, scaled
from support.redis import Redis
from support.relay import Relay
from support.shared_case import SharedTest
from support.shared_rows import GATEWAYS, Judged, asked_of, limit_of
from support.waiting import wait_until
from support.wall_clock import WallClock

NUMBER, PER = scaled((60, 0.5), (200, 1.0))
RATE = 2.3 * NUMBER / PER  # of each limit over all gateways
LAST = scaled(1.2, 30.0)  # seconds that a fault lasts
SESSION = scaled(5, 15)
BEFORE, AFTER = 1.0, scaled(1.0, 10.0)


elsewhere = unittest.skipUnless(FULL, "the stores' unit tests, or test_shared_limits.py, have its short form")


class FaultsTest(SharedTest):
    def setUp(self):
        super().setUp()
        self.relay = Relay(self.redis.port)
        self.addCleanup(self.relay.close)

    def limits(self, **policies) -> dict:
        """By name: a sliding window, or another algorithm, with that policy."""
        return {name: limit_of(algorithm, NUMBER, PER, False, shared={"store": "main", "on_store_failure": policy})
                for name, (algorithm, policy) in policies.items()}

    def play(self, title, gateways, limits, begins=lambda: None, ends=lambda: None, after=AFTER) -> dict:
        """What became of each limit. The fault begins at `broken` and ends at `mended`, for LAST seconds."""
        failures = []

        def act(begin):
            self.broken = begin + BEFORE
            self.mended = self.broken + LAST
            self.over = self.mended + after

            def steps():
                try:
                    time.sleep(max(0.0, self.broken - time.monotonic()))
                    begins()
                    time.sleep(max(0.0, self.mended - time.monotonic()))
                    ends()
                except Exception as failure:  # pylint: disable=broad-except
                    failures.append(failure)
            thread = threading.Thread(target=steps, daemon=True)
            thread.start()
            self.addCleanup(thread.join)

        spans = [((0.0, BEFORE + LAST + after),)] * len(gateways)
        _, answers = asked_of(
            gateways, [(name, ("",), RATE, spans) for name in limits], BEFORE + LAST + after, act)
        self.assertEqual(failures, [])
        judged = {}
        for name, limit in limits.items():
            one = judged[name] = Judged(self.kind_of(limit), NUMBER, PER, answers[name])
            most, promised = one.most()
            is_open = limit["shared"]["on_store_failure"] == "open"
            if is_open:  # the only policy that may exceed it
                promised *= GATEWAYS
            report(f"shared, {title}, {name}: most of {NUMBER} per {PER:g} s", f"<= {promised}", f"{most:.0f}",
                   most <= promised)
            parts = [f"{one.parts(*span)[1]:.0%}" for span in
                     ((self.broken - 1, self.broken), (self.broken, self.mended), (self.mended, self.over))]
            report(f"shared, {title}, {name}: of N before, while and after it", "a figure", ", ".join(parts), True)
            self.assertLessEqual(most, promised, f"{title}, {name}")
            self.assertLessEqual(set(one.statuses), {200, 429, 503})
        return judged

    @staticmethod
    def kind_of(limit) -> str:
        return "clock" if limit.get("anchor") else limit["algorithm"]

    def through_the_relay(self, limits, **more) -> list:
        return self.gateways(GATEWAYS, limits, per_route=True, store={"session": f"{SESSION}s"},
                             store_port=self.relay.port, **more)

    def states(self, gateways) -> set:
        return {self.store(stint)["state"] for stint in gateways}

    def assert_served(self, judged, begin, end) -> None:
        """Some are admitted, and none is told that the store is missing."""
        seen = judged.between(begin, end)
        self.assertGreater(seen[200], 0, seen)
        self.assertEqual(seen[503], 0, seen)

    def wait_until_all_are(self, gateways, state) -> None:
        wait_until(lambda: self.states(gateways) == {state}, f"stores that are {state}", 30)


class Gone(FaultsTest):
    def test_each_policy(self):
        limits = self.limits(share=("sliding_window", "share"), open=("sliding_window", "open"),
                             closed=("sliding_window", "closed"))
        gateways = self.through_the_relay(limits)
        # A server that has forgotten everything after so long is a new one.
        after = scaled(AFTER, SESSION + PER + 10)

        judged = self.play("store down", gateways, limits, self.redis.kill, self.redis.start, after)

        noticed, ended = self.broken + 0.5, self.broken + 2 / 3 * SESSION
        self.assert_served(judged["share"], noticed, min(self.mended, ended - 1))
        self.assertGreater(judged["open"].between(noticed, self.mended)[200], 0)
        self.assertEqual(set(judged["closed"].between(noticed, self.mended)), {503})
        if FULL:
            self.assertEqual(set(judged["share"].between(ended + 1, self.mended)), {503})
            for one in judged.values():
                self.assertGreater(one.between(self.over - 5, self.over)[200], 0)
        self.wait_until_all_are(gateways, "ready")

    def test_a_black_hole(self):
        limits = self.limits(sliding=("sliding_window", "share"), clock=("clock", "share"))
        gateways = self.through_the_relay(limits)
        down = []

        def look_and_mend():
            down.extend(self.states(gateways))
            self.relay.mend()

        judged = self.play("black hole", gateways, limits, self.relay.cut, look_and_mend)

        if FULL:  # the time for an answer is longer than the short fault
            self.assertEqual(set(down), {"down"})
        else:
            for one in judged.values():
                self.assertGreater(one.between(self.broken, self.mended)[200], 0)
        self.wait_until_all_are(gateways, "ready")

    @elsewhere
    def test_a_password_that_is_wrong(self):
        limits = self.limits(sliding=("sliding_window", "share"))
        gateways = self.through_the_relay(limits)
        states = set()

        def lock():
            self.redis.command("CONFIG", "SET", "requirepass", "other")
            for kind in ("normal", "pubsub"):
                self.redis.command("-a", "other", "--no-auth-warning", "CLIENT", "KILL", "TYPE", kind)

        def unlock():
            states.update(self.states(gateways))
            self.redis.command("-a", "other", "--no-auth-warning", "CONFIG", "SET", "requirepass", "")

        judged = self.play("wrong password", gateways, limits, lock, unlock)

        self.assertLessEqual(states, {"down", "unfit"})
        self.assert_served(judged["sliding"], self.broken, min(self.mended, self.broken + 2 / 3 * SESSION - 1))
        self.wait_until_all_are(gateways, "ready")


class Slow(FaultsTest):
    def test_answers_after_200_ms(self):
        limits = self.limits(sliding=("sliding_window", "share"), clock=("clock", "share"))
        gateways = self.through_the_relay(limits)

        def delay(seconds):
            self.relay.delay = seconds

        judged = self.play("store at 200 ms", gateways, limits, lambda: delay(0.1), lambda: delay(0.0))

        for one in judged.values():
            self.assertGreater(one.between(self.broken + 0.5, self.mended)[200], 0)
        self.wait_until_all_are(gateways, "ready")


class Forgetful(FaultsTest):
    def test_scripts_are_flushed(self):
        limits = self.limits(sliding=("sliding_window", "share"), bucket=("token_bucket", "share"))
        gateways = self.through_the_relay(limits)

        judged = self.play("SCRIPT FLUSH", gateways, limits, lambda: self.redis.command("SCRIPT", "FLUSH"))

        for one in judged.values():
            self.assertGreater(one.between(self.broken, self.over)[200], 0)
        self.assertEqual(self.states(gateways), {"ready"})

    def test_all_is_flushed(self):
        limits = self.limits(sliding=("sliding_window", "share"), clock=("clock", "share"))
        gateways = self.through_the_relay(limits)

        judged = self.play("FLUSHALL", gateways, limits, lambda: self.redis.command("FLUSHALL"))

        for one in judged.values():
            self.assertGreater(one.between(self.broken, self.over)[200], 0)
        self.wait_until_all_are(gateways, "ready")

    @elsewhere
    def test_memory_is_full(self):
        limits = self.limits(sliding=("sliding_window", "share"))
        gateways = self.through_the_relay(limits)

        judged = self.play(
            "full memory", gateways, limits, lambda: self.redis.command("CONFIG", "SET", "maxmemory", "1"),
            lambda: self.redis.command("CONFIG", "SET", "maxmemory", "0"))

        self.assertGreater(judged["sliding"].between(self.broken, self.mended)[200], 0)
        self.assertGreater(judged["sliding"].between(self.mended, self.over)[200], 0)
        self.wait_until_all_are(gateways, "ready")


class Clocks(FaultsTest):
    def setUp(self):
        super().setUp()
        self.wall = WallClock(self.folder / "clock")
        self.redis = Redis(self, preexec=self.wall.preexec_redis)
        self.relay = Relay(self.redis.port)
        self.addCleanup(self.relay.close)

    def step(self, seconds) -> None:
        limits = self.limits(sliding=("sliding_window", "share"), bucket=("token_bucket", "share"))
        gateways = self.through_the_relay(limits)
        before = int(self.redis.command("TIME").split()[0])

        judged = self.play(f"store's clock {seconds:+} s", gateways, limits, lambda: self.wall.set(seconds))

        self.assertGreater(abs(int(self.redis.command("TIME").split()[0]) - before), 3000)
        for one in judged.values():
            self.assertGreater(one.between(self.broken, self.over)[200], 0)
        self.wait_until_all_are(gateways, "ready")

    def test_the_store_s_clock_is_put_forward(self):
        self.step(3600)

    def test_what_is_used_up_stays_so_when_the_clock_is_put_forward(self):
        first, second = self.gateways(2, {"all": {"requests": 10, "per": "1h", "shared": "main"}})
        self.assertEqual(self.statuses(first, 10), [200] * 10)
        self.wall.set(5 * 3600)  # the TTL of the counter is shorter
        for _ in range(20):
            self.assertIn(self.statuses(second, 1), ([429], [503]))
            time.sleep(0.02)

    def test_the_store_s_clock_is_put_back(self):
        self.step(-3600)


class Twins(FaultsTest):
    @elsewhere
    def test_a_clone_is_refused_and_its_clients_with_it(self):
        """A machine that was copied, with its gateway_id."""
        limits = self.limits(sliding=("sliding_window", "share"))
        gateways = self.through_the_relay(limits)
        clone = self.gateway(limits, name="edge-0", per_route=True, store={"session": f"{SESSION}s"})
        wait_until(lambda: self.store(clone)["state"] == "taken", "the refusal")

        judged = self.play("a clone", [*gateways, clone], limits)

        answers = judged["sliding"].answers
        self.assertEqual({one.status for one in answers if one.gateway == GATEWAYS}, {503})
        self.assertIn("another process is gateway edge-0", clone.log())


class Paused(FaultsTest):
    @elsewhere
    def test_a_gateway_that_was_stopped_and_goes_on(self):
        limits = self.limits(sliding=("sliding_window", "share"), bucket=("token_bucket", "share"))
        gateways = self.through_the_relay(limits)

        judged = self.play("gateway stopped", gateways, limits, gateways[0].freeze,
                           lambda: gateways[0].signal(signal.SIGCONT), scaled(AFTER, SESSION + 5))

        for one in judged.values():
            self.assertGreater(one.between(self.mended, self.over)[200], 0)
        self.wait_until_all_are(gateways, "ready")


if __name__ == "__main__":
    unittest.main()
