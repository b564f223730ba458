"""Clients that speak HTTP/2: real ones, and one that sends frame by frame."""

import random
import os
import re
import select
import socket
import ssl
import subprocess
import threading
import time
import unittest

from hyperframe.frame import GoAwayFrame, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame, WindowUpdateFrame

from support.case import SystemTest, config
from support.certificates import Authority
from support.http2 import PREFACE, Gone, Http2Client
from support.upstream import answer
from support.waiting import wait_until

H2C = {"h2c": True}


def run(*command, text=None, seconds=60):
    return subprocess.run(
        [str(part) for part in command], input=text, capture_output=True, text=True, timeout=seconds, check=False)


def respond(status="200 OK", fields=(), body=b"ok"):
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Http2Test(SystemTest):
    def start(self, script=None, listener=None, **more):
        self.upstream = self.start_upstream(script or answer(b"hello"))
        return self.start_stint(config(self.upstream.address, listener={**H2C, **(listener or {})}, **more))

    def client(self, stint, **more) -> Http2Client:
        client = Http2Client.to(stint.port, **more)
        self.addCleanup(client.close)
        return client

    def glitches(self, stint, kind):
        return stint.admin.metrics().sum("stint_http2_glitches_total", kind=kind)

    def refused(self, client, fields, body=None, end=True):
        """The status of a refusal, after which the connection goes on."""
        status = client.response(client.begin(fields, body, end)).status
        self.assertEqual(client.get().status, 200)
        return status


