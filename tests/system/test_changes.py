"""The emergency: blocks, overrides of a whole limit, `enforce` for a time, cleared counters; GET /changes."""

import copy
import json
import resource
import signal
import time
import unittest
from urllib.parse import quote

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.waiting import wait_until


class Changes(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        self.kept = self.folder / "kept"
        self.kept.mkdir()
        self.settings = config(
            self.upstream.address,
            limits={
                "by_key": {"requests": 2, "per": "1h", "key": "header:X-Key"},
                "all": {"requests": 1000, "per": "1h"},
                "cap": {"concurrent": 50},
                "line": {"requests": 1, "per": "50s", "key": "header:X-Line", "missing_key": "exempt",
                         "when_exceeded": "wait", "max_wait": "60s"},
            },
            route_limits=["by_key", "all", "cap", "line"], state=str(self.kept / "state.db"),
            workers=2)
        self.stint = self.start_stint(self.settings)
        self.admin = self.stint.admin

    def change(self, method, path, body=None, status=200):
        answered = self.admin.request(method, path, body=None if body is None else json.dumps(body))
        self.assertEqual(answered.status, status, answered.text())
        return answered.json()

    def statuses(self, key, count=1, **more):
        """Each over a connection of its own, so that several workers answer."""
        return [fetch(self.stint.port, fields=[("X-Key", key)], **more).status for _ in range(count)]

    def changes(self, kind):
        return [each for each in self.admin.get("/changes")["changes"] if each["kind"] == kind]

    def test_a_blocked_key_is_denied_on_every_worker_from_the_answer_on(self):
        shown = self.change("POST", "/limits/by_key/block",
                            {"key": "bad", "for": "1h", "who": "ann", "why": "scraping"})

        self.assertEqual(self.statuses("bad", 20), [403] * 20)
        self.assertEqual(self.statuses("good"), [200])
        self.assertEqual(
            {name: shown[name] for name in ("kind", "limit", "key", "who", "why")},
            {"kind": "block", "limit": "by_key", "key": "bad", "who": "ann", "why": "scraping"})
        self.assertTrue(3_590_000 < self.changes("block")[0]["expires_in_ms"] <= 3_600_000)
        self.assertIn("limit by_key: a block was set until ", self.stint.log())
        self.assertIn(' by "ann": "scraping"', self.stint.log())
        self.assertNotIn("bad", self.stint.log())

        self.change("POST", "/limits/by_key/unblock", {"key": "bad"})
        self.assertEqual(self.statuses("bad"), [200])
        self.change("POST", "/limits/by_key/unblock", {"key": "bad"}, status=404)

    def test_the_log_shows_who_and_why_as_text_that_is_not_its_own(self):
        self.change("POST", "/limits/all/block", {"client": "192.0.2.1", "for": "1h", "who": "a\u202eb",
                                                  "why": 'x" until now \u009b2K'})
        self.assertIn(r'by "a\u202eb": "x\" until now \u009b2K"', self.stint.log())

    def test_a_block_of_a_network_also_of_a_limit_without_a_key(self):
        self.change("POST", "/limits/all/block", {"client": "127.0.0.0/8", "for": "1h"})
        self.assertEqual(self.statuses("a", 5), [403] * 5)
        self.change("POST", "/limits/all/unblock", {"client": "127.0.0.0/8"})
        self.assertEqual(self.statuses("a"), [200])

    def test_a_block_ends_by_itself(self):
        self.change("POST", "/limits/by_key/block", {"key": "k*", "for": "300ms"})
        self.assertEqual(self.statuses("k1"), [403])
        wait_until(lambda: self.statuses("k1") == [200], "the block has ended")
        self.assertEqual(self.changes("block"), [])

    def test_a_block_ends_by_itself_after_a_restart(self):
        self.change("POST", "/limits/by_key/block", {"key": "k*", "for": "2s"})
        self.stint.stop()
        self.stint.start()
        wait_until(lambda: self.statuses("k1") == [200], "the block has ended")
        self.assertEqual(self.changes("block"), [])

    def test_a_change_ends_by_itself_during_a_drain(self):
        held = self.start_upstream(lambda connection: connection.read_request() and connection.ends())
        stint = self.stint_before(held, limits={"n": {"requests": 9, "per": "1h"}}, route_limits=["n"],
                                  timeouts={"drain": "60s"})
        with RawClient(stint.port) as client:
            client.send_request()
            held.wait_for_requests(1)
            changed = stint.admin.request("PUT", "/limits/n/overrides", body='{"requests": 5, "for": "1s"}')
            self.assertEqual(changed.status, 200)
            stint.signal(signal.SIGTERM)
            wait_until(lambda: stint.admin.request("GET", "/readyz").status == 503, "it drains")

            wait_until(lambda: stint.admin.limit("n")["limit"] == 9, "the override has ended")
            self.assertIn("limit n: an override has expired", stint.log())
            client.reset()
        self.assertEqual(stint.process.wait(10), 0)

    def test_a_whole_limit_is_raised_for_a_time(self):
        self.assertEqual(self.statuses("a", 4), [200, 200, 429, 429])
        shown = self.change("PUT", "/limits/by_key/overrides", {"requests": 3, "for": "1h"})
        self.assertEqual(shown["limit"], 3)
        self.assertEqual(self.statuses("a", 2), [200, 429])
        self.assertEqual(self.admin.limit("by_key")["limit"], 3)

        self.change("DELETE", "/limits/by_key/overrides?who=ann&why=over")
        self.assertEqual(self.statuses("b", 3), [200, 200, 429])
        self.assertIn('limit by_key: an override was ended by "ann": "over"', self.stint.log())

    def test_a_limit_without_a_key_is_raised_and_lowered(self):
        self.change("PUT", "/limits/all/overrides", {"requests": 1})
        self.assertEqual([fetch(self.stint.port).status for _ in range(3)], [200, 429, 429])
        self.change("PUT", "/limits/all/overrides", {"requests": 2})
        self.assertEqual([fetch(self.stint.port).status for _ in range(2)], [200, 429])

    def test_a_limit_is_a_dry_run_for_a_time(self):
        self.assertEqual(self.statuses("a", 3), [200, 200, 429])
        self.change("POST", "/limits/by_key/enforce", {"enforce": False, "for": "1h", "why": "launch"})
        self.assertEqual(self.statuses("a", 10), [200] * 10)
        self.assertEqual(self.changes("enforce")[0]["value"], False)
        self.assertEqual(self.admin.limit("by_key")["enforce"], False)

        self.change("DELETE", "/limits/by_key/enforce")
        self.assertEqual(self.statuses("a"), [429])
        self.change("DELETE", "/limits/by_key/enforce", status=404)

    def test_a_waiting_request_goes_when_its_limit_becomes_a_dry_run(self):
        fields = [("X-Key", "w"), ("X-Line", "l")]
        self.assertEqual(fetch(self.stint.port, fields=fields).status, 200)
        with RawClient(self.stint.port) as client:
            client.send_request(fields=fields)
            wait_until(lambda: self.admin.limit("line")["waiting"] == 1, "it waits")
            self.change("POST", "/limits/line/enforce", {"enforce": False, "for": "1h"})
            self.assertEqual(client.read_response().status, 200)

    def test_counters_of_a_key_or_of_all_begin_anew(self):
        for key in ("a", "b"):
            self.assertEqual(self.statuses(key, 3), [200, 200, 429])
        shown = self.change("DELETE", "/limits/by_key/counters?key=a&who=ann")
        self.assertEqual(shown, {"limit": "by_key", "cleared": True, "key": "a"})
        self.assertEqual(self.statuses("a", 3), [200, 200, 429])
        self.assertEqual(self.statuses("b"), [429])

        self.change("DELETE", "/limits/by_key/counters")
        for key in ("a", "b"):
            self.assertEqual(self.statuses(key, 3), [200, 200, 429])
        self.assertEqual([each.get("key") for each in self.changes("cleared_counters")], ["a", None])
        self.change("DELETE", "/limits/cap/counters", status=409)

    def test_counters_of_a_key_that_looks_like_a_pattern_and_of_requests_without_a_key(self):
        keys = ("a*", "ab", "?", None)
        for key in keys:
            fields = [] if key is None else [("X-Key", key)]
            self.assertEqual([fetch(self.stint.port, fields=fields).status for _ in range(3)], [200, 200, 429])
        for cleared in keys:
            if cleared == "ab":
                continue
            self.change("DELETE", f"/limits/by_key/counters?key={quote(cleared or '')}")
            used = {key: self.admin.get(f"/limits/by_key?key={quote(key or '')}")["used"] for key in keys}
            self.assertEqual(used.pop(cleared), 0)
            self.assertEqual(used["ab"], 2)
        self.assertEqual([each.get("key") for each in self.changes("cleared_counters")], ["a*", "?", ""])

    def test_a_waiting_request_goes_when_its_counter_is_cleared(self):
        fields = [("X-Key", "w"), ("X-Line", "l")]
        self.assertEqual(fetch(self.stint.port, fields=fields).status, 200)
        with RawClient(self.stint.port) as client:
            client.send_request(fields=fields)
            wait_until(lambda: self.admin.limit("line")["waiting"] == 1, "it waits")
            self.change("DELETE", "/limits/line/counters?key=l")
            self.assertEqual(client.read_response().status, 200)

    def test_changes_outlive_a_reload_and_a_restart(self):
        for how in ("reload", "stop", "kill"):
            with self.subTest(how):
                self.change("POST", "/limits/by_key/block", {"key": "bad", "for": "1h", "who": "ann"})
                self.change("PUT", "/limits/by_key/overrides", {"requests": 5})
                before = self.admin.get("/changes")["changes"]
                if how == "reload":
                    self.assertEqual(self.admin.reload().status, 200)
                elif how == "stop":
                    self.stint.stop()
                    self.stint.start()
                else:
                    time.sleep(0.3)
                    self.stint.kill()
                    self.stint.start()

                after = self.admin.get("/changes")["changes"]
                for each in (*before, *after):
                    each.pop("expires_in_ms", None)
                    each.pop("until", None)
                self.assertEqual(after, before)
                self.assertEqual(self.statuses("bad"), [403])
                self.assertEqual(self.statuses(how, 6), [200] * 5 + [429])

    def test_a_change_that_is_not_kept_says_so_until_it_is(self):
        self.change("POST", "/limits/by_key/block", {"key": "kept", "for": "1h"})
        self.assertEqual(self.admin.get("/changes").get("kept"), None)
        full = (self.kept / "state.db-wal").stat().st_size
        resource.prlimit(self.stint.pid, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
        try:
            for path, body in (
                ("block", {"key": "bad", "for": "1h"}),
                ("unblock", {"key": "kept"}),
            ):
                shown = self.change("POST", f"/limits/by_key/{path}", body)
                self.assertIs(shown["kept"], False)
                self.assertRegex(shown["why_not_kept"], "the state file: .*disk")
            self.assertEqual((self.statuses("bad"), self.statuses("kept")), ([403], [200]))  # it is in force
            self.assertIs(self.admin.get("/changes")["kept"], False)
            lost = r'a block of the key "[0-9a-f]{16}" is in force, but not kept over a restart: .*disk'
            self.assertRegex(self.stint.log(), "limit by_key: " + lost)
            self.assertRegex(self.stint.log(), "has ended, but a restart brings it back: .*disk")
        finally:
            resource.prlimit(self.stint.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)

        wait_until(lambda: "kept" not in self.admin.get("/changes"), "they are written")
        self.assertNotIn("kept", self.change("POST", "/limits/by_key/block", {"key": "more", "for": "1h"}))
        self.stint.kill()
        self.stint.start()
        self.assertEqual([each["key"] for each in self.changes("block")], ["bad", "more"])

    def test_a_change_of_a_limit_that_is_another_one_after_the_restart_is_gone(self):
        self.change("PUT", "/limits/by_key/overrides", {"requests": 5})
        self.change("PUT", "/limits/all/overrides", {"requests": 500})
        self.stint.stop()
        self.settings["limits"]["by_key"]["key"] = "header:X-Other"
        self.stint.write(self.settings)
        self.stint.start()

        self.assertEqual([each["limit"] for each in self.changes("override")], ["all"])
        ended = "limit by_key: a change that was made at run time has ended"
        self.assertIn(ended, self.stint.log())

        # It is not in the file any more, so it does not come back with its limit.
        self.stint.stop()
        self.settings["limits"]["by_key"]["key"] = "header:X-Key"
        self.stint.write(self.settings)
        self.stint.start()
        self.assertEqual([each["limit"] for each in self.changes("override")], ["all"])
        self.assertEqual(self.stint.log().count(ended), 1)

    def test_changes_in_a_file_that_opens_after_the_start_are_gone(self):
        self.change("PUT", "/limits/by_key/overrides", {"requests": 5})
        self.stint.stop()
        aside = self.kept.rename(self.folder / "aside")
        self.stint.start()
        self.assertEqual(self.changes("override"), [])
        aside.rename(self.kept)
        self.stint.stop()  # opens the file again

        self.stint.start()
        self.assertEqual(self.changes("override"), [])

    def with_pair(self):
        """A configuration with a limit that reserves, and beside it one that waits, which is a dry run."""
        settings = copy.deepcopy(self.settings)
        settings["limits"]["reserving"] = {"requests": 9, "per": "1h", "retry_after": "reserve"}
        settings["routes"].append(
            {"name": "both", "upstream": settings["routes"][0]["upstream"], "match": {"path": "/both"},
             "limits": ["reserving", "queue"]})
        return settings

    def test_a_queue_is_not_enforced_beside_reservations(self):
        self.settings["limits"]["queue"] = {"concurrent": 9, "when_exceeded": "wait", "enforce": False}
        self.stint.write(self.with_pair())
        self.assertEqual(self.admin.reload().status, 200)
        switch = {"enforce": True, "for": "1h"}

        refused = self.change("POST", "/limits/queue/enforce", switch, status=409)
        self.assertIn("the route both has the limits reserving and queue", refused["detail"])
        self.change("POST", "/limits/reserving/enforce", {"enforce": False, "for": "1s"})
        self.change("POST", "/limits/queue/enforce", switch, status=409)  # the other's switch ends
        self.change("POST", "/limits/by_key/enforce", switch)

    def test_a_reload_brings_no_reservations_beside_a_queue_that_is_switched_on(self):
        self.settings["limits"]["queue"] = {"concurrent": 9, "when_exceeded": "wait", "enforce": False}
        self.stint.write(self.settings)
        self.assertEqual(self.admin.reload().status, 200)
        self.change("POST", "/limits/queue/enforce", {"enforce": True, "for": "1h"})
        self.stint.write(self.with_pair())

        refused = self.admin.reload()
        self.assertEqual(refused.status, 422)
        self.assertIn("the route both has the limits reserving and queue", refused.text())
        self.assertIn("DELETE /limits/NAME/enforce ends that", refused.text())
        self.assertEqual(self.admin.limit("queue")["enforce"], True)

        self.stint.stop()
        self.stint.start()  # the file is not refused, the switch is
        self.assertEqual(self.changes("enforce"), [])
        self.assertIn("limit queue: a switch of enforce that was made at run time has ended", self.stint.log())
        self.assertEqual(self.admin.limit("queue")["enforce"], False)

    def test_a_switch_that_a_reload_ends_stands_in_no_ones_way(self):
        self.settings["limits"]["queue"] = {"concurrent": 9, "when_exceeded": "wait", "enforce": False}
        self.stint.write(self.settings)
        self.assertEqual(self.admin.reload().status, 200)
        self.change("POST", "/limits/queue/enforce", {"enforce": True, "for": "1h"})
        settings = self.with_pair()
        settings["limits"]["queue"]["key"] = "client_ip"  # another limit
        self.stint.write(settings)

        self.assertEqual(self.admin.reload().status, 200)
        self.assertEqual(self.changes("enforce"), [])

    def test_every_mistake_says_what_is_expected(self):
        for method, path, body, status, why in (
            ("POST", "/limits/none/block", {"key": "a", "for": "1h"}, 404, "no limit named"),
            ("POST", "/limits/by_key/block", {"for": "1h"}, 400, 'either "key" or "client"'),
            ("POST", "/limits/by_key/block", {"key": "a", "client": "::1", "for": "1h"}, 400, "either"),
            ("POST", "/limits/by_key/block", {"key": "a"}, 400, '"for" is missing'),
            ("POST", "/limits/by_key/block", {"key": "a", "for": "1x"}, 400, '"for" must be a duration'),
            ("POST", "/limits/by_key/block", {"key": "a", "for": "1h", "until": 1}, 400, "unknown"),
            ("POST", "/limits/by_key/block", {"key": "a", "for": "1h", "why": "a\nb"}, 400, "one line"),
            ("POST", "/limits/all/block", {"key": "a", "for": "1h"}, 400, "has no key"),
            ("POST", "/limits/all/block", {"client": "10.0.0.1/8", "for": "1h"}, 400, "client"),
            ("POST", "/limits/all/enforce", {"for": "1h"}, 400, '"enforce" is missing'),
            ("POST", "/limits/all/enforce", {"enforce": 0, "for": "1h"}, 400, "true or false"),
            ("POST", "/limits/by_key/block", {"key": "a", "expires_in_ms": 0}, 400, "from 1 to 31622400000."),
            ("PUT", "/limits/all/overrides", {"requests": 0}, 400, "POST to /limits/NAME/block"),
            ("DELETE", "/limits/all/overrides", None, 404, "No override of all was set"),
            ("DELETE", "/limits/all/counters?key=a", None, 400, "has no key"),
            ("DELETE", "/limits/by_key/counters", {"key": "a"}, 400, "in the query"),
            ("DELETE", "/limits/by_key/counters?Key=a", None, 400, 'has "Key"; expected who, why, or key'),
            ("DELETE", "/limits/by_key/counters?key=a&key=b", None, 400, '"key" twice'),
            ("DELETE", "/limits/by_key/enforce?key=a", None, 400, 'has "key"; expected who, why.'),
        ):
            with self.subTest(path=path, body=body):
                self.assertIn(why, self.change(method, path, body, status=status)["detail"])
        self.assertEqual(self.admin.get("/changes"), {"changes": []})


if __name__ == "__main__":
    unittest.main()
