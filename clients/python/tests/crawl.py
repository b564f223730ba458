"""Crawls for test_scrapy.py, all at once in a process of their own: reads the settings and URLs of each from
its argument, and prints how the requests ended and the crawls' statistics."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import scrapy  # noqa: E402
from scrapy.crawler import Crawler, CrawlerProcess  # noqa: E402

SETTINGS = {"LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": False,
            "DOWNLOADER_MIDDLEWARES": {"stint.scrapy.PermitMiddleware": 950},
            "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"}


def key_of(request):
    """A STINT_KEY of the test's own."""
    return "key of " + request.url.rsplit("/", 1)[1]


class Spider(scrapy.Spider):
    name = "crawl"

    def start_requests(self):
        for url in self.urls:
            yield scrapy.Request(url, self.parse, errback=self.failed, dont_filter=True,
                                 meta={"handle_httpstatus_list": [429, 503]})

    def parse(self, response):
        self.ended.append(response.status)

    def failed(self, failure):
        self.ended.append(failure.type.__name__)


crawls = json.loads(sys.argv[1])
process = CrawlerProcess({**SETTINGS, **crawls[0]["settings"]})
for crawl in crawls:
    crawl["crawler"] = Crawler(Spider, {**SETTINGS, **crawl["settings"]}, init_reactor=crawl is crawls[0])
    crawl["ended"] = []
    process.crawl(crawl["crawler"], urls=crawl["urls"], ended=crawl["ended"])
process.start()
print(json.dumps([[crawl["ended"], {
    name: value for name, value in crawl["crawler"].stats.get_stats().items() if name.startswith("stint/")}]
    for crawl in crawls]))
