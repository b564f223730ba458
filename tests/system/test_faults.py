"""Slow, greedy, idle and vanishing peers, in numbers: nothing is lost that should live, and nothing is
left behind."""

import resource
import selectors
import socket
import subprocess
import sys
import threading
import time
import unittest

from support.case import FULL, SystemTest, config, report, scaled
from support.client import RawClient, fetch
from support.faults import KeepAliveClients, Reopened, Timed
from support.messages import request_bytes
from support.ports import free_port
from support.stream import EndOfStream
from support.waiting import PATIENCE, wait_until

MIB = 1024 * 1024
MOST_SECONDS = 2  # for a well-behaved request
LOOPBACK = [f"127.0.0.{last}" for last in range(2, 252)]  # each has its own 28,000 ports


def raise_open_files():
    """This process may have as many sockets as the machine allows: thousands of clients live in it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Faults(SystemTest):
    def setUp(self):
        super().setUp()
        raise_open_files()

    def everything_gone(self, stint):
        metrics = stint.admin.metrics
        wait_until(lambda: metrics().sum("stint_connections_open") == 0, "every connection is closed")
        wait_until(lambda: metrics().sum("stint_requests_in_flight") == 0, "no request is under way")
        stint.wait_idle()


class SlowClients(Faults):
    CLIENTS = scaled(200, 2000)
    SECONDS = scaled(3, 15)
    HEAD = request_bytes("GET", "/slow", {"X-Slow": "a" * 500})
    BODY = request_bytes("POST", "/slow", {"Content-Length": "500"}) + b"b" * 500

    def attackers(self, port):
        """A third each: a head byte by byte, a body byte by byte, and not a byte."""
        made = []
        for number in range(self.CLIENTS):
            kind = number % 3
            sock = socket.socket()
            sock.bind((LOOPBACK[number % len(LOOPBACK)], 0))
            sock.connect(("127.0.0.1", port))
            sock.setblocking(False)
            self.addCleanup(sock.close)
            data = (self.HEAD, self.BODY, b"")[kind]
            if kind == 1:
                sock.send(data[:-500])
                data = data[-500:]
            made.append((sock, data))
        return made

    def drip(self, attackers, seconds):
        """A byte of each, again and again; those that were closed stay away. How many are left."""
        until = time.monotonic() + seconds
        at = 0
        while time.monotonic() < until:
            left = []
            for sock, data in attackers:
                try:
                    if data and at < len(data):
                        sock.send(data[at:at + 1])
                    left.append((sock, data))
                except OSError:
                    sock.close()
            attackers = left
            at += 1
            time.sleep(0.1)
        return len(attackers)

    def test_slowloris_disturbs_nobody_and_ends(self):
        # A process of its own, so that nothing but the clients runs in this one. Passed on to itself, a
        # request is answered once its body is complete, and not before.
        port = free_port()
        upstream = self.start_nginx(
            f"location / {{ proxy_pass http://127.0.0.1:{port}/ok; }} location /ok {{ return 200; }}",
            port=port)
        stint = self.stint_before(
            upstream, max_connections=2 * self.CLIENTS + 100, limits={"slots": {"concurrent": 5000}},
            route_limits=["slots"], timeouts={"head": "30s", "body_idle": "30s", "idle": "30s"},
            min_rate={"head": "64B", "body": "64B", "after": f"{self.SECONDS * 500}ms"})
        with Timed(stint.port) as well_behaved:
            attackers = self.attackers(stint.port)
            self.drip(attackers, self.SECONDS)
        self.assertEqual(well_behaved.failures, [])
        self.assertGreater(len(well_behaved.took), 50)
        slowest = max(well_behaved.took)
        report(f"{self.CLIENTS} slowloris connections: slowest of {len(well_behaved.took)} other requests",
               f"< {MOST_SECONDS} s", f"{slowest * 1000:.0f} ms")
        self.assertLess(slowest, MOST_SECONDS)

        metrics = stint.admin.metrics()
        for part in ("head", "body"):
            given_up = metrics.sum("stint_slow_clients_total", part=part)
            report(f"of them given up for a slow {part}", "all of a third", f"{given_up:.0f}")
            self.assertGreaterEqual(given_up, self.CLIENTS // 3)
        for sock, _ in attackers:
            sock.close()
        self.everything_gone(stint)


class GreedyClient(Faults):
    MOST = 10
    CLIENTS = scaled(50, 500)

    def test_one_client_cannot_take_all_connections(self):
        stint = self.stint_before(self.start_upstream(), workers=4, max_connections_per_client=self.MOST)
        taken = [RawClient(stint.port, source="127.0.0.2") for _ in range(self.MOST)]
        for client in taken:
            self.addCleanup(client.close)
            self.assertEqual(client.request().status, 200)

        refused = [fetch(stint.port, source="127.0.0.2") for _ in range(self.CLIENTS)]

        self.assertEqual({response.status for response in refused}, {429})
        self.assertEqual({response.get("Retry-After") for response in refused}, {"1"})
        metrics = stint.admin.metrics()
        self.assertEqual(metrics.sum("stint_connections_rejected_total", reason="per_client"), self.CLIENTS)
        self.assertEqual(fetch(stint.port, source="127.0.0.3").status, 200)
        taken.pop().close()
        wait_until(lambda: fetch(stint.port, source="127.0.0.2").status == 200, "there is room again")
        self.assertEqual([client.request().status for client in taken], [200] * len(taken))
        for client in taken:
            client.close()
        self.everything_gone(stint)


class IdleConnections(Faults):
    CLIENTS = scaled(2000, 10_000)
    MOST_EACH = scaled(2176, 2048)

    def opened(self, port):
        """Connections that have made a request, and wait."""
        clients = []
        for number in range(self.CLIENTS):
            sock = socket.socket()
            sock.bind((LOOPBACK[number % len(LOOPBACK)], 0))
            sock.connect(("127.0.0.1", port))
            sock.settimeout(PATIENCE)
            self.addCleanup(sock.close)
            sock.sendall(request_bytes())
            data = b""
            while not data.endswith(b"\r\n\r\nok"):
                data += sock.recv(4096)
            clients.append(sock)
        return clients

    def settled(self, stint):
        """Resident memory, once connections are parked and blocks are given back."""
        time.sleep(4)
        return stint.resident()

    def test_an_idle_connection_takes_little_memory(self):
        stint = self.stint_before(
            self.start_upstream(), max_connections=self.CLIENTS + 100, timeouts={"idle": "10m"},
            access_log={"path": "off"})
        with RawClient(stint.port) as client:
            for _ in range(100):
                client.request()
        before = self.settled(stint)
        clients = self.opened(stint.port)
        each = (self.settled(stint) - before) / self.CLIENTS
        report(f"{self.CLIENTS} idle connections: resident memory of each", f"<= {self.MOST_EACH} bytes",
               f"{each:.0f} bytes")
        self.assertLessEqual(each, self.MOST_EACH)

        for sock in clients[::100]:
            sock.sendall(request_bytes())
            self.assertTrue(sock.recv(4096).startswith(b"HTTP/1.1 200 "))
        for sock in clients:
            sock.close()
        self.everything_gone(stint)
        left = self.settled(stint) - before
        report("what the heap keeps of that for the next ones", "", f"{left / MIB:.1f} MiB")
        if FULL:
            clients = self.opened(stint.port)
            again = self.settled(stint) - before
            report("and when as many come once more: of the first time", "<= 110 %",
                   f"{100 * again / (each * self.CLIENTS):.0f} %")
            self.assertLessEqual(again, 1.1 * each * self.CLIENTS)


class OutOfDescriptors(Faults):
    FILES = 256
    CLIENTS = 400

    def test_more_clients_than_descriptors_are_survived(self):
        files = (self.FILES, self.FILES)
        stint = self.start_stint(
            config(self.start_upstream().address, max_connections=5000, access_log={"path": "off"}),
            preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, files))
        clients = []
        statuses = []
        for number in range(self.CLIENTS):
            client = RawClient(stint.port)
            self.addCleanup(client.close)
            client.sock.settimeout(0.02 if number > self.FILES // 2 else PATIENCE)
            clients.append(client)
            client.send_request()
            try:
                statuses.append(client.read_response().status)
            except (OSError, EndOfStream):
                pass  # it waits to be accepted
        self.assertGreaterEqual(statuses.count(200), self.FILES // 2)
        self.assertTrue(set(statuses) <= {200, 503}, set(statuses))
        self.assertTrue(stint.running, stint.log())

        # Those that have nothing to say make room: in the end every one of the others is answered.
        waiting = [client for client in clients if not client.received]
        for client in waiting:
            client.sock.settimeout(30)
            try:
                statuses.append(client.read_response().status)
            except (OSError, EndOfStream):
                statuses.append(0)
        report(f"{self.CLIENTS} clients on {self.FILES} descriptors: answered", self.CLIENTS,
               f"{statuses.count(200)}, and {statuses.count(503)} with 503")
        self.assertTrue(set(statuses) <= {200, 503}, set(statuses))
        self.assertGreaterEqual(statuses.count(200), self.CLIENTS * 9 // 10)
        lines = stint.log().count("\n")
        report("lines of its log about it", "< 60", lines)
        self.assertLess(lines, 60)
        metrics = stint.admin.metrics()
        self.assertGreater(metrics.sum("stint_connections_shed_total", side="client"), 0)

        for client in clients:
            client.close()
        self.everything_gone(stint)
        self.assertEqual([fetch(stint.port).status for _ in range(100)], [200] * 100)


class Flapping(Faults):
    TIMES = scaled(20, 200)

    def test_an_upstream_that_comes_and_goes(self):
        port = free_port()
        server = Reopened(port)
        self.addCleanup(server.close)
        stint = self.start_stint(config(f"127.0.0.1:{port}"))
        results = []
        stop = threading.Event()

        def ask():
            while not stop.is_set():
                begun = time.monotonic()
                try:
                    response = fetch(stint.port)
                    results.append((response.status, response.body, time.monotonic() - begun))
                except (OSError, EndOfStream) as error:
                    results.append((0, repr(error).encode(), time.monotonic() - begun))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(self.TIMES):
            server.open()
            time.sleep(0.03)
            server.shut()
            time.sleep(0.03)
        server.open()
        stop.set()
        for thread in threads:
            thread.join()

        statuses = [status for status, _, _ in results]
        self.assertEqual(set(statuses), {200, 502})
        for status, body, took in results:
            if status == 502:
                self.assertNotIn(f"127.0.0.1:{port}".encode(), body)
            self.assertLess(took, PATIENCE)
        report(f"an upstream that flapped {self.TIMES} times", "200 or a 502 that says why",
               f"{statuses.count(200)} of 200, {statuses.count(502)} of 502")
        self.assertEqual([fetch(stint.port).status for _ in range(50)], [200] * 50)


# An upstream that can be killed: /short is answered, of anything else the body's first 1,000 bytes.
_SERVER = r"""
import socket, sys, time
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
framing = {"/length": "Content-Length: 1000000", "/chunked": "Transfer-Encoding: chunked"}
while True:
    sock, _ = listening.accept()
    head = b""
    while b"\r\n\r\n" not in head:
        head += sock.recv(65536)
    target = head.decode().split(" ")[1]
    if target == "/short":
        sock.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
        sock.close()
        continue
    begin = "3e8\r\n" if target == "/chunked" else ""
    sock.sendall(f"HTTP/1.1 200 OK\r\n{framing[target]}\r\n\r\n{begin}".encode() + b"x" * 1000)
    time.sleep(600)
