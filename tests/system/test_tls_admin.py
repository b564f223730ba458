"""TLS on the admin listener, and certificates that change while Stint runs."""

import shutil
import socket
import ssl
import subprocess
import unittest

from support.case import SystemTest, config
from support.certificates import Authority, Pair, openssl, self_signed
from support.client import RawClient
from support.ports import free_port
from support.stint import binary
from support.stream import Stream
from support.waiting import wait_until


class TlsTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        self.authority = Authority(self.folder / "authority")
        self.pair = self.authority.issue("localhost", "IP:127.0.0.1")

    def configuration(self, **tls) -> dict:
        admin = {"address": f"127.0.0.1:{free_port()}", "tls": self.pair.tls(**tls)}
        return config(self.upstream.address, admin=admin)

    def start(self, client: Pair | None = None, **tls):
        context = self.authority.context(client)
        return self.start_stint(self.configuration(**tls), admin_context=context)

    def shown_serial(self, stint) -> int:
        with socket.create_connection(("127.0.0.1", stint.admin_port), 10) as plain:
            with self.authority.context().wrap_socket(plain, server_hostname="localhost") as tls:
                return int(tls.getpeercert()["serialNumber"], 16)


class AdminListener(TlsTest):
    def test_ordinary_clients_verify_it_and_read_it(self):
        stint = self.start()
        url = f"https://localhost:{stint.admin_port}/readyz"
        ca = str(self.authority.certificate)

        for command in (["curl", "-sS", "--fail", "--cacert", ca, url],
                        ["curl", "-sS", "--fail", "--tls-max", "1.2", "--cacert", ca, url],
                        ["wget", "-q", "-O", "-", "--ca-certificate", ca, url]):
            with self.subTest(command[0]):
                done = subprocess.run(command, capture_output=True, text=True, timeout=30)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stint.admin.request("GET", "/metrics").status, 200)

    def test_several_requests_go_over_one_connection_and_a_large_answer_is_whole(self):
        stint = self.start()
        command = ["curl", "-sS", "--fail", "--cacert", str(self.authority.certificate)]
        url = f"https://localhost:{stint.admin_port}/metrics"

        done = subprocess.run([*command, "-v", url, url], capture_output=True, text=True, timeout=30)

        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("SSL connection using"), 1)
        self.assertEqual(done.stdout.count("# HELP stint_build_info"), 2)

    def test_a_change_works_over_tls_and_any_name_may_be_asked_for(self):
        stint = self.start()

        self.assertEqual(stint.admin.reload().status, 200)
        other = stint.admin.request("GET", "/version", {"Host": f"admin.example:{stint.admin_port}"})
        self.assertEqual(other.status, 200)

    def test_plain_http_is_told_so_once(self):
        stint = self.start()

        for method in ("GET", "OPTIONS", "get"):
            with self.subTest(method), RawClient(stint.admin_port) as client:
                client.send_request(method, "/readyz")
                self.assertEqual(client.read_response().status, 400)

    def test_other_garbage_is_closed_without_an_answer(self):
        stint = self.start()

        for words in (b"220 mail.example\r\n", b"\x80" * 16):
            with socket.create_connection(("127.0.0.1", stint.admin_port), 10) as sock:
                sock.sendall(words)
                self.assertFalse(Stream(sock).read_what_comes().startswith(b"HTTP"))

    def test_a_client_that_says_nothing_or_goes_in_the_handshake_harms_nobody(self):
        stint = self.start()
        silent = socket.create_connection(("127.0.0.1", stint.admin_port), 10)
        self.addCleanup(silent.close)
        half = socket.create_connection(("127.0.0.1", stint.admin_port), 10)
        half.sendall(b"\x16\x03\x01")
        half.close()

        self.assertEqual(stint.admin.request("GET", "/readyz").status, 200)

    def test_a_client_certificate_is_required_where_client_ca_is_given(self):
        robot = self.authority.issue("robot")
        stint = self.start(client=robot, client_ca=str(self.authority.certificate))
        self.assertEqual(stint.admin.request("GET", "/readyz").status, 200)

        stint.admin.context = self.authority.context()
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            stint.admin.request("GET", "/readyz")
        stint.admin.context = self.authority.context(robot)

    def test_a_session_goes_on_after_a_reload(self):
        stint = self.start()
        session = self.folder / "session"
        command = ["s_client", "-connect", f"127.0.0.1:{stint.admin_port}", "-servername", "localhost"]
        request = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        options = {"input": request}

        first = openssl(*command, "-ign_eof", "-sess_out", session, **options)
        self.assertEqual(stint.admin.reload().status, 200)
        second = openssl(*command, "-ign_eof", "-sess_in", session, **options)

        self.assertIn("New, TLSv1.3", first)
        self.assertIn("Reused, TLSv1.3", second)


