"""A view of the admin listener that is watched: server-sent events."""

import contextlib
import json
import signal
import unittest

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.waiting import wait_until

EVENTS = [("Accept", "text/event-stream")]


def data_of(event):
    """The event's type and data, as the HTML standard puts them together."""
    kind, data = "message", []
    for line in event.decode().splitlines():
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            data.append(value)
    return kind, json.loads("\n".join(data))


class Events(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        self.stint = self.stint_before(
            self.upstream, limits={"budget": {"requests": 100, "per": "1h"}}, route_limits=["budget"])
        self.admin = self.stint.admin

    def watch(self, target="/limits", fields=tuple(EVENTS)):
        client = self.enterContext(RawClient(self.admin.port))
        client.send_request("GET", target, fields, host="localhost")
        return client

    def next_event(self, client):
        return data_of(client.read_until(b"\n\n"))

    def test_a_view_is_sent_again_every_second(self):
        client = self.watch("/limits/budget")
        head = client.read_until(b"\r\n\r\n").decode()
        self.assertIn(" 200 ", head)
        self.assertIn("Content-Type: text/event-stream", head)
        self.assertIn("Cache-Control: no-store", head)
        kind, first = self.next_event(client)
        self.assertEqual((kind, first["used"]), ("message", 0))
        fetch(self.stint.port)
        wait_until(lambda: self.next_event(client)[1]["used"] == 1, "the request in an event")

    def test_only_a_get_that_asks_for_events_gets_them(self):
        for fields in ([("Accept", "application/json")], [("Accept", "text/event-streams")],
                       [("Accept", "text/event-stream;q=0, */*")], []):
            once = fetch(self.admin.port, "GET", "/limits", fields, host="localhost")
            self.assertEqual(once.get("Content-Type"), "application/json")
        several = [("Accept", "text/html;q=0.5, Text/Event-Stream;q=0.1")]
        client = self.watch("/limits", several)
        self.assertIn("text/event-stream", client.read_until(b"\r\n\r\n").decode())
        head = fetch(self.admin.port, "HEAD", "/limits", EVENTS, host="localhost")
        self.assertEqual((head.status, head.get("Content-Type")), (200, "application/json"))

    def test_an_error_is_an_ordinary_response_and_text_is_not_watched(self):
        self.assertEqual(fetch(self.admin.port, "GET", "/limits/none", EVENTS, host="localhost").status, 404)
        metrics = fetch(self.admin.port, "GET", "/metrics", EVENTS, host="localhost")
        self.assertTrue(metrics.get("Content-Type").startswith("text/plain"))

    def test_no_more_than_16_watch_and_one_that_leaves_makes_room(self):
        with contextlib.ExitStack() as stack:
            clients = []
            for _ in range(16):
                client = stack.enter_context(RawClient(self.admin.port))
                client.send_request("GET", "/limits", EVENTS, host="localhost")
                client.read_until(b"\n\n")
                clients.append(client)
            refused = fetch(self.admin.port, "GET", "/limits", EVENTS, host="localhost")
            self.assertEqual((refused.status, "16 clients" in refused.body.decode()), (503, True))
            self.assertEqual(self.admin.get("/limits")["limits"][0]["name"], "budget")
            clients[0].close()

            def let_in():
                with RawClient(self.admin.port) as client:
                    client.send_request("GET", "/limits", EVENTS, host="localhost")
                    return b" 200 " in client.read_until(b"\r\n\r\n")

            wait_until(let_in, "room for another")

    def test_a_view_that_ends_ends_its_stream(self):
        client = self.watch("/limits/budget")
        client.read_until(b"\r\n\r\n")
        self.next_event(client)
        self.stint.write(config(
            self.upstream.address, limits={"other": {"requests": 1, "per": "1h"}}, route_limits=["other"]))
        self.assertEqual(self.admin.reload().status, 200)
        kind, problem = "message", {}
        while kind == "message":
            kind, problem = self.next_event(client)
        self.assertEqual((kind, problem["status"]), ("error", 404))
        self.assertTrue(client.ends())

    def test_a_client_that_watches_does_not_keep_the_gateway_from_stopping(self):
        client = self.watch()
        client.read_until(b"\r\n\r\n")
        self.next_event(client)
        self.stint.signal(signal.SIGTERM)
        self.assertEqual(self.stint.process.wait(10), 0)
        client.read_to_end()


if __name__ == "__main__":
    unittest.main()
