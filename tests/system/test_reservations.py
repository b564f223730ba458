"""retry_after: reserve. Everybody who is refused is told an instant of its own, and is admitted then."""

import asyncio
import collections
import json
import threading
import time
import unittest

from support.case import SystemTest, report, scaled
from support.client import RawClient, fetch
from support.messages import parse_head, request_bytes, response_bytes, Response
from support.over_tls import OVER_TLS, asyncio_settings

TICKET = "X-Stint-Ticket"


class Noting:
    """An upstream's script that notes when each request came."""

    def __init__(self):
        self.came = collections.defaultdict(list)  # target: instants
        self._lock = threading.Lock()

    def __call__(self, connection):
        while True:
            request = connection.read_request_head()
            now = time.monotonic()
            with self._lock:
                self.came[request.target].append(now)
            connection.send(response_bytes())


def address(number: int) -> str:
    """A loopback address of its own for each client."""
    return f"127.1.{number >> 8}.{number & 255}"


def told(response) -> float:
    """Seconds to wait, as exactly as it was told."""
    return int(response.get("Retry-After-Ms")) / 1000


async def ask(port, source, target, ticket=None):
    """One request on a connection of its own; its response's head."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, local_addr=(source, 0), **asyncio_settings())
    try:
        writer.write(request_bytes(target=target, fields=[(TICKET, ticket)] if ticket else []))
        return parse_head(Response, (await reader.readuntil(b"\r\n\r\n"))[:-4])
    finally:
        writer.close()


class Crowd:
    """Comes at once until `refused` were, each from its own address; those come back when told.
    Every third without its ticket; every third elsewhere, so that only its ticket can help; the
    others with both, and by the whole seconds of Retry-After."""

    def __init__(self, port: int, refused: int):
        self.port = port
        self.wanted = refused
        self.refused = []
        self.statuses = []  # of those that came back

    async def run(self):
        number = 0
        while len(self.refused) < self.wanted:
            batch = range(number, number + 100)
            number += 100
            await asyncio.gather(*(self._come(each) for each in batch))
        self.statuses = await asyncio.gather(
            *(self._come_back(*each) for each in self.refused[:self.wanted]))

    async def _come(self, number):
        response = await ask(self.port, address(number), "/first")
        if response.status == 429:
            self.refused.append((number, time.monotonic(), response))

    async def _come_back(self, number, since, refused):
        kind = number % 3
        wait = int(refused.get("Retry-After")) if kind == 2 else told(refused)
        await asyncio.sleep(max(0, since + wait - time.monotonic()))
        source = address(number + 30_000 if kind == 1 else number)
        ticket = None if kind == 0 else refused.get(TICKET)
        return (await ask(self.port, source, "/again", ticket)).status


class Reservations(SystemTest):
    def before(self, script=None, headers="off", **limit):
        self.script = script or Noting()
        self.upstream = self.start_upstream(self.script)
        return self.stint_before(
            self.upstream, limits={"slots": {"retry_after": "reserve", **limit}},
            route_limits=["slots"], headers=headers, max_connections=1000)

    def use_up(self, stint, count=1):
        for _ in range(count):
            self.assertEqual(fetch(stint.port, source="127.9.9.9").status, 200)

    def test_a_thousand_who_were_refused_are_all_admitted_when_told(self):
        # 1,000 slots of 500 in 2 s and their grace of 2 s: one every 8 ms, for 8 s. Fewer over TLS:
        # with so many handshakes at once this client is late.
        size = 100 if OVER_TLS else 1000
        stint = self.before(requests=size // 2, per="2s")
        crowd = Crowd(stint.port, size)

        asyncio.run(crowd.run())

        seconds = collections.Counter(
            int(came - min(self.script.came["/again"])) for came in self.script.came["/again"])
        report(f"reservations: {size:,} refused, admitted when they come back", size,
               crowd.statuses.count(200))
        most = scaled(600, 250) * size // 1000  # 125 a second are due; a spike would be 1,000
        report("reservations: most of them in a second, of 125", f"at most {most}",
               max(seconds.values()))
        self.assertEqual(collections.Counter(crowd.statuses), {200: size})
        self.assertLessEqual(max(seconds.values()), most, seconds)
        limit = stint.admin.limit("slots")
        self.assertEqual(limit["slots_claimed"], size)
        self.assertGreaterEqual(limit["slots_given"], size)
        self.assertEqual(limit["slots_missed"], 0)

    def test_only_the_ticket_itself_is_one(self):
        stint = self.before(requests=1, per="1s")
        self.use_up(stint)
        refused = fetch(stint.port, source="127.9.0.1")
        ticket = refused.get(TICKET)
        self.assertRegex(ticket, "^[0-9a-f]{48}$")
        time.sleep(told(refused))

        forged = [
            ticket[:-1] + ("0" if ticket[-1] != "0" else "1"),
            f"{int(ticket[:16], 16) + 1:016x}{ticket[16:]}",
            ticket[:16], ticket + "0", "1", "x" * 48]
        for each in forged:
            answer = fetch(stint.port, source="127.9.0.2", fields=[(TICKET, each)])
            self.assertEqual(answer.status, 429, each)

        claim = [(TICKET, ticket)]
        self.assertEqual(fetch(stint.port, source="127.9.0.3", fields=claim).status, 200)
        self.assertEqual(fetch(stint.port, source="127.9.0.3", fields=claim).status, 429)

    def test_the_key_of_the_client_is_enough(self):
        stint = self.before(requests=1, per="1s", reserve_for="header:X-Team")
        self.use_up(stint)
        refused = fetch(stint.port, fields=[("X-Team", "a")])
        time.sleep(told(refused))

        self.assertEqual(fetch(stint.port, fields=[("X-Team", "b")]).status, 429)
        self.assertEqual(fetch(stint.port, fields=[("X-Team", "a")]).status, 200)

    def test_too_early_with_a_ticket_is_told_the_same_instant(self):
        stint = self.before(requests=1, per="2s", headers="draft")
        self.use_up(stint)
        first = fetch(stint.port)
        began = time.monotonic()
        time.sleep(0.3)
        again = fetch(stint.port, fields=[(TICKET, first.get(TICKET))])

        self.assertEqual(again.status, 429)
        self.assertEqual(again.get(TICKET), first.get(TICKET))
        self.assertAlmostEqual(
            told(again), told(first) - (time.monotonic() - began), delta=0.1)
        self.assertIn(f';t={again.get("Retry-After")}', again.get("RateLimit"))
        self.assertEqual(stint.admin.limit("slots")["reserved"], 1)

    def test_what_is_held_is_told_and_shown(self):
        stint = self.before(requests=1, per="1h", key="header:X-Counter")
        for _ in range(3):
            fetch(stint.port, fields=[("X-Counter", "a")])

        limit = stint.admin.limit("slots")
        self.assertEqual(limit["retry_after"], "reserve")
        self.assertEqual(limit["reserve_for"], "client_ip")
        self.assertEqual(
            [limit[name] for name in ("reserved", "slots_given", "slots_claimed", "slots_missed")],
            [1, 1, 0, 0])  # a client has as many as the quota
        metrics = stint.admin.metrics()
        for name, value in (("stint_limit_reserved", 1), ("stint_limit_slots_given_total", 1),
                            ("stint_limit_slots_claimed_total", 0),
                            ("stint_limit_slots_missed_total", 0)):
            self.assertEqual(metrics.sum(name, limit="slots"), value, name)
        shown = json.loads(stint.admin.request("GET", "/config").text())["limits"]["slots"]
        self.assertEqual((shown["retry_after"], shown["reserve_for"]), ("reserve", "client_ip"))

    def test_a_slot_outlives_a_reload(self):
        stint = self.before(requests=1, per="1s")
        self.use_up(stint)
        refused = fetch(stint.port, source="127.9.0.1")
        stint.config["limits"]["slots"]["status"] = 503
        stint.write(stint.config)
        self.assertEqual(stint.admin.reload().status, 200)
        time.sleep(told(refused))

        self.assertEqual(fetch(stint.port, source="127.9.0.2").status, 503)
        claim = [(TICKET, refused.get(TICKET))]
        self.assertEqual(fetch(stint.port, source="127.9.0.3", fields=claim).status, 200)

    def test_a_limit_that_only_looks_on_gives_nothing(self):
        stint = self.before(requests=1, per="1h", enforce=False)

        self.assertEqual([fetch(stint.port).status for _ in range(3)], [200] * 3)
        self.assertEqual(stint.admin.limit("slots")["slots_given"], 0)


class Tickets(SystemTest):
    def test_no_upstream_sees_one(self):
        for limits in ([], [{"requests": 100, "per": "1s", "retry_after": "reserve"}]):
            upstream = self.start_upstream()
            stint = self.stint_before(upstream, route_limits=limits)
            fields = [(TICKET, "0" * 48), ("x-stint-ticket", "1"), ("X-Other", "stays")]

            self.assertEqual(fetch(stint.port, fields=fields).status, 200)

            self.assertNotIn(b"ticket", upstream.received.lower())
            self.assertIn(b"X-Other: stays", upstream.received)

    def test_a_connection_goes_on_after_a_refusal_with_a_ticket(self):
        stint = self.stint_before(
            self.start_upstream(),
            route_limits=[{"requests": 1, "per": "1h", "retry_after": "reserve"}])
        with RawClient(stint.port) as client:
            client.send(request_bytes() * 3)
            self.assertEqual([client.read_response().status for _ in range(3)], [200, 429, 429])


if __name__ == "__main__":
    unittest.main()
