"""WebSockets between a client and a server that others wrote."""

import json
import subprocess

from support import node
from support.case import SystemTest, config, scaled


class Foreign(SystemTest):
    def test_a_client_and_a_server_that_others_wrote_talk_through_it(self):
        folder = node.installed("websockets")
        server = subprocess.Popen(
            ["node", folder / "echo.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait, 10)
        self.addCleanup(server.stdin.close)
        self.addCleanup(server.stdout.close)
        port = int(server.stdout.readline())
        stint = self.start_stint(config(f"127.0.0.1:{port}"))

        done = subprocess.run(
            ["node", folder / "client.mjs", f"ws://127.0.0.1:{stint.port}/", "50",
             "0", "1", "125", "126", "65536", str(scaled(1, 8) << 20), "10"],
            capture_output=True, text=True, timeout=120, check=False)

        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), [{"messages": 7, "pongs": 1, "code": 1000}] * 50)


if __name__ == "__main__":
    node.main("websockets")
