"""Upgrades (SIGUSR2): what becomes of connections, idle and with requests in flight, over TLS and HTTP/2 as well.
Sockets and processes: test_upgrade_process.py; counts and holders: test_upgrade_counts.py."""

import threading
import time
import unittest

from support.asking import Asker, Crowd, connected
from support.certificates import Authority
from support.client import RawClient, fetch
from support.http2 import Gone, Http2Client
from support.messages import request_bytes, response_bytes
from support.ports import free_port
from support.stream import EndOfStream
from support.upgrade import UpgradeTest
from support.waiting import wait_until


class Stalling:
    """A script that answers each request at once, but those to /stalls not before `release`."""

    def __init__(self):
        self.release = threading.Event()
        self.targets = []

    def __call__(self, connection):
        while True:
            request = connection.read_request()
            self.targets.append(request.target)
            if request.target == "/stalls":
                self.release.wait(60)
            connection.send(response_bytes(request.body or b"ok"))


class Connections(UpgradeTest):
    def setUp(self):
        super().setUp()
        self.script = Stalling()
        self.addCleanup(self.script.release.set)
        self.upstream = self.start_upstream(self.script)

    def before(self, **more):
        return self.upgradable_before(self.upstream, **{"timeouts": {"drain": "30s"}, **more})

    def clients(self, stint, count):
        clients = [RawClient(stint.port) for _ in range(count)]
        for client in clients:
            self.addCleanup(client.close)
        return clients

    def stalled(self, client, stint) -> None:
        client.send_request(target="/stalls")
        wait_until(lambda: "/stalls" in self.script.targets, "the request is under way")

    def test_idle_ones_go_on_and_the_former_process_ends(self):
        stint = self.before()
        clients = self.clients(stint, 12)
        self.assertEqual({client.request().status for client in clients[:8]}, {200})  # 4 have asked nothing yet
        time.sleep(1.2)  # they are parked
        self.assertEqual({client.request().status for client in clients[:4]}, {200})  # these are not

        former = stint.upgrade()

        self.assertEqual(former.wait(20), 0)  # well before the end of its time for draining
        answers = [client.request() for client in clients]
        self.assertEqual({answer.status for answer in answers}, {200})
        self.assertEqual({answer.get("Connection") for answer in answers}, {None})
        self.assertEqual(stint.admin.metrics().sum("stint_connections_open"), 12)
        self.assertEqual({client.request().status for client in clients}, {200})

    def test_idle_ones_over_three_upgrades_in_a_row(self):
        stint = self.before()
        clients = self.clients(stint, 4)
        for _ in range(3):
            self.assertEqual({client.request().status for client in clients}, {200})
            stint.upgrade()
        stint.await_former()
        self.assertEqual({client.request().status for client in clients}, {200})

    def test_a_request_of_which_a_part_has_come_is_answered(self):
        stint = self.before()
        head, body, pipelined = self.clients(stint, 3)
        head.send(b"GET /head HTTP/1.1\r\nHos")
        body.send(b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234")
        self.stalled(pipelined, stint)
        pipelined.send(request_bytes("GET", "/next"))
        time.sleep(0.3)

        stint.upgrade()
        head.send(b"t: a\r\n\r\n")
        body.send(b"56789")
        self.script.release.set()

        self.assertEqual(head.read_response().status, 200)
        self.assertEqual(body.read_response().body, b"0123456789")
        self.assertEqual([pipelined.read_response().status for _ in range(2)], [200, 200])
        self.assertEqual(sorted(self.script.targets), ["/body", "/head", "/next", "/stalls"])

    def test_a_request_in_flight_ends_in_the_former_process_and_its_connection_goes_on(self):
        stint = self.before()
        client, = self.clients(stint, 1)
        self.stalled(client, stint)
        former = stint.upgrade()
        self.assertIsNone(former.poll())

        self.script.release.set()

        self.assertEqual(client.read_response().status, 200)
        self.assertEqual(former.wait(20), 0)
        self.assertEqual(client.request().status, 200)

    def test_a_request_that_does_not_end_is_cut_off_at_the_end_of_the_time_for_draining(self):
        stint = self.before(timeouts={"drain": "1s"}, limits={"cap": {"concurrent": 1}}, route_limits=["cap"])
        client, = self.clients(stint, 1)
        self.stalled(client, stint)
        former = stint.upgrade()

        self.assertEqual(former.wait(20), 0)

        client.read_what_comes()  # its end, at the latest after a response that says so
        stint.wait_idle(10)
        self.assertEqual(fetch(stint.port).status, 200)

    def test_new_ones_are_taken_all_the_time(self):
        stint = self.before()
        with Crowd(Asker(stint.port, keeps=False) for _ in range(4)) as crowd:
            for _ in range(3):
                before = crowd.total
                stint.upgrade()
                wait_until(lambda before=before: crowd.total > before + 50 or crowd.failures, "they are served")
        self.assertEqual(crowd.failures, [])
        self.assertEqual(set(crowd.statuses), {200})

    def test_a_client_behind_a_proxy_is_still_that_client(self):
        stint = self.before(
            listener={"address": f"127.0.0.1:{free_port()}", "proxy_protocol": True}, trusted_proxies=["127.0.0.1/32"],
            limits={"each": {"requests": 3, "per": "1h", "key": "client_ip"}}, route_limits=["each"])
        client, = self.clients(stint, 1)
        client.send(b"PROXY TCP4 192.0.2.7 192.0.2.1 1000 80\r\n")
        self.assertEqual(client.request().status, 200)

        stint.upgrade()

        self.assertEqual([client.request().status for _ in range(3)], [200, 200, 429])
        self.assertEqual(stint.admin.get("/limits/each?key=192.0.2.7")["used"], 3)

    def test_those_of_a_client_still_count_against_its_most(self):
        stint = self.before(max_connections_per_client=3)
        clients = self.clients(stint, 3)
        self.assertEqual({client.request().status for client in clients}, {200})
        self.assertEqual(fetch(stint.port).status, 429)
        self.assertEqual(stint.upgrade().wait(20), 0)

        self.assertEqual(fetch(stint.port).status, 429)
        clients[0].close()

        wait_until(lambda: fetch(stint.port).status == 200, "a place is free")


class OverTls(UpgradeTest):
    def setUp(self):
        super().setUp()
        self.script = Stalling()
        self.addCleanup(self.script.release.set)
        self.authority = Authority(self.new_folder())
        self.tls = self.authority.issue("localhost").tls()
        self.context = self.authority.context()

    def before(self, **listener):
        return self.upgradable_before(self.start_upstream(self.script), listener={"tls": self.tls, **listener},
                                      timeouts={"drain": "30s"})

    def test_a_late_request_is_answered_over_the_connection_that_the_former_process_has(self):
        stint = self.before()
        streams = [connected(stint.port, self.context) for _ in range(4)]
        for stream in streams:
            self.addCleanup(stream.close)
            stream.send(request_bytes("GET", "/before"))
            self.assertEqual(stream.read_response().status, 200)
        streams[0].send(b"POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234")
        time.sleep(0.1)

        stint.upgrade()
        streams[0].send(b"56789")
        for stream in streams[1:]:
            stream.send(request_bytes("POST", "/late", body=b"0123456789"))

        answered = 0
        for stream in streams:
            try:
                answer = stream.read_response()
            except (EndOfStream, ConnectionError):  # it was closed before: a client asks again
                self.assertIsNot(stream, streams[0])
                continue
            answered += 1
            self.assertEqual((answer.status, answer.body), (200, b"0123456789"))
            self.assertEqual(answer.get("Connection"), "close")
            self.assertTrue(stream.ends())
        self.assertEqual(self.script.targets.count("/late"), answered)
        stint.await_former(20)

    def test_a_session_of_the_former_process_is_resumed(self):
        stint = self.before()
        with connected(stint.port, self.context) as stream:
            stream.send(request_bytes("GET", "/"))
            self.assertEqual(stream.read_response().status, 200)
            session = stream.sock.session
        for number in range(2):
            stint.upgrade()
            with connected(stint.port, self.context, session) as stream:
                self.assertTrue(stream.sock.session_reused, f"after {number + 1} upgrades")
                stream.send(request_bytes("GET", "/"))
                self.assertEqual(stream.read_response().status, 200)

    def http2(self, listener, context) -> None:
        stint = self.upgradable_before(self.start_upstream(self.script), listener=listener, timeouts={"drain": "30s"})
        client = Http2Client.to(stint.port, context)
        self.addCleanup(client.close)
        streams = [client.request("GET", "/stalls") for _ in range(8)]
        wait_until(lambda: self.script.targets.count("/stalls") == 8, "all are under way")
        former = stint.upgrade()
        client.until(lambda: client.goaways)
        try:
            late = [client.request("GET", "/late") for _ in range(4)]
        except Gone:
            late = []

        self.script.release.set()

        self.assertEqual([client.response(stream).status for stream in streams], [200] * 8)
        self.assertTrue(client.until_gone())
        for stream in late:  # refused in a way that is safe to repeat
            response = client.responses.get(stream)
            self.assertTrue(response and response.reset == 7 or stream > client.goaways[-1][0], vars(response or self))
        self.assertNotIn("/late", self.script.targets)
        self.assertEqual(client.goaways[-1][1], 0)
        self.assertEqual(former.wait(20), 0)
        again = Http2Client.to(stint.port, context)
        self.addCleanup(again.close)
        self.assertEqual(again.get("/again").status, 200)

    def test_streams_that_it_refuses_itself_are_no_glitches_of_the_client(self):
        limits = {"turns": {"requests": 2, "per": "1h", "when_exceeded": "wait", "max_wait": "20h"}}
        stint = self.upgradable_before(
            self.start_upstream(self.script), limits=limits, route_limits=["turns"], timeouts={"drain": "30s"},
            listener={"h2c": True, "http2": {"max_glitches": 20, "max_waiting_streams": 30}})
        client = Http2Client.to(stint.port)
        self.addCleanup(client.close)
        streams = [client.request("GET", "/stalls") for _ in range(2)]
        wait_until(lambda: self.script.targets.count("/stalls") == 2, "both are under way")
        waiting = [client.request() for _ in range(30)]
        wait_until(lambda: stint.admin.limit("turns")["waiting"] == 30, "the others wait")
        stint.upgrade()
        self.assertEqual({client.response(each).reset for each in waiting}, {7})
        self.script.release.set()
        self.assertEqual([client.response(stream).status for stream in streams], [200] * 2)
        self.assertTrue(client.until_gone())
        self.assertEqual(client.goaways[-1][1], 0)

    def test_streams_in_flight_finish(self):
        self.http2({"h2c": True}, None)

    def test_streams_in_flight_finish_over_tls(self):
        self.context.set_alpn_protocols(["h2"])
        self.http2({"http": ["h2", "http/1.1"], "tls": self.tls}, self.context)


if __name__ == "__main__":
    unittest.main()
