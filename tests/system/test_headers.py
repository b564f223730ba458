"""What responses say about limits, and the forms that a refusal can take."""

import base64
import math
import time
import unittest

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.structured_fields import Parser

HOUR = {"per": "1h"}
TRIO = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def trio(response, names=TRIO):
    return [int(response.get(name)) for name in names]


class HeadersTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.parse = self.enterContext(Parser())

    def told(self, response) -> dict:
        """name: (policy's parameters, state's parameters), as a foreign parser reads them."""
        policies = self.parse(response.all("RateLimit-Policy"))
        states = self.parse(response.all("RateLimit"))
        self.assertIsNotNone(policies)
        self.assertIsNotNone(states)
        self.assertEqual([name for name, _ in policies], [name for name, _ in states])
        self.assertEqual(len(policies), len(dict(policies)), "a name stands twice")
        return {name: (policy, state) for (name, policy), (_, state) in zip(policies, states)}

    def answering(self, fields=(), status="200 OK"):
        def script(connection):
            while connection.read_request():
                connection.send(response_bytes(status=status, fields=fields))

        return self.start_upstream(script)


class Draft(HeadersTest):
    def test_admitted_and_refused_answers_tell_every_limit(self):
        stint = self.stint_before(
            self.start_upstream(), headers="draft",
            limits={"hour": {"requests": 2, **HOUR}, "short": {"requests": 100, "per": "90s"},
                    "inflight": {"concurrent": 20}},
            route_limits=["hour", "short", "inflight"])
        answers = [fetch(stint.port) for _ in range(3)]

        self.assertEqual([answer.status for answer in answers], [200, 200, 429])
        for answer, left, short_left in zip(answers, (1, 0, 0), (99, 98, 98)):
            told = self.told(answer)
            self.assertEqual(told["hour"][0], {"q": 2, "w": 3600})
            self.assertEqual(told["hour"][1]["r"], left)
            self.assertIn(told["hour"][1]["t"], range(3500, 3601))
            self.assertEqual(told["short"][0], {"q": 100, "w": 90})
            self.assertEqual(told["short"][1]["r"], short_left)
            self.assertEqual(told["inflight"][0], {"q": 20, "qu": "concurrent-requests"})
            self.assertNotIn("t", told["inflight"][1])
        self.assertEqual(self.told(answers[0])["inflight"][1], {"r": 19})
        refused = answers[2]
        self.assertGreaterEqual(int(refused.get("Retry-After")), self.told(refused)["hour"][1]["t"])

    def test_a_key_is_told_as_a_partition_and_never_itself(self):
        stint = self.stint_before(
            self.start_upstream(), headers="draft",
            limits={"a": {"requests": 5, **HOUR, "key": "client_ip"},
                    "b": {"requests": 6, **HOUR, "key": "client_ip"}},
            route_limits=["a", "b"])
        first, again = fetch(stint.port), fetch(stint.port)
        other = fetch(stint.port, source="127.0.0.2")

        partitions = []
        for answer in (first, again, other):
            (policy_a, state_a), (policy_b, state_b) = self.told(answer).values()
            self.assertEqual(policy_a["pk"], state_a["pk"])
            self.assertEqual(policy_b["pk"], state_b["pk"])
            self.assertEqual(policy_a["pk"], policy_b["pk"])
            partitions.append(base64.b64decode(policy_a["pk"]["bytes"]))
        self.assertEqual(partitions[0], partitions[1])
        self.assertNotEqual(partitions[0], partitions[2])
        self.assertEqual([len(each) for each in partitions], [8, 8, 8])
        self.assertNotIn(bytes([127, 0, 0]), partitions[0])

    def test_what_the_upstream_tells_is_kept_beside_ours_under_unique_names(self):
        upstream = self.answering([
            ("RateLimit-Policy", '"hour";q=7;w=1, "theirs";q=9'), ("RateLimit", '"hour";r=3;t=1')])
        stint = self.stint_before(
            upstream, headers="draft", limits={"hour": {"requests": 2, **HOUR}, "day": {"requests": 3, "per": "1d"}},
            route_limits=["hour", "day"])
        answer = fetch(stint.port)

        policies = dict(self.parse(answer.all("RateLimit-Policy")))
        states = dict(self.parse(answer.all("RateLimit")))
        self.assertEqual(policies["hour"], {"q": 7, "w": 1})
        self.assertEqual(policies["theirs"], {"q": 9})
        self.assertEqual(policies["stint-hour"], {"q": 2, "w": 3600})
        self.assertEqual(policies["day"], {"q": 3, "w": 86400})
        self.assertEqual(len(policies), 4)
        self.assertEqual(states["hour"], {"r": 3, "t": 1})
        self.assertEqual(states["stint-hour"]["r"], 1)
        self.assertEqual(states["day"]["r"], 2)

    def test_an_older_form_from_the_upstream_goes_through_alone(self):
        upstream = self.answering([("RateLimit", "limit=100, remaining=50, reset=5")])
        stint = self.stint_before(
            upstream, headers="draft", limits={"hour": {"requests": 2, **HOUR}}, route_limits=["hour"])
        answer = fetch(stint.port)

        self.assertEqual(answer.all("RateLimit"), ["limit=100, remaining=50, reset=5"])
        self.assertEqual(answer.all("RateLimit-Policy"), [])

    def test_windows_below_a_second_are_told_as_one(self):
        stint = self.stint_before(
            self.start_upstream(), headers="draft", limits={"n": {"requests": 2, "per": "300ms"}},
            route_limits=["n"])
        policy, state = self.told(fetch(stint.port))["n"]

        self.assertEqual(policy, {"q": 2, "w": 1})
        self.assertEqual(state, {"r": 1, "t": 1})

    def test_an_admitted_request_that_fails_is_told_too(self):
        stint = self.start_stint(config(
            "127.0.0.1:1", headers="draft", limits={"n": {"requests": 2, **HOUR}}, route_limits=["n"]))
        answer = fetch(stint.port)

        self.assertEqual(answer.status, 502)
        self.assertEqual(self.told(answer)["n"][1]["r"], 1)


