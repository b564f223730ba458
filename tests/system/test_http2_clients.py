"""Clients that others have written, over TLS with HTTP/2: Node's http2 module, and httpx on Debian's python3-h2."""

import asyncio
import importlib.util
import json
import shutil
import subprocess
import unittest
from pathlib import Path

from support import websocket
from support.case import SystemTest, config
from support.certificates import Authority

NODE = Path(__file__).with_name("support") / "http2_client.mjs"


def serve(connection):
    """Echoes what is posted, hints and adds trailers, speaks WebSocket."""
    while head := connection.read_request_head():
        if head.target == "/socket":
            websocket.answer_handshake(connection, head)
            while True:
                opcode, payload = websocket.read_frame(connection)
                connection.send(websocket.frame(payload, opcode))
                if opcode == websocket.CLOSE:
                    return
        if head.target == "/hints":
            connection.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTrailer: X-Sum\r\n"
                            b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n")
            continue
        connection.read_request_body(head)
        body = head.body if head.method == "POST" else b"hello"
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


class Clients(SystemTest):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.new_folder())
        self.upstream = self.start_upstream(serve)
        made = config(self.upstream.address)
        made["listeners"][0] = {"address": made["listeners"][0]["address"], "http": ["h2", "http/1.1"],
                                "tls": self.authority.issue("localhost").tls()}
        made["limits"] = {"few": {"requests": 1, "per": "1h"}}
        made["routes"].insert(0, dict(made["routes"][0], name="limited", match={"path": "/limited"}, limits=["few"]))
        self.stint = self.start_stint(made)
        self.url = f"https://localhost:{self.stint.port}"

    def protocols(self):
        return {line["protocol"] for line in self.stint.wait_for_lines(1)}

    def node(self, what):
        done = subprocess.run(["node", NODE, self.url, self.authority.certificate, what], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_node(self):
        subprocess.run(["curl", "-s", "--cacert", self.authority.certificate, f"{self.url}/limited"], check=True,
                       capture_output=True, timeout=30)
        got = self.node("requests")
        self.assertEqual(got["statuses"], [200] * 100)
        self.assertEqual(got["echoes"], [True, True])
        self.assertEqual((got["hinted"]["interim"], got["hinted"]["body"]), ([103], "ok"))
        self.assertEqual(got["hinted"]["trailers"].get("x-sum"), "7")
        self.assertEqual(got["refused"]["status"], 429)
        self.assertGreater(int(got["refused"]["retry"]), 3000)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_a_websocket_of_node(self):
        self.assertEqual(self.node("socket"), "hi")

    @unittest.skipUnless(importlib.util.find_spec("httpx") and importlib.util.find_spec("h2"),
                         "python3-httpx and python3-h2 are not installed")
    def test_httpx(self):
        import httpx  # noqa: PLC0415
        upload = b"u" * 3_000_000

        async def play():
            async with httpx.AsyncClient(http2=True, verify=self.authority.context(), timeout=30) as client:
                answers = await asyncio.gather(*(client.get(f"{self.url}/{i}") for i in range(50)))
                self.assertEqual({(each.status_code, each.http_version, each.text) for each in answers},
                                 {(200, "HTTP/2", "hello")})
                echoed = await client.post(f"{self.url}/echo", content=upload)
                self.assertTrue(echoed.content == upload)
                statuses = [(await client.get(f"{self.url}/limited")).status_code for _ in range(2)]
                self.assertEqual(statuses, [200, 429])

        asyncio.run(play())
        self.assertEqual(self.protocols(), {"HTTP/2.0"})


if __name__ == "__main__":
    unittest.main()
