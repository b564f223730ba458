"""Requests that are in flight until a test ends them."""

import threading

from .client import RawClient
from .messages import response_bytes
from .waiting import wait_until


class EndedRequests:
    """For a SystemTest, as its first base. Its upstream runs `script`. ends: an event for each target. under_way: the
    targets of the requests that the upstream has got."""

    def setUp(self):
        super().setUp()
        self.ends, self.under_way = {}, []
        self.addCleanup(self.end_all)

    def script(self, connection):
        while True:
            request = connection.read_request()
            end = self.ends.setdefault(request.target, threading.Event())
            self.under_way.append(request.target)
            end.wait(60)
            connection.send(response_bytes())

    def begin(self, stint, target: str) -> RawClient:
        client = RawClient(stint.port)
        self.addCleanup(client.close)
        client.send_request(target=target)
        wait_until(lambda: target in self.under_way, f"{target} is under way")
        return client

    def end(self, target: str, client) -> None:
        self.ends[target].set()
        self.assertEqual(client.read_response().status, 200)

    def end_all(self) -> None:
        for each in self.ends.values():
            each.set()
