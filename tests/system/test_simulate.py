"""`stint simulate`: logs that a real Stint wrote, against other configurations."""

import json
import subprocess
import unittest

from support.case import SystemTest, config
from support.client import fetch
from support.stint import binary


class Simulate(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()

    def write_config(self, limits, name="new.yaml"):
        file = self.folder / name
        file.write_text(json.dumps(config(
            self.upstream.address, limits=limits, route_limits=list(limits))), encoding="utf-8")
        return str(file)

    def logged(self, requests, **more):
        """A log of this many requests through a Stint."""
        stint = self.stint_before(self.upstream, **more)
        for number in range(requests):
            fetch(stint.port, target=f"/page?{number}")
        stint.wait_for_lines(requests)
        return str(stint.folder / "stdout")

    def simulate(self, *arguments, stdin=None):
        return subprocess.run(
            [binary(), "simulate", *arguments], input=stdin, capture_output=True, text=True,
            timeout=60, check=False)

    def report(self, *arguments, **more):
        ended = self.simulate("--json", *arguments, **more)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return json.loads(ended.stdout)

    def test_a_tighter_limit_refuses_what_the_log_admitted(self):
        log = self.logged(10)
        tight = self.write_config({"tight": {"requests": 4, "per": "1h", "key": "client_ip"}})

        found = self.report("-c", tight, log)

        self.assertEqual(found["log"]["requests"], 10)
        self.assertEqual(found["configuration"]["admitted"], 4)
        self.assertEqual(found["configuration"]["routes"][0]["refused_by"], {"tight": 6})
        self.assertEqual(
            found["configuration"]["most_refused_keys"]["tight"],
            [{"key": "127.0.0.1", "refused": 6, "at_most_over_by": 0}])
        self.assertEqual(found["difference"]["newly_refused"], 6)

    def test_the_configuration_that_wrote_the_log_decides_as_it_did(self):
        limits = {"budget": {"requests": 7, "per": "1h"}}
        log = self.logged(10, limits=limits, route_limits=["budget"], workers=1)

        found = self.report("-c", self.write_config(limits), log)

        self.assertEqual(found["against"]["refused"], 3)
        self.assertEqual(found["configuration"]["refused"], 3)
        self.assertEqual(found["difference"]["newly_refused"], 0)
        self.assertEqual(found["difference"]["newly_admitted"], 0)

    def test_two_configurations_and_standard_input(self):
        log = self.logged(6)
        old = self.write_config({"a": {"requests": 5, "per": "1h"}}, "old.yaml")
        new = self.write_config({"b": {"requests": 2, "per": "1h"}})
        with open(log, encoding="utf-8") as lines:
            found = self.report("-c", new, "--against", old, "-", stdin=lines.read())

        self.assertEqual(found["difference"]["newly_refused"], 3)
        self.assertEqual(found["against"]["refused"], 1)

    def test_the_table_for_people(self):
        log = self.logged(3)
        tight = self.write_config({"tight": {"requests": 1, "per": "1h"}})

        ended = self.simulate("-c", tight, log)

        self.assertEqual(ended.returncode, 0)
        self.assertIn("3 requests in 3 lines", ended.stdout)
        self.assertIn("Against what happened: 2 newly refused, 0 newly admitted", ended.stdout)

    def test_exit_codes(self):
        good = self.write_config({"tight": {"requests": 1, "per": "1h"}})
        bad = self.folder / "bad.yaml"
        bad.write_text("listeners: 7\n", encoding="utf-8")
        other = self.folder / "other.log"
        other.write_text('127.0.0.1 - - "GET /"\n', encoding="utf-8")

        for arguments, code, said in (
            (["-c", str(bad), str(other)], 2, "bad.yaml:1:12"),
            (["-c", good, "--format", "iis", str(other)], 2, "--format"),
            (["-c", good, "--captured", "a b", str(other)], 2, '--captured: "a b" is not the name of a header'),
            (["-c", good, "--host", "a b", str(other)], 2, '--host: "a b" is not a host such as shop.example'),
            (["-c", good], 2, "needs -c FILE and a LOG"),
            (["-c", good, "/nonexistent"], 1, "/nonexistent: cannot be read"),
            (["-c", good, str(other)], 1, f"{other}:1: not a line of Stint's JSON"),
            (["-c", good, "/dev/null"], 0, ""),
        ):
            with self.subTest(arguments=arguments):
                ended = self.simulate(*arguments)
                self.assertEqual(ended.returncode, code)
                self.assertIn(said, ended.stderr)


if __name__ == "__main__":
    unittest.main()
