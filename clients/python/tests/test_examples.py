"""The example programs, as a reader runs them."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import ClientTest, scaled

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


class Examples(ClientTest):
    def run_example(self, name, *arguments):
        return subprocess.run([sys.executable, "-B", str(EXAMPLES / name), *arguments], capture_output=True,
                              text=True, timeout=120, cwd="/")

    def test_the_four_uses(self):
        ran = self.run_example("four_uses.py")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        lines = [line.partition(": ")[2] for line in ran.stdout.splitlines()]
        remaining = re.fullmatch(r"0 1 2 3 - 4 calls per 2 s .*remaining is ([0-9.]+)", lines[0])
        self.assertTrue(remaining and 1.5 < float(remaining[1]) <= 2, lines[0])
        for line, count, seconds in zip(lines[1:], (9, 12, 14), (2, 4, 2)):
            numbers, _, took = line.partition("- took ")
            self.assertEqual(numbers.split(), [str(number) for number in range(count)])
            self.assertGreaterEqual(float(took[:-2]), seconds - 0.01)
            self.figure(f"examples: {count} numbers", f"{seconds} +- 0.05 s", took,
                        abs(float(took[:-2]) - seconds) <= 0.05)

    def test_a_fleet(self):
        gateway = self.gateway()
        ran = self.run_example("fleet.py", "--url", gateway.url, "--seconds", "1")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        windows = re.findall(r"^at .*: (\d+) calls$", ran.stdout, re.MULTILINE)
        self.assertGreaterEqual(len(windows), 3)
        self.assertEqual(set(windows[:-1]), {"5"})  # the last one has what is left to each process

    def test_a_fleet_whose_gateway_lets_no_caller_bring_a_limit(self):
        gateway = self.gateway(dynamic=False)
        ran = self.run_example("fleet.py", "--url", gateway.url)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertRegex(ran.stderr, "^fleet-[0-9]+: 404; .* \\(see --help\\)\n$")

    def test_stages(self):
        for seconds in ("1", "3", "9"):  # a busy machine may not reach the cap in the first
            there = self.locks()
            ran = self.run_example("stages.py", "--url", there.url, "--seconds", seconds)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            seen = {stage: (int(pages), int(most)) for stage, pages, most in re.findall(
                r"^(\w+): (\d+) pages, at most (\d+) at a time", ran.stdout, re.MULTILINE)}
            self.assertLessEqual(seen["product"][1], 3)
            if seen["product"][1] == 3:
                break
        self.assertEqual((seen["list"][1], seen["product"][1]), (1, 3))
        self.assertTrue(all(pages > 0 for pages, _ in seen.values()), ran.stdout)
        self.assertNotIn("comments", "".join(there.requests()))  # without bound is without a call
        self.assertLessEqual(there.accepted, 9)

    def test_a_table_of_jobs(self):
        there = self.locks()
        ran = self.run_example("jobs_table.py", "--url", there.url, "--rows", scaled("600", "2000"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        rows = scaled(600, 2000)
        self.assertIn(f"{rows} rows, {rows} done, 0 twice, 0 lost", ran.stdout)
        self.assertRegex(ran.stdout, "[1-9][0-9]* consumers killed, 0 failed")
        self.assertEqual(list(there.most_held.values()), [1])

    def test_locks_without_a_gateway(self):
        for name in ("stages.py", "jobs_table.py"):
            ran = self.run_example(name, "--url", "http://127.0.0.1:1")
            self.assertEqual((ran.returncode, ran.stdout), (1, ""))
            self.assertRegex(ran.stderr, "no gateway at .*start one with permits: .*\\(see --help\\)\n$")


if __name__ == "__main__":
    unittest.main()
