"""curl, wget, Scrapy and wrk through Stint before nginx, judged by nginx's own log."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from support.case import SystemTest, config, report, scaled
from support.certificates import Authority
from support.nginx import budget_use, most_at_once
from support.ports import free_port
from support.stint import ROOT
from support.waiting import wait_until

BUDGET, PER = 5, 0.8  # config/crawler.yaml: in total
SCRAPY = Path(__file__).with_name("support") / "scrapy_crawl.py"
SLACK = 0.3           # between admission and nginx's reading of the request
LIST_SLOTS, PRODUCT_SLOTS = 1, 3


def write_site(root, pages):
    """Lists that lead to products, and from each product to its comments: `pages` in all. Gives
    the paths."""
    lists = pages // 10
    products = (pages - lists) // 2
    comments = pages - lists - products
    links = {f"/list/{n}.html": [f"/list/{n + 1}.html"] if n + 1 < lists else [] for n in range(lists)}
    for n in range(products):
        links[f"/list/{n % lists}.html"].append(f"/product/{n}.html")
        links[f"/product/{n}.html"] = [f"/comments/{n}.html"] if n < comments else []
        if n < comments:
            links[f"/comments/{n}.html"] = []
    for path, targets in links.items():
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        anchors = "".join(f'<a href="{target}">{target}</a>\n' for target in targets)
        file.write_text(f"<html><body>{path}\n{anchors}</body></html>\n", encoding="ascii")
    return sorted(links)


class Crawling(SystemTest):
    PAGES = scaled(60, 300)

    def setUp(self):
        super().setUp()
        # A product takes a while to be made, so that several can be in flight.
        self.nginx = self.start_nginx(
            "location /product/ { echo_sleep 0.25; echo_exec /made$uri; }"
            "location /made/ { internal; rewrite ^/made(.*)$ $1 break; }",
            tls=self.certificate(),
        )
        self.paths = write_site(self.nginx.root, self.PAGES)
        self.stint = self.start_stint(self.crawler_config())

    def certificate(self):
        """The site's; without one it speaks plain text."""
        return None

    def target(self):
        """The site, as crawler.yaml's `endpoints` has it, and what the upstream needs beside it."""
        return f"[{self.nginx.address}]"

    def crawler_config(self):
        """config/crawler.yaml with our addresses in place of its own."""
        text = (ROOT / "config" / "crawler.yaml").read_text(encoding="utf-8")
        port, admin = free_port(), free_port()
        for pattern, to in (
            (r"(listeners:\s*\n(?:\s*#.*\n)*\s*-\s*address:\s*)\S+", rf"\g<1>127.0.0.1:{port}"),
            (r"(admin:\s*\n?(?:\s*#.*\n)*\s*\{?\s*address:\s*)[^\s}]+", rf"\g<1>127.0.0.1:{admin}"),
            (r"(endpoints:\s*)\[[^\]]*\]", rf"\g<1>{self.target()}"),
        ):
            text, count = re.subn(pattern, to, text)
            self.assertEqual(count, 1, f"crawler.yaml is not as this test expects: {pattern}")
        self.port = port
        return text

    def judge(self, who, served):
        share, text = budget_use(served, BUDGET, PER, SLACK)
        report(f"{who}: the fullest span", "at most what is allowed", text)
        self.assertLessEqual(share, 1.0, text)
        for prefix, slots in (("/list/", LIST_SLOTS), ("/product/", PRODUCT_SLOTS)):
            most = most_at_once(one for one in served if one.uri.startswith(prefix))
            report(f"{who}: {prefix} in flight together", f"<= {slots}", most)
            self.assertLessEqual(most, slots, prefix)

    def test_a_whole_site_is_fetched_within_the_budget(self):
        mirror = self.new_folder()
        ended = subprocess.run(
            ["wget", "-nv", "-r", "-l", "inf", "--retry-on-http-error=429", "--tries=50", "-e", "robots=off",
             f"http://127.0.0.1:{self.port}/list/0.html"],
            cwd=mirror, capture_output=True, text=True, timeout=scaled(120, 600), check=False,
        )
        fetched = sorted(
            "/" + str(file.relative_to(mirror / f"127.0.0.1:{self.port}")) for file in mirror.rglob("*.html")
        )
        report(f"wget -r of {self.PAGES} pages", f"{self.PAGES} pages", f"{len(fetched)} pages")
        self.assertEqual(fetched, self.paths, ended.stderr[-2000:])
        self.nginx.stop()
        served = self.nginx.served()
        self.assertEqual(sorted(one.uri for one in served), self.paths)  # nothing refused came through
        self.judge("wget", served)

    @unittest.skipUnless(importlib.util.find_spec("scrapy"), "Scrapy is not installed")
    def test_scrapy_with_its_default_settings_gets_every_page(self):
        """It tries a 429 twice more, at once, whatever Retry-After says: it must not be told one."""
        paths = write_site(self.nginx.root, 30)
        ended = subprocess.run(
            [sys.executable, "-B", str(SCRAPY), f"http://127.0.0.1:{self.port}/list/0.html"],
            capture_output=True, text=True, timeout=240, check=False,
        )
        self.assertEqual(ended.returncode, 0, ended.stderr[-2000:])
        fetched = json.loads(ended.stdout)
        report("Scrapy with its default settings", f"{len(paths)} pages", f"{len(fetched)} pages")
        self.assertEqual(fetched, paths, ended.stderr[-2000:])
        self.nginx.stop()
        served = self.nginx.served()
        self.assertEqual(sorted(one.uri for one in served), paths)
        self.judge("Scrapy", served)

    def test_eight_at_once_are_held_to_the_cap_and_the_budget(self):
        products = [path for path in self.paths if path.startswith("/product/")]
        urls = "".join(f"http://127.0.0.1:{self.port}{path}\n" for path in products)
        ended = subprocess.run(
            ["xargs", "-P", "8", "-n", "1", "curl", "-sS", "--fail", "--retry", "100", "--retry-max-time", "0",
             "-o", "/dev/null"],
            input=urls, capture_output=True, text=True, timeout=scaled(180, 900), check=False,
        )
        self.assertEqual(ended.returncode, 0, ended.stderr[-2000:])
        self.nginx.stop()
        served = self.nginx.served()
        self.assertEqual(sorted(one.uri for one in served), sorted(products))
        self.judge("xargs -P 8", served)
        self.assertEqual(most_at_once(served), PRODUCT_SLOTS)  # the cap was reached