class Requests(Http2Test):
    def test_a_request_and_its_response(self):
        stint = self.start()
        client = self.client(stint)
        response = client.get("/p?q", fields=[("x-a", "1")])
        self.assertEqual((response.status, response.body), (200, b"hello"))
        self.assertEqual(response.get("content-length"), "5")
        self.assertIsNotNone(response.get("x-request-id"))
        request = self.upstream.requests[0]
        self.assertEqual((request.method, request.target), ("GET", "/p?q"))
        self.assertEqual(request.get("Host"), "localhost")
        self.assertEqual(request.get("x-a"), "1")
        self.assertEqual(request.get("Via"), "2.0 stint")
        self.assertEqual(request.get("X-Forwarded-Proto"), "http")

    def test_the_access_log_and_the_metrics_name_it(self):
        stint = self.start()
        self.client(stint).get()
        self.assertEqual(stint.wait_for_lines(1)[0]["protocol"], "HTTP/2.0")
        self.assertEqual(stint.admin.metrics().sum("stint_http2_connections_total"), 1)

    def test_bytes_out_is_what_was_sent(self):
        stint = self.start(answer(b"x" * 10_000_000))
        for lines, window in enumerate((65_535, 1000, 0), 1):
            client = self.client(stint, window=window)
            stream = client.request()
            client.until(lambda: stream in client.responses and len(client.responses[stream].body) == window)
            head = sum(len(name) + len(value) + 4 for name, value in client.responses[stream].heads[0])
            client.reset(stream)
            said = stint.wait_for_lines(lines)[-1]["bytes_out"]
            self.assertGreaterEqual(said, window)
            self.assertLess(said, window + head + 200)

    def test_many_streams_of_one_connection(self):
        stint = self.start()
        client = self.client(stint)
        streams = [client.request("GET", f"/{i}") for i in range(100)]
        self.assertEqual({client.response(stream).status for stream in streams}, {200})
        self.assertEqual(stint.admin.metrics().sum("stint_http2_connections_total"), 1)

    def test_a_body_arrives_whole_with_and_without_its_length(self):
        bodies = []

        def script(connection):
            while request := connection.read_request():
                bodies.append((request.get("Content-Length"), request.body))
                connection.send(respond())

        stint = self.start(script)
        client = self.client(stint)
        self.assertEqual(client.response(client.request("POST", "/", [("content-length", "3")], b"abc")).status, 200)
        self.assertEqual(client.response(client.request("POST", "/", (), b"abc")).status, 200)
        self.assertEqual(bodies, [("3", b"abc"), (None, b"abc")])

    def test_a_body_larger_than_every_window(self):
        whole = bytes(range(1, 252)) * 12_000
        stint = self.start(answer(whole))
        self.assertTrue(self.client(stint).get().body == whole)
        folder = self.new_folder()
        for i in range(10):  # a client that opens its windows late
            with open(folder / str(i), "wb") as file:
                subprocess.run(["nghttp", f"http://127.0.0.1:{stint.port}/"], stdout=file, timeout=60, check=True)
            self.assertTrue((folder / str(i)).read_bytes() == whole)

    def test_an_answer_without_a_body_to_a_request_that_goes_on(self):
        def script(connection):
            if request := connection.read_request_head():
                status = "204 No Content" if request.target == "/204" else "200 OK\r\nContent-Length: 0"
                connection.send(f"HTTP/1.1 {status}\r\n\r\n".encode())

        client = self.client(self.start(script))
        for path, status in (("/204", 204), ("/", 200)):
            stream = client.begin([(":method", "POST"), (":scheme", "http"), (":authority", "localhost"),
                                   (":path", path), ("content-length", "3")], None, False)
            self.assertEqual(client.response(stream).status, status)

    def test_head_204_and_304_have_no_body(self):
        def script(connection):
            while request := connection.read_request():
                status = {"/204": "204 No Content", "/304": "304 Not Modified"}.get(request.target, "200 OK")
                length = "" if request.target == "/204" else "Content-Length: 5\r\n"
                connection.send(f"HTTP/1.1 {status}\r\n{length}\r\n".encode())

        client = self.client(self.start(script))
        for method, path, status, length in (
                ("HEAD", "/", 200, "5"), ("GET", "/204", 204, None), ("GET", "/304", 304, "5")):
            response = client.response(client.request(method, path))
            self.assertEqual((response.status, response.body, response.get("content-length")), (status, b"", length))

    def test_an_interim_response_and_a_trailer(self):
        def script(connection):
            connection.read_request()
            connection.send(
                b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                b"2\r\nab\r\n0\r\nX-Sum: 7\r\n\r\n")

        client = self.client(self.start(script))
        response = client.get(fields=[("te", "trailers")])
        self.assertEqual([dict(head)[":status"] for head in response.heads], ["103", "200"])
        self.assertEqual((response.body, response.trailer), (b"ab", [("x-sum", "7")]))
        self.assertIsNone(response.get("transfer-encoding"))

    def test_expect_is_answered_before_the_body_is_sent(self):
        def script(connection):
            while connection.read_request():
                connection.send(respond())

        client = self.client(self.start(script))
        stream = client.request("POST", "/", [("expect", "100-continue"), ("content-length", "3")], end=False)
        client.until(lambda: stream in client.responses and client.responses[stream].heads)
        self.assertEqual(client.responses[stream].status, 100)
        client.send(client.data(stream, b"abc", True))
        self.assertEqual(client.response(stream).status, 200)

    def test_an_early_refusal_ends_the_stream_and_no_other(self):
        stint = self.start(routes=[{"name": "all", "match": {"path": "/"}, "upstream": "up", "max_body": "1KiB"}])
        client = self.client(stint)
        stream = client.request("POST", "/", [("content-length", "100000")], b"x" * 1000, end=False)
        response = client.response(stream)
        self.assertEqual(response.status, 413)
        client.until(lambda: response.reset is not None)
        self.assertEqual(response.reset, 0)
        self.assertEqual(client.get().status, 200)

    def test_an_upstream_that_breaks_off_resets_the_stream(self):
        def script(connection):
            connection.read_request()
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\npart")
            connection.sock.close()

        client = self.client(self.start(script))
        response = client.get()
        self.assertEqual((response.status, response.ended, response.reset), (200, False, 2))

    def test_cookies_in_crumbs_are_joined(self):
        stint = self.start()
        self.client(stint).get(fields=[("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")])
        self.assertEqual(self.upstream.requests[0].get("cookie"), "a=1; b=2")


