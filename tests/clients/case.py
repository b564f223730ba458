"""What the tests of these clients have in common: Stint over TLS with HTTP/2, and figures in rows."""

import json
from bisect import bisect_left

from pages import Site
from support.case import SystemTest, config, report
from support.certificates import Authority


def too_early(heads, admitted, number: int, per: float) -> int:
    """How many requests were admitted before a limit of `number` in any `per` seconds can have allowed it, however
    late each thread ran. heads, admitted: when the heads came and when the upstream had the requests, in any order.

    The k-th admission was not before the k-th head; and not before `per` after the one `number` before it, so not
    before `per` after the earliest time of that. What the upstream has had so far was admitted by then."""
    earliest, early = [], 0
    for k, (head, had) in enumerate(zip(sorted(heads), sorted(admitted))):
        earliest.append(max(head, earliest[k - number] + per) if k >= number else head)
        early += had < earliest[k]
    return early


def most_within(times, span: float) -> int:
    """The most of them that are within any span of this length."""
    times = sorted(times)
    return max(bisect_left(times, begin + span) - index for index, begin in enumerate(times))


def as_text(value) -> str:
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else str(value)


class ClientTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.new_folder())
        self.pair = self.authority.issue("localhost")
        self.site = Site()
        self.upstream = self.start_upstream(self.site)
        self.addCleanup(lambda: self.assertEqual(self.upstream.failures, []))

    def configuration(self, *, limit=None, http2=None, **more) -> dict:
        """limit: of the route to the upstream."""
        made = config(self.upstream.address, limits={"l": limit} if limit else None,
                      route_limits=["l"] if limit else (), **more)
        listener = {"http": ["h2", "http/1.1"], "tls": self.pair.tls()}
        made["listeners"][0].update(listener, **({"http2": http2} if http2 else {}))
        return made

    def start(self, **more):
        return self.start_stint(self.configuration(**more))

    def row(self, name: str, wanted, seen, good: bool | None = None) -> None:
        """A figure, which scripts/test-clients shows. good: whether it is what was wanted; None: if it is equal."""
        good = seen == wanted if good is None else good
        report(name, as_text(wanted), as_text(seen), good)
        with self.subTest(name):
            self.assertTrue(good, f"{name}: wanted {as_text(wanted)}, seen {as_text(seen)}")


def url_of(stint) -> str:
    return f"https://localhost:{stint.port}"
