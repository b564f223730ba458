"""What a reload would change: `stint check --diff` and POST /config/reload?dry_run=true."""

import copy
import json
import random
import re
import socket
import subprocess
import unittest
from pathlib import Path

from support.case import SystemTest, config, scaled
from support.client import fetch
from support.ports import free_port
from support.stint import binary
from support.waiting import wait_until

SAMPLES = Path(__file__).resolve().parents[2] / "config"
DRY_RUN = "/config/reload?dry_run=true"


def run_stint(*arguments, stdin=None):
    return subprocess.run([binary(), *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=60,
                          check=False)


class Diff(SystemTest):
    """stint check --diff: two files, no gateway."""

    FORMER = ("listeners:\n"
              "  - address: 127.0.0.1:8080\n"
              "upstreams: {up: {endpoints: [127.0.0.1:9000]}}\n"
              "limits:\n"
              "  a: {requests: 1, per: 1s}\n"
              "  b: {concurrent: 2}\n"
              "routes:\n"
              "  - {name: first, match: {path: /1}, upstream: up, limits: [a]}\n"
              "  - {name: second, match: {path: /2}, upstream: up, limits: [b]}\n")

    def diff(self, next_text, former_text=None):
        former, file = self.folder / "former.yaml", self.folder / "next.yaml"
        former.write_text(former_text or self.FORMER, encoding="utf-8")
        file.write_text(next_text, encoding="utf-8")
        ended = run_stint("check", "--diff", former, file)
        return ended.returncode, ended.stdout.replace(f"{self.folder}/", "").splitlines(), ended.stderr

    def test_a_file_does_not_differ_from_itself_or_from_another_way_to_write_it(self):
        self.assertEqual(self.diff(self.FORMER), (0, ["next.yaml: no difference from former.yaml"], ""))
        self.assertEqual(self.diff(self.FORMER + "max_connections: 10000\n")[0], 0)

    def test_each_change_has_its_place_its_values_and_its_effect(self):
        changed = (self.FORMER.replace("per: 1s", "per: 1m").replace("  b: {concurrent: 2}\n", "  c: {concurrent: 2}\n")
                   .replace("[b]", "[c]").replace("8080\n", "8080\n    half_close: allow\n") + "workers: 3\n")
        code, lines, errors = self.diff(changed)

        self.assertEqual((code, errors), (4, ""))
        self.assertIn('next.yaml:6:20: limits.a.per: "1s" -> "60s" (at once)', lines)
        self.assertIn('next.yaml:11:1: workers: "auto" -> 3 (after a restart)', lines)
        self.assertIn('next.yaml:3:5: listeners[0].half_close: "gone" -> "allow" (for new connections)', lines)
        self.assertIn('next.yaml:10:53: routes[1].limits: ["b"] -> ["c"] (at once)', lines)
        self.assertRegex("\n".join(lines), r"(?m)^next\.yaml:7:3: limits\.c: added \{.*\} \(at once\)$")
        self.assertRegex("\n".join(lines), r"(?m)^former\.yaml:6:3: limits\.b: removed \{.*\} \(at once\)$")
        self.assertEqual(lines[-3:], ["limits: changed a", "caps: added c; removed b",
                                      "counters: begin anew a; ended b"])

    def test_a_route_that_has_moved_is_a_change_and_the_order_of_limits_is_none(self):
        head, _, routes = self.FORMER.partition("routes:\n")
        first, second = routes.splitlines(keepends=True)
        a, b = "  a: {requests: 1, per: 1s}\n", "  b: {concurrent: 2}\n"

        self.assertEqual(self.diff(head.replace(a + b, b + a) + "routes:\n" + first + second)[0], 0)
        code, lines, _ = self.diff(head + "routes:\n" + second + first)
        self.assertEqual((code, lines[0]), (4, "next.yaml:8:5: routes[0]: moved from [1] (at once)"))

    def test_no_secret_is_printed_and_that_it_has_changed_is(self):
        def keyed(secret):
            return self.FORMER.replace(
                "endpoints: [127.0.0.1:9000]}",
                f"endpoints: [127.0.0.1:9000], request: {{set_headers: {{X-Key: {secret}}}}}}}")
        code, lines, _ = self.diff(keyed("s3cret"), keyed("g3heim"))

        self.assertEqual(code, 4)
        self.assertIn('upstreams.up.request.set_headers.X-Key: "(hidden)" -> "(hidden)" (at once)', lines[0])
        self.assertNotRegex("\n".join(lines), "s3cret|g3heim")

    def test_no_control_character_reaches_the_terminal(self):
        def answering(body):
            return self.FORMER.replace("match: {path: /1}, upstream: up",
                                       f'match: {{path: /1}}, respond: {{status: 200, body: "{body}"}}')
        code, lines, _ = self.diff(answering(r"a\x7fb\x1bc"), answering("a"))

        self.assertEqual(code, 4)
        self.assertRegex(lines[0], r'^[ -~]*routes\[0\]\.respond\.body: "a" -> "a\\x7fb\\u001bc" \(at once\)$')

    def test_mistakes_in_either_file_are_told_with_the_code_of_mistakes(self):
        code, lines, errors = self.diff("routes: 7\n", "routes: 8\n")
        self.assertEqual((code, lines), (2, []))
        self.assertIn("former.yaml:1:9: ", errors)
        self.assertIn("next.yaml:1:9: ", errors)
        missing = run_stint("check", "--diff", self.folder / "none.yaml", self.folder / "next.yaml")
        self.assertEqual(missing.returncode, 2)

    def test_a_gateways_configuration_may_come_through_a_pipe(self):
        stint = self.stint_before(self.start_upstream())
        document = stint.admin.request("GET", "/config").text()

        same = run_stint("check", "--diff", "-", stint.file, stdin=document)
        self.assertEqual((same.returncode, same.stderr), (0, ""), same.stdout)
        self.assertEqual(run_stint("check", "--diff", stint.file, "-", stdin=document).returncode, 0)
        self.assertEqual(run_stint("check", "--diff", "-", "-", stdin=document).returncode, 2)
        for other in ("--strict", "--print", "--store"):
            self.assertEqual(run_stint("check", other, "--diff", stint.file, stint.file).returncode, 2, other)


class DryRun(SystemTest):
    """POST /config/reload?dry_run=true before a gateway."""

    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()

    def before(self, **more):
        limits = {"n": {"requests": 5, "per": "1h"}, "other": {"requests": 100, "per": "1h"}}
        stint = self.stint_before(self.upstream, limits=limits, route_limits=list(limits), **more)
        self.made = copy.deepcopy(stint.config)
        return stint

    def dry_run(self, stint, edit=lambda made: None):
        """Writes edit(the first configuration), and gives the answer."""
        changed = copy.deepcopy(self.made)
        edit(changed)
        stint.write(changed)
        answered = stint.admin.request("POST", DRY_RUN)
        self.assertEqual(answered.status, 200, answered.text())
        return answered.json()

    @staticmethod
    def state(stint):
        """What a reload leaves traces in, beside the configuration."""
        return (stint.admin.request("GET", "/config").text(), stint.admin.get("/config/last_reload"),
                [sample for sample in stint.admin.metrics().samples if "config" in sample[0]],
                stint.admin.get("/changes"))

    def test_it_says_what_a_reload_would_do_and_does_nothing(self):
        stint = self.before()
        for _ in range(3):
            fetch(stint.port)
        former = self.state(stint)

        said = self.dry_run(stint, lambda made: (made["limits"]["n"].update(per="2h"), made.update(workers=1)))

        self.assertEqual((said["dry_run"], said["would_reload"], said["errors"]), (True, True, []))
        self.assertEqual(said["generation"], 1)
        self.assertEqual(said["counters"], {"kept": ["other"], "begin_anew": ["n"], "ended": []})
        self.assertEqual(said["limits"], {"added": [], "removed": [], "changed": ["n"]})
        changes = {each["path"]: each for each in said["changes"]}
        self.assertEqual(set(changes), {"workers", "limits.n.per"})
        self.assertRegex(changes["limits.n.per"].pop("place"), r"stint\.yaml:\d+:\d+$")
        self.assertEqual(changes["limits.n.per"], {"path": "limits.n.per", "change": "changed", "former": "1h",
                                                   "next": "2h", "effect": "at_once"})
        self.assertEqual((changes["workers"]["former"], changes["workers"]["effect"]), (2, "restart"))
        self.assertEqual(self.state(stint), former)
        self.assertEqual(stint.admin.limit("n")["used"], 3)

        self.assertEqual(stint.admin.reload().json()["notes"], said["notes"])
        self.assertEqual((stint.admin.limit("n")["used"], stint.admin.limit("other")["used"]), (0, 3))

    def test_a_file_that_would_be_refused_is_told_as_a_reload_tells_it(self):
        stint = self.before()
        former = self.state(stint)
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        (self.folder / "empty").write_text("", encoding="utf-8")
        port = free_port()
        edits = {
            "a mistake": lambda made: made["routes"][0].update(upstream="none"),
            "a certificate": lambda made: made["listeners"][0].update(tls={"certificate": "no.pem", "key": "no.key"}),
            "an address": lambda made: made["listeners"].append({"address": address}),
            "two addresses": lambda made: made["listeners"].extend({"address": f"{host}:{port}"}
                                                                   for host in ("127.0.0.1", "0.0.0.0")),
            "a folder": lambda made: made["listeners"].append({"address": f"unix:{self.folder}/none/s"}),
            "a password": lambda made: made.update(stores={"main": {"redis": "127.0.0.1:1", "password_file":
                                                                   f"{self.folder}/empty"}}),
        }
        for what, edit in edits.items():
            with self.subTest(what):
                said = self.dry_run(stint, edit)
                self.assertFalse(said["would_reload"], said)
                self.assertNotIn("changes", said)
                self.assertEqual(self.state(stint), former)
                refused = stint.admin.reload()
                self.assertEqual((refused.status, refused.json()["errors"]), (422, said["errors"]))
                former = self.state(stint)
        self.assertEqual(fetch(stint.port).status, 200)

    def test_listeners_that_would_be_added_are_tried_and_gone(self):
        stint = self.before()
        port, own, stale = free_port(), self.folder / "own", self.folder / "stale"
        with socket.socket(socket.AF_UNIX) as gone:
            gone.bind(str(stale))
        inode = stale.stat().st_ino

        added = [{"address": f"127.0.0.1:{port}"}, {"address": f"unix:{own}"}, {"address": f"unix:{stale}"}]
        said = self.dry_run(stint, lambda made: made["listeners"].extend(added))

        self.assertTrue(said["would_reload"], said)
        self.assertEqual([each["path"] for each in said["changes"]], ["listeners[1]", "listeners[2]", "listeners[3]"])
        self.assertEqual({each["effect"] for each in said["changes"]}, {"new_connections"})
        self.assertFalse(own.exists())
        self.assertEqual(stale.stat().st_ino, inode)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        self.assertEqual(stint.admin.reload().status, 200)
        self.assertEqual(fetch(port).status, 200)

    def test_changes_at_run_time_that_a_reload_would_end_stay(self):
        stint = self.before()
        put = stint.admin.request("PUT", "/limits/n/overrides", body=json.dumps({"requests": 9}))
        self.assertEqual(put.status, 200, put.text())

        said = self.dry_run(stint, lambda made: made["limits"]["n"].update(per="2h"))

        self.assertIn("limit n: the changes that were made at run time have ended", said["notes"])
        self.assertEqual(len(stint.admin.get("/changes")["changes"]), 1)
        self.assertEqual(stint.admin.reload().json()["notes"], said["notes"])
        self.assertEqual(len(stint.admin.get("/changes")["changes"]), 0)

    def test_what_needs_a_restart_is_told_until_then(self):
        stint = self.before()
        stint.write({**stint.config, "workers": 1})
        self.assertEqual(stint.admin.reload().status, 200)

        said = stint.admin.request("POST", DRY_RUN).json()

        [change] = said["changes"]
        self.assertEqual((change["path"], change["former"], change["next"]), ("workers", 2, 1))

    def test_other_queries_are_refused_and_false_reloads(self):
        stint = self.before()
        for query in ("dry_run=1", "dry_run=", "dry_run", "dry=true", "dry_run=true&dry_run=false", "who=me"):
            self.assertEqual(stint.admin.request("POST", f"/config/reload?{query}").status, 400, query)
        self.assertEqual(stint.admin.get("/config/last_reload")["generation"], 1)
        answered = stint.admin.request("POST", "/config/reload?dry_run=false").json()
        self.assertEqual((answered["applied"], answered["generation"]), (True, 2))
        self.assertEqual(stint.admin.request("GET", DRY_RUN).status, 405)

    def test_a_watch_goes_on_as_if_there_had_been_none(self):
        stint = self.before(watch=True)

        said = self.dry_run(stint, lambda made: made["limits"]["n"].update(requests=6))

        self.assertEqual([each["path"] for each in said["changes"]], ["limits.n.requests"])
        wait_until(lambda: stint.admin.limit("n")["limit"] == 6, "the watch has reloaded", 30)
        self.assertEqual(stint.admin.get("/config/last_reload")["by"], "watch")


class Property(SystemTest):
    """A reload after a dry run does exactly what was said, over pairs of configurations made from the samples."""

    KEYS = (None, "client_ip", "header:X-Api-Key")
    LENGTHS = ("24h", "48h")

    def sample_limits(self):
        """The windows and caps of the samples, in a form that counts for long enough to be looked at."""
        found = {}
        for sample in sorted(SAMPLES.glob("*.yaml")):
            printed = run_stint("check", "--print", sample)
            self.assertEqual(printed.returncode, 0, printed.stderr)
            for name, limit in json.loads(printed.stdout).get("limits", {}).items():
                names = ("concurrent", "algorithm", "anchor", "key", "missing_key", "enforce")
                kept = {key: limit[key] for key in names if key in limit}
                if kept.get("key") not in self.KEYS:
                    kept["key"] = "client_ip"
                    kept.pop("missing_key", None)
                if "requests" in limit:
                    kept.update(requests=9, per=self.LENGTHS[0])
                found.setdefault(name, kept)
        return found

    def mutated(self, limits, all_limits, dice):
        """Another set of limits: some go, some come, some have other numbers, some another identity."""
        made = {}
        for name, limit in limits.items():
            changed = dict(limit)
            chance = dice.random()
            if chance < 0.1:
                continue
            if chance < 0.25:
                changed.pop("missing_key", None)
                changed["key"] = dice.choice(self.KEYS)
                if changed["key"] is None:
                    del changed["key"]
            elif "requests" not in limit:
                changed["concurrent"] = dice.randint(1, 9)
            elif chance < 0.4:
                changed["per"] = dice.choice(self.LENGTHS)
            elif chance < 0.5:
                changed.pop("anchor", None)
                changed["algorithm"] = dice.choice(("fixed_window", "sliding_window", "token_bucket"))
            elif chance < 0.7:
                changed["requests"] = dice.randint(5, 9)
            made[name] = changed
        for name, limit in all_limits.items():
            if name not in limits and dice.random() < 0.3:
                made[name] = dict(limit)
        names = list(made) or [next(iter(all_limits))]
        dice.shuffle(names)
        return {name: made.get(name, all_limits[name]) for name in names}

    @staticmethod
    def routes(limits):
        return [{"name": name, "match": {"path": f"/{name}"}, "upstream": "up", "limits": [name]} for name in limits]

    @staticmethod
    def used(stint, name, limit):
        """How much of the limit's counter is used by the test's requests; None for a cap."""
        key = {None: "", "client_ip": "?key=127.0.0.1", "header:X-Api-Key": "?key=k"}[limit.get("key")]
        return stint.admin.get(f"/limits/{name}{key}").get("used") if "requests" in limit else None

    def test_what_begins_anew_is_what_the_reload_forgets(self):
        dice = random.Random(17)
        every = self.sample_limits()
        self.assertGreater(len(every), 8)
        limits = every
        stint = self.start_stint(config(self.start_upstream().address, limits=limits, ipv4_prefix=32))
        pairs = scaled(30, 300)
        anew = 0
        for pair in range(pairs + 1):
            if pair == 0:  # the first only puts the routes in force
                following, prefix = limits, 32
            else:
                following, prefix = self.mutated(limits, every, dice), dice.choice((32, 32, 32, 24))
                for name in limits:
                    fetch(stint.port, target=f"/{name}", fields=[("X-Api-Key", "k")])
                for name, limit in limits.items():
                    self.assertNotEqual(self.used(stint, name, limit), 0, (pair, name, limit))
            before, former_file = stint.config, self.folder / "former.yaml"
            former_file.write_text(json.dumps(before), encoding="utf-8")
            stint.config = {**before, "limits": following, "routes": self.routes(following), "ipv4_prefix": prefix}
            stint.write(stint.config)

            said = stint.admin.request("POST", DRY_RUN).json()
            printed = run_stint("check", "--diff", former_file, stint.file)
            reloaded = stint.admin.reload()

            with self.subTest(pair=pair):
                self.assertEqual((said["would_reload"], reloaded.status), (True, 200))
                self.assertEqual(said["notes"], reloaded.json()["notes"])
                self.assertEqual(printed.returncode, 4 if said["changes"] else 0, printed.stdout)
                last = printed.stdout.splitlines()[-1]
                told = re.search(r"begin anew ([^;]*)", last)
                self.assertEqual(told[1].split(", ") if told else [], said["counters"]["begin_anew"])
                if pair > 0:
                    self.compare(stint, said["counters"], limits, following)
                    anew += len(said["counters"]["begin_anew"])
            limits = following
        self.assertGreater(anew, pairs / 2)

    def compare(self, stint, said, former, following):
        both = [name for name in following if name in former]
        self.assertEqual(said["ended"], [name for name in former if name not in following])
        self.assertEqual(sorted(said["kept"] + said["begin_anew"]), sorted(both))
        windows = [name for name in both if "requests" in following[name]]
        forgotten = [name for name in windows if self.used(stint, name, following[name]) == 0]
        self.assertEqual([name for name in said["begin_anew"] if name in windows], forgotten)


if __name__ == "__main__":
    unittest.main()
