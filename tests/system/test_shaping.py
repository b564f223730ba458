"""What routes and upstreams change on the way, what is answered without an upstream, and PROXY
headers towards upstreams."""

import json
import socket
import subprocess
import unittest

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.stint import binary
from support.upstream import answer
from support.waiting import wait_until

V2 = b"\r\n\r\n\0\r\nQUIT\n"


def routed(*routes, endpoint="127.0.0.1:9", **more) -> dict:
    """config() with these routes, each to `up` unless it answers itself."""
    made = config(endpoint, **more)
    made["routes"] = [
        {"name": f"r{i}", **({} if {"respond", "redirect"} & set(route) else {"upstream": "up"}), **route}
        for i, route in enumerate(routes)
    ]
    return made


class ShapingTest(SystemTest):
    def before(self, server, *routes, **more):
        return self.start_stint(routed(*routes, endpoint=server.address, **more))


class Heads(ShapingTest):
    def test_the_upstream_sees_exactly_what_is_left_and_set(self):
        upstream = self.start_upstream()
        stint = self.before(upstream, {
            "request": {"set_headers": {"X-Tenant": "shop", "X-Seen": "{client_ip} {host} {method} {route}"},
                        "remove_headers": ["Cookie"]}})
        with RawClient(stint.port) as client:
            client.request("GET", "/a?b", [
                ("Host", "Shop.Example:80"), ("X-TENANT", "evil"), ("x_tenant", "evil"), ("Cookie", "a=b"),
                ("Accept", "*/*"), ("Connection", "X-Tenant, X-Seen"), ("X-Request-Id", "id-1")])

        self.assertEqual(
            upstream.received,
            b"GET /a?b HTTP/1.1\r\nHost: Shop.Example:80\r\nAccept: */*\r\nX-Tenant: shop\r\n"
            b"X-Seen: 127.0.0.1 shop.example GET r0\r\nX-Forwarded-For: 127.0.0.1\r\n"
            b"X-Forwarded-Proto: http\r\nX-Forwarded-Host: Shop.Example:80\r\nX-Request-Id: id-1\r\n"
            b"Via: 1.1 stint\r\n\r\n")

    def test_the_client_sees_exactly_what_is_left_and_set(self):
        upstream = self.start_upstream(answer(b"ok", fields=[("Server", "x"), ("X-A", "1"), ("x-a", "2"), ("B", "c")]))
        stint = self.before(upstream, {"response": {"set_headers": {"X-A": "{request_id}"}, "remove_headers": ["server"]}})
        with RawClient(stint.port) as client:
            for _ in range(2):
                response = client.request(fields={"X-Request-Id": "id-1"})
                self.assertEqual(
                    [field for field in response.fields if field[0] != "Date"],
                    [("B", "c"), ("X-A", "id-1"), ("Content-Length", "2"), ("X-Request-Id", "id-1")])
                self.assertEqual(response.body, b"ok")
        self.assertEqual(len(upstream.connections), 1)

    def test_what_upstream_and_route_say_adds_up_and_the_routes_wins(self):
        upstream = self.start_upstream(answer(fields=[("A", "1"), ("B", "2"), ("C", "3"), ("D", "4")]))
        stint = self.before(
            upstream, {"response": {"set_headers": {"a": "route", "B": "route"}, "remove_headers": ["X-D"]}},
            upstream={"response": {"set_headers": {"A": "upstream", "X-D": "upstream", "X-E": "upstream"},
                                   "remove_headers": ["b", "C"]}})

        response = fetch(stint.port)

        self.assertEqual(
            {name: value for name, value in response.fields if name not in ("Date", "X-Request-Id", "Content-Length")},
            {"D": "4", "a": "route", "B": "route", "X-E": "upstream"})

    def test_a_limit_counts_by_what_the_client_sent(self):
        upstream = self.start_upstream()
        stint = self.before(
            upstream, {"limits": ["one"], "request": {"set_headers": {"X-Api-Key": "secret"}}},
            limits={"one": {"requests": 1, "per": "1h", "key": "header:X-Api-Key"}})

        statuses = [fetch(stint.port, fields={"X-Api-Key": key}).status for key in ("a", "b", "a")]

        self.assertEqual(statuses, [200, 200, 429])
        self.assertEqual([request.get("X-Api-Key") for request in upstream.requests], ["secret", "secret"])

    def test_a_refusal_is_not_shaped(self):
        stint = self.before(
            self.start_upstream(), {"limits": [{"requests": 1, "per": "1h"}],
                                    "response": {"set_headers": {"X-A": "b"}, "remove_headers": ["Server"]}})

        admitted, refused = fetch(stint.port), fetch(stint.port)

        self.assertEqual((admitted.status, admitted.get("X-A")), (200, "b"))
        self.assertEqual((refused.status, refused.get("X-A"), refused.get("Server")), (429, None, "stint"))

    def test_a_reload_changes_it_for_connections_that_are_open(self):
        stint = self.before(self.start_upstream(), {"response": {"set_headers": {"X-A": "old"}}})
        with RawClient(stint.port) as client:
            self.assertEqual(client.request().get("X-A"), "old")
            changed = json.loads(json.dumps(stint.config))
            changed["routes"][0]["response"]["set_headers"]["X-A"] = "new"
            stint.write(changed)
            self.assertEqual(stint.admin.reload().status, 200)
            wait_until(lambda: client.request().get("X-A") == "new", "the new value")

    def test_host_is_the_routes_the_upstreams_or_the_clients(self):
        upstream = self.start_upstream()
        stint = self.before(
            upstream, {"match": {"path": "/route"}, "host": "route.example:81"},
            {"match": {"path": "/keep"}, "host": "keep"}, {"match": {"path": "/up"}},
            upstream={"host": "up.example"})
        for path in ("/route", "/keep", "/up"):
            fetch(stint.port, target=path, host="client.example")

        self.assertEqual(
            [request.get("Host") for request in upstream.requests],
            ["route.example:81", "client.example", "up.example"])


