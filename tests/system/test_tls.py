"""Listeners that speak TLS, to the clients that people have."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
import unittest

from support.case import SystemTest, config, report, scaled
from support.certificates import Authority
from support.messages import request_bytes, response_bytes
from support.ports import free_port
from support.stint import binary
from support.stream import Stream
from support.upstream import answer
from support.waiting import wait_until


def run(*command, text=None):
    return subprocess.run(
        [str(part) for part in command], input=text, capture_output=True, text=True, timeout=30,
        check=False)


class TlsTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.new_folder())
        self.pair = self.authority.issue("localhost", "IP:127.0.0.1")

    def listening(self, tls=None, script=None, **more):
        self.upstream = self.start_upstream(script or answer(b"hello"))
        listener = {"tls": {**self.pair.tls(), **(tls or {})}, **more.pop("listener", {})}
        return self.start_stint(config(self.upstream.address, listener=listener, **more))

    def context(self, **more) -> ssl.SSLContext:
        context = self.authority.context()
        for name, value in more.items():
            setattr(context, name, value)
        return context

    def connect(self, stint, context=None, name="localhost", session=None, before=b"") -> Stream:
        sock = socket.create_connection(("127.0.0.1", stint.port), 10)
        sock.sendall(before)
        stream = Stream((context or self.context()).wrap_socket(
            sock, server_hostname=name, session=session))
        self.addCleanup(stream.sock.close)
        return stream

    def get(self, stream, fields=(), **more):
        stream.send(request_bytes("GET", "/", fields, **more))
        return stream.read_response()


class Clients(TlsTest):
    def test_curl(self):
        stint = self.listening()
        for version in ("--tlsv1.2", "--tlsv1.3"):
            done = run("curl", "-sS", "--cacert", self.authority.certificate, version, "--tls-max",
                       version[-3:], f"https://localhost:{stint.port}/")
            self.assertEqual((done.stdout, done.stderr), ("hello", ""))

    @unittest.skipUnless(shutil.which("wget"), "no wget")
    def test_wget(self):
        stint = self.listening()
        done = run("wget", "-q", "-O", "-", f"--ca-certificate={self.authority.certificate}",
                   f"https://localhost:{stint.port}/")
        self.assertEqual(done.stdout, "hello")

    def test_openssl_s_client(self):
        stint = self.listening()
        done = run("openssl", "s_client", "-connect", f"127.0.0.1:{stint.port}", "-servername",
                   "localhost", "-CAfile", self.authority.certificate, "-verify_return_error", "-quiet",
                   "-ign_eof",
                   text="GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        self.assertIn("hello", done.stdout)

    def test_python_on_one_connection_again_and_again(self):
        stint = self.listening()
        stream = self.connect(stint)
        self.assertEqual([self.get(stream).body for _ in range(5)], [b"hello"] * 5)
        self.assertEqual(stint.admin.metrics().sum("stint_tls_handshakes_total"), 1)

    def test_the_upstream_is_told(self):
        stint = self.listening()
        self.get(self.connect(stint))
        self.assertEqual(self.upstream.requests[0].get("X-Forwarded-Proto"), "https")

    def test_pipelined_requests_in_one_record(self):
        stint = self.listening()
        stream = self.connect(stint)
        stream.send(request_bytes() * 20)
        self.assertEqual([stream.read_response().status for _ in range(20)], [200] * 20)

    def test_a_client_certificate_is_asked_for_and_counted_by(self):
        stint = self.listening(
            {"client_ca": str(self.authority.certificate)},
            limits={"each": {"requests": 1, "per": "1h", "key": "tls:subject"}},
            route_limits=["each"])
        for name in ("robot", "human"):
            context = self.authority.context(self.authority.issue(name))
            statuses = [self.get(self.connect(stint, context)).status for _ in range(2)]
            self.assertEqual(statuses, [200, 429])
        for described, decision in (("CN=robot", "refuse"), ("CN=nobody", "admit")):
            found = stint.admin.request(
                "POST", "/explain", body=json.dumps({"tls_subject": described})).json()
            self.assertEqual(
                (found["decision"], found["limits"][0]["key_value"]), (decision, described))
        with self.assertRaises((ssl.SSLError, ConnectionError, EOFError)):
            stream = self.connect(stint)
            stream.send(request_bytes())
            if not stream.read_some():
                raise EOFError

    def test_an_optional_certificate_is_missed_by_nobody(self):
        stint = self.listening(
            {"client_ca": str(self.authority.certificate), "client_certificate": "optional"})
        self.assertEqual(self.get(self.connect(stint)).status, 200)

    def test_behind_a_balancer_that_sends_a_proxy_header(self):
        stint = self.listening(
            listener={"proxy_protocol": True}, trusted_proxies=["127.0.0.1"],
            limits={"each": {"requests": 1, "per": "1h", "key": "client_ip"}},
            route_limits=["each"])
        seen = [
            self.get(self.connect(
                stint, before=b"PROXY TCP4 %s 192.0.2.9 4000 443\r\n" % source)).status
            for source in (b"192.0.2.1", b"192.0.2.2", b"192.0.2.1")]
        self.assertEqual(seen, [200, 200, 429])


class Choices(TlsTest):
    def test_the_name_chooses_the_certificate(self):
        shop = self.authority.issue("shop.example", rsa=True)
        any_shop = self.authority.issue("*.shop.example")
        stint = self.listening_with(
            [self.pair.tls(), shop.tls(), any_shop.tls()])
        for name, expected in (
                ("localhost", "localhost"), ("shop.example", "shop.example"),
                ("de.shop.example", "*.shop.example")):
            stream = self.connect(stint, name=name)
            subject = dict(part[0] for part in stream.sock.getpeercert()["subject"])
            self.assertEqual(subject["commonName"], expected)

    def test_an_unknown_name_gets_no_handshake_where_it_is_refused(self):
        stint = self.listening({"unknown_names": "refuse"})

        self.assertEqual(self.get(self.connect(stint)).status, 200)
        anyone = self.context(check_hostname=False)
        for name in ("other.example", None):
            with self.assertRaisesRegex(ssl.SSLError, "(?i)unrecognized.name"):
                self.connect(stint, context=anyone, name=name)
        done = run("openssl", "s_client", "-connect", f"127.0.0.1:{stint.port}", "-servername", "x.example", "-brief")
        self.assertRegex(done.stderr, "(?i)unrecognized name")
        wait_until(
            lambda: stint.admin.metrics().sum("stint_tls_handshake_failures_total", reason="other") == 3,
            "the failures are counted")

    def listening_with(self, pairs):
        self.upstream = self.start_upstream(answer(b"hello"))
        return self.start_stint(config(self.upstream.address, listener={"tls": pairs}))

    def test_the_protocol_is_agreed_on(self):
        for pairs, chosen in ({}, "h2"), ({"http": ["http/1.1"]}, "http/1.1"):
            stint = self.listening(listener=pairs)
            context = self.context()
            context.set_alpn_protocols(["http/1.1", "h2"])
            self.assertEqual(self.connect(stint, context).sock.selected_alpn_protocol(), chosen)
            context.set_alpn_protocols(["http/1.1"])
            self.assertEqual(self.connect(stint, context).sock.selected_alpn_protocol(), "http/1.1")
            context.set_alpn_protocols(["spdy/3"])
            with self.assertRaises(ssl.SSLError):
                self.connect(stint, context)

    def test_http2_is_not_agreed_on_over_ciphers_that_it_forbids(self):
        old = "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA"
        stint = self.listening({"ciphers": f"{old}:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"})
        for ciphers, chosen in (old, "http/1.1"), ("ECDHE+AESGCM", "h2"):
            context = self.context(maximum_version=ssl.TLSVersion.TLSv1_2)
            context.set_ciphers(ciphers)
            context.set_alpn_protocols(["h2", "http/1.1"])
            session = None
            for resumed in False, True:
                stream = self.connect(stint, context, session=session)
                self.assertEqual((stream.sock.session_reused, stream.sock.selected_alpn_protocol()), (resumed, chosen))
                session = stream.sock.session
        context.set_alpn_protocols(["h2"])
        context.set_ciphers(old)
        with self.assertRaises(ssl.SSLError):
            self.connect(stint, context)

    def test_the_oldest_version_is_1_2_or_as_configured(self):
        stint = self.listening({"min_version": "1.3"})
        context = self.context(maximum_version=ssl.TLSVersion.TLSv1_2)
        with self.assertRaises(ssl.SSLError):
            self.connect(stint, context)
        self.assertEqual(self.connect(stint).sock.version(), "TLSv1.3")

    def test_sessions_are_resumed_by_any_worker_and_after_a_reload(self):
        stint = self.listening()
        context = self.context(maximum_version=ssl.TLSVersion.TLSv1_2)
        first = self.connect(stint, context)
        session = first.sock.session
        for _ in range(8):
            self.assertTrue(self.connect(stint, context, session=session).sock.session_reused)
        self.assertEqual(stint.admin.reload().status, 200)
        self.assertTrue(self.connect(stint, context, session=session).sock.session_reused)
        wait_until(
            lambda: stint.admin.metrics().sum("stint_tls_handshakes_total", resumed="yes") == 9,
            "all are counted")


class Mistakes(TlsTest):
    def test_plain_http_is_answered_once(self):
        stint = self.listening()
        methods = ("GET", "POST", "HEAD", "PUT", "CONNECT", "OPTIONS", "DELETE", "M-SEARCH", "get")
        for method in methods:
            with socket.create_connection(("127.0.0.1", stint.port), 10) as sock:
                stream = Stream(sock)
                stream.send(request_bytes(method))
                text = stream.read_what_comes()
            self.assertTrue(text.startswith(b"HTTP/1.1 400 "), text)
            self.assertIn(b"https", text)
        self.assertEqual(
            stint.admin.metrics().sum("stint_tls_handshake_failures_total", reason="plain_http"),
            len(methods))

    def test_other_garbage_is_closed_without_an_answer(self):
        stint = self.listening()
        for words in (b"\r\n\r\n\r\n", b" GET / HTTP/1.1\r\n", b"220 mail.example\r\n", b"\x80" * 16):
            with socket.create_connection(("127.0.0.1", stint.port), 10) as sock:
                stream = Stream(sock)
                stream.send(words)
                self.assertFalse(stream.read_what_comes().startswith(b"HTTP"))
        wait_until(
            lambda: stint.admin.metrics().sum(
                "stint_tls_handshake_failures_total", reason="other") == 4,
            "all are counted")

    def test_a_handshake_that_stalls_is_given_up(self):
        stint = self.listening(timeouts={"head": "300ms"})
        for words in (b"", b"\x16\x03\x01", b"\x16\x03\x01\x02\x00\x01"):
            with socket.create_connection(("127.0.0.1", stint.port), 10) as sock:
                sock.sendall(words)
                self.assertEqual(Stream(sock).read_what_comes(), b"")
        wait_until(lambda: stint.admin.metrics().sum("stint_connections_open") == 0, "all closed")

    def test_garbage_harms_nobody(self):
        stint = self.listening()
        other = self.connect(stint)
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", stint.port), 10) as sock:
                sock.sendall(os.urandom(512))
        self.assertEqual(self.get(other).status, 200)

    def test_an_answer_that_broke_off_never_looks_whole(self):
        def script(connection):
            connection.read_request()
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")

        stint = self.listening(script=script)
        stream = self.connect(stint)
        stream.sock.suppress_ragged_eofs = False
        stream.send(request_bytes())
        stream.read_response_head()
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            while stream.sock.recv(4096):
                pass


class Bodies(TlsTest):
    SIZE = scaled(3_000_000, 10_000_000)

    def test_large_bodies_go_both_ways_unchanged(self):
        def echo(connection):
            while request := connection.read_request():
                connection.send(response_bytes(request.body))

        stint = self.listening(script=echo)
        body = os.urandom(self.SIZE)
        stream = self.connect(stint)
        stream.send(request_bytes("POST", "/", (), body))  # the echo reads all of it first
        self.assertTrue(stream.read_response().body == body)

    def test_a_slow_reader_gets_all_of_it(self):
        body = os.urandom(self.SIZE // 20)  # 40 KB/s is what such a window takes
        stint = self.listening(script=answer(body))
        stream = self.connect(stint)
        stream.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.send(request_bytes())
        stream.read_response_head()
        got = bytearray(stream.buffer)
        while len(got) < len(body):
            got += stream.sock.recv(3000)
        self.assertTrue(got == body)


class Certificates(TlsTest):
    """What is in the files is what is shown, a moment later."""

    def serial(self, stint) -> str:
        with_it = self.connect(stint)
        serial = with_it.sock.getpeercert()["serialNumber"]
        with_it.sock.close()
        return serial

    def renew(self) -> None:
        self.pair.take_over(self.authority.issue("localhost", "IP:127.0.0.1", file="renewed"))

    def test_a_certificate_is_swapped_under_load_without_a_failed_request(self):
        stint = self.listening()
        stop, failures, served = threading.Event(), [], [0]

        def load():
            context = self.context()
            while not stop.is_set():
                try:
                    stream = Stream(context.wrap_socket(
                        socket.create_connection(("127.0.0.1", stint.port), 10),
                        server_hostname="localhost"))
                    for _ in range(3):
                        if self.get(stream).status != 200:
                            failures.append("not 200")
                    stream.sock.close()
                    served[0] += 3
                except OSError as failure:
                    failures.append(repr(failure))

        threads = [threading.Thread(target=load) for _ in range(8)]
        for thread in threads:
            thread.start()
        swaps = scaled(3, 20)
        for _ in range(swaps):
            before = self.serial(stint)
            self.renew()
            wait_until(lambda: self.serial(stint) != before, "the new certificate is shown", 20)
        stop.set()
        for thread in threads:
            thread.join()
        report(f"failed requests over {swaps} swapped certificates", 0,
               f"{len(failures)} of {served[0]}")
        self.assertEqual(failures, [])
        self.assertGreater(served[0], 0)

    def test_a_broken_pair_keeps_the_old_one_says_so_and_counts(self):
        stint = self.listening()
        before = self.serial(stint)
        self.pair.certificate.write_text("no certificate", encoding="ascii")
        wait_until(
            lambda: stint.admin.metrics().sum("stint_tls_certificate_reload_failures_total") >= 1,
            "it is counted", 20)
        self.assertEqual(self.serial(stint), before)
        self.assertIn(str(self.pair.certificate), stint.log())
        self.assertNotEqual(stint.admin.reload().status, 200)
        self.assertEqual(self.serial(stint), before)
        self.renew()
        wait_until(lambda: self.serial(stint) != before, "the next good one is shown", 20)


class AdminListener(TlsTest):
    def test_it_speaks_tls_too(self):
        upstream = self.start_upstream()
        port = free_port()
        made = config(upstream.address,
                      admin={"address": f"127.0.0.1:{port}", "tls": self.pair.tls()})
        folder = self.new_folder()
        (folder / "stint.yaml").write_text(json.dumps(made), encoding="utf-8")
        process = subprocess.Popen([binary(), "run", "-c", "stint.yaml"], cwd=folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        wait_until(lambda: run(
            "curl", "-sS", "--cacert", self.authority.certificate,
            f"https://localhost:{port}/readyz").returncode == 0, "the admin listener answers")
        done = run("curl", "-sS", "--cacert", self.authority.certificate,
                   f"https://localhost:{port}/metrics")
        self.assertIn("stint_tls_handshakes_total", done.stdout)


if __name__ == "__main__":
    unittest.main()
