"""The bounds of an HTTP/2 connection that a listener's key `http2` sets."""

import json
import threading
import time
import unittest

from hyperframe.frame import PingFrame, SettingsFrame

from support.case import SystemTest, config
from support.floods import PING, PRIORITY, SETTINGS, UNKNOWN, frame, window
from support.http2 import Gone, Http2Client
from support.locks_case import LocksTest
from support.locks_client import lock_path
from support.permits_client import permits_config, permits_port, take_path
from support.upstream import answer
from support.waiting import wait_until

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def answers_later():
    """An event, and the script of an upstream that answers once it is set."""
    go_on = threading.Event()

    def script(connection):
        while connection.read_request():
            go_on.wait(20)
            connection.send(OK)

    return go_on, script


class BoundsTest(SystemTest):
    def start(self, bounds, script=None, **more):
        self.upstream = self.start_upstream(script or answer(b"hello"))
        return self.start_stint(
            config(self.upstream.address, listener={"h2c": True, "http2": bounds}, **more))

    def client(self, port, **more) -> Http2Client:
        client = Http2Client.to(port, **more)
        self.addCleanup(client.close)
        return client


class Connections(BoundsTest):
    def test_what_is_announced(self):
        stint = self.start({"max_streams": 7, "stream_window": "4KiB", "connection_window": "64KiB"})
        client = self.client(stint.port)
        client.until(lambda: client.settings)
        self.assertEqual(client.settings[SettingsFrame.MAX_CONCURRENT_STREAMS], 7)
        self.assertEqual(client.settings[SettingsFrame.INITIAL_WINDOW_SIZE], 4096)
        shown = stint.admin.get("/config")["listeners"][0]["http2"]
        self.assertEqual(shown, {"max_streams": 7, "max_waiting_streams": 20, "max_requests": 10000,
                                 "stream_window": "4KiB", "connection_window": "64KiB", "max_glitches": 500})

    def test_streams_beyond_max_streams_are_refused(self):
        go_on, script = answers_later()
        stint = self.start({"max_streams": 3}, script)
        client = self.client(stint.port, acknowledges=False)
        streams = [client.request() for _ in range(5)]
        self.assertEqual([client.response(stream).reset for stream in streams[3:]], [7, 7])
        go_on.set()
        self.assertEqual([client.response(stream).status for stream in streams[:3]], [200] * 3)

    def test_an_upload_larger_than_a_small_window(self):
        bodies = []

        def script(connection):
            while request := connection.read_request():
                bodies.append(request.body)
                connection.send(OK)

        stint = self.start({"stream_window": "4KiB"}, script)
        client = self.client(stint.port)
        whole, at = bytes(range(250)) * 400, 0
        stream, window = client.request("POST", end=False), {}
        client.until(lambda: client.settings)
        window[stream] = 4096
        while at < len(whole):
            part = whole[at:at + min(1000, window[stream])]
            if part:
                client.send(client.data(stream, part, at + len(part) == len(whole)))
                at += len(part)
                window[stream] -= len(part)
                continue
            frame = client.frame()
            if frame.stream_id == stream and hasattr(frame, "window_increment"):
                window[stream] += frame.window_increment
        self.assertEqual(client.response(stream).status, 200)
        self.assertTrue(bodies == [whole])

    def test_after_max_requests_the_client_connects_anew(self):
        stint = self.start({"max_requests": 10})
        client = self.client(stint.port)
        for _ in range(10):
            self.assertEqual(client.get().status, 200)
        self.assertTrue(client.until_gone())
        self.assertEqual([code for _, code in client.goaways], [0, 0])

    def test_max_requests_off(self):
        client = self.client(self.start({"max_requests": "off"}).port)
        for _ in range(105):
            streams = [client.request() for _ in range(100)]
            self.assertEqual({client.response(stream).status for stream in streams}, {200})
        self.assertEqual(client.goaways, [])

    def test_frames_that_are_no_requests_gain_an_idle_connection_no_time(self):
        stint = self.start({}, timeouts={"idle": "2s"})
        frames = {"PING": frame(PING, 0, 0, bytes(8)), "SETTINGS": frame(SETTINGS), "WINDOW_UPDATE": window(1),
                  "PRIORITY": frame(PRIORITY, 0, 1, bytes((0, 0, 0, 3, 0))), "unknown": frame(UNKNOWN, 0, 0, b"abc")}
        clients = [self.client(stint.port, seconds=0.1) for _ in frames]
        left = dict(zip(frames, clients, strict=True))
        end = time.monotonic() + 20
        while left and time.monotonic() < end:
            for name, client in tuple(left.items()):
                try:
                    client.raw(frames[name])
                    while True:
                        client.frame()
                except TimeoutError:
                    continue
                except Gone:
                    del left[name]
        self.assertEqual(list(left), [])
        for client in clients:
            self.assertEqual([code for _, code in client.goaways], [0])

    def test_max_glitches(self):
        stint = self.start({"max_glitches": 20})
        client = self.client(stint.port)
        client.get()
        client.send(*[PingFrame(0, b"01234567")] * 20)
        self.assertTrue(client.until_gone())
        self.assertEqual(client.goaways[-1][1], 11)

    def test_a_reload_is_for_new_connections(self):
        stint = self.start({"max_requests": 10})
        before = self.client(stint.port)
        before.get()
        changed = json.loads(json.dumps(stint.config))
        changed["listeners"][0]["http2"] = {"max_requests": 5, "max_streams": 9}
        stint.write(changed)
        self.assertEqual(stint.admin.reload().status, 200)
        after = self.client(stint.port)
        after.until(lambda: after.settings)
        self.assertEqual(after.settings[SettingsFrame.MAX_CONCURRENT_STREAMS], 9)
        for _ in range(8):
            self.assertEqual(before.get().status, 200)
        self.assertEqual(before.goaways, [])
        for _ in range(5):
            after.get()
        self.assertTrue(after.until_gone())


