"""WebSockets of clients that speak HTTP/2 (RFC 8441): all that test_tunnels.py asks, and what only they have."""

import contextlib
import threading
import time
import unittest

import test_tunnels
from support import websocket
from support.case import config
from support.http2 import Gone, Http2Client
from support.http2_websocket import CONNECT_PROTOCOL, Http2WebSocket
from support.waiting import wait_until

H2C = {"h2c": True}


class TunnelsOverHttp2(test_tunnels.Tunnels):
    def before(self, script=websocket.echo, **more):
        return super().before(script, listener=H2C, **more)

    def attempt(self, stint, **more):
        client = Http2WebSocket(stint.port, **more)
        self.addCleanup(client.close)
        return client, 101 if client.status == 200 else client.status

    def answers(self, head, fields=()):
        """An upstream that answers any opening with this head."""
        def script(connection):
            connection.read_request_head()
            connection.send(head.encode() + "".join(f"{field}\r\n" for field in fields).encode() + b"\r\n")

        return self.before(script)

    def test_a_route_without_upgrades_forwards_an_ordinary_request(self):
        """It does not: a 200 would tell the client that it has its WebSocket."""
        self.upstream = self.start_upstream()
        configuration = config(self.upstream.address, listener=H2C, limits={"l": {"requests": 9, "per": "1h"}},
                               route_limits=["l"])
        configuration["routes"].append(dict(configuration["routes"][0], name="no", match={"path": "/no"},
                                            upgrade="off"))
        stint = self.start_stint(configuration)
        self.assertEqual(self.attempt(stint, target="/no")[1], 501)
        self.assertEqual(self.upstream.requests, [])
        self.assertEqual(stint.admin.limit("l")["used"], 0)

    def test_it_is_announced_where_a_route_lets_it_through(self):
        for upgrade, told in (("off", None), (["websocket"], 1)):
            configuration = config(self.start_upstream().address, listener=H2C)
            configuration["routes"][0]["upgrade"] = upgrade
            client = Http2Client.to(self.start_stint(configuration).port)
            self.addCleanup(client.close)
            client.get()
            self.assertEqual(client.settings.get(CONNECT_PROTOCOL), told)

    def test_the_upstream_gets_the_request_of_http1(self):
        stint = self.before()
        client = Http2WebSocket(stint.port, target="/chat?a", fields=[
            ("sec-websocket-key", "of no use"), ("sec-websocket-protocol", "soap"), ("origin", "http://o")])
        self.addCleanup(client.close)
        self.assertEqual(client.status, 200)
        names = [name for name, _ in client.head]
        self.assertEqual(set(names) & {"sec-websocket-accept", "connection", "upgrade"}, set())
        request = self.upstream.heads[0]
        self.assertEqual((request.method, request.target, request.get("Host")), ("GET", "/chat?a", "localhost"))
        self.assertEqual((request.get("Connection"), request.get("Upgrade")), ("Upgrade", "websocket"))
        self.assertEqual((request.get("Sec-WebSocket-Version"), request.get("Sec-WebSocket-Protocol")), ("13", "soap"))
        self.assertEqual(len(request.get("Sec-WebSocket-Key")), 24)
        self.exchange(client, b"hello")

    def test_what_comes_with_the_head_is_the_tunnels(self):
        client, _ = self.attempt(self.before(), early=websocket.frame(b"early", websocket.TEXT, masked=True))
        self.assertEqual(websocket.read_frame(client), (websocket.TEXT, b"early"))
        self.close(client)

    def test_a_200_of_the_upstream_is_no_switch(self):
        self.assertEqual(self.attempt(self.answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"))[1], 502)

    def test_a_refusal_of_the_upstream_goes_on(self):
        self.assertEqual(self.attempt(self.answers("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n"))[1], 403)

    def test_a_101_for_another_key_is_no_switch(self):
        stint = self.answers("HTTP/1.1 101 Switching Protocols\r\n", [
            "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="])
        self.assertEqual(self.attempt(stint)[1], 502)

    def test_other_protocols_are_not_implemented(self):
        self.assertEqual(self.attempt(self.before(), protocol="connect-udp")[1], 501)

    def test_a_protocol_without_connect_is_malformed(self):
        client = Http2Client.to(self.before().port)
        self.addCleanup(client.close)
        response = client.response(client.begin([*client.fields(), (":protocol", "websocket")]))
        self.assertTrue(response.reset == 1 or response.status == 400)

    def test_a_side_that_ends_leaves_the_other_one_open(self):
        def script(connection):
            websocket.answer_handshake(connection)
            self.assertTrue(connection.ends())
            connection.send(b"the last words")

        client = self.opened(self.before(script))
        client.end()
        self.assertEqual(client.read_exactly(14), b"the last words")
        self.assertTrue(client.ends())

    def test_an_upstream_that_breaks_off_cancels_the_stream(self):
        def script(connection):
            websocket.answer_handshake(connection)
            connection.read_exactly(1)
            connection.reset()

        client = self.opened(self.before(script))
        client.send(b"x")
        self.assertTrue(client.ends())
        self.assertEqual(client.broken, 8)  # CANCEL (RFC 8441 section 5)

    def test_a_reset_ends_a_tunnel_whose_upstream_has_ended_its_side_and_does_not_read(self):
        go_on = threading.Event()
        self.addCleanup(go_on.set)

        def script(connection):
            websocket.answer_handshake(connection)
            connection.half_close()
            go_on.wait(30)

        stint = self.before(script)
        client = self.opened(stint)
        self.assertTrue(client.ends())
        sender = threading.Thread(target=self.send_until_gone, args=(client,))
        sender.start()
        wait_until(lambda: self.takes_nothing(client), "a window that is used up and not given back")
        client.reset()
        wait_until(lambda: self.open_tunnels(stint) == 0, "the tunnel to end")
        client.close()
        sender.join(30)

    def test_an_upstream_that_breaks_off_ends_a_tunnel_whose_client_takes_nothing(self):
        go_on = threading.Event()

        def script(connection):
            websocket.answer_handshake(connection)
            connection.read_exactly(1)
            connection.send(bytes(500_000))
            go_on.wait(30)
            connection.reset()

        stint = self.before(script)
        client = self.opened(stint)
        client.client.gives_window = False
        client.send(b"x")
        wait_until(lambda: len(client.response.body) == 65_535, "a window that is used up")
        go_on.set()
        wait_until(lambda: self.open_tunnels(stint) == 0, "the tunnel to end")
        self.assertTrue(client.ends())
        self.assertEqual(client.broken, 8)

    @staticmethod
    def takes_nothing(client):
        return all(time.sleep(0.01) or client.window == 0 for _ in range(30))

    @staticmethod
    def send_until_gone(client):
        with contextlib.suppress(Gone):
            client.send(bytes(20_000_000))

    def test_a_tunnel_that_the_upstream_does_not_read_stalls_no_other_stream(self):
        go_on = threading.Event()

        def script(connection):
            request = connection.read_request_head()
            if request.target != "/":
                connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                return
            websocket.answer_handshake(connection, request)
            go_on.wait(30)
            connection.send(connection.read_exactly(20_000_000))

        client = self.opened(self.before(script))
        sender = threading.Thread(target=client.send, args=(bytes(20_000_000),))
        sender.start()
        wait_until(lambda: client.window == 0, "a window that is used up")
        self.assertEqual(client.get("/other").status, 200)
        go_on.set()
        sender.join(30)
        self.assertEqual(client.read_exactly(20_000_000), bytes(20_000_000))


del test_tunnels.Tunnels  # else it would be played once more

if __name__ == "__main__":
    unittest.main()
