"""Where npm's registry cannot be reached: one line when the packages are installed, and skipped tests."""

import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from support.certificates import Authority
from support.stint import ROOT

HERE = Path(__file__).resolve().parent


class Missing(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="stint-test-")))

    def install(self, registry, folder="clients"):
        """What scripts/install-npm-clients says with this registry and nothing cached."""
        environment = {**os.environ, "npm_config_registry": registry, "npm_config_cache": str(self.folder / "cache")}
        environment.pop("NODE_EXTRA_CA_CERTS", None)
        done = subprocess.run([ROOT / "scripts/install-npm-clients", self.folder / folder], env=environment,
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done.stderr

    def assert_one_line(self, text, why):
        self.assertRegex(text, rf"^install-npm-clients: no packages from npm \({why}; .*\): the tests that need "
                               r"them, system\.\*_npm, are skipped\. .*\n$")
        self.assertEqual(text.count("\n"), 1, text)

    def test_nobody_answers(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            self.assert_one_line(self.install(f"http://127.0.0.1:{unused.getsockname()[1]}"), "ECONNREFUSED")

    def test_a_proxy_has_a_certificate_of_its_own(self):
        pair = Authority(self.folder).issue("localhost")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=self.refuse, args=(listener, context), daemon=True).start()
            self.assert_one_line(self.install(f"https://localhost:{listener.getsockname()[1]}"),
                                 "(UNABLE_TO|SELF_SIGNED|CERT)[A-Z_]*")

    def refuse(self, listener, context):
        try:
            while True:
                connection, _ = listener.accept()
                try:
                    context.wrap_socket(connection, server_side=True).close()
                except OSError:
                    connection.close()
        except OSError:
            pass  # the test is over

    def test_the_tests_that_need_them_are_skipped_with_a_reason(self):
        files = sorted(HERE.glob("test_*_npm.py"))
        self.assertGreaterEqual(len(files), 2)
        for file in files:
            done = subprocess.run([sys.executable, "-B", file], capture_output=True, text=True, timeout=60, check=False,
                                  cwd=HERE, env={**os.environ, "STINT_NPM_FOLDER": str(self.folder / "empty")})
            self.assertEqual((done.returncode, done.stderr), (77, ""), done.stdout)
            self.assertRegex(done.stdout, r"^the packages of tests/system/\w+ are not installed: .*\n$")

    def test_all_that_need_them_say_so_by_their_name(self):
        for file in HERE.glob("test_*.py"):
            text = file.read_text(encoding="utf-8")
            needs = "node.main(" in text or "structured_fields import" in text or "node.installed(" in text
            if file.name != Path(__file__).name:
                self.assertEqual(needs, file.name.endswith("_npm.py"), file.name)


if __name__ == "__main__":
    unittest.main()
