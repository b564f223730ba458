"""Environment variables in the configuration: each command that reads the file fills them in."""

import json
import os
import subprocess
import unittest

from support.case import SystemTest, config
from support.client import fetch
from support.stint import binary


class Variables(SystemTest):
    def run_stint(self, *arguments, stdin=None, **environment):
        return subprocess.run(
            [binary(), *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=30, check=False,
            env={**os.environ, **environment}
        )

    def write(self, made):
        file = self.new_folder() / "stint.yaml"
        file.write_text(json.dumps(made), encoding="utf-8")
        return file

    def test_run_and_a_reload_fill_them_in(self):
        upstream = self.start_upstream()
        limits = {"n": {"requests": "${REQUESTS:-2}", "per": "1h"}}
        made = config("${UP}", limits=limits, route_limits=["n"])
        stint = self.start_stint(made, environment={"UP": upstream.address, "REQUESTS": ""})
        self.assertEqual([fetch(stint.port).status for _ in range(3)], [200, 200, 429])
        self.assertEqual(stint.admin.get("/config")["upstreams"]["up"]["endpoints"], [upstream.address])

        stint.config["limits"]["n"]["requests"] = "${REQUESTS:-3}"
        stint.write(stint.config)
        self.assertEqual(stint.admin.reload().status, 200)
        self.assertEqual([fetch(stint.port).status for _ in range(2)], [200, 429])

        stint.config["limits"]["n"]["requests"] = "${NOT_SET_ANYWHERE}"
        stint.write(stint.config)
        refused = stint.admin.reload()
        self.assertEqual(refused.status, 422, refused.text())
        self.assertIn("NOT_SET_ANYWHERE", refused.text())

    def test_check_fills_them_in(self):
        made = config("${UP}")
        file = self.write(made)
        self.assertEqual(self.run_stint("check", file, UP="127.0.0.1:1").returncode, 0)
        self.assertEqual(self.run_stint("check", "-", stdin=json.dumps(made), UP="127.0.0.1:1").returncode, 0)
        ended = self.run_stint("check", file, UP="127.0.0.1")
        self.assertEqual(ended.returncode, 2)
        self.assertIn('"127.0.0.1" has no port', ended.stderr)
        self.assertIn('filled in from "${UP}"', ended.stderr)

    def test_simulate_fills_them_in(self):
        file = self.write(config("${UP}"))
        other = self.write(config("${UP:-127.0.0.1:2}"))
        log = self.new_folder() / "access.log"
        log.write_text("no line of Stint\n", encoding="utf-8")
        self.assertEqual(self.run_stint("simulate", "-c", file, log).returncode, 2)
        self.assertEqual(self.run_stint("simulate", "-c", other, "--against", file, log).returncode, 2)
        for arguments in (("-c", file), ("-c", other, "--against", file)):
            ended = self.run_stint("simulate", *arguments, log, UP="127.0.0.1:1")
            self.assertEqual(ended.returncode, 1, ended.stderr)  # the log, not the configuration


if __name__ == "__main__":
    unittest.main()
