"""Where a limit's key comes from, and what becomes of requests that have none."""

import base64
import json
import socket
import struct
import unittest

from support.case import SystemTest
from support.client import RawClient, fetch
from support.messages import request_bytes
from support.over_tls import OVER_TLS
from support.ports import free_port

HOUR = {"per": "1h"}


def bearer(claims: dict) -> str:
    """A token that nobody has signed."""
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in ({}, claims))
    return f"Bearer {b'.'.join(encoded).decode()}."


class KeyTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()

    def before(self, key, requests=1, **limit):
        more = {name: limit.pop(name) for name in ("listener", "trusted_proxies", "client_ip_header", "timeouts")
                if name in limit}
        return self.stint_before(
            self.upstream,
            limits={"a": {"requests": requests, "key": key, **HOUR, **limit}},
            route_limits=["a"],
            **more,
        )

    def statuses(self, stint, *requests):
        """Of requests by target, or by target and fields."""
        with RawClient(stint.port) as client:
            return [client.request(target=target, fields=fields).status for target, fields in requests]


class Sources(KeyTest):
    def check_tells_apart(self, key, one, other, same=None):
        stint = self.before(key)
        self.assertEqual(self.statuses(stint, one, one, other, other), [200, 429, 200, 429])
        if same:
            self.assertEqual(self.statuses(stint, same), [429])
        self.assertEqual(stint.admin.limit("a")["live_keys"], 2)

    def test_a_header(self):
        self.check_tells_apart(
            "header:X-Api-Key", ("/", {"X-Api-Key": "a"}), ("/", {"x-api-key": "b"}), ("/", {"X-API-KEY": "a"})
        )

    def test_a_header_of_several_lines(self):
        self.check_tells_apart(
            "header:X-K", ("/", [("X-K", "a"), ("X-K", "b")]), ("/", {"X-K": "a"}), ("/", {"X-K": "a, b"})
        )

    def test_a_cookie(self):
        self.check_tells_apart(
            "cookie:sid", ("/", {"Cookie": "x=1; sid=a"}), ("/", {"Cookie": "sid=b"}), ("/", {"Cookie": 'sid="a"'})
        )

    def test_a_parameter_of_the_query(self):
        self.check_tells_apart("query:k", ("/?k=a%20b", ()), ("/?k=ab", ()), ("/other?x=1&%6B=a+b", ()))

    def test_the_host(self):
        self.check_tells_apart("host", ("/", {"Host": "a.example"}), ("/", {"Host": "b.example"}), ("/", {"Host": "A.example.:80"}))

    def test_the_path(self):
        self.check_tells_apart("path", ("/a", ()), ("/b", ()), ("/x/..//%61?q", ()))

    def test_a_claim(self):
        self.check_tells_apart(
            "jwt:sub",
            ("/", {"Authorization": bearer({"sub": "alice", "exp": 1})}),
            ("/", {"Authorization": bearer({"sub": "bob"})}),
            ("/", {"Authorization": bearer({"iss": "x", "sub": "alice"})}),
        )

    def test_the_method(self):
        stint = self.before("method")
        with RawClient(stint.port) as client:
            statuses = [client.request(method).status for method in ("GET", "POST", "GET", "POST")]
        self.assertEqual(statuses, [200, 200, 429, 429])

    def test_several_together(self):
        stint = self.before(["header:A", "header:B"])

        def pair(a, b):
            return ("/", {"A": a, "B": b})

        self.assertEqual(
            self.statuses(stint, pair("a", "b"), pair("a", "c"), pair("a|b", "c"), pair("a", "b|c"), pair("a", "b")),
            [200, 200, 200, 200, 429],
        )
        self.assertEqual(stint.admin.limit("a?key=a%257Cb%7Cc")["used"], 1)
        self.assertEqual(stint.admin.limit("a?key=x%7Cy")["used"], 0)


