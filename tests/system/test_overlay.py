"""GET /overlay: what operators have changed at run time, on top of the file."""

import json
import re
import unittest
from urllib.parse import quote

from support.case import config
from support.locks_case import LocksTest
from support.permits_client import permits_config

RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Overlay(LocksTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        self.stint = self.start_stint(config(
            self.upstream.address,
            limits={"by_key": {"requests": 2, "per": "1h", "key": "header:X-Key"}},
            route_limits=["by_key"],
            permits=permits_config(permits={"start_up_grace": "0s"})["permits"],
            locks={"jobs": {}}))
        self.admin = self.stint.admin

    def changed(self, kind):
        """The changes of one kind, each with a valid time, which is cut off."""
        found = [each for each in self.admin.get("/overlay")["overlay"] if each["kind"] == kind]
        for each in found:
            self.assertRegex(each.pop("since"), RFC3339)
        return found

    def endpoint(self, what):
        path = f"/upstreams/up/endpoints/{quote(self.upstream.address, safe='')}/{what}"
        self.assertEqual(self.admin.request("POST", path).status, 200)

    def override(self, method, body=None):
        answered = self.admin.request(
            method, "/limits/by_key/overrides/a", body=None if body is None else json.dumps(body))
        self.assertEqual(answered.status, 200, answered.text())

    def test_at_first_nothing_is_changed(self):
        self.assertEqual(self.admin.get("/overlay"), {"overlay": []})

    def test_an_override_is_there_until_it_is_deleted_also_over_a_reload(self):
        self.override("PUT", {"requests": 5})
        self.assertEqual(self.admin.reload().status, 200)

        self.assertEqual(self.changed("override"), [
            {"kind": "override", "limit": "by_key", "key": "a", "value": {"limit": 5}}])
        self.override("DELETE")
        self.assertEqual(self.changed("override"), [])

    def test_an_override_that_ends_by_itself_says_when(self):
        self.override("PUT", {"requests": 5, "expires_in_ms": 3_600_000})

        shown = self.changed("override")[0]

        self.assertRegex(shown["until"], RFC3339)
        self.assertTrue(0 < shown["expires_in_ms"] <= 3_600_000, shown)

    def test_an_override_of_a_limit_that_begins_anew_is_gone(self):
        self.override("PUT", {"requests": 5})
        text = self.stint.file.read_text("utf-8")
        self.assertIn("1h", text)
        self.stint.file.write_text(text.replace("1h", "2h"), "utf-8")

        notes = self.admin.reload().json()["notes"]

        self.assertIn("limit by_key: the changes that were made at run time have ended", notes)
        self.assertEqual(self.changed("override"), [])

    def test_a_drained_endpoint_is_there_until_it_is_enabled_also_over_a_reload(self):
        self.endpoint("drain")
        self.assertEqual(self.admin.reload().status, 200)

        self.assertEqual(self.changed("drained_endpoint"), [
            {"kind": "drained_endpoint", "upstream": "up", "endpoint": self.upstream.address}])
        self.endpoint("enable")
        self.assertEqual(self.changed("drained_endpoint"), [])

    def test_a_lease_that_an_operator_has_ended_is_listed_one_that_its_holder_has_ended_is_not(self):
        locker = self.locker(self.stint)
        ended = []
        for by_operator in (True, False):
            self.assertEqual(locker.acquire("jobs").status, 201)
            lease = self.admin.get("/v1/locks/jobs")["holders"][0]["lease"]
            path = f"/v1/locks/jobs/leases/{lease}"
            status = self.admin.request("DELETE", path).status if by_operator else locker.release("jobs", lease).status
            self.assertIn(status, (200, 204))
            if by_operator:
                ended.append({"kind": "ended_lease", "lock": "jobs", "lease": lease})

        self.assertEqual(self.admin.request("DELETE", path).status, 404)
        self.assertEqual(self.changed("ended_lease"), ended)


if __name__ == "__main__":
    unittest.main()