class Waiting(BoundsTest):
    """A stream that has no place among max_waiting_streams is refused as if its queue were full."""

    BOUNDS = {"max_waiting_streams": 2}

    def refusals(self, client, streams):
        """The statuses and Retry-After of those that are answered."""
        return [(each.status, each.get("retry-after"))
                for stream in streams if (each := client.responses.get(stream)) and each.ended]

    def refused(self, client, streams, number):
        client.until(lambda: len(self.refusals(client, streams)) == number)
        return self.refusals(client, streams)

    def start_waiting(self, **more):
        return self.start(self.BOUNDS, limits={"l": {
            "requests": 1, "per": "60s", "algorithm": "fixed_window", "when_exceeded": "wait", "max_wait": "600s",
            **more}}, route_limits=["l"])

    def test_before_a_limit(self):
        stint = self.start_waiting()
        client = self.client(stint.port)
        self.assertEqual(client.get().status, 200)
        streams = [client.request() for _ in range(5)]
        for status, retry_after in self.refused(client, streams, 3):
            self.assertEqual(status, 429)
            self.assertGreater(int(retry_after), 60)  # behind those that wait
        client.reset(streams[0])  # which makes room for one more
        more = [client.request() for _ in range(2)]
        self.assertEqual([status for status, _ in self.refused(client, more, 1)], [429])
        other = self.client(stint.port)  # the queue itself is not full
        waits = [other.request() for _ in range(3)]
        self.assertEqual([status for status, _ in self.refused(other, waits, 1)], [429])
        self.assertEqual(stint.admin.limit("l")["waiting"], 4)
        replaced = other.replace([stream for stream in waits if stream not in other.responses])
        self.assertEqual(len(replaced), 2)
        self.assertEqual(other.response(other.request()).status, 429)
        self.assertFalse(any(stream in other.responses for stream in replaced))

    def test_its_retry_after_is_that_of_a_full_queue(self):
        told = []
        for bounds, most in (({"max_waiting_streams": 2}, 100), ({}, 2)):
            stint = self.start(bounds, limits={"l": {
                "requests": 1, "per": "60s", "when_exceeded": "wait", "max_wait": "600s", "max_waiting": most}},
                route_limits=["l"])
            client = self.client(stint.port)
            self.assertEqual(client.get().status, 200)
            streams = [client.request() for _ in range(3)]
            told += [int(retry_after) for _, retry_after in self.refused(client, streams, 1)]
        self.assertAlmostEqual(told[0], told[1], delta=2)

    def test_none(self):
        self.BOUNDS = {"max_waiting_streams": 0}
        client = self.client(self.start_waiting().port)
        self.assertEqual([client.get().status for _ in range(3)], [200, 429, 429])

    def test_over_http1_each_may_wait(self):
        stint = self.start_waiting()
        client = self.client(stint.port)
        client.get()
        self.assertEqual(len(self.refused(client, [client.request() for _ in range(4)], 2)), 2)

    def test_before_a_cap(self):
        go_on, script = answers_later()
        stint = self.start(self.BOUNDS, script, limits={"c": {
            "concurrent": 1, "when_exceeded": "wait", "max_wait": "60s"}}, route_limits=["c"])
        client = self.client(stint.port)
        streams = [client.request() for _ in range(5)]
        self.assertEqual([status for status, _ in self.refused(client, streams, 2)], [429, 429])
        go_on.set()
        statuses = sorted(client.response(stream).status for stream in streams)
        self.assertEqual(statuses, [200] * 3 + [429] * 2)
        again = [client.request() for _ in range(3)]  # the places are free again
        self.assertEqual({client.response(stream).status for stream in again}, {200})

    def test_for_an_endpoint(self):
        go_on, script = answers_later()
        upstream = self.start_upstream(script)
        made = config({"address": upstream.address, "max_requests": 1}, listener={"h2c": True, "http2": self.BOUNDS},
                      upstream={"queue": {"max_waiting": 100, "max_wait": "60s"}})
        client = self.client(self.start_stint(made).port)
        streams = [client.request() for _ in range(5)]
        refused = self.refused(client, streams, 2)
        self.assertEqual(refused, [(503, "1")] * 2)
        left = [stream for stream in streams if not client.responses.get(stream)]
        replaced = client.replace(left[1:])  # those that wait
        more = client.request()
        self.assertEqual(client.response(more).status, 503)
        self.assertFalse(any(stream in client.responses for stream in replaced))
        go_on.set()
        self.assertEqual([client.response(stream).status for stream in (left[0], *replaced)], [200] * 3)

    def test_for_an_endpoint_that_is_full(self):
        go_on, script = answers_later()
        upstream = self.start_upstream(script)
        client = self.client(self.start_stint(config(
            {"address": upstream.address, "max_requests": 10}, listener={"h2c": True},
            upstream={"queue": {"max_waiting": 1}})).port)
        streams = [client.request() for _ in range(10)]
        upstream.wait_for_requests(10)
        streams = client.replace(streams)
        upstream.wait_for_requests(20)
        go_on.set()
        self.assertEqual({client.response(stream).status for stream in streams}, {200})

    def test_for_the_end_of_a_pause(self):
        paused = []

        def script(connection):
            while connection.read_request():
                if not paused:
                    paused.append(1)
                    connection.send(b"HTTP/1.1 429 Too Many\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n")
                else:
                    connection.send(OK)

        stint = self.start(self.BOUNDS, script, upstream={"cooldown": {"when_paused": "wait", "max_wait": "60s"}})
        client = self.client(stint.port)
        self.assertEqual(client.get().status, 429)
        streams = [client.request() for _ in range(5)]
        for status, retry_after in self.refused(client, streams, 3):
            self.assertEqual(status, 429)
            self.assertIn(int(retry_after), (2, 3))
        replaced = client.replace([stream for stream in streams if not client.responses.get(stream)])
        self.assertEqual(len(replaced), 2)
        self.assertEqual([client.response(stream).status for stream in replaced], [200] * 2)


