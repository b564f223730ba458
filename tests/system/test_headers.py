"""What responses say about limits, and the forms that a refusal can take. RateLimit: test_headers_npm.py."""

import math
import time
import unittest

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.waiting import wait_until

HOUR = {"per": "1h"}
TRIO = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def trio(response, names=TRIO):
    return [int(response.get(name)) for name in names]


class HeadersTest(SystemTest):
    def answering(self, fields=(), status="200 OK"):
        def script(connection):
            while connection.read_request():
                connection.send(response_bytes(status=status, fields=fields))

        return self.start_upstream(script)


class Switches(HeadersTest):
    def test_nothing_is_told_unless_asked_for(self):
        stint = self.stint_before(
            self.start_upstream(), limits={"n": {"requests": 1, **HOUR}}, route_limits=["n"])
        for answer in (fetch(stint.port), fetch(stint.port)):
            names = {name.lower() for name, _ in answer.fields}
            self.assertFalse([name for name in names if "ratelimit" in name])


class Legacy(HeadersTest):
    def test_the_trio_tells_of_the_tightest_window(self):
        stint = self.stint_before(
            self.start_upstream(), headers="legacy",
            limits={"wide": {"requests": 50, **HOUR}, "tight": {"requests": 2, "per": "1m"},
                    "cap": {"concurrent": 1}},
            route_limits=["wide", "tight", "cap"])
        answers = []
        for _ in range(3):
            # A client may have its whole response just before its slot is free.
            wait_until(lambda: stint.admin.limit("cap")["in_flight"] == 0, "a free slot")
            answers.append(fetch(stint.port))

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
        self.assertTrue(answer.body.startswith(b"502 Bad Gateway\n"))
        self.assertIn(b"X-Request-Id", answer.body)

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
