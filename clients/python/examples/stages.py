#!/usr/bin/env python3
"""A crawl in stages: list pages one at a time, products three at a time, comments without bound.

    python3 stages.py [--url http://127.0.0.1:8082] [--processes 8] [--seconds 3]

Each process fetches a page of the first stage that has room, from a small shop that this program starts for
itself and that counts what is under way. The locks are made by naming them; a gateway that has them in its
configuration (`locks: {list: {max: 1}, product: {max: 3}}`) can change their numbers by a reload, for who asks
with max=None. At the end the shop says what it saw; the exit code is 1 if a stage had more than it may.
"""

import argparse
import http.client
import math
import multiprocessing
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # not needed where stint is installed

from stint import Lock, LockFailureException, StintError, StintUnavailable  # noqa: E402

STAGES = {"list": 1, "product": 3, "comments": math.inf}  # math.inf: the gateway is not even asked
PAGE_TIME = 0.01


class Shop(ThreadingHTTPServer):
    """Answers a page of a stage after PAGE_TIME, and keeps count."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Page)
        self.guard = threading.Lock()
        self.under_way = dict.fromkeys(STAGES, 0)
        self.most = dict.fromkeys(STAGES, 0)
        self.pages = dict.fromkeys(STAGES, 0)


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        shop, stage = self.server, self.path.strip("/")
        with shop.guard:
            shop.under_way[stage] += 1
            shop.most[stage] = max(shop.most[stage], shop.under_way[stage])
            shop.pages[stage] += 1
        time.sleep(PAGE_TIME)
        with shop.guard:
            shop.under_way[stage] -= 1
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def crawl(url, prefix, port, end):
    """One process: pages of whatever stage has room, until the end."""
    shop = http.client.HTTPConnection("127.0.0.1", port)
    while time.monotonic() < end:
        for stage, most in STAGES.items():
            try:
                with Lock(prefix + stage, most, url=url):
                    shop.request("GET", f"/{stage}")
                    shop.getresponse().read()
                break
            except LockFailureException:
                continue  # as many are inside as may be: the next stage


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="of the gateway; default: STINT_URL, then http://127.0.0.1:8082")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()

    prefix = f"stages-{os.getpid()}-"
    try:  # is there a gateway, and may callers name locks?
        with Lock(prefix + "list", STAGES["list"], url=arguments.url):
            pass
    except (StintError, StintUnavailable, LockFailureException) as error:
        return f"{error} (see --help)"
    shop = Shop()
    end = time.monotonic() + arguments.seconds
    crawlers = [multiprocessing.Process(target=crawl, args=(arguments.url, prefix, shop.server_port, end))
                for _ in range(arguments.processes)]
    for crawler in crawlers:
        crawler.start()
    threading.Thread(target=shop.serve_forever, daemon=True).start()
    for crawler in crawlers:
        crawler.join()

    for stage, most in STAGES.items():
        print(f"{stage}: {shop.pages[stage]} pages, at most {shop.most[stage]} at a time (may have: {most})")
    failed = any(crawler.exitcode for crawler in crawlers)
    return 1 if failed or any(shop.most[stage] > most for stage, most in STAGES.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