class Switches(HeadersTest):
    def test_nothing_is_told_unless_asked_for(self):
        stint = self.stint_before(
            self.start_upstream(), limits={"n": {"requests": 1, **HOUR}}, route_limits=["n"])
        for answer in (fetch(stint.port), fetch(stint.port)):
            names = {name.lower() for name, _ in answer.fields}
            self.assertFalse([name for name in names if "ratelimit" in name])

    def test_a_limit_says_more_than_its_route_and_a_route_more_than_the_top(self):
        route = {"upstream": "up"}
        stint = self.stint_before(
            self.start_upstream(), headers="draft",
            limits={"n": {"requests": 9, **HOUR}, "quiet": {"requests": 8, **HOUR, "headers": "off"},
                    "old": {"requests": 7, **HOUR, "headers": "legacy"}},
            routes=[
                {"name": "a", "match": {"path": "/a"}, "limits": ["n", "quiet", "old"], **route},
                {"name": "b", "match": {"path": "/b"}, "limits": ["n", "quiet"], "headers": "off", **route},
                {"name": "c", "match": {"path": "/c"}, "limits": ["n", "quiet"], "headers": "both", **route},
            ])
        a, b, c = (fetch(stint.port, target=path) for path in ("/a", "/b", "/c"))

        self.assertEqual(list(self.told(a)), ["n"])
        self.assertEqual(trio(a)[:2], [7, 6])
        self.assertFalse([name for name, _ in b.fields if "RateLimit" in name])
        self.assertEqual(list(self.told(c)), ["n"])
        self.assertEqual(trio(c)[:2], [9, 6])


