"""A zmq locker's users (docs/migrating.md): requests a window, keys, refusals, fair shares and settings of a limit."""

import subprocess
import time
import unittest

from support.case import scaled
from support.permits_case import PermitsTest, milliseconds
from support.permits_client import (
    crowd, most_in_a_span, percentile, permits_config, permits_port, post, take_path, takes, windows)
from support.stint import ROOT, binary
from support.waiting import wait_until

HOUR = "1h"


def sizes(answers, per):
    return [len(window) for window in windows(answers, per)]


class Windows(PermitsTest):
    topic = "zmq server, windows"

    def test_every_window_admits_its_number_to_clients_without_pause(self):
        requests, per, seconds = scaled((50, 0.5, 1.8), (100, 1.0, 8.0))
        stint = self.permits({"turns": {"requests": requests, "per": f"{per}s"}})

        answers = crowd(permits_port(stint), takes("turns", 16), seconds)

        seen = sizes(answers, per)
        self.count("each window, 16 clients without pause", f"exactly {requests}", seen,
                   set(seen) == {requests})
        self.figure("in all, 16 clients without pause", "800 to 900", sum(seen), 800 <= sum(seen) <= 900)
        self.assertEqual({answer.status for answer in answers}, {200, 429})
        self.assertLess(max(answer.body["remaining"] for answer in answers if answer.granted), requests)

    def test_every_window_admits_its_number_to_clients_that_poll(self):
        requests, per, seconds = scaled((20, 1.0, 2.5), (100, 1.0, 8.0))
        stint = self.permits({"turns": {"requests": requests, "per": f"{per}s"}})

        answers = crowd(permits_port(stint), takes("turns", 16), seconds, lambda _: 0.1)

        seen = sizes(answers, per)
        self.count("each window, 16 clients polling every 0.1 s", f"exactly {requests}", seen,
                   max(seen) == requests and set(seen[:-1]) == {requests})

    def test_a_period_may_be_a_fraction_of_a_second(self):
        seconds = scaled(2.1, 10.0)
        stint = self.permits({"turns": {"requests": 5, "per": "0.8s"}})

        answers = crowd(permits_port(stint), takes("turns", 1), seconds, lambda _: 0.1)

        seen = sizes(answers, 0.8)
        self.assertEqual((max(seen), set(seen[:-1])), (5, {5}))
        self.figure("5 per 0.8 s, one client at 10 Hz, 10 s", "60 to 65", sum(seen), 60 <= sum(seen) <= 65)


class WindowAnchor(PermitsTest):
    """A limit of 5 a second, and requests timed around the edge of two windows to get more."""

    topic = "zmq server, window anchor"

    def grants(self, algorithm, pattern, **more):
        stint = self.permits({"turns": {"requests": 5, "per": "1s", "algorithm": algorithm, **more}})
        client = self.client(stint)
        begun, granted = time.monotonic(), []
        for first, last in pattern:
            time.sleep(max(0.0, begun + first - time.monotonic()))
            while True:
                answer = client.take("turns")
                if answer.granted:
                    granted.append(answer)
                if time.monotonic() - begun >= last:
                    break
                time.sleep(0.002)
        return granted

    def test_a_fixed_window_opens_with_the_first_request_and_not_before(self):
        granted = self.grants("fixed_window", [(0.97, 1.06)])

        self.count("fixed, idle 0.97 s, polled to 1.06 s", "<= 9", len(granted), 0 < len(granted) <= 5)

    def test_a_fixed_window_admits_two_numbers_less_one_around_its_edge(self):
        granted = self.grants("fixed_window", [(0.0, 0.0), (0.985, 1.03)])

        seen = most_in_a_span(granted, 1.0)
        self.count("fixed, 1 at 0 s, polled around its end: most in any second", "<= 9", seen, seen <= 9)
        self.assertLessEqual(max(sizes(granted, 1.0)), 5)

    def test_a_strict_limit_admits_no_more_in_any_second(self):
        for name, pattern in (("idle 0.97 s, polled to 1.06 s", [(0.97, 1.06)]),
                              ("1 at 0 s, polled 0.985 to 1.03 s", [(0.0, 0.0), (0.985, 1.03)]),
                              ("polled for 2.2 s", [(0.0, 2.2)])):
            with self.subTest(name):
                seen = most_in_a_span(self.grants("sliding_window", pattern), 1.0)
                self.count(f"strict, {name}: most in any second", "<= 5", seen, seen <= 5)