class Paths(ShapingTest):
    def targets(self, stint, upstream, *sent):
        before = len(upstream.requests)
        for target in sent:
            self.assertEqual(fetch(stint.port, target=target).status, 200, target)
        return [request.target for request in upstream.requests[before:]]

    def test_a_prefix_is_stripped_however_it_is_spelt(self):
        upstream = self.start_upstream()
        stint = self.before(upstream, {"match": {"path": "/api"}, "strip_prefix": "/api"})

        self.assertEqual(
            self.targets(stint, upstream, "/api", "/api?a=%20b", "/api/", "/api/a/b?", "/%61pi//a", "/x/../api/b"),
            ["/", "/?a=%20b", "/", "/a/b?", "/a", "/b"])

    def test_no_spelling_escapes_what_is_stripped(self):
        upstream = self.start_upstream()
        stint = self.before(upstream, {"match": {"path": "/api"}, "strip_prefix": "/api"})

        for target in ("/api/..%2fadmin", "/api/a/..%2f..%2fapi/b", "/api/..;/admin", "/api%2fa", "/api;/a", "/apis"):
            self.assertIn(fetch(stint.port, target=target).status, (400, 404), target)
        self.assertEqual(upstream.requests, [])

    def test_slashes_that_are_kept_do_not_become_a_host(self):
        upstream = self.start_upstream()
        stint = self.before(upstream, {"match": {"path": "/api"}, "strip_prefix": "/api"}, merge_slashes=False)

        self.assertEqual(self.targets(stint, upstream, "/api//evil.example/a//b"), ["/evil.example/a//b"])

    def test_paths_are_replaced(self):
        upstream = self.start_upstream()
        stint = self.before(
            upstream,
            {"match": {"path": "/api"}, "rewrite": "/v2/"},
            {"match": {"path_exact": "/one"}, "rewrite": "/other"},
            {"match": {"path_regex": "/items/[0-9]+"}, "rewrite": {"regex": "/items/(.*)", "to": "/v3/\\1/show"}},
            {"rewrite": "/rest"})

        self.assertEqual(
            self.targets(stint, upstream, "/api/a?b", "/api", "/one?c", "/items/17", "/a/b", "/"),
            ["/v2/a?b", "/v2", "/other?c", "/v3/17/show", "/rest/a/b", "/rest/"])


