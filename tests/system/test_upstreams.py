"""Upstreams that fail, several endpoints, pooled connections, and every kind of address."""

import socket
import unittest

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.ports import free_port
from support.upstream import answer
from support.waiting import wait_until


def last_words(count, final=None):
    """A script: answers `count` requests on its connection, then closes it at the next."""

    def script(connection):
        for _ in range(count):
            connection.read_request()
            connection.send(response_bytes())
        connection.read_request()
        if final:
            connection.send(final)

    return script


class Failures(SystemTest):
    def problem(self, stint, **request):
        answered = fetch(stint.port, **request)
        self.assertEqual(answered.get("Content-Type"), "application/problem+json")
        self.assertEqual(answered.json()["status"], answered.status)
        return answered

    def test_a_refused_connection_is_a_502(self):
        stint = self.start_stint(config(f"127.0.0.1:{free_port()}"))

        self.assertEqual(self.problem(stint).status, 502)

    def test_the_connection_to_the_client_outlives_a_502(self):
        stint = self.start_stint(config(f"127.0.0.1:{free_port()}"))
        with RawClient(stint.port) as client:
            self.assertEqual([client.request().status for _ in range(3)], [502] * 3)

    def test_an_upstream_that_closes_without_a_word_is_a_502(self):
        stint = self.stint_before(self.start_upstream(last_words(0)))

        self.assertEqual(self.problem(stint).status, 502)

    def test_an_upstream_that_does_not_speak_http_is_a_502(self):
        for words in (
            b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
            b"HTTP/1.1 2000 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 100_000 + b"\r\n\r\n",
        ):
            with self.subTest(words[:60]):
                stint = self.stint_before(self.start_upstream(last_words(0, words)))
                self.assertEqual(self.problem(stint).status, 502)

    def test_an_upstream_that_does_not_answer_is_a_504(self):
        upstream = self.start_upstream(lambda connection: connection.read_request() and connection.ends())
        stint = self.stint_before(upstream, timeouts={"response": "200ms"})

        self.assertEqual(self.problem(stint).status, 504)

    def test_a_body_that_ends_early_is_not_passed_off_as_whole(self):
        words = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"
        stint = self.stint_before(self.start_upstream(last_words(0, words)))
        with RawClient(stint.port) as client:
            client.send_request()
            self.assertEqual(client.read_response_head().get("Content-Length"), "100")
            self.assertEqual(client.read_what_comes(), b"only this")


class Retries(SystemTest):
    """The upstream closes its connection when the second request comes: a pooled connection that
    died. One worker, so that both requests use it."""

    def second(self, method, body=b""):
        self.upstream = self.start_upstream(last_words(1))
        stint = self.stint_before(self.upstream, workers=1)
        with RawClient(stint.port) as client:
            self.assertEqual(client.request().status, 200)
            return client.request(method, body=body)

    def test_an_idempotent_request_is_sent_again_on_a_fresh_connection(self):
        for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
            with self.subTest(method):
                self.assertEqual(self.second(method).status, 200)
                self.assertEqual(len(self.upstream.connections), 2)
                self.assertEqual([one.method for one in self.upstream.requests], ["GET", method, method])

    def test_a_post_is_not_sent_again(self):
        self.assertEqual(self.second("POST").status, 502)
        self.assertEqual(len(self.upstream.requests), 2)

    def test_only_one_retry_is_made(self):
        self.upstream = self.start_upstream(last_words(1))
        stint = self.stint_before(self.upstream, workers=1)
        with RawClient(stint.port) as client:
            self.assertEqual(client.request().status, 200)
            self.upstream.script = last_words(0)
            self.assertEqual(client.request().status, 502)
        self.assertEqual(len(self.upstream.connections), 2)

    def test_nothing_is_sent_again_once_a_byte_of_the_response_came(self):
        def script(connection):
            connection.read_request()
            connection.send(response_bytes())
            connection.read_request()
            connection.send(b"HTTP/1.1 2")

        upstream = self.start_upstream(script)
        stint = self.stint_before(upstream, workers=1)
        with RawClient(stint.port) as client:
            self.assertEqual(client.request().status, 200)
            self.assertEqual(client.request().status, 502)
        self.assertEqual(len(upstream.requests), 2)

    def test_a_pooled_connection_that_the_upstream_closed_is_not_used(self):
        def script(connection):
            connection.read_request()
            connection.send(response_bytes())

        upstream = self.start_upstream(script)
        stint = self.stint_before(upstream, workers=1)
        with RawClient(stint.port) as client:
            for _ in range(5):
                self.assertEqual(client.request("POST", body=b"x").status, 200)
                wait_until(
                    lambda: all(one.sock.fileno() < 0 for one in upstream.connections),
                    "the upstream has closed",
                )
        self.assertEqual(len(upstream.connections), 5)

    def test_a_connection_with_surplus_bytes_is_not_used_again(self):
        def script(connection):
            while True:
                connection.read_request()
                connection.send(response_bytes(b"mine") + response_bytes(b"poison"))

        upstream = self.start_upstream(script)
        stint = self.stint_before(upstream, workers=1)
        with RawClient(stint.port) as client:
            bodies = [client.request().body for _ in range(5)]

        self.assertEqual(bodies, [b"mine"] * 5)

    def test_connection_close_of_the_upstream_is_obeyed(self):
        upstream = self.start_upstream(answer(fields={"Connection": "close"}))
        stint = self.stint_before(upstream, workers=1)
        with RawClient(stint.port) as client:
            answers = [client.request() for _ in range(3)]

        self.assertEqual([one.status for one in answers], [200] * 3)
        self.assertEqual([one.get("Connection") for one in answers], [None] * 3)
        self.assertEqual(len(upstream.connections), 3)


