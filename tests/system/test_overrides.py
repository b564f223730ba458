"""PUT and DELETE /limits/NAME/overrides/KEY: other numbers for some keys, while traffic flows."""

import json
import unittest
from urllib.parse import quote

from support.case import SystemTest
from support.client import RawClient, fetch
from support.ports import free_port
from support.waiting import wait_until


class Overrides(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        self.stint = self.stint_before(
            self.upstream,
            limits={
                "by_key": {"requests": 2, "per": "1h", "key": "header:X-Key"},
                "by_client": {"requests": 1000, "per": "1h", "key": "client_ip"},
                "all": {"requests": 1000, "per": "1h"},
            },
            route_limits=["by_key", "by_client", "all"],
        )
        self.admin = self.stint.admin

    def change(self, method, key, body=None, limit="by_key", status=200):
        answered = self.admin.request(
            method, f"/limits/{limit}/overrides/{quote(key, safe='')}",
            body=None if body is None else json.dumps(body))
        self.assertEqual(answered.status, status, answered.text())
        return answered.json()

    def admitted(self, key, count):
        return sum(
            fetch(self.stint.port, fields=[("X-Key", key)]).status == 200 for _ in range(count))

    def test_a_raised_limit_holds_for_the_next_request_on_every_worker_and_keeps_the_count(self):
        self.assertEqual(self.admitted("a", 5), 2)
        shown = self.change("PUT", "a", {"requests": 5})
        self.assertEqual((shown["key"], shown["limit"]), ("a", 5))

        # Each worker takes it over between two requests.
        wait_until(lambda: self.admitted("a", 1) == 1, "the override holds")
        wait_until(lambda: self.admin.get("/limits/by_key?key=a")["used"] == 5 or
                   not self.admitted("a", 1), "the override is used up")
        self.assertEqual(self.admin.get("/limits/by_key?key=a")["used"], 5)
        self.assertEqual(self.admitted("b", 5), 2)

    def test_a_pattern_and_a_lowered_limit(self):
        self.change("PUT", "premium-*", {"requests": 4})
        self.change("PUT", "premium-1", {"requests": 1})

        wait_until(lambda: self.admin.metrics().sum("stint_limit_overrides", limit="by_key") == 2,
                   "both are in force")
        self.assertEqual(self.admitted("premium-1", 6), 1)
        self.assertEqual(self.admitted("premium-2", 6), 4)
        self.assertEqual(self.admitted("other", 6), 2)

    def test_deleted_it_no_longer_holds(self):
        self.change("PUT", "a", {"requests": 4})
        self.assertEqual(self.change("DELETE", "a")["deleted"], True)
        self.change("DELETE", "a", status=404)

        self.assertNotIn("overrides", self.admin.limit("by_key"))
        self.assertEqual(self.admitted("a", 5), 2)

    def test_it_ends_by_itself(self):
        self.change("PUT", "a", {"requests": 4, "expires_in_ms": 300})
        shown = self.admin.limit("by_key")["overrides"]["a"]
        self.assertEqual((shown["limit"], shown["set_at_run_time"]), (4, True))
        self.assertTrue(0 < shown["expires_in_ms"] <= 300)

        wait_until(lambda: self.admin.metrics().sum("stint_limit_overrides", limit="by_key") == 0,
                   "the override has ended")
        self.assertNotIn("overrides", self.admin.limit("by_key"))
        self.assertEqual(self.admitted("a", 5), 2)

    def test_it_outlives_a_reload(self):
        self.change("PUT", "a", {"requests": 3})
        self.assertEqual(self.admin.reload().status, 200)

        self.assertEqual(self.admin.limit("by_key")["overrides"], {"a": {"limit": 3, "set_at_run_time": True}})
        self.assertEqual(self.admitted("a", 5), 3)

    def test_keys_are_decoded_and_spelt_as_requests_spell_them(self):
        self.change("PUT", "a/b c", {"requests": 3})
        self.change("PUT", "::ffff:127.0.0.1", {"requests": 2}, limit="by_client")

        self.assertEqual(list(self.admin.limit("by_client")["overrides"]), ["127.0.0.1"])
        self.assertEqual(list(self.admin.limit("by_key")["overrides"]), ["a/b c"])
        self.assertEqual(self.admitted("x", 2) + self.admitted("y", 2), 2)

    def test_what_makes_no_sense_is_refused_with_what_is_wrong(self):
        for key, body, limit, status, said in (
            ("a", {"requests": 0}, "by_key", 400, "whole number from 1"),
            ("a", {"requests": 1.5}, "by_key", 400, "whole number from 1"),
            ("a", {}, "by_key", 400, '\\"requests\\" is missing'),
            ("a", [], "by_key", 400, "must be a JSON object"),
            ("a", {"requests": 1, "per": "1m"}, "by_key", 400, '\\"per\\" is unknown'),
            ("a", {"requests": 1, "expires_in_ms": 0}, "by_key", 400, "expires_in_ms"),
            ("a", {"requests": 1}, "nothing", 404, "no limit named"),
            ("a", {"requests": 1}, "all", 400, "has no key"),
            ("not an address", {"requests": 1}, "by_client", 400, "No request has such a key"),
        ):
            with self.subTest(body=body, limit=limit):
                answered = self.change("PUT", key, body, limit, status)
                self.assertIn(said, json.dumps(answered["detail"]))

    def test_a_key_and_its_limit_have_numbers_that_suit_each_other(self):
        stint = self.stint_before(
            self.upstream,
            limits={"bucket": {"requests": 1000, "per": "10d", "algorithm": "token_bucket", "cost": 5,
                               "burst": 50, "key": "header:X-Key"}},
            route_limits=["bucket"])

        def change(path, body):
            answered = stint.admin.request("PUT", f"/limits/bucket/overrides{path}", body=json.dumps(body))
            return answered.status, answered.json().get("detail")

        self.assertEqual(change("/a", {"requests": 1}),
                         (400, '"requests" would take more than 366 days to fill the limit\'s burst (50); expected '
                               'more, or a smaller "burst" beside it.'))
        self.assertEqual(change("/a", {"requests": 2})[0], 200)
        self.assertEqual(change("", {"requests": 1000, "burst": 4})[0], 400)  # less than the cost
        self.assertEqual(change("", {"requests": 1000, "burst": 500}),
                         (400, 'of the override of "a", "requests" would take more than 366 days to fill the '
                               'limit\'s burst (500); expected more, or a smaller "burst" beside it.'))
        self.assertEqual(change("", {"requests": 1000, "burst": 60})[0], 200)
        self.assertEqual(change("/b", {"requests": 1})[0], 400)

    def test_who_waits_gets_the_new_number_at_once(self):
        stint = self.stint_before(
            self.upstream,
            limits={"turns": {"requests": 1, "per": "1h", "key": "header:X-Key",
                              "when_exceeded": "wait", "max_wait": "1h"}},
            route_limits=["turns"])
        fields = [("X-Key", "gold-1")]
        self.assertEqual(fetch(stint.port, fields=fields).status, 200)
        waiting = RawClient(stint.port)
        self.addCleanup(waiting.close)
        waiting.send_request(fields=fields)
        wait_until(lambda: stint.admin.limit("turns")["waiting"] == 1, "it waits")

        changed = stint.admin.request(
            "PUT", "/limits/turns/overrides/gold-*", body='{"requests": 2}')
        self.assertEqual(changed.status, 200)
        self.assertEqual(waiting.read_response().status, 200)

    def test_changing_needs_the_token_and_a_listener_that_may_be_changed(self):
        path = "/limits/by_key/overrides/a"
        refused = self.admin.request(
            "PUT", path, body='{"requests": 3}', headers={"Origin": "http://elsewhere.example"})
        self.assertEqual(refused.status, 403)
        self.assertEqual(self.admin.request("POST", path, body="{}").get("Allow"), "PUT, DELETE")

        token = self.folder / "token"
        token.write_text("s3cret\n", encoding="ascii")
        stint = self.stint_before(
            self.upstream, limits={"l": {"requests": 1, "per": "1h", "key": "client_ip"}},
            route_limits=["l"],
            admin={"address": f"127.0.0.1:{free_port()}", "token_file": str(token)})
        for method in ("PUT", "DELETE"):
            answered = stint.admin.request(
                method, "/limits/l/overrides/127.0.0.1", body='{"requests": 3}')
            self.assertEqual(answered.status, 401, method)


if __name__ == "__main__":
    unittest.main()