class Refusals(Http2Test):
    def test_malformed_heads(self):
        client = self.client(self.start())
        plain = client.fields()
        self.assertEqual(self.refused(client, client.fields(fields=[("host", "other")])), 400)
        self.assertEqual(self.refused(client, client.fields(authority="u@localhost")), 400)
        self.assertIn(self.refused(client, client.fields(path="/a b")), (None, 400))
        self.assertEqual(self.refused(client, [*plain, ("x", "a\nb")]), 400)
        self.assertEqual(self.refused(client, [(":method", "CONNECT"), (":authority", "a:1")]), 405)
        for bad in (("connection", "x"), ("transfer-encoding", "chunked"), ("te", "gzip"), ("X-A", "1"),
                    (":path", "/2"), ("upgrade", "x")):
            self.assertIn(self.refused(client, [*plain, bad]), (None, 400), bad)
        self.assertEqual(len(self.upstream.requests), len([r for r in self.upstream.requests if r.target == "/"]))

    def test_heads_that_are_too_large(self):
        client = self.client(self.start())
        self.assertEqual(self.refused(client, client.fields(fields=[(f"x-{i}", "") for i in range(129)])), 431)
        self.assertEqual(self.refused(client, client.fields(fields=[("cookie", "a")] * 129)), 431)
        self.assertEqual(self.refused(client, client.fields(fields=[("x", "0" * 20_000)])), 431)

    def test_without_h2c_there_is_no_prior_knowledge(self):
        stint = self.start(listener={"h2c": False})
        client = self.client(stint)
        with self.assertRaises(Exception):
            client.get()

    def test_http1_goes_on_beside_it(self):
        stint = self.start()
        done = run("curl", "-s", "--http1.1", "-w", "%{http_version}", f"http://127.0.0.1:{stint.port}/")
        self.assertEqual(done.stdout, "hello1.1")


class OverTls(Http2Test):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.new_folder())

    def listening(self, http, *names, **more):
        pairs = [self.authority.issue(name) for name in names or ("localhost",)]
        self.upstream = self.start_upstream(answer(b"hello"))
        tls = {"certificates": [pair.tls() for pair in pairs]}
        made = config(self.upstream.address, **more)
        made["listeners"][0] = {"address": made["listeners"][0]["address"], "tls": tls, **http}
        return self.start_stint(made)

    def context(self, *protocols) -> ssl.SSLContext:
        context = self.authority.context()
        context.set_alpn_protocols(list(protocols))
        return context

    def test_alpn_chooses(self):
        stint = self.listening({})
        for option, version in (("--http2", "2"), ("--http1.1", "1.1"), ("--no-alpn", "1.1")):
            done = run("curl", "-s", option, "--cacert", self.authority.certificate, "-w", "%{http_version}",
                       f"https://localhost:{stint.port}/")
            self.assertEqual(done.stdout, f"hello{version}", option)

    def test_it_is_not_offered_where_the_file_says_so(self):
        stint = self.listening({"http": ["http/1.1"]})
        done = run("curl", "-s", "--http2", "--cacert", self.authority.certificate, "-w", "%{http_version}",
                   f"https://localhost:{stint.port}/")
        self.assertEqual(done.stdout, "hello1.1")

    def test_a_host_of_another_certificate_is_misdirected(self):
        stint = self.listening({"http": ["h2", "http/1.1"]}, "localhost", "other.test")
        client = Http2Client.to(stint.port, self.context("h2"))
        self.addCleanup(client.close)
        self.assertEqual(client.get(authority="localhost:1234").status, 200)
        self.assertEqual(client.get("/there", authority="other.test").status, 421)
        [line] = wait_until(lambda: [each for each in stint.access_log() if each["status"] == 421], "its line")
        self.assertEqual((line["method"], line["host"], line["path"], line["protocol"]),
                         ("GET", "other.test", "/there", "HTTP/2.0"))
        self.assertEqual(client.get().status, 200)

    def test_a_host_is_the_same_however_it_is_spelt(self):
        stint = self.listening({"http": ["h2", "http/1.1"]}, "localhost", "other.test")
        spelt = ("{}.", "{}.:1234", "{}:", "{}:1234")
        for own, foreign in (("localhost", "other.test"), ("other.test", "localhost")):
            client = Http2Client.to(stint.port, self.context("h2"), own)
            self.addCleanup(client.close)
            for form in spelt:
                for case in (str.lower, str.upper):
                    with self.subTest(form=form, case=case.__name__, own=own):
                        self.assertEqual(client.get(authority=case(form.format(own))).status, 200)
                        self.assertEqual(client.get(authority=case(form.format(foreign))).status, 421)

    def test_a_preface_that_comes_too_slowly(self):
        stint = self.listening({"http": ["h2", "http/1.1"]}, min_rate={"head": "1MiB", "after": "200ms"})
        bare = socket.create_connection(("127.0.0.1", stint.port), 10)
        sock = self.context("h2").wrap_socket(bare, server_hostname="localhost")
        self.addCleanup(sock.close)
        for byte in PREFACE:
            sock.send(bytes([byte]))
            if select.select([sock], [], [], 0.05)[0] and b"\0\0\x08\x07" in sock.recv(4096):  # GOAWAY
                break
        else:
            self.fail("the connection goes on")
        self.assertEqual(stint.admin.metrics().sum("stint_slow_clients_total", part="head"), 1)