class Certificates(TlsTest):
    def wait_for(self, stint, serial: int) -> None:
        wait_until(lambda: self.shown_serial(stint) == serial, "the new certificate is shown", 15)

    def reloads(self, stint) -> tuple:
        metrics = stint.admin.metrics()
        return (metrics.sum("stint_tls_certificate_reloads_total"),
                metrics.sum("stint_tls_certificate_reload_failures_total"))

    def test_a_certificate_that_is_replaced_is_shown_to_new_clients(self):
        stint = self.start()
        before = self.shown_serial(stint)
        self.assertEqual(self.reloads(stint), (0, 0))

        self.pair.take_over(self.authority.issue("localhost", file="next"))
        self.wait_for(stint, self.pair.serial())

        self.assertNotEqual(self.shown_serial(stint), before)
        self.assertEqual(self.reloads(stint), (1, 0))
        self.assertIn("certificates have changed and were read again", stint.log())

    def test_a_broken_pair_changes_nothing_and_is_told_once(self):
        stint = self.start()
        before = self.shown_serial(stint)
        other = self.authority.issue("localhost", file="next")

        shutil.copy(other.certificate, self.pair.certificate)  # and not its key
        wait_until(lambda: self.reloads(stint)[1] == 1, "the failure is counted", 15)
        refused = stint.admin.reload()

        self.assertEqual(self.shown_serial(stint), before)
        self.assertEqual(refused.status, 422)
        self.assertIn("is not the key of the certificate in", refused.text())
        self.assertRegex(refused.json()["errors"][0], r"stint\.yaml:\d+:\d+: ")
        shutil.copy(other.key, self.pair.key)
        self.wait_for(stint, other.serial())
        self.assertEqual(self.reloads(stint), (1, 1))
        self.assertEqual(stint.log().count("certificates have changed and cannot be used"), 1)

    def test_the_end_of_a_certificate_is_in_the_metrics_and_an_old_one_is_warned_of(self):
        self.pair = self.authority.issue("localhost", file="old", begins=-9, ends=-1)
        context = ssl._create_unverified_context()
        stint = self.start_stint(self.configuration(), admin_context=context)

        ends = stint.admin.metrics().sum(
            "stint_tls_certificate_expires_timestamp_seconds", file=str(self.pair.certificate))
        start = stint.admin.metrics().sum("process_start_time_seconds")
        self.assertAlmostEqual(ends, start - 86_400, delta=600)
        self.assertIn("has expired", stint.log())


class Check(TlsTest):
    def check(self, configuration: str) -> subprocess.CompletedProcess:
        file = self.folder / "checked.yaml"
        file.write_text(configuration)
        return subprocess.run([binary(), "check", str(file)], capture_output=True, text=True, timeout=30)

    def listener(self, pair: Pair) -> str:
        return ("routes: []\nlisteners:\n  - address: 127.0.0.1:8443\n    tls:\n"
                f"      certificate: {pair.certificate}\n      key: {pair.key}\n")

    def test_files_that_fit_are_right(self):
        done = self.check(self.listener(self.pair))

        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_files_that_do_not_fit_are_a_mistake_with_its_place(self):
        other = self_signed(self.folder, "localhost")

        done = self.check(self.listener(Pair(self.pair.certificate, other.key)))

        self.assertEqual(done.returncode, 2)
        self.assertIn(f"checked.yaml:5:20: {other.key} is not the key of the certificate in "
                      f"{self.pair.certificate}\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