class Regexes(ShapingTest):
    def test_an_exact_path_then_regexes_in_order_then_prefixes(self):
        stint = self.start_stint(routed(
            {"match": {"path": "/items/special"}, "respond": {"body": "prefix"}},
            {"match": {"path_regex": "^/items/[a-z0-9]+(/.*)?$"}, "respond": {"body": "first"}},
            {"match": {"path_regex": ".*"}, "respond": {"body": "second"}},
            {"match": {"path_exact": "/items/1"}, "respond": {"body": "exact"}}))

        bodies = {path: fetch(stint.port, target=path).body.decode()
                  for path in ("/items/1", "/items/2", "/items/special/x", "/items/A", "/")}

        self.assertEqual(bodies, {"/items/1": "exact", "/items/2": "first", "/items/special/x": "first",
                                  "/items/A": "second", "/": "second"})

    def test_no_spelling_leads_around_the_limit_of_a_regex(self):
        upstream = self.start_upstream()
        stint = self.before(
            upstream, {"match": {"path_regex": "/admin(/.*)?"}, "limits": ["closed"]}, {"match": {"path": "/"}},
            limits={"closed": {"requests": 1, "per": "1h", "key": "client_ip", "deny": ["127.0.0.1"]}})

        for target in ("/admin", "/admin/a", "/%61dmin", "/a/../admin", "//admin", "/admin/?a", "/.//admin"):
            self.assertEqual(fetch(stint.port, target=target).status, 403, target)
        for target in ("/admin;a", "/a/..%2fadmin", "/a;/../admin;", "/%2fadmin", "/a/..;/admin"):
            self.assertIn(fetch(stint.port, target=target).status, (400, 403), target)
        self.assertEqual(upstream.requests, [])

    def test_a_pattern_that_would_hang_others_takes_no_time(self):
        stint = self.start_stint(routed({"match": {"path_regex": "(/?(a|aa)+)+b"}, "respond": {}}))

        self.assertEqual(fetch(stint.port, target="/" + "a" * 8000).status, 404)

    def test_a_mistake_is_told_in_re2s_words(self):
        stint = routed({"match": {"path_regex": "/a(b"}, "respond": {}})
        file = self.new_folder() / "stint.yaml"
        file.write_text(json.dumps(stint), encoding="utf-8")
        checked = subprocess.run([binary(), "check", str(file)], capture_output=True, text=True, check=False)

        self.assertEqual(checked.returncode, 2)
        self.assertIn('match.path_regex: "/a(b" is not a regular expression: missing ): /a(b',
                      checked.stdout + checked.stderr)