class PerStream(Http2Test):
    """What limits and caps say, they say of a stream."""

    def held(self):
        """An upstream that answers when it is told to."""
        self.go_on = threading.Event()

        def script(connection):
            while connection.read_request():
                self.go_on.wait(20)
                connection.send(respond())

        return script

    def test_a_limit_counts_streams(self):
        stint = self.start(limits={"l": {"requests": 10, "per": "1h"}}, route_limits=["l"])
        client = self.client(stint)
        statuses = [client.response(client.request()).status for _ in range(15)]
        self.assertEqual(statuses, [200] * 10 + [429] * 5)

    def test_a_reset_frees_the_slot_of_a_cap(self):
        stint = self.start(self.held(), limits={"c": {"concurrent": 1}}, route_limits=["c"])
        client = self.client(stint)
        first = client.request()
        self.upstream.wait_for_requests(1)
        self.assertEqual(client.get().status, 429)
        client.reset(first)
        wait_until(lambda: stint.in_flight() == 0, "the slot is free")
        self.go_on.set()
        self.assertEqual(client.get().status, 200)

    def test_a_head_that_comes_too_late_ends_no_other_stream(self):
        """Trailers of a request that was answered, and its stream ended, before it was complete."""
        stint = self.start(self.held(), timeouts={"head": "500ms"})
        stint.config["routes"].insert(0, {"name": "no", "match": {"path": "/no"}, "respond": {"status": 403}})
        stint.write(stint.config)
        self.assertEqual(stint.admin.reload().status, 200)
        client = self.client(stint)
        slow = client.request()
        self.upstream.wait_for_requests(1)
        early = client.request("POST", "/no", [("content-length", "3")], b"abc", end=False)
        self.assertEqual(client.response(early).status, 403)
        client.until(lambda: client.responses[early].reset is not None)
        trailers = HeadersFrame(early, client.encoder.encode([("x-sum", "1")]))
        trailers.flags.add("END_HEADERS")
        trailers.flags.add("END_STREAM")
        client.send(trailers)
        time.sleep(1)
        self.go_on.set()
        self.assertEqual(client.response(slow).status, 200)

    def test_each_head_has_its_own_time(self):
        stint = self.start(timeouts={"head": "800ms"})
        client = self.client(stint)
        rest = b""
        for i in range(8):  # each segment ends a head and begins the next
            head = HeadersFrame(1 + 2 * i, client.encoder.encode(client.fields()))
            head.flags.add("END_HEADERS")
            head.flags.add("END_STREAM")
            made = head.serialize()
            client.raw(rest + made[:12])
            rest = made[12:]
            time.sleep(0.2)
        client.raw(rest)
        self.assertEqual({client.response(1 + 2 * i).status for i in range(8)}, {200})

    def test_a_reset_leaves_the_queue(self):
        stint = self.start(
            self.held(), limits={"c": {"concurrent": 1, "when_exceeded": "wait", "max_wait": "30s"}},
            route_limits=["c"])
        client = self.client(stint)
        client.request()
        self.upstream.wait_for_requests(1)
        waiting = client.request()
        wait_until(lambda: stint.admin.limit("c")["waiting"] == 1, "it waits")
        client.reset(waiting)
        wait_until(lambda: stint.admin.limit("c")["waiting"] == 0, "it has left")
        self.go_on.set()
        self.assertEqual(client.response(1).status, 200)

    def test_the_end_of_the_connection_ends_its_streams(self):
        stint = self.start(self.held(), limits={"c": {"concurrent": 5}}, route_limits=["c"])
        client = self.client(stint)
        for _ in range(5):
            client.request()
        self.upstream.wait_for_requests(5)
        client.close()
        wait_until(lambda: stint.in_flight() == 0, "the slot is free")
        self.go_on.set()

    def test_random_resets_leave_every_slot_of_a_cap_free(self):
        stint = self.start(self.held(), limits={"c": {"concurrent": 5}}, route_limits=["c"])
        chance = random.Random(7)
        for _ in range(4):
            client = self.client(stint)
            streams = []
            for _ in range(60):
                if streams and chance.random() < 0.5:
                    client.reset(streams.pop(chance.randrange(len(streams))))
                else:
                    body = chance.choice([None, b"x" * 500])
                    streams.append(client.request("POST" if body else "GET", body=body, end=chance.random() < 0.7))
            if chance.random() < 0.5:
                client.close()
            else:
                for stream in streams:
                    client.reset(stream)
        wait_until(lambda: stint.in_flight() == 0, "the slots are free")
        client = self.client(stint)
        streams = [client.request() for _ in range(10)]
        client.until(lambda: len([s for s in streams if s in client.responses]) == 5)
        self.go_on.set()
        statuses = sorted(client.response(stream).status for stream in streams)
        self.assertEqual(statuses, [200] * 5 + [429] * 5)

    def test_h2load_gets_exactly_the_limit(self):
        stint = self.start(limits={"l": {"requests": 300, "per": "1h"}}, route_limits=["l"])
        done = run("h2load", "-n", 2000, "-c", 10, "-m", 100, f"http://127.0.0.1:{stint.port}/")
        found = re.search(r"status codes: (\d+) 2xx, 0 3xx, (\d+) 4xx, 0 5xx", done.stdout)
        self.assertEqual(found.groups(), ("300", "1700"), done.stdout)


