"""Permits, locks and the admin listener over HTTP/2."""

import json
import re
import signal
import subprocess
import unittest

from hyperframe.frame import WindowUpdateFrame

from support.case import SystemTest, config
from support.certificates import Authority
from support.http2 import Http2Client
from support.locks_case import LocksTest
from support.locks_client import lock_path
from support.permits_client import permits_config, permits_port, take_path
from support.ports import free_port
from support.waiting import wait_until

H2C = {"h2c": True}


def leases(name, hold=None):
    return f"{lock_path(name)}/leases" + (f"?hold={hold}" if hold else "")


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def body_of(response):
    return json.loads(response.body)


class PermitsOverHttp2(LocksTest):
    def start(self, made):
        return self.start_stint(made)

    def client(self, stint, **more):
        client = Http2Client.to(permits_port(stint), **more)
        self.addCleanup(client.close)
        return client

    def post(self, client, path, **members):
        """Begins a call, and returns its stream."""
        return client.request("POST", path, body=json.dumps(members).encode())

    def call(self, client, path, **members):
        return client.response(self.post(client, path, **members))

    def lock(self, stint, name="only"):
        """The lock's state, by a client of its own; None: nobody holds it or waits."""
        client = self.client(stint)
        response = client.get(lock_path(name))
        return body_of(response) if response.status == 200 else None

    def body(self, client, stream):
        """What has come so far."""
        return client.responses[stream].body if stream in client.responses else b""

    def held(self, stint):
        return (self.lock(stint) or {"held": 0})["held"]

    def waiting(self, stint):
        return (self.lock(stint) or {"waiting": 0})["waiting"]


class Takes(PermitsOverHttp2):
    def test_streams_of_one_connection_take_exactly_the_limit(self):
        stint = self.start(permits_config({"l": {"requests": 30, "per": "1h"}}, permits=H2C))
        client = self.client(stint)
        streams = [self.post(client, take_path("l"), cost=1) for _ in range(90)]
        statuses = [client.response(stream).status for stream in streams]
        self.assertEqual((statuses.count(200), statuses.count(429)), (30, 60))
        self.assertGreater(int(client.responses[streams[-1]].get("retry-after-ms")), 0)

    def test_h2load_takes_exactly_the_limit(self):
        stint = self.start(permits_config({"l": {"requests": 300, "per": "1h"}}, permits=H2C))
        body = self.folder / "take"
        body.write_text('{"cost": 1}')
        url = f"http://127.0.0.1:{permits_port(stint)}{take_path('l')}"
        done = run(["h2load", "-n", "2000", "-c", "10", "-m", "100", "-d", str(body), url])
        found = re.search(r"status codes: (\d+) 2xx, 0 3xx, (\d+) 4xx, 0 5xx", done.stdout)
        self.assertEqual(found and found.groups(), ("300", "1700"), done.stdout)

    def test_a_body_in_many_frames_and_one_that_is_too_large(self):
        stint = self.start(permits_config({"l": {"requests": 30, "per": "1h"}}, permits=H2C))
        client = self.client(stint)
        stream = client.request("POST", take_path("l"), end=False)
        for part in (b'{"co', b'st"', b': 2}'):
            client.send(client.data(stream, part))
        client.send(client.data(stream, b"", True))
        self.assertEqual(body_of(client.response(stream))["remaining"], 28)
        stream = client.request("POST", take_path("l"), [("content-length", "70000")], end=False)
        self.assertEqual(client.response(stream).status, 413)
        self.assertEqual(self.call(client, take_path("l"), cost=1).status, 200)


