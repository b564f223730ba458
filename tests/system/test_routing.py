"""Which route takes a request, end to end."""

import unittest

from support.case import SystemTest, config
from support.client import fetch
from support.upstream import answer


class Routing(SystemTest):
    def before(self, *matches):
        """A route for each match, from the upstream that answers with the route's number."""
        upstreams = [self.start_upstream(answer(str(number).encode())) for number in range(len(matches))]
        return self.start_stint(
            config(
                upstreams={f"u{n}": {"endpoints": [up.address]} for n, up in enumerate(upstreams)},
                routes=[
                    {"name": f"r{n}", "match": match, "upstream": f"u{n}"}
                    for n, match in enumerate(matches)
                ],
            )
        )

    def test_the_most_specific_route_wins_whatever_the_order(self):
        stint = self.before(
            {"path": "/"},
            {"path": "/a"},
            {"path": "/a/b"},
            {"path": "/a/b", "methods": ["POST"]},
            {"path_exact": "/a/b/c"},
            {"host": "*.example", "path": "/"},
            {"host": "shop.example", "path": "/"},
        )
        for host, method, path, wanted in (
            ("x", "GET", "/", 0),
            ("x", "GET", "/ab", 0),
            ("x", "GET", "/a", 1),
            ("x", "GET", "/a/", 1),
            ("x", "GET", "/a/bc", 1),
            ("x", "GET", "/a/b?q", 2),
            ("x", "POST", "/a/b/d", 3),
            ("x", "GET", "/a/b/c", 4),
            ("other.example", "GET", "/a/b", 5),
            ("SHOP.example:80", "GET", "/a/b", 6),
            ("x", "GET", "/a/x/../b", 2),
            ("x", "GET", "/a/%62", 2),
            ("x", "GET", "//a//b", 2),
        ):
            with self.subTest(host=host, method=method, path=path):
                answered = fetch(stint.port, method, path, host=host)
                self.assertEqual((answered.status, answered.body), (200, str(wanted).encode()))

    def test_what_no_route_takes_is_a_404(self):
        stint = self.before({"host": "shop.example", "path": "/a"})

        for host, path in (("shop.example", "/b"), ("other.example", "/a")):
            answered = fetch(stint.port, target=path, host=host)
            self.assertEqual(answered.status, 404)
            self.assertEqual(answered.get("Content-Type"), "application/problem+json")

    def test_a_path_without_the_method_is_a_405_that_says_what_is_allowed(self):
        stint = self.before({"path": "/a", "methods": ["GET", "HEAD"]}, {"path": "/a", "methods": ["PUT"]})

        answered = fetch(stint.port, "DELETE", "/a")

        self.assertEqual(answered.status, 405)
        self.assertEqual({one.strip() for one in answered.get("Allow").split(",")}, {"GET", "HEAD", "PUT"})


if __name__ == "__main__":
    unittest.main()
