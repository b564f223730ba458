"""Four times the routes, limits and upstreams take about four times the work: no function of Stint takes much
more. Instructions are counted, not time (valgrind's callgrind)."""

import re
import shutil
import subprocess
import sys
import unittest
from collections import Counter

from support.case import SystemTest
from support.ports import free_port

FEW, MANY = 250, 1_000
CHANGES = 20  # of limits, however many there are
# Searching a sorted map makes 4 to 5; comparing all with all makes 16.
MOST_TIMES = 6.5
# Functions that take a smaller part of all instructions are left out.
LEAST_SHARE = 0.001
# Frees and merges what others have allocated, in an order that is nobody's.
ALLOCATOR = re.compile(r"^(_int_|malloc|sysmalloc|unlink_chunk|free$|calloc|realloc|systrim)")

COST = re.compile(r"^\s*([\d,]+) \(\s*[\d.]+%\)\s+[^:]+:(.*?)(?: \[[^]]*\])?$", re.M)


def configuration(count, listener, admin) -> str:
    """As many routes, named limits, limits of routes and upstreams; every other route has a regular expression."""
    lines = [f"listeners: [{{address: 127.0.0.1:{listener}}}]", f"admin: {{address: 127.0.0.1:{admin}}}",
             "workers: 1", "access_log: {path: 'off'}", "upstreams:"]
    lines += [f"  shop{i}: {{endpoints: ['127.0.0.1:9'], cooldown: {{scope: host}}}}" for i in range(count)]
    lines += ["limits:"]
    lines += [f"  named{i}: {{requests: 1, per: 1h, key: client_ip}}" for i in range(count)]
    lines += ["routes:"]
    for i in range(count):
        path = f"path: /{i}/" if i % 2 else f"path_regex: '/regex/{i}/[a-z]*'"
        lines += [f"  - {{name: route{i}, match: {{{path}}}, upstream: shop{i},",
                  f"     limits: [named{i}, {{name: own{i}, requests: 9, per: 1m}}]}}"]
    return "\n".join(lines)


class Growth(SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not shutil.which("valgrind"):
            print("valgrind is missing", file=sys.stderr)
            sys.exit(77)

    def instructions(self, count) -> Counter:
        """What each function takes by itself while Stint starts with so many routes, answers its operator,
        changes limits, reloads and ends."""
        folder = self.new_folder()
        stint = self.start_stint(
            configuration(count, free_port(), free_port()),
            within=("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counted"))
        for path in ("/routes", "/upstreams", "/limits", "/metrics", "/config"):
            self.assertEqual(stint.admin.request("GET", path).status, 200)
        for i in range(CHANGES):
            answer = stint.admin.request("POST", f"/limits/named{i}/block", body='{"key": "192.0.2.1", "for": "1h"}')
            self.assertEqual(answer.status, 200)
        self.assertEqual(len(stint.admin.get("/changes")["changes"]), CHANGES)
        self.assertEqual(stint.admin.reload().status, 200)
        stint.stop(60)
        shown = subprocess.run(["callgrind_annotate", "--threshold=100", folder / "counted"], check=True,
                               stdout=subprocess.PIPE, text=True).stdout
        costs = Counter()
        for cost, function in COST.findall(shown.partition("file:function")[2]):
            costs[re.sub(r"'\d+$", "", function)] += int(cost.replace(",", ""))
        return costs

    def test_no_function_compares_all_with_all(self):
        few, many = self.instructions(FEW), self.instructions(MANY)

        self.assertGreater(sum(many.values()), 2 * sum(few.values()))  # more than starting and stopping
        steep = {
            function: (few[function], cost) for function, cost in many.items()
            if cost > LEAST_SHARE * sum(many.values()) and cost > MOST_TIMES * few[function]
            and not ALLOCATOR.match(function)
        }
        self.assertEqual(steep, {}, f"instructions with {FEW} and with {MANY} routes")


if __name__ == "__main__":
    unittest.main()
