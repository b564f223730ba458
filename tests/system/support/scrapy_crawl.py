"""A crawl with Scrapy's default settings, in a process of its own: follows all links from the URL that is its
argument, and prints the paths of the pages that came, as JSON."""

import json
import sys
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess

FETCHED = []


class Spider(scrapy.Spider):
    name = "crawl"
    start_urls = sys.argv[1:]

    def parse(self, response):
        FETCHED.append(urlsplit(response.url).path)
        yield from response.follow_all(css="a::attr(href)", callback=self.parse)


process = CrawlerProcess()
process.crawl(Spider)
process.start()
print(json.dumps(sorted(FETCHED)))
