"""Upstreams that speak https: real ones, and every way in which they cannot be trusted."""

import socket
import ssl
import threading
import unittest

from support.case import SystemTest, config
from support.certificates import Authority, self_signed
from support.client import RawClient, fetch
from support.ports import free_port
from support.stream import Stream


class HttpsTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.new_folder())

    def served_by(self, pair, locations="location / { return 200 hello; }"):
        return self.start_nginx(locations, tls=pair)

    def before(self, port, name="localhost", tls=None, **more):
        upstream = {"tls": {"ca": str(self.authority.certificate), **(tls or {})},
                    **more.pop("upstream", {})}
        return self.start_stint(config(f"https://{name}:{port}", upstream=upstream, **more))


class RealServers(HttpsTest):
    def test_nginx_over_https_on_pooled_connections(self):
        nginx = self.served_by(
            self.authority.issue("localhost", "IP:127.0.0.1"),
            "location / { return 200 \"$ssl_server_name $http_host $connection_requests\"; }")
        stint = self.before(nginx.port, workers=1)
        with RawClient(stint.port) as client:
            bodies = [client.request().body.decode() for _ in range(5)]
        self.assertEqual(
            bodies, [f"localhost localhost:{nginx.port} {count}" for count in range(1, 6)])

    def test_a_client_certificate_is_shown(self):
        robot = self.authority.issue("robot")
        nginx = self.served_by(
            self.authority.issue("localhost", "IP:127.0.0.1"),
            f"""ssl_client_certificate {self.authority.certificate}; ssl_verify_client on;
            location / {{ return 200 "$ssl_client_s_dn"; }}""")
        stint = self.before(nginx.port, tls=robot.tls())
        self.assertEqual(fetch(stint.port).body, b"CN=robot")
        stint = self.before(nginx.port)
        self.assertEqual(fetch(stint.port).status, 400)  # nginx's own: it wants one

    def test_sessions_are_resumed(self):
        nginx = self.served_by(
            self.authority.issue("localhost", "IP:127.0.0.1"),
            """keepalive_timeout 0; ssl_session_cache shared:some:1m;
            location / { return 200 "$ssl_session_reused"; }""")
        stint = self.before(nginx.port, workers=1)
        seen = [fetch(stint.port).body for _ in range(5)]
        self.assertEqual(seen[0], b".")
        self.assertIn(b"r", seen[1:])

    def test_the_name_may_be_another_than_the_address(self):
        nginx = self.served_by(
            self.authority.issue("shop.example"),
            "location / { return 200 \"$ssl_server_name $http_host\"; }")
        stint = self.before(nginx.port, "127.0.0.1", {"server_name": "shop.example"},
                            upstream={"host": "shop.example"})
        self.assertEqual(fetch(stint.port).body, b"shop.example shop.example")

    def test_large_bodies(self):
        nginx = self.served_by(self.authority.issue("localhost", "IP:127.0.0.1"), "location / { }")
        body = bytes(range(256)) * 20_000
        (nginx.root / "large").write_bytes(body)
        stint = self.before(nginx.port)
        self.assertTrue(fetch(stint.port, target="/large").body == body)