class Legacy(HeadersTest):
    def test_the_trio_tells_of_the_tightest_window(self):
        stint = self.stint_before(
            self.start_upstream(), headers="legacy",
            limits={"wide": {"requests": 50, **HOUR}, "tight": {"requests": 2, "per": "1m"},
                    "cap": {"concurrent": 1}},
            route_limits=["wide", "tight", "cap"])
        answers = [fetch(stint.port) for _ in range(3)]

        self.assertEqual([trio(answer)[:2] for answer in answers], [[2, 1], [2, 0], [2, 0]])
        for answer in answers:
            self.assertIn(trio(answer)[2], range(55, 61))
            self.assertEqual(answer.all("RateLimit"), [])
        self.assertEqual(answers[2].status, 429)

    def test_reset_can_be_unix_time_and_the_prefix_the_older_draft_s(self):
        stint = self.stint_before(
            self.start_upstream(),
            headers={"fields": "legacy", "legacy_prefix": "RateLimit", "legacy_reset": "epoch"},
            limits={"n": {"requests": 2, **HOUR}}, route_limits=["n"])
        before = time.time()
        answer = fetch(stint.port)

        reset = trio(answer, ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"))[2]
        self.assertGreaterEqual(reset, math.floor(before) + 3600)
        self.assertLessEqual(reset, time.time() + 3601)

    def test_an_upstream_s_own_trio_goes_through_alone(self):
        upstream = self.answering([("x-ratelimit-remaining", "3")])
        stint = self.stint_before(
            upstream, headers="legacy", limits={"n": {"requests": 2, **HOUR}}, route_limits=["n"])
        answer = fetch(stint.port)

        self.assertEqual(answer.all("X-RateLimit-Remaining"), ["3"])
        self.assertEqual(answer.all("X-RateLimit-Limit"), [])


class Refusals(SystemTest):
    def refused(self, limit, fields=()):
        """The answer to a second request where one an hour is admitted."""
        stint = self.stint_before(
            self.start_upstream(), limits={"n": {"requests": 1, **HOUR, **limit}}, route_limits=["n"])
        with RawClient(stint.port) as client:
            self.assertEqual(client.request().status, 200)
            answer = client.request(fields=fields)
            self.assertEqual(client.request().status, answer.status)  # the connection goes on
            return answer

    def test_the_form_is_what_the_client_prefers(self):
        page = self.refused({}, [("Accept", "text/html,application/xml;q=0.9,*/*;q=0.8")])
        text = self.refused({}, [("Accept", "text/*;q=0.5, text/plain")])
        document = self.refused({}, [("Accept", "application/json")])

        self.assertEqual(page.get("Content-Type"), "text/html; charset=utf-8")
        self.assertIn(b"<h1>429 Too Many Requests</h1>", page.body)
        self.assertEqual(text.get("Content-Type"), "text/plain; charset=utf-8")
        self.assertTrue(text.body.startswith(b"429 Too Many Requests\nThe limit n is used up;"))
        self.assertEqual(document.get("Content-Type"), "application/problem+json")
        self.assertEqual(document.json()["violated-policies"], ["n"])

    def test_other_errors_have_the_preferred_form_too(self):
        stint = self.start_stint(config("127.0.0.1:1"))

        answer = fetch(stint.port, fields=[("Accept", "text/plain")])

        self.assertEqual(answer.status, 502)
        self.assertTrue(answer.body.startswith(b"502 Bad Gateway\ncould not connect"))

    def test_a_limit_s_own_status_and_body(self):
        answer = self.refused({
            "status": 503,
            "body": {"content_type": "application/json",
                     "text": '{"wait": {retry_after_ms}, "limit": "{limit}", "id": "{request_id}"}'}})

        self.assertEqual(answer.status, 503)
        self.assertEqual(answer.get("Content-Type"), "application/json")
        self.assertEqual(answer.json()["wait"], int(answer.get("Retry-After-Ms")))
        self.assertEqual(answer.json()["limit"], "n")
        self.assertEqual(answer.json()["id"], answer.get("X-Request-Id"))

    def test_a_status_of_its_own_is_the_document_s_too(self):
        answer = self.refused({"status": 420})

        self.assertEqual((answer.status, answer.json()["status"]), (420, 420))

    def test_jitter_only_adds_and_is_the_same_in_all_three_places(self):
        stint = self.stint_before(
            self.start_upstream(),
            limits={"n": {"requests": 1, **HOUR, "retry_after_jitter": "5s"}}, route_limits=["n"])
        with RawClient(stint.port) as client:
            begun = time.monotonic()
            client.request()
            waits = []
            for _ in range(40):
                answer = client.request()
                ms = int(answer.get("Retry-After-Ms"))
                self.assertEqual(answer.json()["retry_after_ms"], ms)
                self.assertEqual(int(answer.get("Retry-After")), math.ceil(ms / 1000))
                waits.append(ms)
            took = (time.monotonic() - begun) * 1000

        self.assertGreaterEqual(min(waits), 3_600_000 - took)
        self.assertLessEqual(max(waits), 3_605_000)
        self.assertGreater(max(waits) - min(waits), 1000)  # by chance less once in 10^26 runs


if __name__ == "__main__":
    unittest.main()