class CrawlingOverHttps(Crawling):
    """As Crawling, but the site speaks nothing but https."""

    def certificate(self):
        self.authority = Authority(self.new_folder())
        return self.authority.issue("localhost")

    def target(self):
        return f"[https://localhost:{self.nginx.port}]\n    tls: {{ca: {self.authority.certificate}}}"


class Curl(SystemTest):
    def test_retry_succeeds_because_retry_after_was_true(self):
        nginx = self.start_nginx("location / { return 200 ok; }")
        stint = self.stint_before(
            nginx, limits={"n": {"requests": 2, "per": "2500ms"}}, route_limits=["n"]
        )
        url = f"http://127.0.0.1:{stint.port}/"
        for _ in range(2):
            subprocess.run(["curl", "-sS", "--fail", "-o", "/dev/null", url], check=True, timeout=30)

        ended = subprocess.run(
            ["curl", "-sS", "--fail", "--retry", "5", "-w", "%{http_code}", "-o", "/dev/null", url],
            capture_output=True, text=True, timeout=60, check=False,
        )

        self.assertEqual((ended.returncode, ended.stdout), (0, "200"), ended.stderr)
        # One refusal, one wait, one success: the first Retry-After was enough.
        self.assertEqual(stint.admin.limit("n")["refused"], 1)
        wait_until(lambda: len(nginx.served()) >= 3, "nginx has written what it served")
        self.assertEqual(len(nginx.served()), 3)


class Wrk(SystemTest):
    def test_exactly_n_are_admitted_to_one_window(self):
        admitted = 1000
        nginx = self.start_nginx("location / { return 200 ok; }")
        stint = self.start_stint(
            config(nginx.address, limits={"n": {"requests": admitted, "per": "1h"}}, route_limits=["n"],
                   workers=2, access_log={"path": "off"})
        )
        wrk = shutil.which("wrk")
        self.assertIsNotNone(wrk, "wrk is not installed")

        ended = subprocess.run(
            [wrk, "-c", "64", "-t", "2", "-d", f"{scaled(3, 20)}s", f"http://127.0.0.1:{stint.port}/"],
            capture_output=True, text=True, timeout=120, check=True,
        )

        total = int(re.search(r"(\d+) requests in", ended.stdout)[1])
        refused = int(re.search(r"Non-2xx or 3xx responses: (\d+)", ended.stdout)[1])
        self.assertNotIn("Socket errors", ended.stdout)
        nginx.stop()
        served = nginx.served()
        report(f"wrk, {total} requests in one window of {admitted}: 200s that nginx saw", admitted, len(served))
        self.assertEqual(total - refused, admitted)
        self.assertEqual([one.status for one in served], [200] * admitted)


if __name__ == "__main__":
    unittest.main()