class FlowControl(Http2Test):
    def test_a_stream_without_a_window_stalls_no_other(self):
        stint = self.start(answer(b"z" * 200_000))
        client = self.client(stint, window=0)
        stalled = client.request()
        other = client.request()
        client.until(lambda: {stalled, other} <= set(client.responses))
        client.send(WindowUpdateFrame(other, 1_000_000), WindowUpdateFrame(0, 1_000_000))
        self.assertEqual(len(client.response(other).body), 200_000)
        self.assertEqual(client.responses[stalled].body, b"")
        client.send(WindowUpdateFrame(stalled, 1_000_000))
        self.assertEqual(len(client.response(stalled).body), 200_000)

    def test_an_upload_that_nobody_reads_stalls_no_other(self):
        go_on = threading.Event()

        def script(connection):
            head = connection.read_request_head()
            if head.method == "POST":
                go_on.wait(20)
            connection.send(respond())

        stint = self.start(script)
        client = self.client(stint)
        upload = client.request("POST", "/", [("content-length", "1000000")], end=False)
        for _ in range(4):
            client.send(client.data(upload, b"x" * 16_000))
        self.assertEqual(client.get().status, 200)
        go_on.set()
        self.assertEqual(client.response(upload).status, 200)


class Drain(Http2Test):
    def test_streams_finish_and_new_ones_are_refused(self):
        go_on = threading.Event()

        def script(connection):
            connection.read_request()
            go_on.wait(20)
            connection.send(respond())

        stint = self.start(script)
        client = self.client(stint)
        stream = client.request()
        self.upstream.wait_for_requests(1)
        stint.signal(15)
        seen = []
        while len(client.goaways) < 2:
            seen.append(client.frame())
        self.assertEqual(client.goaways, [(2**31 - 1, 0), (stream, 0)])
        # A client that answers the PING knows of the first GOAWAY.
        self.assertEqual([type(each) for each in seen if each.stream_id == 0][-3:], [GoAwayFrame, PingFrame, GoAwayFrame])
        go_on.set()
        self.assertEqual(client.response(stream).status, 200)
        self.assertTrue(client.until_gone())

    def test_an_idle_connection_is_told_and_closed(self):
        stint = self.start(timeouts={"idle": "1s"})
        client = self.client(stint)
        client.get()
        self.assertTrue(client.until_gone())
        self.assertEqual([code for _, code in client.goaways], [0])


    def test_after_10000_requests_the_client_is_told_to_connect_anew(self):
        client = self.client(self.start())
        streams = []
        while not client.goaways:
            streams = [client.request() for _ in range(100)]
            self.assertEqual({client.response(stream).status for stream in streams}, {200})
        self.assertLessEqual(streams[0], 20_001)
        self.assertGreaterEqual(streams[-1], 19_999)
        self.assertTrue(client.until_gone())
        self.assertEqual([code for _, code in client.goaways], [0, 0])