"""


class KilledUpstream(Faults):
    def start_server(self, port):
        process = subprocess.Popen([sys.executable, "-c", _SERVER, str(port)])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def kill_in_the_middle(self, stint, process, target):
        """What still came of a response that was under way."""
        with RawClient(stint.port) as client:
            client.send_request(target=target)
            client.read_until(b"x" * 1000)
            process.kill()
            process.wait()
            return client.read_what_comes()

    def test_kill_9_in_the_middle_of_a_body_is_never_a_clean_end(self):
        port = free_port()
        stint = self.start_stint(config(
            f"127.0.0.1:{port}", limits={"slots": {"concurrent": 5}}, route_limits=["slots"]))
        for target in ("/length", "/chunked"):
            with self.subTest(target):
                process = self.start_server(port)
                wait_until(lambda: fetch(stint.port, target="/short").status == 200, "the upstream answers")

                rest = self.kill_in_the_middle(stint, process, target)

                self.assertEqual(rest.strip(), b"")  # at most the end of a chunk: no last one
                self.assertEqual(fetch(stint.port, target="/short").status, 502)
        self.start_server(port)
        wait_until(lambda: fetch(stint.port, target="/short").status == 200, "the upstream is back")

        def decisions():
            return [line["decision"] for line in stint.access_log() if line["path"] in ("/length", "/chunked")]
        wait_until(lambda: len(decisions()) == 2, "both are logged")
        self.assertEqual(decisions(), ["upstream_failed"] * 2)
        self.everything_gone(stint)


class SlowReaders(Faults):
    CLIENTS = scaled(100, 400)
    BLOCK = bytes(MIB)

    @staticmethod
    def bound_buffers(sock):
        """The kernel has memory for the buffers of all sockets of the machine together. Without enough, it drops what
        tests receive that run at the same time."""
        for which in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            sock.setsockopt(socket.SOL_SOCKET, which, 64 * 1024)

    def read_from_all(self, clients, seconds):
        """A little from each client that has something, for so long; how many bytes came."""
        got = dict.fromkeys(clients, 0)
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for client in clients:
                selector.register(client.sock, selectors.EVENT_READ, client)
            while time.monotonic() < until:
                for key, _ in selector.select(0.1):
                    got[key.data] += len(key.data.sock.recv(2048))
                time.sleep(0.05)
        return got

    def test_slow_readers_and_slow_takers_at_once_hold_a_block_each(self):
        def script(connection):
            self.bound_buffers(connection.sock)
            request = connection.read_request_head()
            if request.method == "PUT":
                while connection.read_some(4096):
                    time.sleep(0.05)
                return
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1000 * MIB))
            while True:
                connection.send(self.BLOCK)

        stint = self.stint_before(self.start_upstream(script), access_log={"path": "off"})
        before = stint.resident()
        readers = [RawClient(stint.port, receive_buffer=4096) for _ in range(self.CLIENTS)]
        senders = [RawClient(stint.port) for _ in range(self.CLIENTS)]
        for client in [*readers, *senders]:
            self.addCleanup(client.close)
        for reader in readers:
            reader.send_request(target="/large")
        for sender in senders:
            self.bound_buffers(sender.sock)
            sender.send_request("PUT", "/large", {"Content-Length": str(1000 * MIB)})
            sender.sock.setblocking(False)
        for _ in range(20):
            self.read_from_all(readers, 0.1)
            for sender in senders:
                try:
                    sender.sock.send(self.BLOCK)
                except BlockingIOError:
                    pass
        grown = stint.resident() - before
        most = 2 * self.CLIENTS * 160 * 1024  # a block of 64 KiB, one of 20 KiB, and as much again
        report(f"{self.CLIENTS} slow readers and {self.CLIENTS} slow takers: growth of resident memory",
               f"< {most // MIB} MiB", f"{grown / MIB:.1f} MiB")
        self.assertLess(grown, most)
        got = self.read_from_all(readers, 2)
        self.assertTrue(all(got.values()), "each reader goes on")
        for client in [*readers, *senders]:
            client.reset()
        self.everything_gone(stint)
        wait_until(lambda: stint.resident() - before < grown // 2, "memory is given back")


class StoppedUnderLoad(Faults):
    CLIENTS = scaled(50, 500)
    ROUNDS = scaled(3, 10)

    def test_sigterm_loses_no_request_in_flight(self):
        # A process of its own, so that nothing but the clients runs in this one.
        upstream = self.start_nginx("location / { echo_sleep 0.02; echo answered; }")
        answered = crossed = 0
        slowest = 0.0
        for _ in range(self.ROUNDS):
            stint = self.stint_before(upstream, timeouts={"drain": "10s"})
            with KeepAliveClients(stint.port, self.CLIENTS) as clients:
                wait_until(lambda: clients.answered > 3 * self.CLIENTS, "they are under way", 60)
                begun = time.monotonic()
                stint.stop()  # exit code 0
                slowest = max(slowest, time.monotonic() - begun)
            self.assertEqual(clients.failures, [])
            answered += clients.answered
            crossed += clients.crossed
        report(f"SIGTERM under {self.CLIENTS} clients, {self.ROUNDS} times: requests lost",
               "0; as good as none that crossed with a close", f"0 of {answered}; {crossed} crossed")
        report("and the slowest stop", "< 10 s", f"{slowest:.1f} s")
        self.assertLess(slowest, 10)
        self.assertLessEqual(crossed, self.CLIENTS * self.ROUNDS // 100)


if __name__ == "__main__":
    unittest.main()