class MissingKey(KeyTest):
    def ask(self, stint):
        return self.statuses(stint, ("/", ()), ("/", {"X-K": ""}), ("/", {"X-K": "a"}), ("/", {"X-K": "a"}))

    def test_shares_one_counter(self):
        stint = self.before("header:X-K")

        self.assertEqual(self.ask(stint), [200, 429, 200, 429])
        self.assertEqual(fetch(stint.port, source="127.0.0.2").status, 429)
        self.assertEqual(stint.admin.limit("a?key=")["used"], 1)

    def test_is_exempt_where_asked_for(self):
        stint = self.before("header:X-K", missing_key="exempt")

        self.assertEqual(self.ask(stint), [200, 200, 200, 429])
        self.assertEqual(stint.admin.metrics().sum("stint_limit_exempted_total", limit="a"), 2)

    def test_is_refused_where_asked_for(self):
        stint = self.before("header:X-K", missing_key="refuse")

        self.assertEqual(self.ask(stint), [403, 403, 200, 429])
        refused = fetch(stint.port)
        self.assertEqual(
            refused.json(),
            {
                "type": "about:blank",
                "title": "Forbidden",
                "status": 403,
                "detail": "The limit a: it needs header:x-k, which the request does not have.",
                "limit": "a",
            },
        )
        self.assertIsNone(refused.get("Retry-After"))
        self.assertEqual(len(self.upstream.requests), 1)
        self.assertEqual(stint.admin.metrics().sum("stint_limit_denied_total", limit="a"), 3)
        self.assertEqual(stint.admin.metrics().sum("stint_refusals_total", limit="a"), 1)

    def test_of_a_part_leaves_the_others_where_asked_for(self):
        stint = self.before(["client_ip", "query:x"], missing_key="partial")

        self.assertEqual(self.statuses(stint, ("/", ()), ("/?x=", ()), ("/?x=1", ()), ("/?x=1", ())),
                         [200, 429, 200, 429])
        self.assertEqual([fetch(stint.port, source="127.0.0.2").status for _ in range(2)], [200, 429])
        self.assertEqual(stint.admin.limit("a?key=127.0.0.2%7C")["used"], 1)

    def test_of_all_parts_is_exempt_where_parts_count(self):
        stint = self.before(["header:X-A", "header:X-B"], missing_key="partial")

        self.assertEqual(self.statuses(stint, ("/", ()), ("/", ()), ("/", {"X-A": "a"}), ("/", {"X-B": "a"}),
                                       ("/", {"X-A": "a"})), [200, 200, 200, 200, 429])
        self.assertEqual(stint.admin.metrics().sum("stint_limit_exempted_total", limit="a"), 2)

    def test_exempts_from_its_own_limit_alone(self):
        stint = self.stint_before(
            self.upstream,
            limits={
                "keyed": {"requests": 1, "key": "header:X-K", "missing_key": "exempt", **HOUR},
                "all": {"requests": 2, **HOUR},
            },
            route_limits=["keyed", "all"],
        )

        refused = [fetch(stint.port) for _ in range(3)][-1]

        self.assertEqual((refused.status, refused.json()["limit"]), (429, "all"))

    def test_of_a_unix_socket_is_the_address(self):
        path = str(self.new_folder() / "s")
        stint = self.before("client_ip", missing_key="refuse", listener={"address": f"unix:{path}"})

        self.assertEqual(fetch(path).status, 403)


class Exceptions(KeyTest):
    def ask(self, stint, key, times=1, source=None):
        return [fetch(stint.port, fields={"K": key} if key else (), source=source).status for _ in range(times)]

    def test_a_key_may_have_numbers_of_its_own(self):
        stint = self.before(
            "header:K", overrides={"gold-*": {"requests": 2}, "gold-1": {"requests": 3}, "*": {"requests": 1}}
        )

        self.assertEqual(self.ask(stint, "gold-1", 4), [200, 200, 200, 429])
        self.assertEqual(self.ask(stint, "gold-2", 3), [200, 200, 429])
        self.assertEqual(self.ask(stint, "silver", 2), [200, 429])
        shown = stint.admin.limit("a?key=gold-1")
        self.assertEqual((shown["limit"], shown["used"], shown["remaining"]), (3, 3, 0))
        self.assertEqual(stint.admin.limit("a")["overrides"]["gold-*"], {"limit": 2})

    def test_a_new_number_keeps_the_count(self):
        stint = self.before("header:K", requests=2)
        self.assertEqual(self.ask(stint, "x", 3), [200, 200, 429])

        stint.config["limits"]["a"]["overrides"] = {"x": {"requests": 3}}
        stint.write(stint.config)
        self.assertTrue(stint.admin.reload().json()["applied"])

        self.assertEqual(self.ask(stint, "x", 2), [200, 429])

    def test_an_exempt_client_or_key_is_not_counted(self):
        stint = self.before("header:K", exempt=["127.0.0.2", "friend-*"])

        self.assertEqual(self.ask(stint, "x", 3, source="127.0.0.2"), [200] * 3)
        self.assertEqual(self.ask(stint, "friend-1", 3), [200] * 3)
        self.assertEqual(self.ask(stint, "x", 2), [200, 429])
        self.assertEqual(stint.admin.metrics().sum("stint_limit_exempted_total", limit="a", route="all"), 6)
        self.assertEqual(stint.admin.limit("a")["live_keys"], 1)

    def test_a_denied_client_or_key_gets_403_and_no_time(self):
        stint = self.before("header:K", deny=["127.0.0.2/31", "foe"], exempt=["127.0.0.2"])

        self.assertEqual(self.ask(stint, "x", source="127.0.0.2"), [403])
        self.assertEqual(self.ask(stint, "x", source="127.0.0.3"), [403])
        refused = fetch(stint.port, fields={"K": "foe"})
        self.assertEqual(self.ask(stint, "x"), [200])

        self.assertEqual((refused.status, refused.json()["limit"], refused.get("Retry-After")), (403, "a", None))
        self.assertEqual(refused.json()["detail"], "The limit a: it does not admit this client.")
        self.assertEqual(stint.admin.metrics().sum("stint_limit_denied_total", limit="a", route="all"), 3)
        self.assertEqual(len(self.upstream.requests), 1)

    def test_a_denial_charges_no_limit_of_the_route(self):
        stint = self.stint_before(
            self.upstream,
            limits={"all": {"requests": 5, **HOUR}, "closed": {"requests": 5, "deny": ["127.0.0.0/8"], **HOUR}},
            route_limits=["all", "closed"],
        )

        self.assertEqual(fetch(stint.port).status, 403)
        self.assertEqual(stint.admin.limit("all")["used"], 0)


