"""Each attack of support/floods.py ends its connection after a bounded number of frames, is counted by its kind, and
leaves other connections served; and clients that hold what they do not read."""

import unittest

from hyperframe.frame import SettingsFrame, WindowUpdateFrame

from support.case import SystemTest, config
from support.certificates import Authority
from support.floods import DRIBBLE, FLOODS, Attacker
from support.http2 import Gone, Http2Client, Response
from support.upstream import answer
from support.waiting import wait_until

PATIENCE = 30.0


class FloodsTest(SystemTest):
    def start(self, script=None, **more):
        upstream = self.start_upstream(script or answer(b"hello"))
        return self.start_stint(config(
            upstream.address, workers=1, limits={"all": {"concurrent": 1000}}, route_limits=["all"], **more))

    def client(self, stint, **more) -> Http2Client:
        client = Http2Client.to(stint.port, **more)
        self.addCleanup(client.close)
        return client

    def counted(self, stint, kinds):
        metrics = stint.admin.metrics()
        return sum(metrics.sum("stint_http2_glitches_total", kind=kind) for kind in kinds)

    def play_all(self, stint, other, context=None):
        for flood in FLOODS:
            with self.subTest(flood.name):
                before = self.counted(stint, flood.kinds)
                outcome = Attacker(stint.port, flood.prepared(), flood.reply, context).play(PATIENCE)
                self.assertTrue(outcome.closed, f"{flood.most} do not end the connection")
                if flood.kinds:
                    self.assertGreater(self.counted(stint, flood.kinds), before)
                self.assertEqual(other.get().status, 200)
        stint.wait_idle()


class Floods(FloodsTest):
    def test_each_ends_its_connection(self):
        stint = self.start(listener={"h2c": True})
        self.play_all(stint, self.client(stint))

    def test_windows_that_are_opened_byte_by_byte(self):
        stint = self.start(answer(b"x" * 10_000), listener={"h2c": True})
        outcome = Attacker(stint.port, DRIBBLE.prepared(), DRIBBLE.reply).play(PATIENCE, patience=3)
        self.assertTrue(outcome.closed)
        self.assertGreater(self.counted(stint, DRIBBLE.kinds), 0)

    def test_rests_of_windows_that_go_round_are_no_flood(self):
        stint = self.start(answer(b"x" * 10_000_000), listener={"h2c": True})
        client = self.client(stint, window=0)
        stream = client.request()
        for _ in range(600):
            for size in (1000, 1):  # each given back to the stream and to the connection
                already = len(client.responses[stream].body) if stream in client.responses else 0
                client.send(WindowUpdateFrame(stream, size), WindowUpdateFrame(0, size))
                client.until(lambda: stream in client.responses
                             and len(client.responses[stream].body) == already + size)
        self.assertEqual(client.goaways, [])
        self.assertEqual(self.counted(stint, ["window_update"]), 0)

    def test_windows_that_are_given_back_in_small_parts_are_no_flood(self):
        size, part = 4_000_000, 1024
        stint = self.start(answer(b"x" * size), listener={"h2c": True})
        client = self.client(stint)
        client.gives_window = False
        stream = client.request()
        response = client.responses.setdefault(stream, Response())
        given = 0
        while not response.ended:
            client.frame()
            while given + part <= len(response.body):
                given += part
                client.send(WindowUpdateFrame(stream, part), WindowUpdateFrame(0, part))
        self.assertEqual((len(response.body), client.goaways), (size, []))
        self.assertEqual(self.counted(stint, ["window_update"]), 0)

    def test_uploads_that_are_given_up_when_they_are_refused_are_no_flood(self):
        stint = self.start(listener={"h2c": True}, max_body=10)
        client = self.client(stint)
        for _ in range(600):
            stream = client.request("POST", "/", [("content-length", "1000000")], end=False)
            self.assertEqual(client.response(stream).status, 413)
            client.until(lambda stream=stream: client.responses[stream].reset is not None)
            client.reset(stream, 0)
        self.assertEqual((client.get().status, client.goaways), (200, []))
        self.assertEqual(self.counted(stint, ["reset_received"]), 0)

    def test_each_ends_its_connection_over_tls(self):
        authority = Authority(self.new_folder())
        stint = self.start(listener={
            "http": ["h2", "http/1.1"], "tls": {"certificates": [authority.issue("localhost").tls()]}})
        context = authority.context()
        context.set_alpn_protocols(["h2"])
        self.play_all(stint, self.client(stint, context=context), context)


class Held(FloodsTest):
    """Clients that ask for what they do not take."""

    TIMES = {"head": "500ms", "body_idle": "500ms"}

    def until_reset(self, client, streams):
        client.until(lambda: all(client.responses[each].reset is not None for each in streams))
        return {client.responses[each].reset for each in streams}

    def test_windows_that_are_never_opened(self):
        for size in (1, 3000, 50_000, 1_000_000):  # copied, in place, and longer than what is read of it
            with self.subTest(size):
                stint = self.start(answer(b"x" * size), listener={"h2c": True}, timeouts=self.TIMES)
                client = self.client(stint, window=0)
                streams = [client.request() for _ in range(50)]
                client.until(lambda: all(each in client.responses for each in streams))
                self.assertTrue(self.until_reset(client, streams) <= {2, 8})
                wait_until(lambda: stint.in_flight() == 0, "no request is left")
                client.send(SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: size}),
                            WindowUpdateFrame(0, size))
                self.assertEqual(len(client.get().body), size)

    def test_a_window_of_the_connection_that_is_never_opened(self):
        stint = self.start(answer(b"x" * 40_000), listener={"h2c": True}, timeouts=self.TIMES)
        client = self.client(stint)
        client.gives_window = False
        streams = [client.request() for _ in range(50)]
        client.until(lambda: all(each in client.responses for each in streams))
        client.until(lambda: all(each.ended or each.reset is not None for each in map(client.responses.get, streams)))
        self.assertEqual(sum(client.responses[each].ended for each in streams), 1)
        wait_until(lambda: stint.in_flight() == 0, "no request is left")

    def test_a_client_that_reads_nothing(self):
        stint = self.start(answer(b"x" * 1_000_000), listener={"h2c": True}, timeouts=self.TIMES)
        client = self.client(stint)
        client.send(SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 2**31 - 1}),
                    WindowUpdateFrame(0, 2**31 - 1 - 65535))
        for _ in range(100):
            client.request()
        wait_until(lambda: stint.in_flight() > 0, "requests have come")
        wait_until(lambda: stint.in_flight() == 0, "no request is left")
        with self.assertRaises(Gone):
            while True:
                client.frame()


if __name__ == "__main__":
    unittest.main()