class ManyKeys(PermitsTest):
    topic = "zmq server, many keys"

    def test_each_of_many_keys_has_its_own_number(self):
        keys, per = scaled((200, "60s"), (1000, "60s"))
        stint = self.permits({"per_login": {"requests": 10, "per": per, "key": "permit_key"}})
        before = stint.resident()
        # One client after the other asks for each key 5 times: 20 for each key.
        granted = dict.fromkeys((f"login-{number}" for number in range(keys)), 0)

        for _ in range(4):
            client = self.client(stint)
            for key in granted:
                client.sock.sendall(post(take_path("per_login"), {"key": key}) * 5)
                granted[key] += sum(client.read().granted for _ in range(5))

        self.count(f"{keys} keys x 10, each asked 20 times", f"{keys * 10}, 10 a key",
                   f"{sum(granted.values())}, {min(granted.values())} to {max(granted.values())} a key",
                   set(granted.values()) == {10})
        self.assertEqual(stint.admin.limit("per_login")["live_keys"], keys)
        self.figure("what the keys took", "little", f"{(stint.resident() - before) // 1024} KiB", True)
        if scaled(False, True):
            wait_until(lambda: stint.admin.limit("per_login")["live_keys"] == 0, "windows are over", 65, 0.5)
            change = stint.resident() / before - 1
            self.figure("memory after the windows ended", "within 5 %", f"{change * 100:+.1f} %", change <= 0.05)

    def test_a_key_may_be_any_text_and_so_may_the_name_that_a_caller_brings(self):
        stint = self.permits({"per_key": {"requests": 1, "per": HOUR, "key": "permit_key"}},
                             permits={"dynamic_limits": 10})
        client = self.client(stint)

        for key in ("", "日本語", 'quote " and \\', "a|b", "a%7Cb"):
            with self.subTest(key=key):
                self.assertEqual([client.take("per_key", key=key).status for _ in range(2)], [200, 429])
        for name in ("täglich/über 100%", "limits", "take", "a?b#c&d", "..%2f"):
            with self.subTest(name=name):
                seen = [client.take(name, requests=1, per_ms=60_000).status for _ in range(2)]
                self.assertEqual(seen, [200, 429])