class Locks(PermitsOverHttp2):
    def only(self, **top):
        return self.locks({"only": {"max": 1}}, permits=H2C, **top)

    def both(self):
        return self.locks({"only": {"max": 1}, "other": {"max": 1}}, permits=H2C)

    def test_a_reset_call_leaves_the_queue(self):
        stint = self.only()
        client = self.client(stint)
        first = body_of(self.call(client, leases("only")))["lease"]
        gone = self.post(client, leases("only"), wait_ms=60_000)
        wait_until(lambda: self.waiting(stint) == 1, "the first to wait")
        client.reset(gone)
        wait_until(lambda: self.waiting(stint) == 0, "its place to be free")
        last = self.post(client, leases("only"), wait_ms=60_000)
        wait_until(lambda: self.waiting(stint) == 1, "the second to wait")
        self.assertEqual(client.response(client.request("DELETE", f"{leases('only')}/{first}")).status, 204)
        self.assertEqual(client.response(last).status, 201)

    def test_a_connection_holds_its_leases_past_their_streams(self):
        stint = self.only(timeouts={"idle": "1s"})
        client = self.client(stint)
        self.assertEqual(self.call(client, leases("only", "connection")).status, 201)
        self.assertFalse(client.until_gone(2.5))
        self.assertEqual(self.held(stint), 1)
        client.close()
        wait_until(lambda: self.held(stint) == 0, "the lease to end")

    def test_a_connection_that_was_silent_before_holds_its_leases(self):
        stint = self.only(timeouts={"idle": "2s"})
        client = self.client(stint, seconds=1.3)
        self.assertFalse(client.until_gone())  # it is parked after a second
        client.sock.settimeout(2.5)
        self.assertEqual(self.call(client, leases("only", "connection")).status, 201)
        self.assertFalse(client.until_gone())
        self.assertEqual(self.held(stint), 1)

    def test_a_connection_that_ends_with_the_call_holds_no_lease(self):
        stint = self.locks({"only": {"max": 1}}, permits={**H2C, "http2": {"max_requests": 2}})
        client = self.client(stint)
        self.assertEqual(client.get(lock_path("only")).status, 200)
        self.assertEqual(self.call(client, leases("only", "connection")).status, 400)
        self.assertEqual(self.held(stint), 0)

    def test_a_connection_whose_call_for_a_lease_waits_is_kept_after_max_requests(self):
        stint = self.locks({"only": {"max": 1}}, permits={**H2C, "http2": {"max_requests": 3}})
        client, other = self.client(stint), self.client(stint)
        first = body_of(self.call(other, leases("only")))["lease"]
        waiting = self.post(client, leases("only", "connection"), wait_ms=60_000)
        wait_until(lambda: self.waiting(stint) == 1, "it waits")
        for _ in range(5):
            self.assertEqual(client.get(lock_path("only")).status, 200)
        self.assertEqual(other.response(other.request("DELETE", f"{leases('only')}/{first}")).status, 204)
        self.assertEqual(client.response(waiting).status, 201)
        self.assertFalse(client.until_gone(1.5))
        self.assertEqual(client.goaways, [])
        client.close()
        wait_until(lambda: self.held(stint) == 0, "the lease ends with the connection")

    def test_a_lease_of_a_stream_ends_with_it_and_no_other(self):
        stint = self.both()
        client = self.client(stint)
        streams = [self.post(client, leases(name, "stream")) for name in ("only", "other")]
        client.until(lambda: all(b"event: alive" in self.body(client, stream) for stream in streams))
        client.reset(streams[0])
        wait_until(lambda: self.held(stint) == 0, "the lease to end")
        self.assertEqual(self.lock(stint, "other")["held"], 1)
        seen = len(client.responses[streams[1]].body)
        client.until(lambda: len(client.responses[streams[1]].body) > seen)

    def test_a_lease_of_a_stream_is_free_for_a_call_in_the_bytes_that_reset_it(self):
        stint = self.only()
        client = self.client(stint)
        stream = self.post(client, leases("only", "stream"))
        client.until(lambda: b"event: granted" in self.body(client, stream))
        [next_] = client.replace([stream], "POST", leases("only"), b"{}")
        self.assertEqual(client.response(next_).status, 201)

    def test_a_lease_that_is_released_ends_its_stream(self):
        stint = self.only()
        client = self.client(stint)
        stream = self.post(client, leases("only", "stream"))
        client.until(lambda: b"\n\n" in self.body(client, stream))
        lease = json.loads(client.responses[stream].body.split(b"data: ")[1].split(b"\n")[0])["lease"]
        self.assertEqual(client.response(client.request("DELETE", f"{leases('only')}/{lease}")).status, 204)
        self.assertIn(b"event: lost", client.response(stream).body)

    def test_a_grant_whose_response_is_not_taken_is_withdrawn(self):
        stint = self.only()
        for hold in (None, "connection"):
            client = self.client(stint, window=0)
            stream = self.post(client, leases("only", hold))
            client.until(lambda: stream in client.responses)
            self.assertEqual(self.held(stint), 1)
            client.reset(stream)
            wait_until(lambda: self.held(stint) == 0, f"{hold}: the grant to be withdrawn")

    def test_only_grants_whose_response_was_not_taken_end_with_the_connection(self):
        stint = self.both()
        client = self.client(stint, window=0)
        untaken = self.post(client, leases("only"))
        taken = self.post(client, leases("other"))
        client.send(WindowUpdateFrame(taken, 1000))
        self.assertEqual(client.response(taken).status, 201)
        client.until(lambda: untaken in client.responses)
        client.close()
        wait_until(lambda: self.held(stint) == 0, "the grant to be withdrawn")
        self.assertEqual(self.lock(stint, "other")["held"], 1)

    def test_a_drain_ends_streams_of_events(self):
        stint = self.only()
        client = self.client(stint)
        stream = self.post(client, leases("only", "stream"))
        client.until(lambda: stream in client.responses)
        stint.signal(signal.SIGTERM)
        self.assertTrue(client.response(stream).ended)
        self.assertTrue(client.until_gone())
        stint.process.wait(20)