class WaitingForPermits(LocksTest):
    PERMITS = {"h2c": True, "http2": {"max_waiting_streams": 2}}

    def ask(self, stint, path, number):
        """That many calls over one connection. Returns the client and the calls' streams."""
        client = Http2Client.to(permits_port(stint))
        self.addCleanup(client.close)
        return client, [client.request("POST", path, body=b'{"wait_ms": 60000}') for _ in range(number)]

    def answered(self, client, streams):
        return [client.responses[stream] for stream in streams
                if stream in client.responses and client.responses[stream].ended]

    def test_takes(self):
        stint = self.start_stint(permits_config(
            {"l": {"requests": 1, "per": "20s", "algorithm": "fixed_window"}}, permits=self.PERMITS))
        client, streams = self.ask(stint, take_path("l"), 5)
        client.until(lambda: len(self.answered(client, streams)) == 3)
        statuses = sorted(each.status for each in self.answered(client, streams))
        self.assertEqual(statuses, [200, 429, 429])

    def test_leases(self):
        stint = self.locks({"only": {"max": 1}}, permits=self.PERMITS)
        client, streams = self.ask(stint, f"{lock_path('only')}/leases", 5)
        client.until(lambda: len(self.answered(client, streams)) == 3)
        self.assertEqual(sorted(each.status for each in self.answered(client, streams)), [201, 409, 409])
        waiting = [stream for stream in streams if not client.responses.get(stream)]
        client.reset(waiting[0])
        wait_until(lambda: stint.admin.get(lock_path("only"))["waiting"] == 1, "the place to be free")
        more = client.request("POST", f"{lock_path('only')}/leases", body=b'{"wait_ms": 60000}')
        wait_until(lambda: stint.admin.get(lock_path("only"))["waiting"] == 2, "another to wait")
        self.assertNotIn(more, client.responses)


if __name__ == "__main__":
    unittest.main()