class Untrusted(HttpsTest):
    """Each a 502 that says nothing of the upstream, and in the log why."""

    def refused(self, stint, *words, status=502):
        answered = fetch(stint.port)
        self.assertEqual(answered.status, status, answered.body)
        line = stint.wait_for_lines(1)[0]
        self.assertEqual(line["request_id"], answered.get("X-Request-Id"))
        for word in words:
            self.assertIn(word, line["upstream_error"])
            self.assertNotIn(word, answered.json()["detail"])
        return line["upstream_error"]

    def test_an_expired_certificate(self):
        nginx = self.served_by(self.authority.issue(
            "localhost", begins=-60, ends=-30))
        stint = self.before(nginx.port)
        detail = self.refused(stint, "expired")
        self.assertIn(detail, stint.log())

    def test_a_certificate_for_another_name(self):
        nginx = self.served_by(self.authority.issue("other.example"))
        self.refused(self.before(nginx.port), "other.example", "localhost")

    def test_a_certificate_for_another_address(self):
        nginx = self.served_by(self.authority.issue("localhost"))
        self.refused(self.before(nginx.port, "127.0.0.1"), "127.0.0.1")

    def test_a_self_signed_certificate(self):
        nginx = self.served_by(self_signed(self.new_folder(), "localhost"))
        self.refused(self.before(nginx.port), "self-signed")

    def test_an_authority_that_nobody_knows(self):
        nginx = self.served_by(self.authority.issue("localhost", "IP:127.0.0.1"))
        stint = self.start_stint(config(f"https://localhost:{nginx.port}"))
        self.refused(stint, "TLS with")

    def test_a_certificate_that_was_revoked(self):
        pair = self.authority.issue("localhost", "IP:127.0.0.1")
        nginx = self.served_by(pair)
        file = self.new_folder() / "revoked.pem"
        file.write_text(self.authority.revoke(), encoding="ascii")
        good = self.before(nginx.port, tls={"crl": str(file)})
        self.assertEqual(fetch(good.port).status, 200)
        file = self.new_folder() / "revoked.pem"
        file.write_text(self.authority.revoke(pair), encoding="ascii")
        stint = self.before(nginx.port, tls={"crl": str(file)})
        self.refused(stint, "revoked")

    def test_verification_can_be_turned_off_and_that_is_said_loudly(self):
        nginx = self.served_by(self.authority.issue("other.example", begins=-60, ends=-30))
        upstream = {"tls": {"verify": False}}
        stint = self.start_stint(config(f"https://localhost:{nginx.port}", upstream=upstream))
        self.assertEqual(fetch(stint.port).status, 200)
        self.assertIn("verify", stint.log())

    def test_a_server_that_speaks_plain_text_is_never_asked_in_plain_text(self):
        seen = []

        def script(connection):
            seen.append(connection.sock.recv(65536))
            connection.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        upstream = self.start_upstream(script)
        self.refused(self.before(upstream.port, "127.0.0.1"), "TLS")
        self.assertEqual(len(seen), 1)
        self.assertEqual(seen[0][:1], b"\x16")  # a ClientHello, and no request behind it

    def test_a_server_that_closes_in_the_handshake(self):
        upstream = self.start_upstream(lambda connection: connection.sock.recv(10))
        self.refused(self.before(upstream.port, "127.0.0.1"), "TLS")

    def test_a_server_that_stalls_in_the_handshake(self):
        stop = threading.Event()
        self.addCleanup(stop.set)
        upstream = self.start_upstream(lambda connection: stop.wait(20))
        stint = self.before(upstream.port, "127.0.0.1", timeouts={"connect": "300ms"})
        self.refused(stint, "handshake", status=504)

    def test_a_body_that_ends_without_tls_s_end_is_not_passed_off_as_whole(self):
        pair = self.authority.issue("localhost", "IP:127.0.0.1")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)

        def script(connection):
            stream = Stream(context.wrap_socket(connection.sock, server_side=True))
            stream.read_request()
            stream.send(b"HTTP/1.1 200 OK\r\n\r\npart of it")
            stream.sock.shutdown(socket.SHUT_RDWR)  # of the socket alone

        upstream = self.start_upstream(script)
        stint = self.before(upstream.port, "127.0.0.1")
        with RawClient(stint.port) as client:
            client.send_request()
            self.assertEqual(client.read_response_head().status, 200)
            rest = client.read_what_comes()
            self.assertFalse(rest.endswith(b"0\r\n\r\n"), rest)

    def test_a_name_without_an_address(self):
        stint = self.before(free_port(), "no-such-host.invalid")
        self.refused(stint, "could not connect")


class Crawl(HttpsTest):
    def test_an_answer_in_several_records_and_a_429(self):
        """What a crawler's target does: it limits, and Stint heeds it."""
        pair = self.authority.issue("localhost", "IP:127.0.0.1")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)

        def script(connection):
            stream = Stream(context.wrap_socket(connection.sock, server_side=True))
            stream.read_request()
            for byte in b"HTTP/1.1 429 Too Many\r\nRetry-After: 60\r\nContent-Length: 2\r\n\r\nno":
                stream.send(bytes([byte]))
            stream.read_to_end()

        upstream = self.start_upstream(script)
        stint = self.before(upstream.port, "127.0.0.1", upstream={"cooldown": "on"})
        self.assertEqual(fetch(stint.port).body, b"no")
        second = fetch(stint.port)
        self.assertEqual(second.status, 429)
        self.assertEqual(len(upstream.connections), 1)
        self.assertGreater(int(second.get("Retry-After")), 50)


if __name__ == "__main__":
    unittest.main()