class Refusals(PermitsTest):
    topic = "zmq server, refusals"

    def test_a_refusal_tells_when_to_come_back(self):
        retries = scaled(3, 100)
        stint = self.permits({"turns": {"requests": 5, "per": "0.8s"}})
        client = self.client(stint)
        asks = grants = firsts = 0
        late = []

        while len(late) < retries:
            answer = client.take("turns")
            asks += 1
            grants += answer.granted
            if answer.granted:
                continue
            # The window ends in the millisecond before this; counted from the asking, no later.
            opening = answer.sent + answer.retry_after - 0.001
            time.sleep(max(0.0, answer.received + answer.retry_after - time.monotonic()))
            answer = client.take("turns")
            asks += 1
            grants += answer.granted
            firsts += answer.granted
            late.append(answer.received - opening)

        self.count("admitted at the first retry", f">= {retries * 99 // 100} of {retries}", firsts,
                   firsts >= retries * 99 // 100)
        self.count("asks for each admission", "<= 2", f"{asks / grants:.2f}", asks <= 2 * grants)
        self.figure("after the opening, 99 of 100", "<= 5 ms", milliseconds(percentile(late, 0.99)),
                    percentile(late, 0.989) <= 0.005)

    def test_a_refusal_is_a_problem_document_with_both_fields(self):
        stint = self.permits({"turns": {"requests": 1, "per": "90s"}})
        client = self.client(stint)
        self.assertTrue(client.take("turns").granted)

        refused = client.take("turns")

        self.assertEqual(refused.status, 429)
        told = int(refused.field("Retry-After-Ms"))
        self.assertTrue(80_000 < told <= 90_000, told)
        self.assertEqual(int(refused.field("Retry-After")), -(-told // 1000))
        self.assertEqual(refused.field("Content-Type"), "application/problem+json")
        self.assertEqual(
            (refused.body["status"], refused.body["limit"], refused.body["violated-policies"],
             refused.body["retry_after_ms"]),
            (429, "turns", ["turns"], told))


class Fairness(PermitsTest):
    topic = "zmq server, fair shares"

    def test_polite_clients_get_their_share_beside_a_greedy_one(self):
        seconds = scaled(4.0, 6.0)
        stint = self.permits({"turns": {"requests": 20, "per": "1s"}})
        requests = [post(take_path("turns"), {"owner": f"client {number}"}) for number in range(4)]

        answers = crowd(permits_port(stint), requests, seconds, lambda answer: 0.1 if answer.client else 0.0)

        seen = sizes(answers, 1.0)
        self.assertLessEqual(max(seen), 20, seen)
        self.assertGreaterEqual(sum(seen[:-1]), 18 * len(seen[:-1]))  # a busy machine: who might ask, sleeps
        polite = [sum(answer.granted and answer.client == number for answer in answers) for number in (1, 2, 3)]
        self.figure("each window in all", "20", seen, set(seen[:-1]) == {20})
        self.figure("each polite client, 6 s", ">= 24", polite, min(polite) >= 24)
        # In a short run, the first window included, in which nobody knows yet who will come.
        self.assertGreaterEqual(min(polite), 2.5 * (seconds - 1))

    def test_waiting_clients_take_turns(self):
        stint = self.permits({"turns": {"requests": 4, "per": "0.5s"}})
        requests = [post(take_path("turns"), {"owner": owner, "wait_ms": 5000}) for owner in "g" * 12 + "abc"]

        answers = crowd(permits_port(stint), requests, 2.2)

        self.assertLessEqual(max(sizes(answers, 0.5)), 4)
        admitted = [sum(answer.granted and answer.client == number for answer in answers) for number in (12, 13, 14)]
        self.assertGreaterEqual(min(admitted), 3)  # of 20: a fair quarter is 5


class Settings(PermitsTest):
    topic = "zmq server, settings"
    MISTAKES = (("requests: -1", "per: 1s"), ("requests: 2.5", "per: 1s"), ('requests: "abc"', "per: 1s"),
                ("requests: 5", "per: 0s"), ("requests: 5", "per: -1s"), ("requests: 0", "per: 1s"))

    def test_impossible_settings_are_refused_with_their_line(self):
        port = permits_config()["permits"]["address"]
        for mistake in self.MISTAKES:
            with self.subTest(mistake):
                file = self.folder / "mistake.yaml"
                file.write_text(f"permits: {{address: {port}}}\nlimits:\n  turns:\n    {mistake[0]}\n    {mistake[1]}\n")
                checked = subprocess.run([binary(), "check", file], capture_output=True, text=True, check=False)

                self.assertEqual(checked.returncode, 2)
                wrong = 5 if mistake[1] != "per: 1s" else 4
                self.assertRegex(checked.stderr + checked.stdout, rf"{file}:{wrong}:\d+: limits\.turns\.(requests|per): ")
                if mistake[0] == "requests: 0":
                    self.assertIn("deny", checked.stderr + checked.stdout)

    def test_a_reload_with_a_mistake_keeps_the_old_configuration_and_its_counts(self):
        stint = self.permits({"turns": {"requests": 2, "per": HOUR}})
        client = self.client(stint)
        self.assertTrue(client.take("turns").granted)

        for mistake in (-1, 2.5, "abc", 0):
            stint.write({**stint.config, "limits": {"turns": {"requests": mistake, "per": HOUR}}})
            self.assertGreaterEqual(stint.admin.reload().status, 400)

        self.assertEqual([client.take("turns").status for _ in range(2)], [200, 429])


class Sample(unittest.TestCase):
    def test_the_sample_configuration_is_right(self):
        checked = subprocess.run([binary(), "check", ROOT / "config" / "permits.yaml"], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stderr + checked.stdout)


if __name__ == "__main__":
    unittest.main()
