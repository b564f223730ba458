"""A Scrapy downloader middleware: a permit for each request, and word to the gateway when a target says
that it has had enough.

    DOWNLOADER_MIDDLEWARES = {"stint.scrapy.PermitMiddleware": 950}  # behind retries and the HTTP cache
    STINT_LIMIT = "crawl"                   # the limit's name; without it the middleware is off
    STINT_URL, STINT_TOKEN = None, None     # as of RateLimiter
    STINT_KEY = "host"                      # or "none", or the path of a function of the request
    STINT_TIMEOUT = None                    # seconds that a request may wait for its permit
    STINT_ON_UNAVAILABLE = "raise"          # or "wait": see RateLimiter
    STINT_OWNER = None                      # who asks; None: this host and process

A request that gets no permit fails with RateLimitException, or with StintUnavailable, which Scrapy's
RetryMiddleware tries again. Answers of 429 and 503 pause the limit (of this key) for everybody who uses it,
for as long as their Retry-After says. Statistics: stint/permits, stint/refused, stint/feedback.

Works with either reactor. Waiting takes place in threads of the middleware's own, as many as
CONCURRENT_REQUESTS; the reactor goes on, and its own threads stay free.
"""

import functools
import logging
import threading
from typing import Any, Callable, Optional
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.misc import load_object
from twisted.internet.threads import deferToThread, deferToThreadPool
from twisted.python.threadpool import ThreadPool

from . import Client, RateLimiter, RateLimitException, StintError, StintUnavailable

_LOG = logging.getLogger(__name__)


class _Daemon(threading.Thread):
    """A crawl that is cut short does not wait for those who wait."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.daemon = True


def host_of(request: Request) -> Optional[str]:
    """STINT_KEY = "host"."""
    host: Optional[str] = urlsplit(request.url).hostname
    return host


class PermitMiddleware:
    """See the module's text."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        name: Optional[str] = settings.get("STINT_LIMIT")
        if not name:
            raise NotConfigured("STINT_LIMIT names no limit")
        url, token = settings.get("STINT_URL"), settings.get("STINT_TOKEN")
        timeout = settings.get("STINT_TIMEOUT")
        self._limit = name
        self._key = _key_function(settings.get("STINT_KEY", "host"))
        self._limiter = RateLimiter(name=name, url=url, token=token, owner=settings.get("STINT_OWNER"),
                                    timeout=None if timeout is None else float(timeout),
                                    on_unavailable=settings.get("STINT_ON_UNAVAILABLE", "raise"))
        self._client = Client(url, token)
        self._stats = crawler.stats
        threads = settings.getint("CONCURRENT_REQUESTS")
        self._pool = ThreadPool(0, threads, "stint")
        self._pool.threadFactory = _Daemon

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "PermitMiddleware":
        made = cls(crawler)
        crawler.signals.connect(made.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(made.spider_closed, signal=signals.spider_closed)
        return made

    def spider_opened(self) -> None:
        self._pool.start()

    def spider_closed(self) -> Any:
        return deferToThread(self._pool.stop)

    async def process_request(self, request: Request, spider: Any) -> None:
        if urlsplit(request.url).scheme not in ("http", "https"):
            return
        try:
            await self._in_thread(self._limiter.sleep_and_retry, self._key(request))
        except RateLimitException:
            self._stats.inc_value("stint/refused")
            raise
        self._stats.inc_value("stint/permits")

    async def process_response(self, request: Request, response: Response, spider: Any) -> Response:
        if response.status in (429, 503):
            retry_after = response.headers.get("Retry-After")
            try:
                await self._in_thread(functools.partial(
                    self._client.feedback, limit=self._limit, key=self._key(request),
                    status=response.status,
                    retry_after=None if retry_after is None else retry_after.decode("latin-1")))
                self._stats.inc_value("stint/feedback")
            except (StintUnavailable, StintError) as error:
                _LOG.warning("no feedback about %s: %s", request.url, error)
        return response

    async def _in_thread(self, call: Callable[..., Any], *args: Any) -> Any:
        from twisted.internet import reactor  # only now: which one it is was decided late

        return await maybe_deferred_to_future(deferToThreadPool(reactor, self._pool, call, *args))


def _key_function(setting: Any) -> Callable[[Request], Optional[str]]:
    if setting == "host":
        return host_of
    if setting is None or setting == "none":
        return lambda request: None
    loaded: Callable[[Request], Optional[str]] = load_object(setting)
    return loaded