class Attacks(Http2Test):
    """What the client of a flood is told, and rows of the table in docs/http2.md that test_http2_floods.py does not
    play."""

    def head(self, client, i, fields=(), end=True, method="GET"):
        frame = HeadersFrame(1 + 2 * i, client.encoder.encode(client.fields(method, fields=fields)))
        frame.flags.add("END_HEADERS")
        if end:
            frame.flags.add("END_STREAM")
        return frame

    def flooded(self, data, **more):
        """One write that floods: the client is told why its connection ends, and it is counted once."""
        stint = self.start()
        client = self.client(stint, **more)
        client.get()
        client.raw(b"".join(frame.serialize() for frame in data(client)))
        self.assertTrue(client.until_gone())
        self.assertEqual([code for _, code in client.goaways], [11])
        self.assertEqual(self.glitches(stint, "flood"), 1)
        self.assertEqual(self.client(stint).get().status, 200)

    def test_pings_whose_answers_nobody_reads(self):
        self.flooded(lambda client: [PingFrame(0, b"01234567")] * 150)

    def test_settings_whose_answers_nobody_reads(self):
        self.flooded(lambda client: [SettingsFrame(0)] * 150)

    def test_more_requests_alive_than_twice_the_announced(self):
        self.flooded(lambda client: [frame for i in range(1, 251)
                                     for frame in (self.head(client, i), RstStreamFrame(1 + 2 * i, 8))])

    def test_a_header_bomb(self):
        """A field in the decoder's table, named again by one byte each time."""
        stint = self.start()
        client = self.client(stint)
        bomb = client.encoder.encode(client.fields(fields=[("x", "y" * 3000)]))
        bomb += client.encoder.encode([("x", "y" * 3000)]) * 15_000
        frame = HeadersFrame(1, bomb[:16_000])
        frame.flags.add("END_HEADERS")
        frame.flags.add("END_STREAM")
        client.send(frame)
        self.assertTrue(client.until_gone())
        self.assertEqual(client.goaways[-1][1], 11)
        self.assertEqual(self.client(stint).get().status, 200)

    def test_settings_that_are_never_acknowledged(self):
        stint = self.start()
        client = self.client(stint, acknowledges=False)
        self.assertEqual(client.get().status, 200)
        self.assertTrue(client.until_gone(15))
        self.assertEqual(client.goaways[-1][1], 4)

    def test_a_head_that_never_ends(self):
        stint = self.start(timeouts={"head": "1s"})
        client = self.client(stint)
        client.get()
        client.send(HeadersFrame(3, client.encoder.encode(client.fields())))
        self.assertTrue(client.until_gone())


class RealClients(Http2Test):
    def test_nghttp(self):
        stint = self.start(answer(b"z" * 100_000))
        done = run("nghttp", "-n", "--stat", "-m", 20, f"http://127.0.0.1:{stint.port}/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(" 200 "), 20, done.stdout)

    def test_python_h2(self):
        import h2.config  # noqa: PLC0415
        import h2.connection  # noqa: PLC0415
        import h2.events  # noqa: PLC0415
        import socket  # noqa: PLC0415
        stint = self.start()
        sock = socket.create_connection(("127.0.0.1", stint.port), 10)
        self.addCleanup(sock.close)
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        connection.initiate_connection()
        connection.send_headers(
            1, [(":method", "GET"), (":authority", "a"), (":scheme", "http"), (":path", "/")], end_stream=True)
        sock.sendall(connection.data_to_send())
        body, ended = b"", False
        while not ended:
            for event in connection.receive_data(sock.recv(65536)):
                if isinstance(event, h2.events.DataReceived):
                    body += event.data
                ended = ended or isinstance(event, h2.events.StreamEnded)
            sock.sendall(connection.data_to_send())
        self.assertEqual(body, b"hello")

    def test_curl_with_prior_knowledge(self):
        stint = self.start()
        # Where writes are partial, curl 7.88.1 may lose a part of the body when SETTINGS come meanwhile: it closes
        # (55), or ends the stream too early, which is an error (92). tcpdump shows it; 1 of 300 to nginx, too.
        for _ in range(5 if "STINT_SMALL_BUFFERS" in os.environ else 1):
            done = run("curl", "-s", "--http2-prior-knowledge", "-d", "x" * 100_000, "-w", "%{http_version}",
                       f"http://127.0.0.1:{stint.port}/")
            if done.returncode not in (55, 92):
                break
        self.assertEqual(done.stdout, "hello2")


if __name__ == "__main__":
    unittest.main()