class ClientAddress(KeyTest):
    """The client has 127.0.0.1 unless a source is given; 127.0.0.9 is a proxy that is trusted."""

    def behind_proxies(self, key="client_ip", **more):
        return self.before(key, **{"trusted_proxies": ["127.0.0.8/31", "::1"], **more})

    def from_proxy(self, stint, fields=(), source="127.0.0.9"):
        return fetch(stint.port, source=source, fields=fields).status

    def test_a_spoofed_header_of_a_client_changes_nothing(self):
        stint = self.behind_proxies()
        spoofs = [{"X-Forwarded-For": f"192.0.2.{i}"} for i in range(3)]

        self.assertEqual([self.from_proxy(stint, each, "127.0.0.1") for each in spoofs], [200, 429, 429])

        self.assertEqual(self.upstream.requests[0].get("X-Forwarded-For"), "127.0.0.1")
        self.assertEqual(stint.admin.limit("a?key=127.0.0.1")["used"], 1)
        self.assertEqual(stint.admin.limit("a")["live_keys"], 1)

    def test_without_trusted_proxies_nobody_is_believed(self):
        stint = self.before("client_ip")
        spoofs = [{"X-Forwarded-For": f"192.0.2.{i}"} for i in range(2)]

        self.assertEqual([self.from_proxy(stint, each) for each in spoofs], [200, 429])

    def test_a_trusted_proxy_names_the_client(self):
        stint = self.behind_proxies()

        def of(*clients):
            return [self.from_proxy(stint, {"X-Forwarded-For": each}) for each in clients]

        self.assertEqual(of("192.0.2.1", "192.0.2.1", "192.0.2.2"), [200, 429, 200])
        # Whatever a client writes left of what the proxy adds, and through a second proxy.
        self.assertEqual(of("6.6.6.6, 192.0.2.1", "7.7.7.7,192.0.2.2, 127.0.0.8"), [429, 429])
        self.assertEqual(of("192.0.2.1:4711", "::ffff:192.0.2.1", "64:ff9b::192.0.2.1"), [429] * 3)
        self.assertEqual(stint.admin.limit("a")["live_keys"], 2)
        clients = [line.get("client") for line in stint.wait_for_lines(8)]  # of two workers, in any order
        self.assertEqual([clients.count(each) for each in ("192.0.2.1", "192.0.2.2")], [6, 2])

    def test_forwarding_fields_of_a_trusted_proxy_are_appended_to(self):
        stint = self.behind_proxies(requests=9)
        self.from_proxy(
            stint,
            {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "h.example"},
        )

        seen = self.upstream.requests[0]
        self.assertEqual(seen.get("X-Forwarded-For"), "192.0.2.1, 127.0.0.9")
        self.assertEqual(seen.get("X-Forwarded-Proto"), "https")
        self.assertEqual(seen.get("X-Forwarded-Host"), "h.example")

    def test_of_a_proxy_that_names_no_client_the_address_is_its_own(self):
        stint = self.behind_proxies()

        def of(value):
            return self.from_proxy(stint, {"X-Forwarded-For": value} if value else ())

        self.assertEqual([of(None), of("unknown"), of("_x, garbage"), of("")], [200, 429, 429, 429])
        self.assertEqual(stint.admin.limit("a?key=127.0.0.9")["used"], 1)

    def test_another_header_may_name_the_client(self):
        stint = self.behind_proxies(client_ip_header="X-Real-IP")

        def of(name, value, source="127.0.0.9"):
            return self.from_proxy(stint, {name: value}, source)

        self.assertEqual([of("x-real-ip", "192.0.2.1"), of("X-Real-IP", "192.0.2.1")], [200, 429])
        self.assertEqual([of("X-Real-IP", "192.0.2.2"), of("X-Forwarded-For", "192.0.2.3")], [200, 200])
        self.assertEqual(of("X-Real-IP", "192.0.2.4", "127.0.0.1"), 200)
        self.assertEqual(self.upstream.requests[-1].get("X-Real-IP"), "127.0.0.1")

    def test_forwarded_may_name_the_client(self):
        stint = self.behind_proxies(client_ip_header="Forwarded")

        def of(value):
            return self.from_proxy(stint, {"Forwarded": value})

        self.assertEqual([of("for=192.0.2.1"), of('for="192.0.2.1:80";proto=https')], [200, 429])
        self.assertEqual(self.upstream.requests[0].get("Forwarded"), "for=192.0.2.1, for=127.0.0.9")

    def test_an_ipv6_client_is_its_64(self):
        stint = self.behind_proxies()

        def of(*clients):
            return [self.from_proxy(stint, {"X-Forwarded-For": each}) for each in clients]

        self.assertEqual(of("2001:db8:1:2::1", "2001:db8:1:2:ffff::2", "2001:db8:1:3::1"), [200, 429, 200])
        self.assertEqual(stint.admin.limit("a?key=2001:db8:1:2::9")["key_value"], "2001:db8:1:2::/64")

    def test_prefixes_are_configurable(self):
        stint = self.behind_proxies(ipv4_prefix=24, ipv6_prefix=48)

        def of(*clients):
            return [self.from_proxy(stint, {"X-Forwarded-For": each}) for each in clients]

        self.assertEqual(of("192.0.2.1", "192.0.2.200", "192.0.3.1"), [200, 429, 200])
        self.assertEqual(of("2001:db8:1:2::1", "2001:db8:1:fff::1", "2001:db8:2::1"), [200, 429, 200])

    def test_a_reload_changes_whom_is_believed(self):
        stint = self.before("client_ip")
        fields = {"X-Forwarded-For": "192.0.2.1"}
        with RawClient(stint.port) as client:
            before = [client.request(fields=fields).status for _ in range(2)]
            stint.write({**stint.config, "trusted_proxies": ["127.0.0.1"]})
            self.assertTrue(stint.admin.reload().json()["applied"])
            after = [client.request(fields=fields).status for _ in range(2)]

        self.assertEqual((before, after), ([200, 429], [200, 429]))
        self.assertEqual(stint.admin.limit("a?key=192.0.2.1")["used"], 1)

    def test_the_peers_of_a_unix_socket_may_be_trusted(self):
        path = str(self.new_folder() / "s")
        stint = self.before("client_ip", listener={"address": f"unix:{path}"}, trusted_proxies=["unix"])

        def of(fields):
            return fetch(path, fields=fields).status

        first = {"X-Forwarded-For": "192.0.2.1"}
        self.assertEqual([of(first), of(first), of({"X-Forwarded-For": "192.0.2.2"})], [200, 429, 200])
        self.assertEqual(self.upstream.requests[0].get("X-Forwarded-For"), "192.0.2.1, unknown")
        self.assertEqual(stint.admin.limit("a?key=192.0.2.1")["used"], 1)


