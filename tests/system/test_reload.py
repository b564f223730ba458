"""A new configuration takes over without a dropped connection or a lost count."""

import copy
import os
import signal
import threading
import unittest

from support.case import SystemTest, config, report, scaled
from support.client import RawClient, fetch
from support.load import Load
from support.messages import response_bytes
from support.nginx import budget_use
from support.upstream import answer
from support.waiting import wait_until


class Reload(SystemTest):
    def before(self, limits, **more):
        self.upstream = self.start_upstream()
        return self.stint_before(self.upstream, limits=limits, route_limits=list(limits), **more)

    def change(self, stint, edit, wanted=200):
        """Applies edit(configuration), reloads by POST and gives the answer."""
        changed = copy.deepcopy(stint.config)
        edit(changed)
        stint.write(changed)
        answered = stint.admin.reload()
        self.assertEqual(answered.status, wanted, answered.text())
        return answered

    def change_by_signal(self, stint, edit):
        before = self.reloads(stint)
        changed = copy.deepcopy(stint.config)
        edit(changed)
        stint.write(changed)
        stint.signal(signal.SIGHUP)
        wait_until(lambda: self.reloads(stint) > before, "the reload is done")

    @staticmethod
    def reloads(stint, result="ok"):
        return stint.admin.metrics().sum("stint_config_reloads_total", result=result)

    @staticmethod
    def set_limit(name, **values):
        return lambda made: made["limits"][name].update(values)

    def test_another_number_keeps_the_count(self):
        for how in (self.change, self.change_by_signal):
            with self.subTest(how.__name__):
                stint = self.before({"n": {"requests": 5, "per": "1h"}})
                statuses = [fetch(stint.port).status for _ in range(4)]
                how(stint, self.set_limit("n", requests=6))
                statuses += [fetch(stint.port).status for _ in range(3)]
                self.assertEqual(statuses, [200] * 6 + [429])

                how(stint, self.set_limit("n", requests=2))
                self.assertEqual(fetch(stint.port).status, 429)
                self.assertEqual(stint.admin.limit("n")["used"], 6)

    def test_another_length_begins_anew_and_the_answer_says_so(self):
        stint = self.before({"n": {"requests": 2, "per": "1h"}, "other": {"requests": 100, "per": "1h"}})
        for _ in range(3):
            fetch(stint.port)

        answered = self.change(stint, self.set_limit("n", per="2h"))

        self.assertRegex(str(answered.json()["notes"]), r"\bn\b.* anew")
        self.assertNotIn("other", answered.text())
        self.assertEqual([fetch(stint.port).status for _ in range(3)], [200, 200, 429])
        self.assertEqual(stint.admin.limit("other")["used"], 4)

    def test_another_key_begins_anew(self):
        stint = self.before({"n": {"requests": 2, "per": "1h"}})
        for _ in range(3):
            fetch(stint.port)

        self.change(stint, self.set_limit("n", key="client_ip"))

        self.assertEqual([fetch(stint.port).status for _ in range(3)], [200, 200, 429])

    def test_a_renamed_limit_is_another_one(self):
        stint = self.before({"old": {"requests": 1, "per": "1h"}})
        fetch(stint.port)

        def rename(made):
            made["limits"]["new"] = made["limits"].pop("old")
            made["routes"][0]["limits"] = ["new"]

        self.change(stint, rename)

        self.assertEqual(fetch(stint.port).status, 200)
        self.assertNotIn("old", stint.admin.limits())

    def test_an_unchanged_file_changes_nothing(self):
        stint = self.before({"n": {"requests": 3, "per": "1h"}, "c": {"concurrent": 2}})
        with RawClient(stint.port) as client:
            self.assertEqual(client.request().status, 200)
            for _ in range(3):
                self.change(stint, lambda made: None)
            self.assertEqual([client.request().status for _ in range(3)], [200, 200, 429])

    def test_routes_and_upstreams_are_swapped(self):
        stint = self.before({})
        other = self.start_upstream(answer(b"other"))
        with RawClient(stint.port) as client:
            self.assertEqual(client.request().body, b"ok")

            self.change(stint, lambda made: made["upstreams"]["up"].update(endpoints=[other.address]))

            self.assertEqual(client.request().body, b"other")

    def test_a_request_in_flight_ends_under_the_configuration_it_began_with(self):
        proceed = threading.Event()

        def script(connection):
            connection.read_request()
            proceed.wait(20)
            connection.send(response_bytes(b"old"))

        self.upstream = self.start_upstream(script)
        stint = self.stint_before(
            self.upstream, limits={"c": {"concurrent": 1}}, route_limits=["c"]
        )
        other = self.start_upstream(answer(b"new"))
        with RawClient(stint.port) as waiting:
            waiting.send_request()
            self.upstream.wait_for_requests(1)
            self.change(stint, lambda made: made["upstreams"]["up"].update(endpoints=[other.address]))

            self.assertEqual(fetch(stint.port).status, 429)  # the slot is counted on
            proceed.set()

            self.assertEqual(waiting.read_response().body, b"old")
            self.assertEqual(waiting.request().body, b"new")

    def test_listeners_come_and_go(self):
        stint = self.before({})
        old = stint.port
        fresh = config()["listeners"][0]["address"]
        with RawClient(old) as client:
            self.change(stint, lambda made: made["listeners"].append({"address": fresh}))
            new = int(fresh.rpartition(":")[2])
            self.assertEqual([fetch(old).status, fetch(new).status], [200, 200])

            self.change(stint, lambda made: made["listeners"].pop(0))

            self.assertEqual(fetch(new).status, 200)
            with self.assertRaises(OSError):
                fetch(old)
            self.assertEqual(client.request().status, 200)  # it was accepted before

    def test_a_broken_file_changes_nothing_and_the_answer_says_where(self):
        stint = self.before({"n": {"requests": 2, "per": "1h"}})
        fetch(stint.port)
        before = stint.admin.get("/config")
        stint.file.write_text("listeners:\n  - address: 127.0.0.1:1\n  - adress: 127.0.0.1:2\n", encoding="ascii")

        answered = stint.admin.reload()

        self.assertIn(answered.status, (400, 409, 422))
        self.assertIn("stint.yaml:3:5", answered.text())
        self.assertIn("address", answered.text())  # did you mean
        wait_until(lambda: "stint.yaml:3:5" in stint.log(), "the log carries it too")
        self.assertEqual(self.reloads(stint, "failed"), 1)
        self.assertEqual(stint.admin.get("/config"), before)
        self.assertEqual([fetch(stint.port).status for _ in range(2)], [200, 429])

    def test_a_broken_file_by_signal_is_logged_with_its_place(self):
        stint = self.before({})
        stint.file.write_text("routes: [", encoding="ascii")

        stint.signal(signal.SIGHUP)

        wait_until(lambda: "stint.yaml:1:" in stint.log(), "the log says where")
        self.assertEqual(fetch(stint.port).status, 200)

    def test_a_missing_file_changes_nothing(self):
        stint = self.before({})
        stint.file.unlink()

        self.assertGreaterEqual(stint.admin.reload().status, 400)
        self.assertEqual(fetch(stint.port).status, 200)

    def test_a_pipe_is_not_waited_for(self):
        stint = self.before({})
        stint.file.unlink()
        os.mkfifo(stint.file)

        for path in ("/config/reload?dry_run=true", "/config/reload"):
            self.assertIn("stint.yaml:1:1: is a pipe", stint.admin.request("POST", path).text())
        self.assertEqual(fetch(stint.port).status, 200)

    def test_sighup_and_sigusr1_reopen_the_access_log_and_sigusr1_does_not_reload(self):
        for number, reloads in ((signal.SIGHUP, 1), (signal.SIGUSR1, 0)):
            with self.subTest(number.name):
                self.check_reopened(number, reloads)

    def check_reopened(self, number, reloads):
        log = self.folder / "access.log"
        stint = self.before({}, access_log={"path": str(log)})
        fetch(stint.port, target="/first")
        wait_until(lambda: log.exists() and "/first" in log.read_text(encoding="utf-8"), "the first line")

        before = self.reloads(stint)
        os.rename(log, self.folder / "rotated.log")
        stint.signal(number)
        wait_until(log.exists, "the file is there again")
        fetch(stint.port, target="/second")

        wait_until(lambda: "/second" in log.read_text(encoding="utf-8"), "the second line")
        self.assertNotIn("/second", (self.folder / "rotated.log").read_text(encoding="utf-8"))
        wait_until(lambda: self.reloads(stint) >= before + reloads, "the reload is done")
        self.assertEqual(self.reloads(stint), before + reloads)
        stint.stop()
        log.unlink()