class Answers(ShapingTest):
    def test_a_fixed_answer_keeps_the_connection(self):
        stint = self.start_stint(routed(
            {"match": {"path": "/hello"}, "limits": ["three"],
             "respond": {"status": 201, "body": "hi {client_ip}\n", "content_type": "text/x", "headers": {"X-A": "{route}"}}},
            {"match": {"path": "/none"}, "respond": {"status": 204}},
            limits={"three": {"requests": 3, "per": "1h"}}))
        with RawClient(stint.port) as client:
            got = client.request(target="/hello")
            self.assertEqual((got.status, got.body, got.get("Content-Type"), got.get("X-A")),
                             (201, b"hi 127.0.0.1\n", "text/x", "r0"))
            got = client.request("HEAD", "/hello")
            self.assertEqual((got.status, got.body, got.get("Content-Length")), (201, b"", "13"))
            got = client.request("POST", "/hello", body=b"x" * 1000)
            self.assertEqual((got.status, got.body), (201, b"hi 127.0.0.1\n"))
            self.assertEqual(client.request(target="/hello").status, 429)
            got = client.request(target="/none")
            self.assertEqual((got.status, got.get("Content-Length"), got.body), (204, None, b""))
            self.assertEqual(client.request(target="/").status, 404)

        lines = stint.wait_for_lines(6)
        self.assertEqual([line["decision"] for line in lines],
                         ["responded"] * 3 + ["refused", "responded", "no_route"])
        self.assertNotIn("upstream", lines[0])
        self.assertEqual(stint.admin.metrics().sum(
            "stint_requests_total", route="r0", decision="responded", status="2xx"), 3)

    def test_an_old_client_is_told_the_end(self):
        stint = self.start_stint(routed({"respond": {"body": "x"}}))
        with RawClient(stint.port) as client:
            client.send(b"GET / HTTP/1.0\r\n\r\n")
            raw = client.read_to_end()
        self.assertTrue(raw.endswith(b"\r\nConnection: close\r\n\r\nx"), raw)

    def test_a_large_body_arrives_whole(self):
        body = "0123456789abcdef" * 4096
        stint = self.start_stint(routed({"respond": {"body": body}}))
        with RawClient(stint.port, receive_buffer=4096) as client:
            for _ in range(3):
                client.send_request()
            for _ in range(3):
                self.assertEqual(client.read_response("GET").body, body.encode())

    def test_requests_that_waited_are_answered(self):
        stint = self.start_stint(routed(
            {"limits": ["slow"], "respond": {"status": 204}},
            limits={"slow": {"requests": 1, "per": "50ms", "when_exceeded": "wait", "max_wait": "10s"}}))
        with RawClient(stint.port) as client:
            self.assertEqual([client.request().status for _ in range(5)], [204] * 5)

    def test_a_redirect_leads_on(self):
        stint = self.start_stint(routed(
            {"match": {"path": "/old"}, "redirect": "https://new.example{path}{?query}"},
            {"match": {"path": "/api"}, "strip_prefix": "/api", "redirect": {"to": "/v2{path}", "status": 301}},
            {"match": {"host": "bare.example"}, "redirect": {"to": "https://www.{host}{path}", "status": 302}},
            {"match": {"path": "/out"}, "strip_prefix": "/out", "redirect": {"to": "{path}"}}, merge_slashes=False))

        def redirected(target, host="test.example"):
            response = fetch(stint.port, target=target, host=host)
            self.assertEqual(response.body, b"")
            return response.status, response.get("Location")

        self.assertEqual(redirected("/old/a%20b?c=d&e"), (308, "https://new.example/old/a%20b?c=d&e"))
        self.assertEqual(redirected("/old/{x}|y"), (308, "https://new.example/old/%7Bx%7D%7Cy"))
        self.assertEqual(redirected("/api/a?b"), (301, "/v2/a"))
        self.assertEqual(redirected("/a", "Bare.Example:80"), (302, "https://www.bare.example/a"))
        self.assertEqual(redirected("/out//evil.example/a"), (308, "/evil.example/a"))
        self.assertEqual(redirected("/out///evil.example"), (308, "/evil.example"))

    def test_what_the_views_say(self):
        stint = self.start_stint(routed(
            {"match": {"path_regex": "/a+"}, "respond": {"status": 418, "body": "x", "headers": {"A": "b"}}},
            {"match": {"path": "/old"}, "redirect": "/new"},
            {"match": {"path": "/up"}, "host": "keep", "strip_prefix": "/up",
             "request": {"set_headers": {"X-A": "b"}, "remove_headers": ["C"]}}))
        shown = stint.admin.get("/config")["routes"]

        self.assertEqual(shown[0]["match"], {"host": "*", "path_regex": "/a+"})
        self.assertEqual(shown[0]["respond"], {"status": 418, "body": "x", "content_type": "text/plain; charset=utf-8",
                                               "headers": {"A": "b"}})
        self.assertEqual(shown[1]["redirect"], {"to": "/new", "status": 308})
        self.assertEqual((shown[2]["host"], shown[2]["strip_prefix"]), ("keep", "/up"))
        self.assertEqual(shown[2]["request"], {"set_headers": {"X-A": "(hidden)"}, "remove_headers": ["C"]})
        self.assertNotIn("upstream", shown[0])
        self.assertEqual([route["name"] for route in stint.admin.get("/routes")["routes"]], ["r0", "r1", "r2"])
        explained = stint.admin.request("POST", "/explain", body=json.dumps({"path": "/aa"})).json()
        self.assertEqual((explained["decision"], explained["route"], explained["responds_with"]), ("admit", "r0", 418))
        self.assertNotIn("upstream", explained)

    def test_a_configuration_without_upstreams_is_enough(self):
        made = routed({"respond": {"body": "x"}, "limits": [{"concurrent": 1}]})
        del made["upstreams"]
        stint = self.start_stint(made)

        self.assertEqual(fetch(stint.port).body, b"x")
        self.assertEqual(stint.admin.reload().status, 200)
        self.assertEqual(fetch(stint.port).body, b"x")

    def test_a_log_of_it_can_be_simulated(self):
        stint = self.start_stint(routed({"respond": {}, "limits": [{"requests": 2, "per": "1h"}]}))
        for _ in range(3):
            fetch(stint.port)
        stint.wait_for_lines(3)
        ran = subprocess.run([binary(), "simulate", "-c", str(stint.file), "--json", str(stint.folder / "stdout")],
                             capture_output=True, text=True, check=False)

        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("r0", ran.stdout)


