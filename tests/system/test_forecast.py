"""`GET /limits/NAME/forecast`: what it tells beside what `stint simulate` makes of the gateway's own log."""

import copy
import json
import subprocess
import unittest

from support.case import SystemTest, config
from support.client import fetch
from support.stint import binary
from support.waiting import wait_until

OWN = {"requests": 6, "per": "3s", "key": "client_ip"}
ASKED = {"127.0.0.2": 9, "127.0.0.3": 7, "127.0.0.4": 5, "127.0.0.5": 3, "127.0.0.6": 1}


def refused_by_key(simulated):
    return {key["key"]: key["refused"] for key in simulated["most_refused_keys"].get("each", [])}


class Forecast(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()

    def ask(self, stint):
        for client, times in ASKED.items():
            for _ in range(times):
                fetch(stint.port, source=client)

    def simulated(self, log, requests):
        file = self.folder / f"{requests}.yaml"
        file.write_text(json.dumps(config(
            self.upstream.address, limits={"each": {**OWN, "requests": requests}}, route_limits=["each"])), "utf-8")
        ended = subprocess.run([binary(), "simulate", "--json", "-c", str(file), str(log)], capture_output=True,
                               text=True, timeout=60, check=True)
        return json.loads(ended.stdout)

    def test_a_replay_of_the_log_refuses_so_much_more_as_the_forecast_tells(self):
        stint = self.stint_before(self.upstream, limits={"each": OWN}, route_limits=["each"], workers=2)
        for rounds in (1, 2):
            self.ask(stint)
            # Windows with a single request are left out.
            wait_until(lambda most=4 * rounds: stint.admin.get("/limits/each/forecast")["windows"] == most,
                       "windows that are over", 20)
        stint.wait_for_lines(2 * sum(ASKED.values()))

        refused_now = refused_by_key(self.simulated(stint.folder / "stdout", OWN["requests"])["configuration"])
        for requests in (1, 4, 6, 8, 100):
            with self.subTest(requests=requests):
                told = stint.admin.get(f"/limits/each/forecast?requests={requests}")
                replayed = self.simulated(stint.folder / "stdout", requests)
                then, now = replayed["configuration"], replayed["against"]
                more = max(then["refused"] - now["refused"], 0)
                self.assertEqual(told["would_refuse"], {"at_least": more, "at_most": more})
                self.assertLessEqual(now["refused"] - then["refused"],
                                     told["full_windows"] * max(requests - OWN["requests"], 0))
                self.assertEqual(
                    {key["key"]: key["would_refuse"] for key in told["keys"] if key["would_refuse"] > 0},
                    {key: refused - refused_now.get(key, 0) for key, refused in refused_by_key(then).items()
                     if refused > refused_now.get(key, 0)})
                self.assertEqual({key["key"] for key in told["keys"] if key["full_windows"] > 0},
                                 {"127.0.0.2", "127.0.0.3"})

        told = stint.admin.get("/limits/each/forecast?requests=4&n=2")
        self.assertEqual({key["key"] for key in told["keys"]}, {"127.0.0.2", "127.0.0.3"})
        # The latest ten.
        self.assertEqual([example["key"] for example in told["examples"]], 5 * ["127.0.0.4"] + 5 * ["127.0.0.3"])
        self.assertEqual({example["decision"] for example in told["examples"]}, {"admit", "refuse"})
        self.assertEqual(told["basis"], "complete windows")

    def test_a_key_keeps_its_override(self):
        limit = {**OWN, "overrides": {"127.0.0.2": {"requests": 8}}}
        stint = self.stint_before(self.upstream, limits={"each": limit}, route_limits=["each"])
        self.ask(stint)
        wait_until(lambda: stint.admin.get("/limits/each/forecast")["windows"] == 4, "windows that are over", 20)

        told = stint.admin.get("/limits/each/forecast?requests=4")

        self.assertEqual(
            [(key["key"], key["full_windows"], key["would_refuse"]) for key in told["keys"]],
            [("127.0.0.3", 1, 2), ("127.0.0.4", 0, 1), ("127.0.0.2", 1, 0)])

    def test_what_other_limits_tell_is_their_present_use(self):
        stint = self.stint_before(
            self.upstream,
            limits={"bucket": {"requests": 100, "per": "1h", "algorithm": "token_bucket", "key": "client_ip"},
                    "sliding": {"requests": 100, "per": "1h", "algorithm": "sliding_window"},
                    "cap": {"concurrent": 10}},
            route_limits=["bucket", "sliding", "cap"])
        self.ask(stint)

        bucket = stint.admin.get("/limits/bucket/forecast?burst=4")
        self.assertEqual((bucket["would_refuse"], bucket["basis"]), ({"at_least": 9, "at_most": None}, "tokens owed now"))
        self.assertIn("not_forecast", stint.admin.get("/limits/bucket/forecast?requests=200"))
        sliding = stint.admin.get("/limits/sliding/forecast?requests=20")
        self.assertEqual(sliding["would_refuse"], {"at_least": 5, "at_most": None})
        self.assertNotIn("keys", sliding)
        self.assertEqual(stint.admin.get("/limits/cap/forecast?concurrent=1")["basis"], "slots held now")

    def test_a_dry_run_tells_the_forecast_of_the_limits_that_it_changes(self):
        others = {"same": {"requests": 100, "per": "3s"}, "keyed": {"requests": 100, "per": "3s", "key": "client_ip"}}
        stint = self.stint_before(self.upstream, limits={"each": OWN, **others},
                                  route_limits=["each", "same", "keyed"])
        self.ask(stint)
        wait_until(lambda: stint.admin.get("/limits/each/forecast")["windows"] == 4, "windows that are over", 20)
        changed = copy.deepcopy(stint.config)
        changed["limits"]["each"]["requests"] = 4
        changed["limits"]["keyed"]["key"] = "header:X-Key"
        changed["limits"]["new"] = {"requests": 1, "per": "1s"}
        stint.write(changed)

        told = stint.admin.request("POST", "/config/reload?dry_run=true").json()["forecast"]

        self.assertEqual(set(told), {"each", "keyed"})
        self.assertEqual(told["each"], {**told["each"], "windows": 4, "counted": 20, "full_windows": 2,
                                        "would_refuse": {"at_least": 5, "at_most": 5}})
        self.assertIn("not_forecast", told["keyed"])
        self.assertEqual(stint.admin.get("/config/last_reload")["generation"], 1)

    def dry_run(self, stint, **changes) -> dict:
        """The forecast for the limit `each` with these changes, which are not put in force."""
        changed = copy.deepcopy(stint.config)
        changed["limits"]["each"].update(changes)
        stint.file.write_text(json.dumps(changed), encoding="utf-8")
        return stint.admin.request("POST", "/config/reload?dry_run=true").json()["forecast"]["each"]

    def test_what_does_not_refuse_all_above_the_number_has_no_forecast(self):
        stint = self.stint_before(self.upstream, limits={"each": OWN}, route_limits=["each"])
        self.ask(stint)
        wait_until(lambda: stint.admin.get("/limits/each/forecast")["windows"] == 4, "windows that are over", 20)
        for more in ({"exempt": ["127.0.0.2"]}, {"when_exceeded": "wait", "max_wait": "10s"},
                     {"count_when": {"status": [401]}}, {"refund": [200]}, {"enforce": False}):
            with self.subTest(str(more)):
                self.assertIn("not_forecast", self.dry_run(stint, requests=4, **more))
        told = self.dry_run(stint, requests=4, deny=["127.0.0.2"])
        self.assertEqual(told["would_refuse"], {"at_least": 5, "at_most": None})

    def test_requests_without_the_key_may_count_in_another_way(self):
        stint = self.stint_before(
            self.upstream, limits={"each": {"requests": 3, "per": "2s", "key": "header:X-Key"}}, route_limits=["each"])
        self.assertEqual({fetch(stint.port).status for _ in range(3)}, {200})
        wait_until(lambda: stint.admin.get("/limits/each/forecast")["windows"] == 1, "a window that is over", 20)
        self.assertIn("not_forecast", self.dry_run(stint, requests=2, missing_key="exempt"))
        told = self.dry_run(stint, requests=2, missing_key="refuse")
        self.assertEqual(told["would_refuse"], {"at_least": 1, "at_most": None})

    def test_a_change_at_run_time_that_the_reload_ends_counts_no_more(self):
        stint = self.stint_before(self.upstream, limits={"each": OWN}, route_limits=["each"])
        self.ask(stint)
        wait_until(lambda: stint.admin.get("/limits/each/forecast")["windows"] == 4, "windows that are over", 20)
        stint.admin.request("PUT", "/limits/each/overrides", body=json.dumps({"requests": 1, "for": "1h"}))
        self.assertEqual(self.dry_run(stint, requests=9, per="6s")["would_refuse"]["at_least"], 0)

    def test_a_key_whose_terms_cannot_be_compared_is_not_told_to_be_refused(self):
        bucket = {"requests": 60, "per": "60s", "burst": 20, "algorithm": "token_bucket", "key": "client_ip"}
        stint = self.stint_before(self.upstream, limits={"each": bucket}, route_limits=["each"])
        self.ask(stint)
        told = self.dry_run(stint, overrides={"127.0.0.2": {"requests": 600, "burst": 200}})
        self.assertEqual(told["would_refuse"], {"at_least": 0, "at_most": None})

    def test_a_key_that_is_not_known_may_have_a_number_of_its_own(self):
        limit = {"requests": 3, "per": "2s", "key": "header:X-Key", "overrides": {"p*": {"requests": 100}}}
        stint = self.stint_before(self.upstream, limits={"each": limit}, route_limits=["each"])
        for key in ("p" * 300, "other"):
            self.assertEqual({fetch(stint.port, fields=[("X-Key", key)]).status for _ in range(3)}, {200})
        wait_until(lambda: stint.admin.get("/limits/each/forecast")["windows"] == 2, "windows that are over", 20)
        told = stint.admin.get("/limits/each/forecast?requests=2")
        self.assertEqual(told["would_refuse"], {"at_least": 1, "at_most": None})

    def test_costs_count_whole_requests(self):
        stint = self.stint_before(self.upstream, limits={"each": {"requests": 10, "per": "2s", "cost": 3}},
                                  route_limits=["each"])
        self.assertEqual([fetch(stint.port).status for _ in range(4)], [200, 200, 200, 429])
        wait_until(lambda: stint.admin.get("/limits/each/forecast")["windows"] == 1, "a window that is over", 20)
        for requests, refused in ((8, 3), (6, 3), (2, 9), (9, 0)):
            self.assertEqual(stint.admin.get(f"/limits/each/forecast?requests={requests}")["would_refuse"],
                             {"at_least": refused, "at_most": refused}, requests)

    def test_numbers_that_no_limit_can_have_are_refused(self):
        stint = self.stint_before(self.upstream, limits={"each": OWN}, route_limits=["each"])
        for query in ("requests=0", "requests=x", "burst=3", "n=0", "n=257", "request=3", "concurrent=3",
                      "requests=3&requests=4"):
            with self.subTest(query):
                self.assertEqual(stint.admin.request("GET", f"/limits/each/forecast?{query}").status, 400)
        self.assertEqual(stint.admin.request("GET", "/limits/none/forecast").status, 404)


if __name__ == "__main__":
    unittest.main()
