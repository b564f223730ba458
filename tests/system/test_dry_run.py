"""What a reload would change: `stint check --diff`."""

import subprocess
import unittest

from support.case import SystemTest
from support.stint import binary


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
        self.assertEqual(run_stint("check", "--diff", self.folder / "none.yaml", self.folder / "next.yaml").returncode, 2)

    def test_a_gateways_configuration_may_come_through_a_pipe(self):
        stint = self.stint_before(self.start_upstream())
        document = stint.admin.request("GET", "/config").text()

        same = run_stint("check", "--diff", "-", stint.file, stdin=document)
        self.assertEqual((same.returncode, same.stderr), (0, ""), same.stdout)
        self.assertEqual(run_stint("check", "--diff", stint.file, "-", stdin=document).returncode, 0)
        self.assertEqual(run_stint("check", "--diff", "-", "-", stdin=document).returncode, 2)
        for other in ("--strict", "--print", "--store"):
            self.assertEqual(run_stint("check", other, "--diff", stint.file, stint.file).returncode, 2, other)


if __name__ == "__main__":
    unittest.main()
