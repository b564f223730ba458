"""Connections that switch protocols: WebSockets, end to end."""

import os
import signal
import threading
import time
import unittest

from support import websocket
from support.case import SystemTest, config, scaled
from support.client import RawClient, fetch
from support.waiting import wait_until


class Tunnels(SystemTest):
    def before(self, script=websocket.echo, **more):
        self.upstream = self.start_upstream(script)
        return self.stint_before(self.upstream, **more)

    def attempt(self, stint):
        """A client that has asked for a WebSocket, and the status that answered it."""
        client = RawClient(stint.port)
        self.addCleanup(client.close)
        return client, int(websocket.handshake(client).split()[1])

    def opened(self, stint):
        client, status = self.attempt(stint)
        self.assertEqual(status, 101)
        return client

    def exchange(self, client, message, opcode=websocket.BINARY):
        client.send(websocket.frame(message, opcode, masked=True))
        self.assertEqual(websocket.read_frame(client), (opcode, message))

    def close(self, client):
        client.send(websocket.frame(b"\x03\xe8", websocket.CLOSE, masked=True))
        self.assertEqual(websocket.read_frame(client), (websocket.CLOSE, b"\x03\xe8"))
        self.assertTrue(client.ends())
        client.close()

    def open_tunnels(self, stint):
        return stint.admin.metrics().sum("stint_tunnels_open")

    def test_messages_of_all_sizes_come_back(self):
        client = self.opened(self.before())

        for size in (0, 1, 125, 126, 65_535, 65_536, scaled(8, 32) << 20):
            sender = threading.Thread(
                target=client.send, args=(websocket.frame(payload := os.urandom(size), masked=True),))
            sender.start()
            opcode, back = websocket.read_frame(client)
            sender.join()
            self.assertEqual(opcode, websocket.BINARY)
            self.assertTrue(back == payload, f"{size} bytes came back changed")

        self.exchange(client, "grüße".encode(), websocket.TEXT)
        self.close(client)

    def test_many_tunnels_at_once_do_not_mix(self):
        count = scaled(200, 900)
        stint = self.before()
        clients = [self.opened(stint) for _ in range(count)]
        # A tunnel is counted once all of its 101 has been sent, maybe after the client has read it.
        wait_until(lambda: self.open_tunnels(stint) == count, "all tunnels")

        for turn in range(3):
            for number, client in enumerate(clients):
                client.send(websocket.frame(f"{turn}:{number}".encode() * 50, masked=True))
            for number, client in enumerate(clients):
                self.assertEqual(
                    websocket.read_frame(client)[1], f"{turn}:{number}".encode() * 50)
        for client in clients:
            self.close(client)

        wait_until(lambda: self.open_tunnels(stint) == 0, "the end of all tunnels")

    def test_the_log_tells_of_a_tunnel_when_it_ends(self):
        stint = self.before()
        client = self.opened(stint)
        self.exchange(client, b"x" * 10_000)
        time.sleep(0.3)
        self.close(client)

        line, = stint.wait_for_lines(1)
        self.assertEqual(line["status"], 101)
        self.assertEqual(line["decision"], "forwarded")
        self.assertGreater(line["bytes_in"], 10_000)
        self.assertLess(line["bytes_in"], 10_100)
        self.assertGreater(line["bytes_out"], 10_000)
        self.assertGreaterEqual(line["duration_ms"], 290)

    def test_a_slot_is_held_by_the_tunnel_or_only_by_its_opening(self):
        for holds, status in ((True, 429), (False, 101)):
            with self.subTest(ws_holds_slot=holds):
                stint = self.before(
                    limits={"cap": {"concurrent": 1, "ws_holds_slot": holds}},
                    route_limits=["cap"])
                first = self.opened(stint)
                second, answered = self.attempt(stint)
                self.assertEqual(answered, status)
                self.exchange(first, b"still here")
                first.close()
                second.close()
                wait_until(lambda: stint.admin.limit("cap")["in_flight"] == 0, "a free slot")

    def test_a_client_that_vanishes_ends_the_upstreams_connection(self):
        ended = threading.Event()

        def script(connection):
            websocket.answer_handshake(connection)
            connection.ends()
            ended.set()

        client = self.opened(self.before(script))
        client.reset()
        self.assertTrue(ended.wait(2))

    def test_a_silent_tunnel_is_closed(self):
        client = self.opened(self.before(timeouts={"tunnel_idle": "500ms"}))
        for _ in range(4):
            time.sleep(0.3)
            self.exchange(client, b"alive")
        began = time.monotonic()
        self.assertTrue(client.ends())
        self.assertLess(time.monotonic() - began, 5)

    def test_a_tunnel_may_go_on_for_the_drain_and_no_longer(self):
        stint = self.before(timeouts={"drain": "2s"})
        client = self.opened(stint)
        began = time.monotonic()
        stint.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        self.exchange(client, b"during the drain")

        self.assertTrue(client.ends())
        stint.process.wait(10)
        self.assertEqual(stint.process.returncode, 0)
        self.assertGreater(time.monotonic() - began, 1.8)

    def test_the_end_of_the_last_tunnel_ends_the_drain(self):
        stint = self.before(timeouts={"drain": "30s"})
        client = self.opened(stint)
        stint.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        began = time.monotonic()
        self.close(client)
        stint.process.wait(10)
        self.assertEqual(stint.process.returncode, 0)
        self.assertLess(time.monotonic() - began, 5)

    def test_a_route_without_upgrades_forwards_an_ordinary_request(self):
        upstream = self.start_upstream()
        configuration = config(upstream.address)
        configuration["routes"][0]["upgrade"] = "off"
        stint = self.start_stint(configuration)
        client = RawClient(stint.port)
        self.addCleanup(client.close)

        head = websocket.handshake(client)

        self.assertTrue(head.startswith("HTTP/1.1 200 "), head)
        self.assertIsNone(upstream.requests[0].get("Upgrade"))
        self.assertEqual(fetch(stint.port).status, 200)


if __name__ == "__main__":
    unittest.main()