class ReloadUnderLoad(SystemTest):
    RELOADS = scaled(10, 50)
    SMALL, LARGE = 400, 1000
    PER = 0.1  # of the short windows

    def setUp(self):
        super().setUp()
        self.nginx = self.start_nginx("location / { return 200 ok; }")

    def reload_under_load(self, limit, posted, enough):
        """64 connections ask while the limit falls and rises; it ends with the larger number.
        enough(load, earlier statuses): whether it is time for the next reload."""
        stint = self.stint_before(
            self.nginx, limits={"n": {"requests": self.LARGE, **limit}}, route_limits=["n"]
        )
        with Load(stint.port, connections=64) as load:
            wait_until(lambda: load.total > 1000, "load", 30)
            for number in range(self.RELOADS):
                before = load.statuses.copy()
                changed = copy.deepcopy(stint.config)
                changed["limits"]["n"]["requests"] = self.LARGE if number % 2 else self.SMALL
                stint.write(changed)
                if posted:
                    self.assertEqual(stint.admin.reload().status, 200)
                else:
                    stint.signal(signal.SIGHUP)
                wait_until(lambda at=before: enough(load, at), "load goes on", 30)
        report(f"{self.RELOADS} reloads, {load.total} requests: failed ones", 0, len(load.failures))
        self.assertEqual(load.failures, [])
        # A slow machine may never be refused.
        self.assertLessEqual(set(load.statuses), {200, 429})
        self.assertLessEqual(scaled({200}, {200, 429}), set(load.statuses))
        self.nginx.stop()
        served = self.nginx.served()
        self.assertEqual({one.status for one in served}, {200})
        self.assertEqual(len(served), load.statuses[200])
        return served

    def test_a_window_longer_than_the_load_admits_exactly_the_larger_number(self):
        for posted in (True, False):
            with self.subTest(posted=posted):
                served = self.reload_under_load(
                    {"per": "1h"}, posted, lambda load, before: load.total > before.total() + 1000
                )
                report("admitted to a window longer than the load", self.LARGE, len(served))
                self.assertEqual(len(served), self.LARGE)
                (self.nginx.folder / "access.log").unlink()
                self.nginx.start()

    def test_no_window_admits_more_than_the_larger_number(self):
        served = self.reload_under_load(
            {"per": f"{int(self.PER * 1000)}ms"},
            True,
            lambda load, before: load.statuses[200] > before[200] + self.SMALL // 2,
        )
        self.assertGreater(len(served), self.LARGE)
        share, text = budget_use(served, self.LARGE, self.PER, slack=0.3)
        report("short windows: the fullest span", "at most what is allowed", text)
        self.assertLessEqual(share, 1.0, text)


if __name__ == "__main__":
    unittest.main()