V2 = b"\r\n\r\n\0\r\nQUIT\n"


def v2(client="192.0.2.1", command=0x21, more=b"") -> bytes:
    family = socket.AF_INET6 if ":" in client else socket.AF_INET
    address = socket.inet_pton(family, client)
    block = address + bytes(len(address)) + struct.pack("!HH", 4711, 80) + more
    return V2 + bytes([command, 0x21 if ":" in client else 0x11]) + struct.pack("!H", len(block)) + block


@unittest.skipIf(OVER_TLS, "the header comes before TLS: see test_tls.py")
class ProxyProtocol(KeyTest):
    def behind_proxy(self, **more):
        return self.before(
            "client_ip", **{"listener": {"address": f"127.0.0.1:{free_port()}", "proxy_protocol": True},
                            "trusted_proxies": ["127.0.0.1"], **more}
        )

    def ask(self, stint, header: bytes, fields=()):
        with RawClient(stint.port) as client:
            client.send(header)
            return client.request(fields=fields).status

    def test_version_1_names_the_client(self):
        stint = self.behind_proxy()
        one = b"PROXY TCP4 192.0.2.1 10.0.0.1 4711 80\r\n"
        other = b"PROXY TCP6 2001:db8::1 ::1 4711 80\r\n"

        self.assertEqual([self.ask(stint, each) for each in (one, one, other)], [200, 429, 200])

        self.assertEqual(self.upstream.requests[0].get("X-Forwarded-For"), "192.0.2.1")
        self.assertEqual(stint.admin.limit("a?key=192.0.2.1")["used"], 1)
        self.assertEqual(stint.admin.limit("a?key=2001:db8::7")["used"], 1)

    def test_version_2_names_the_client(self):
        stint = self.behind_proxy()

        headers = (v2(), v2(more=b"\x04\x00\x01x"), v2("2001:db8::1"), v2("::ffff:192.0.2.1"))
        self.assertEqual([self.ask(stint, each) for each in headers], [200, 429, 200, 429])

    def test_what_knows_no_client_keeps_the_peer(self):
        stint = self.behind_proxy()

        self.assertEqual([self.ask(stint, each) for each in (b"PROXY UNKNOWN\r\n", v2(command=0x20))], [200, 429])
        self.assertEqual(stint.admin.limit("a?key=127.0.0.1")["used"], 1)

    def test_the_connection_has_one_client_for_all_its_requests(self):
        stint = self.behind_proxy(requests=2)
        with RawClient(stint.port) as client:
            client.send(v2() + request_bytes() + request_bytes())
            statuses = [client.read_response().status, client.read_response().status, client.request().status]

        self.assertEqual(statuses, [200, 200, 429])

    def test_a_header_may_trickle_in(self):
        stint = self.behind_proxy()
        with RawClient(stint.port) as client:
            client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in v2() + b"GET / HTTP/1.1\r\nHost: h\r\n\r\n":
                client.send(bytes([byte]))
            self.assertEqual(client.read_response().status, 200)
        self.assertEqual(stint.admin.limit("a?key=192.0.2.1")["used"], 1)

    def test_a_client_behind_a_trusted_client_is_found(self):
        stint = self.behind_proxy(trusted_proxies=["127.0.0.1", "10.0.0.0/8"])
        fields = {"X-Forwarded-For": "192.0.2.9"}

        self.assertEqual([self.ask(stint, v2("10.0.0.7"), fields), self.ask(stint, v2("192.0.2.8"), fields)], [200, 200])
        self.assertEqual(stint.admin.limit("a?key=192.0.2.9")["used"], 1)
        self.assertEqual(stint.admin.limit("a?key=192.0.2.8")["used"], 1)

    def rejected(self, stint, reason):
        return stint.admin.metrics().sum("stint_proxy_protocol_rejected_total", reason=reason)

    def test_other_peers_are_closed_and_counted(self):
        stint = self.behind_proxy()
        with RawClient(stint.port, source="127.0.0.2") as client:
            client.send(v2() + request_bytes())
            self.assertEqual(client.read_what_comes(), b"")

        self.assertEqual(self.rejected(stint, "untrusted"), 1)
        self.assertEqual(self.upstream.requests, [])

    def test_what_is_no_header_is_closed_and_counted(self):
        stint = self.behind_proxy()
        for start in (request_bytes(), b"PROXY TCP4 1.2.3.4\r\n", V2 + b"\x21\x11\x00\x00", V2 + b"\x21\x11\xff\xff"):
            with RawClient(stint.port) as client:
                client.send(start)
                self.assertEqual(client.read_what_comes(), b"")

        self.assertEqual(self.rejected(stint, "malformed"), 4)
        self.assertEqual(self.upstream.requests, [])

    def test_a_header_has_as_long_as_a_head(self):
        stint = self.behind_proxy(timeouts={"head": "200ms"})
        with RawClient(stint.port) as client:
            client.send(b"PROXY TCP4 192.0.2.1")
            self.assertTrue(client.ends())

    def test_a_health_check_that_says_nothing_is_nothing(self):
        stint = self.behind_proxy()
        RawClient(stint.port).close()

        self.assertEqual(self.ask(stint, v2()), 200)
        self.assertEqual(self.rejected(stint, "malformed"), 0)


if __name__ == "__main__":
    unittest.main()