class Endpoints(SystemTest):
    def test_several_are_taken_in_turn(self):
        upstreams = [self.start_upstream() for _ in range(3)]
        stint = self.stint_before(*upstreams, workers=1)
        with RawClient(stint.port) as client:
            for _ in range(12):
                self.assertEqual(client.request().status, 200)

        self.assertEqual([len(one.requests) for one in upstreams], [4, 4, 4])

    def test_one_that_refuses_costs_no_request(self):
        alive = self.start_upstream()
        stint = self.start_stint(config(f"127.0.0.1:{free_port()}", alive.address, workers=1))
        with RawClient(stint.port) as client:
            statuses = [client.request("POST", body=b"x").status for _ in range(6)]

        self.assertEqual(statuses, [200] * 6)
        self.assertEqual(len(alive.requests), 6)

    def test_a_host_name_is_resolved(self):
        upstream = self.start_upstream()
        stint = self.start_stint(config(f"localhost:{upstream.port}"))

        self.assertEqual(fetch(stint.port).status, 200)

    def test_a_host_name_that_does_not_resolve_is_a_502(self):
        stint = self.start_stint(config("does-not-exist.invalid:80"))

        self.assertIn(fetch(stint.port).status, (502, 504))

    def test_a_unix_socket_upstream(self):
        upstream = self.start_upstream(path=self.folder / "up.sock")
        stint = self.stint_before(upstream)

        self.assertEqual(fetch(stint.port, target="/x").status, 200)
        self.assertEqual(upstream.requests[0].target, "/x")

    def test_an_ipv6_upstream(self):
        if not socket.has_ipv6:
            self.skipTest("no IPv6 here")
        upstream = self.start_upstream(host="::1")
        stint = self.stint_before(upstream)

        self.assertEqual(fetch(stint.port).status, 200)


class Listeners(SystemTest):
    def test_a_unix_socket(self):
        upstream = self.start_upstream()
        path = str(self.folder / "in.sock")
        stint = self.stint_before(
            upstream,
            listeners=[{"address": f"unix:{path}"}],
            limits={"c": {"requests": 2, "per": "1h", "key": "client_ip"}},
            route_limits=["c"],
        )

        self.assertEqual([fetch(path).status for _ in range(3)], [200, 200, 429])
        stint.stop()
        with self.assertRaises(OSError):
            fetch(path)

    def test_an_ipv6_address(self):
        upstream = self.start_upstream()
        port = free_port()
        self.stint_before(upstream, listeners=[{"address": f"[::1]:{port}"}])

        self.assertEqual(fetch(("::1", port)).status, 200)
        self.assertEqual(upstream.requests[0].get("X-Forwarded-For"), "::1")

    def test_several_at_once(self):
        ports = [free_port(), free_port()]
        self.stint_before(
            self.start_upstream(), listeners=[{"address": f"127.0.0.1:{port}"} for port in ports]
        )

        self.assertEqual([fetch(port).status for port in ports], [200, 200])


if __name__ == "__main__":
    unittest.main()