class Admin(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()

    def start(self, **more):
        made = config(self.upstream.address, admin={"address": f"127.0.0.1:{free_port()}", **more})
        return self.start_stint(made)

    def test_requests_and_events_of_one_connection(self):
        stint = self.start(h2c=True)
        client = Http2Client.to(stint.admin_port)
        self.addCleanup(client.close)
        events = [("accept", "text/event-stream")]
        watches = [client.request("GET", "/limits", events) for _ in range(2)]
        client.until(lambda: all(stream in client.responses and client.responses[stream].body.count(b"data:") > 1
                                 for stream in watches))
        self.assertIn(b"stint_build_info", client.get("/metrics").body)
        client.reset(watches[0])
        seen = len(client.responses[watches[1]].body)
        client.until(lambda: len(client.responses[watches[1]].body) > seen)
        self.assertEqual(client.get("/readyz").status, 200)
        self.assertEqual(client.response(client.request("POST", "/config/reload", body=b"")).status, 200)

    def test_a_watch_that_is_reset_makes_room_for_another(self):
        stint = self.start(h2c=True)
        client = Http2Client.to(stint.admin_port)
        self.addCleanup(client.close)
        for _ in range(3):
            watches = [client.request("GET", "/limits", [("accept", "text/event-stream")]) for _ in range(16)]
            client.until(lambda: all(stream in client.responses and client.responses[stream].body
                                     for stream in watches))
            self.assertEqual({client.responses[stream].status for stream in watches}, {200})
            for stream in watches:
                client.reset(stream)
            client.ping()
            client.until(lambda: client.pings)
            client.pings.clear()

    def test_without_h2c_there_is_no_prior_knowledge(self):
        stint = self.start()
        client = Http2Client.to(stint.admin_port)
        self.assertTrue(client.until_gone())
        self.assertEqual(client.responses, {})

    def test_alpn_chooses(self):
        authority = Authority(self.folder / "authority")
        pair = authority.issue("localhost", "IP:127.0.0.1")
        offers = {"http": ["h2", "http/1.1"], "tls": pair.tls()}
        made = config(self.upstream.address, admin={"address": f"127.0.0.1:{free_port()}", **offers},
                      permits={"address": f"127.0.0.1:{free_port()}", **offers})
        stint = self.start_stint(made, admin_context=authority.context())
        for port, path in ((stint.admin_port, "/readyz"), (permits_port(stint), "/healthz")):
            for version, wanted in (("--http2", "2 200"), ("--http1.1", "1.1 200")):
                done = run(["curl", "-sS", version, "--cacert", str(authority.certificate), "-o", "/dev/null",
                            "-w", "%{http_version} %{http_code}", f"https://localhost:{port}{path}"])
                self.assertEqual(done.stdout, wanted, done.stderr)


if __name__ == "__main__":
    unittest.main()