class RedirectHttp(ShapingTest):
    def test_everything_goes_to_https(self):
        upstream = self.start_upstream()
        stint = self.before(
            upstream, {"limits": ["closed"]}, listener={"redirect_http": True},
            limits={"closed": {"requests": 1, "per": "1h", "key": "client_ip", "deny": ["127.0.0.1"]}})
        with RawClient(stint.port) as client:
            for method, target, host, location in (
                ("GET", "/a?b=c", "Shop.Example:80", "https://shop.example/a?b=c"),
                ("POST", "//x/../y;z", "[2001:DB8::1]:80", "https://[2001:db8::1]//x/../y;z"),
                ("OPTIONS", "*", "shop.example", "https://shop.example/"),
                ("GET", "http://b.example", "shop.example", "https://b.example/"),
                ("HEAD", "/", "shop.example.", "https://shop.example/"),
            ):
                response = client.request(method, target, host=host)
                self.assertEqual((response.status, response.get("Location")), (308, location))
        self.assertEqual(upstream.requests, [])

        lines = stint.wait_for_lines(5)
        self.assertEqual({line["decision"] for line in lines}, {"responded"})
        self.assertNotIn("route", lines[0])

    def test_a_request_without_a_host_is_a_400(self):
        stint = self.before(self.start_upstream(), {}, listener={"redirect_http": 8443})
        for request in (b"GET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"):
            with RawClient(stint.port) as client:
                client.send(request)
                self.assertEqual(client.read_response("GET").status, 400)
        self.assertEqual(fetch(stint.port, target="/a", host="a.example:8080").get("Location"),
                         "https://a.example:8443/a")


class ProxyHeaders(ShapingTest):
    def introduced(self, client_fields=(), version="v2", **more):
        """What the upstream's connections begin with; two requests of one client."""

        def script(connection):
            while True:
                connection.read_until(b"QUIT\n" if version == "v2" else b"\r\n")
                if version == "v2":
                    _, _, *length = connection.read_exactly(4)
                    connection.read_exactly(length[0] * 256 + length[1])
                while connection.read_request():
                    connection.send(response_bytes())

        upstream = self.start_upstream(script)
        stint = self.before(upstream, {}, upstream={"proxy_protocol": version}, **more)
        with RawClient(stint.port) as client:
            local = client.sock.getsockname()
            for _ in range(2):
                self.assertEqual(client.request(fields=client_fields).status, 200)
        wait_until(lambda: len(upstream.connections) == 2, "two connections")
        return [each.received for each in upstream.connections], local, stint

    def test_version_2_names_the_client_and_serves_it_alone(self):
        starts, (address, port), stint = self.introduced()

        wanted = (V2 + b"\x21\x11\0\x0c" + socket.inet_aton(address) * 2
                  + port.to_bytes(2, "big") + stint.port.to_bytes(2, "big") + b"GET / HTTP/1.1\r\n")
        for start in starts:
            self.assertEqual(start[:len(wanted)], wanted)

    def test_version_1_names_the_client(self):
        starts, (address, port), stint = self.introduced(version="v1")

        wanted = f"PROXY TCP4 {address} 127.0.0.1 {port} {stint.port}\r\nGET / HTTP/1.1\r\n".encode()
        for start in starts:
            self.assertEqual(start[:len(wanted)], wanted)

    def test_a_client_behind_a_trusted_proxy_is_named(self):
        starts, _, stint = self.introduced(
            {"X-Forwarded-For": "2001:db8::7"}, trusted_proxies=["127.0.0.1"])

        wanted = (V2 + b"\x21\x21\0\x24" + socket.inet_pton(socket.AF_INET6, "2001:db8::7") + bytes(16)
                  + bytes(2) + stint.port.to_bytes(2, "big") + b"GET ")
        for start in starts:
            self.assertEqual(start[:len(wanted)], wanted)

    def test_another_upstream_with_the_same_endpoint_is_apart(self):
        upstream = self.start_upstream()
        made = routed({"match": {"path": "/plain"}}, endpoint=upstream.address)
        made["upstreams"]["named"] = {"endpoints": [upstream.address], "proxy_protocol": "v1"}
        made["routes"].append({"name": "named", "match": {"path": "/named"}, "upstream": "named"})
        made["workers"] = 1
        upstream.script = lambda connection: self.count(connection)
        stint = self.start_stint(made)
        with RawClient(stint.port) as client:
            for target in ("/plain", "/named", "/plain", "/named"):
                self.assertEqual(client.request(target=target).status, 200)

        starts = sorted(each.received.split(b" ")[0] for each in upstream.connections)
        self.assertEqual(starts, [b"GET", b"PROXY", b"PROXY"])

    @staticmethod
    def count(connection):
        while True:
            head = connection.read_until(b"\r\n\r\n")
            if head:
                connection.send(response_bytes())

    def test_stint_behind_stint_knows_the_client(self):
        upstream = self.start_upstream()
        inner = self.stint_before(upstream, listener={"proxy_protocol": True}, trusted_proxies=["127.0.0.1"])
        outer = self.start_stint(config(f"127.0.0.1:{inner.port}", upstream={"proxy_protocol": "v2"}))

        fetch(outer.port, source="127.0.0.9")

        self.assertEqual(inner.wait_for_lines(1)[0]["client"], "127.0.0.9")


if __name__ == "__main__":
    unittest.main()
