"""What clients of gRPC get of Stint's own refusals."""

import base64
import threading
import unittest

from support.case import SystemTest, config
from support.client import fetch
from support.http2 import Http2Client
from support.messages import response_bytes
from support.ports import free_port
from support.upstream import answer

GRPC = [("content-type", "application/grpc"), ("te", "trailers")]


def parsed(data):
    """The fields of a message of Protocol Buffers: number to value."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            at += value
            value = data[at - value:at]
        found[tag >> 3] = value
    return found


class GrpcRefusals(SystemTest):
    def start(self, *, route=None, endpoints=None, **more):
        if endpoints is None:
            endpoints = [self.start_upstream(answer(b"hello")).address]
        made = config(*endpoints, listener={"h2c": True}, **more)
        made["routes"][0].update(route or {})
        stint = self.start_stint(made)
        self.http2 = Http2Client.to(stint.port)
        self.addCleanup(self.http2.close)
        return stint

    def call(self, fields=tuple(GRPC), path="/greeter/Hello", body=b"\0\0\0\0\0"):
        return self.http2.response(self.http2.request("POST", path, list(fields), body))

    def refusal(self, code, **more):
        """A call that is refused with this code: trailers only."""
        response = self.call(**more)
        self.assertEqual((response.status, response.get("content-type")), (200, "application/grpc"))
        self.assertEqual((response.get("grpc-status"), len(response.heads), response.body), (str(code), 1, b""))
        self.assertIsNone(response.get("content-length"))
        self.assertTrue(response.ended)
        text = response.get("grpc-status-details-bin")
        status = parsed(base64.b64decode(text + "=" * (-len(text) % 4)))
        self.assertEqual(status[1], code)
        self.assertNotIn("=", text)
        response.details = status
        return response

    def limited(self, **more):
        stint = self.start(limits={"l": {"requests": 1, "per": "60s", **more}}, route_limits=["l"])
        self.assertEqual(self.call().body, b"hello")
        return stint

    def test_a_limit_says_when_to_retry(self):
        stint = self.limited()
        response = self.refusal(8)
        self.assertIn("l", response.get("grpc-message"))
        pushback = int(response.get("grpc-retry-pushback-ms"))
        self.assertEqual(response.get("retry-after-ms"), str(pushback))
        self.assertTrue(0 < pushback <= 60_000)
        kind, info = (parsed(response.details[3])[number] for number in (1, 2))
        self.assertEqual(kind, b"type.googleapis.com/google.rpc.RetryInfo")
        delay = parsed(parsed(info)[1])
        self.assertEqual(delay.get(1, 0) * 1000 + delay.get(2, 0) // 1_000_000, pushback)
        # What operators see is what the request was refused for.
        self.assertEqual(stint.wait_for_lines(2)[1]["status"], 429)

    def test_the_head_ends_the_stream(self):
        self.limited()
        stream = self.http2.request("POST", "/", GRPC, b"x")
        while True:
            frame = self.http2.frame()
            if frame.stream_id == stream and frame.type == 1:
                break
        self.assertIn("END_STREAM", frame.flags)

    def test_forms_of_the_content_type(self):
        self.limited()
        self.refusal(8, fields=[("content-type", "application/grpc+proto")])
        for other in ("application/grpc-web", "application/json"):
            response = self.call(fields=[("content-type", other)])
            self.assertEqual((response.status, response.get("grpc-status")), (429, None))

    def test_a_client_of_http1_is_no_client_of_grpc(self):
        stint = self.limited()
        response = fetch(stint.port, "POST", "/", GRPC, body=b"x")
        self.assertEqual((response.status, response.get("grpc-status")), (429, None))

    def test_a_route_may_choose_unavailable(self):
        self.start(limits={"l": {"requests": 1, "per": "60s"}}, route_limits=["l"],
                   route={"grpc_refusal": "unavailable"})
        self.call()
        self.assertIsNotNone(self.refusal(14).get("grpc-retry-pushback-ms"))

    def test_a_limit_with_an_answer_of_its_own(self):
        self.limited(status=503, body={"content_type": "text/html", "text": "<b>no</b>"})
        response = self.refusal(8)
        self.assertNotIn("<b>", response.get("grpc-message"))

    def test_a_call_that_costs_more_than_the_limit_is_never_to_be_repeated(self):
        self.start(limits={"l": {"requests": 1, "per": "60s", "cost": "header:X-Cost"}}, route_limits=["l"])
        response = self.refusal(8, fields=[*GRPC, ("x-cost", "2")])
        self.assertEqual(response.get("grpc-retry-pushback-ms"), "-1")
        self.assertNotIn(3, response.details)

    def test_a_full_queue(self):
        self.start(limits={"l": {"requests": 1, "per": "60s", "when_exceeded": "wait", "max_wait": "600s",
                                 "max_waiting": 1}}, route_limits=["l"])
        self.call()
        self.http2.request("POST", "/", GRPC, b"x")
        self.refusal(8)

    def test_too_many_requests_under_way(self):
        go_on = threading.Event()
        self.addCleanup(go_on.set)

        def hold(connection):
            while connection.read_request():
                go_on.wait(20)
                connection.send(response_bytes(b"ok"))

        upstream = self.start_upstream(hold)
        self.start(endpoints=[upstream.address], max_requests_in_flight=1)
        self.http2.request("POST", "/", GRPC, b"x")
        upstream.wait_for_requests(1)
        response = self.refusal(14)
        self.assertEqual(response.get("grpc-retry-pushback-ms"), "1000")
        self.assertIn("max_requests_in_flight", response.get("grpc-message"))
        go_on.set()

    def test_a_pause(self):
        def script(connection):
            while connection.read_request():
                connection.send(b"HTTP/1.1 429 Too Many\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n")

        self.start(endpoints=[self.start_upstream(script).address], upstream={"cooldown": "on"})
        self.assertEqual(self.call().status, 429)  # the upstream's own answer is not changed
        self.assertTrue(0 < int(self.refusal(14).get("grpc-retry-pushback-ms")) <= 30_000)

    def test_other_refusals(self):
        self.start(endpoints=[f"127.0.0.1:{free_port()}"], route={"match": {"path": "/greeter"}})
        self.assertIn("upstream", self.refusal(14).get("grpc-message"))
        self.refusal(12, path="/nowhere")

    def test_a_limit_denies(self):
        self.start(limits={"l": {"requests": 1, "per": "60s", "key": "client_ip", "deny": ["127.0.0.1"]}},
                   route_limits=["l"])
        self.refusal(7)


if __name__ == "__main__":
    unittest.main()
