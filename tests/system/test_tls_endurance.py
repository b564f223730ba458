"""What takes its time over TLS: testssl.sh's whole list, and ten thousand handshakes."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
import unittest

from support.case import FULL, SystemTest, config, report, scaled
from support.certificates import Authority
from support.messages import request_bytes
from support.stream import Stream
from support.upstream import answer

# WARN is what testssl.sh could not find out: with OpenSSL 3 its client leaves before a TLS 1.3 ticket has come.
HARMLESS = ("OK", "INFO", "LOW", "DEBUG", "WARN")


class TlsTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.new_folder())
        # What testssl.sh expects of certificates and of sites, so that what it finds is Stint's.
        self.pair = self.authority.issue(
            "localhost", "IP:127.0.0.1", ends=300,
            extensions="crlDistributionPoints = URI:http://127.0.0.1/crl\n")
        self.upstream = self.start_upstream(
            answer(b"hello", fields=[("Strict-Transport-Security", "max-age=31536000"),
                                    ("X-Content-Type-Options", "nosniff")]))

    def listening(self):
        return self.start_stint(config(self.upstream.address, listener={"tls": self.pair.tls()}))


@unittest.skipUnless(FULL and shutil.which("testssl"), "testssl.sh takes minutes")
class Scanned(TlsTest):
    def test_testssl_finds_nothing_above_low(self):
        stint = self.listening()
        found = self.folder / "testssl.json"
        subprocess.run(
            ["testssl", "--quiet", "--color", "0", "--add-ca", self.authority.certificate, "--jsonfile", found,
             f"localhost:{stint.port}"],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=1200, check=False)
        findings = json.loads(found.read_text(encoding="utf-8"))
        above = [f"{one['id']}: {one['severity']}: {one['finding']}"
                 for one in findings if one["severity"] not in HARMLESS]
        report(f"testssl.sh: of {len(findings)} findings, above LOW", 0, len(above))
        self.assertGreater(len(findings), 100)
        self.assertEqual(above, [])


class Handshakes(TlsTest):
    """Under AddressSanitizer, which keeps what was freed for a while, its leak check is the judge."""

    COUNT = scaled(400, 10_000)
    MOST_GROWTH = scaled(1 << 20, 8 << 20)  # bytes; connections that are kept would be several times as much

    def shake(self, port, number):
        with socket.create_connection(("127.0.0.1", port), 20) as sock:
            if number % 10 == 7:  # goes in the middle of it
                sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
                return
            if number % 10 == 8:  # knows no authority, and says so
                try:
                    ssl.create_default_context().wrap_socket(sock, server_hostname="localhost").close()
                except ssl.SSLError:
                    return
                self.fail("believed")
            context = self.authority.context()
            if number % 2:
                context.maximum_version = ssl.TLSVersion.TLSv1_2
            with context.wrap_socket(sock, server_hostname="localhost", suppress_ragged_eofs=False) as secure:
                if number % 10 == 9:
                    return  # without a request
                stream = Stream(secure)
                stream.send(request_bytes("GET", "/"))
                if stream.read_response().status != 200:
                    self.fail("not 200")

    def shake_often(self, port, count):
        failures = []

        def some(first):
            for number in range(first, count, 4):
                try:
                    self.shake(port, number)
                except Exception as failure:  # whatever it is, the thread must not die of it
                    failures.append(repr(failure))

        threads = [threading.Thread(target=some, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_nothing_is_left_of_them(self):
        stint = self.listening()
        self.shake_often(stint.port, self.COUNT // 4)  # what is made once is made
        stint.wait_idle()
        before = stint.resident()
        self.shake_often(stint.port, self.COUNT)
        stint.wait_idle()
        grown = stint.resident() - before
        report(f"{self.COUNT} handshakes: growth of resident memory", f"<= {self.MOST_GROWTH >> 20} MiB",
               f"{grown / (1 << 20):.1f} MiB")
        if "ASAN_OPTIONS" not in os.environ:
            self.assertLessEqual(grown, self.MOST_GROWTH)


if __name__ == "__main__":
    unittest.main()
