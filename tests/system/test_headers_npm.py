"""RateLimit and RateLimit-Policy, as a parser of structured fields reads them that is not Stint's."""

import base64

from support import node
from support.case import SystemTest, config
from support.client import fetch
from support.structured_fields import Parser
from test_headers import HOUR, HeadersTest, trio


class ParsedTest(HeadersTest):
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


class Draft(ParsedTest):
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


class Switches(ParsedTest):
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


if __name__ == "__main__":
    node.main("structured_fields")
