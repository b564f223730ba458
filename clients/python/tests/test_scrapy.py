"""stint.scrapy with the real Scrapy, a crawl in a process of its own."""

import http.server
import importlib.util
import json
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from support import ClientTest, wait_until

CRAWL = Path(__file__).with_name("crawl.py")

class Target(http.server.BaseHTTPRequestHandler):
    """Answers with the status that its path begins with; notes when."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.came.append((time.monotonic(), self.path))
        status = int(self.path.split("/")[1])
        self.send_response(status)
        self.send_header("Content-Length", "0")
        if status == 429:
            self.send_header("Retry-After", "7")
        self.end_headers()

    def log_message(self, *_):
        pass


def crawl_all(crawls):
    """How each of them ended: [(statuses or exceptions, statistics)]."""
    ran = subprocess.run([sys.executable, "-B", str(CRAWL), json.dumps(crawls)],
                         capture_output=True, text=True, timeout=240)
    if ran.returncode != 0 or ran.stderr:
        raise AssertionError(ran.stderr)
    return [tuple(ended) for ended in json.loads(ran.stdout)]


@unittest.skipUnless(importlib.util.find_spec("scrapy"), "Scrapy is not installed")
class Crawls(ClientTest):
    """Starting Scrapy takes longer than all the crawls: they run together."""

    def setUp(self):
        self.target = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Target)
        self.target.came = []
        self.target.daemon_threads = True
        threading.Thread(target=self.target.serve_forever, daemon=True).start()
        self.addCleanup(self.target.server_close)
        self.addCleanup(self.target.shutdown)

    def crawl(self, name, paths, gateway=None, **settings):
        """What crawl_all is to do. The paths are this crawl's own by the name."""
        if gateway is not None:
            settings = {"STINT_LIMIT": "crawl", "STINT_URL": gateway.url, **settings}
        site = f"http://127.0.0.1:{self.target.server_port}"
        return {"urls": [path if ":" in path else f"{site}{path}/{name}" for path in paths], "settings": settings}

    def came(self, name):
        return [at for at, path in self.target.came if path.endswith(f"/{name}")]

    def paced(self, name):
        gateway = self.gateway({"crawl": (3, 500)})
        return gateway, self.crawl(name, ["/200"] * 9, gateway)

    def assert_paced(self, name, gateway, ended):
        self.assertEqual(ended, ([200] * 9, {"stint/permits": 9}))
        self.assertEqual([body["key"] for body in gateway.bodies()], ["127.0.0.1"] * 9)
        times = self.came(name)
        self.assertGreater(times[-1] - times[0], 0.3)  # 1 s but for the first one's delays

    def test_a_permit_for_each_request_with_the_asyncio_reactor(self):
        gateway, crawl = self.paced("asyncio")
        crawl["settings"]["TWISTED_REACTOR"] = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"

        (ended,) = crawl_all([crawl])

        self.assert_paced("asyncio", gateway, ended)

    def test_a_crawl_that_is_cut_short_waits_for_no_permit(self):
        gateway = self.gateway({"crawl": (1, 60_000)})
        crawl = self.crawl("cut", ["/200", "/200"], gateway)
        process = subprocess.Popen([sys.executable, "-B", str(CRAWL), json.dumps([crawl])],
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: len(gateway.asked) == 2, "one waits", 60)

        begun = time.monotonic()
        while process.poll() is None and time.monotonic() < begun + 30:
            process.send_signal(signal.SIGINT)  # the second one forces it
            time.sleep(0.3)

        self.assertIsNotNone(process.returncode)

    def test_what_the_settings_do(self):
        wide, narrow, deaf, away, late = (self.gateway({"crawl": (number, 60_000)}) for number in (99, 1, 99, 9, 9))
        quiet, keyed = self.gateway({"crawl": (99, 60_000)}), self.gateway({"crawl": (99, 60_000)})
        away.stop()
        late.stop()
        later = threading.Timer(1.5, late.start)
        later.start()
        take = deaf._answer
        deaf._answer = lambda request, fields, body: (
            b"HTTP/1.1 404 X\r\nContent-Length: 2\r\n\r\n{}" if "feedback" in request else
            take(request, fields, body))

        turns, slow = self.paced("turns")

        reported, unsaid, own, refused, unheard, unavailable, patient, off, paced = crawl_all([
            self.crawl("a", ["/429"], wide),
            self.crawl("b", ["/503"], quiet, STINT_KEY="none", STINT_OWNER="me"),
            self.crawl("c", ["/200", "data:,nothing%20to%20ask%20for"], keyed, STINT_KEY="__main__.key_of"),
            self.crawl("d", ["/200", "/200"], narrow, STINT_TIMEOUT=0.5),
            self.crawl("e", ["/429"], deaf),
            self.crawl("f", ["/200"], away, STINT_TIMEOUT=0.3),
            self.crawl("g", ["/200"], late, STINT_ON_UNAVAILABLE="wait"),
            self.crawl("h", ["/200"]), slow])
        later.join()

        with self.subTest("a permit for each request"):
            self.assert_paced("turns", turns, paced)
        with self.subTest("a 429 is reported"):
            self.assertEqual(reported, ([429], {"stint/permits": 1, "stint/feedback": 1}))
            self.assertEqual(wide.asked[-1][0], "POST /v1/feedback")
            self.assertEqual(wide.bodies()[-1], {"limit": "crawl", "key": "127.0.0.1", "status": 429,
                                                 "retry_after": "7"})
        with self.subTest("a 503 that does not say when, no key, an owner"):
            self.assertEqual(unsaid, ([503], {"stint/permits": 1, "stint/feedback": 1}))
            self.assertEqual(quiet.bodies(), [{"wait_ms": 60_000, "owner": "me"}, {"limit": "crawl", "status": 503}])
        with self.subTest("a key of one's own, and no permit for what is not asked over http"):
            self.assertEqual(own[1], {"stint/permits": 1})
            self.assertEqual([body["key"] for body in keyed.bodies()], ["key of c"])
        with self.subTest("no turn in time"):
            self.assertEqual(sorted(map(str, refused[0])), ["200", "RateLimitException"])
            self.assertEqual(refused[1], {"stint/permits": 1, "stint/refused": 1})
            self.assertEqual(len(self.came("d")), 1)
        with self.subTest("feedback that fails costs no answer"):
            self.assertEqual(unheard, ([429], {"stint/permits": 1}))
        with self.subTest("the gateway is away"):
            self.assertEqual(unavailable, (["StintUnavailable"], {}))
            self.assertEqual(patient, ([200], {"stint/permits": 1}))
        with self.subTest("without a limit it is off"):
            self.assertEqual(off, ([200], {}))


if __name__ == "__main__":
    unittest.main()
