"""Only what a permit listener says is a grant. Whatever else answers 200 or 201 is a mistake that is named."""

import asyncio
import json
import socket
import sys
import unittest
from unittest import mock

from support import ClientTest, wait_until

from stint import (Client, Lock, Locker, NamedLock, RateLimiter, RateLimitException, StintError,
                   StintUnavailable)
from stint._keeper import Keeper
from stint._lease import Lease

STATE = {"limit": 5, "remaining": 4, "reset_ms": 800}
LEASE = {"lease": "l_" + "0" * 32, "lock": "a", "fence": 7, "max": 1, "count": 1, "expires_in_ms": 30_000,
         "waited_ms": 0}


def reply(status, body, kind="application/json"):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return (f"HTTP/1.1 {status} Whatever\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(content)}\r\n\r\n").encode() + content


# What a proxied site, another API or a page of a login answers to a POST.
NO_GRANTS = (b"", b"<html>hello</html>", b"{}", b"[]", b"null", b"true", b"\xff", b'{"granted":true,',
             {"granted": False, **STATE}, {"granted": 1, **STATE}, {"granted": "true", **STATE}, {"ok": True}, STATE,
             {"granted": True}, {"granted": True, "limit": 5}, {"granted": True, **STATE, "remaining": "4"},
             {"granted": True, **STATE, "reset_ms": -1}, {"granted": True, **STATE, "limit": True},
             {"granted": True, "route": "everything", "not_checked": []}, {"granted": True, "limits": {}}, LEASE)
NO_LEASES = (b"", b"<html>hello</html>", b"{}", b"[]", {"granted": True, **STATE}, {"lease": "l_0"},
             {"lease": LEASE["lease"]}, {**LEASE, "lease": 5}, {**LEASE, "lock": "b"}, {**LEASE, "fence": "7"},
             {**LEASE, "expires_in_ms": None}, {**LEASE, "waited_ms": -1}, {**LEASE, "max": True}, {"id": 7})


# What Stint's own proxy and others forward or say, whose end is not told by a length.
ENDLESS = tuple(f"HTTP/1.1 {status} X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n".encode()
                for status in (200, 201, 302, 400, 404, 405, 500))
PROXY_S_502 = (b"HTTP/1.1 502 Bad Gateway\r\nServer: stint\r\nContent-Type: application/problem+json\r\n"
               b"Content-Length: 59\r\n\r\n" + b'{"type":"about:blank","title":"Bad Gateway","status": 502}\n')
NO_ROUTE = {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "no route takes this host and path"}


class FailClosed(ClientTest):
    def setUp(self):
        self.there = self.locks()

    def assert_mistake(self, call):
        with self.assertRaisesRegex(StintError, "permits:") as caught:
            call()
        self.assertIn(self.there.url, str(caught.exception))


class Takes(FailClosed):
    def calls(self):
        url = self.there.url
        client, plain = Client(url, timeout=20), RateLimiter(name="a", url=url)
        batch, shared = RateLimiter(name="a", url=url, batch=5), RateLimiter(
            5, 1, name="a", url=url, on_unavailable="local_share", share=2)
        limits = [{"name": "a"}]
        yield from (lambda: client.take("a"), lambda: client.take("a", cost=0), lambda: client.take_all(limits),
                    lambda: client.take("a", batch=5), lambda: client.take("a", wait_ms=10),
                    plain.limiting, plain.sleep_and_retry, batch.limiting, batch.sleep_and_retry,
                    shared.limiting, shared.sleep_and_retry, Locker(url, "a").next,
                    RateLimiter(name="a", url=url, on_unavailable="wait").limiting)
        for call in (lambda: client.take_async("a"), lambda: client.take_all_async(limits),
                     plain.limiting_async, plain.sleep_and_retry_async, batch.limiting_async):
            yield lambda call=call: asyncio.run(call())

    def test_a_200_of_something_else(self):
        for body in NO_GRANTS:
            self.there.script = reply(200, body)
            for number, call in enumerate(self.calls()):
                with self.subTest(body=body, call=number):
                    self.assert_mistake(call)

    def test_another_success(self):
        for status in (201, 202, 204, 206, 301):
            self.there.script = reply(status, b"" if status == 204 else {"granted": True, **STATE})
            for number, call in enumerate(self.calls()):
                with self.subTest(status=status, call=number):
                    self.assert_mistake(call)

    def test_more_or_less_than_was_asked_for(self):
        client = Client(self.there.url, timeout=20)
        limiter = RateLimiter(name="a", url=self.there.url, batch=5)
        for count in (None, 0, 6, -1, 2.5, True, "5"):
            self.there.script = reply(200, {"granted": True, **STATE, "waited_ms": 0, "count": count})
            for call in (lambda: client.take("a", batch=5), limiter.limiting,
                         lambda: asyncio.run(limiter.limiting_async())):
                with self.subTest(count=count):
                    self.assert_mistake(call)
        for states in ([], [{**STATE, "name": "b"}], [{**STATE, "name": "a"}] * 2, [STATE], ["a"]):
            self.there.script = reply(200, {"granted": True, "waited_ms": 0, "limits": states})
            with self.subTest(states=states):
                self.assert_mistake(lambda: client.take_all([{"name": "a"}]))

    def test_a_refused_call_is_not_admitted(self):
        self.there.script = reply(200, b"<html>")
        limiter = RateLimiter(name="a", url=self.there.url)
        for _ in range(3):
            with self.assertRaises(StintError):
                limiter.limiting()
        self.assertEqual((limiter.attempts, limiter.admitted, limiter.refused), (3, 0, 0))

    def test_a_proxy_s_answers_name_the_mistake(self):
        for status in (400, 404, 405, 501):
            self.there.script = reply(status, b"<html>no such page</html>", "text/html")
            with self.subTest(status):
                self.assert_mistake(lambda: Client(self.there.url, timeout=20).take("a"))

    def test_an_answer_whose_end_or_status_no_permit_listener_gives(self):
        whole = json.dumps({"granted": True, **STATE, "waited_ms": 0}).encode()
        for answer in (*ENDLESS, b"HTTP/1.1 200 OK\r\n\r\n" + whole, b"SSH-2.0-OpenSSH_9.2\r\n",
                       b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n%s" % (
                           len(whole), whole),
                       b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n<html>", b"HTTP/2 200\r\n\r\n",
                       b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%sx" % (len(whole), whole)):
            self.there.script = answer
            for number, call in enumerate(self.calls()):
                with self.subTest(answer=answer, call=number):
                    self.assert_mistake(call)
        wait_until(lambda: self.there.open_connections() == 0, "what came after the head is nobody's answer")

    def test_a_failure_that_is_no_permit_listener_s(self):
        for answer in (reply(500, b"<html>"), reply(500, {"status": 500, "title": "x"}), reply(507, b""), PROXY_S_502):
            self.there.script = answer
            for number, call in enumerate(self.calls()):
                with self.subTest(answer=answer, call=number):
                    self.assert_mistake(call)

    def test_deep_and_long_json(self):
        deep = b"[" * 100_000
        for body in (deep, b'{"granted":' + deep, {"granted": True, **STATE, "waited_ms": 10**13},
                     {"granted": True, **STATE, "reset_ms": 10**400, "count": 1}, {
                         "granted": True, **STATE, "limit": 10**13}):
            self.there.script = reply(200, body)
            for number, call in enumerate(self.calls()):
                with self.subTest(body=str(body)[:40], call=number):
                    self.assert_mistake(call)

    def test_feedback(self):
        client = Client(self.there.url, timeout=20)
        for body in (b"<html>", b"{}", {"paused": 1, "paused_ms": 5}, {"paused": True}, {"granted": True, **STATE}):
            self.there.script = reply(200, body)
            for call in (lambda: client.feedback(limit="a", status=429),
                         lambda: asyncio.run(client.feedback_async(limit="a", status=429))):
                with self.subTest(body):
                    self.assert_mistake(call)


class Locks(FailClosed):
    def calls(self):
        url = self.there.url
        yield from (Lock("a", url=url).acquire, Lock("a", timeout=5, url=url).acquire,
                    lambda: NamedLock(url).lock("a"), lambda: asyncio.run(Lock("a", url=url).acquire_async()),
                    lambda: asyncio.run(NamedLock(url).lock_async("a")))

    def test_a_201_of_something_else(self):
        for body in NO_LEASES:
            self.there.script = reply(201, body)
            for number, call in enumerate(self.calls()):
                with self.subTest(body=body, call=number):
                    self.assert_mistake(call)
        wait_until(lambda: self.there.open_connections() == 0, "what was perhaps granted ends with its connection")

    def test_another_success(self):
        for status in (200, 202, 204, 302):
            self.there.script = reply(status, b"" if status == 204 else LEASE)
            for number, call in enumerate(self.calls()):
                with self.subTest(status=status, call=number):
                    self.assert_mistake(call)

    def test_an_answer_whose_end_or_status_no_permit_listener_gives(self):
        for answer in (*ENDLESS, PROXY_S_502, reply(201, {**LEASE, "expires_in_ms": 10**13}),
                       reply(201, {**LEASE, "waited_ms": 10**400}), reply(201, {**LEASE, "fence": 2**64}),
                       reply(201, b"[" * 100_000), reply(500, b"")):
            self.there.script = answer
            for number, call in enumerate(self.calls()):
                with self.subTest(answer=answer[:60], call=number):
                    self.assert_mistake(call)

    def test_a_renewal_by_something_else(self):
        lease = Lock("a", ttl=20, url=self.there.url).acquire()
        deadline = lease.deadline
        for body in (*NO_LEASES, LEASE):
            self.there.script = reply(200, body)
            for renew in (lease.renew, lambda: asyncio.run(lease.renew_async())):
                with self.subTest(body):
                    self.assert_mistake(renew)
        self.assertEqual(lease.deadline, deadline)
        self.there.script = None
        lease.renew()
        self.assertGreater(lease.deadline, deadline)
        lease.release()

    def test_the_keeper_believes_nobody_else(self):
        lost = []
        lease = Lock("a", ttl=0.6, url=self.there.url, on_lost=lost.append).acquire()
        self.there.script = reply(200, {**LEASE, "expires_in_ms": 60_000})
        wait_until(lambda: lost == [lease], "it is lost")

    def test_no_answer_ends_the_keeper(self):
        deep, long = b"[" * 100_000, {**LEASE, "expires_in_ms": 10**400}
        for body in (deep, long, b'{"lease":' + deep):
            with self.subTest(str(body)[:40]):
                lost = []
                odd = Lock("a", ttl=0.6, url=self.there.url, on_lost=lost.append).acquire()
                body = {**long, "lease": odd.id} if body is long else body
                self.there.script = reply(200, body)
                wait_until(lambda: lost == [odd], "it is lost, and that is told")
                self.there.script = None
                self.assert_renewed()

    def test_whatever_goes_wrong_in_the_keeper_does_not_end_it(self):
        for owner, name in ((Lease, "renewal"), (Keeper, "_drop_the_late")):
            with self.subTest(name), self.assertLogs("stint"):
                lost = []
                odd = Lock("a", ttl=0.6, url=self.there.url, on_lost=lost.append).acquire()
                self.there.script = reply(200, {})
                with mock.patch.object(owner, name, side_effect=MemoryError) as fails:
                    wait_until(lambda: fails.call_count > 2, "it was tried again")
                wait_until(lambda: lost == [odd], "it is lost, and that is told")
                self.there.script = None
                self.assert_renewed()

    def test_a_callback_that_exits_does_not_end_it(self):
        odd = Lock("a", ttl=0.6, url=self.there.url, on_lost=lambda _: sys.exit(1)).acquire()
        with self.assertLogs("stint"):
            self.there.end("a")
            wait_until(lambda: odd.lost, "it is lost")
            self.assert_renewed()

    def assert_renewed(self):
        with Lock("b", ttl=0.6, url=self.there.url) as good:
            first = good.deadline
            wait_until(lambda: good.lost or good.deadline > first + 0.6, "the next one is renewed, or lost")
            self.assertFalse(good.lost)

    def test_one_odd_answer_keeps_no_other_lease_from_being_renewed(self):
        lost = []
        odd = Lock("a", ttl=0.6, url=self.there.url, on_lost=lost.append).acquire()
        good = Lock("b", ttl=0.6, url=self.there.url, on_lost=lost.append).acquire()
        first = good.deadline
        renewed = reply(200, {**LEASE, "lease": good.id, "lock": "b", "expires_in_ms": 600})
        self.there.script = lambda request: renewed if good.id in request else reply(200, {})

        wait_until(lambda: odd in lost, "the other one is lost")
        wait_until(lambda: good in lost or good.deadline > first + 0.6, "it was renewed, or lost")
        self.assertEqual(lost, [odd])

    def test_leases_without_an_answer_keep_no_other_one_from_being_renewed(self):
        for nothing in (b"", b"+OK nonsense\r\n\r\n"):
            with self.subTest(nothing):
                self.there.script = None
                lost = []
                silent = [Lock(name, ttl=1.5, url=self.there.url, on_lost=lost.append).acquire() for name in "abd"]
                good = Lock("c", ttl=1.5, url=self.there.url, on_lost=lost.append).acquire()
                first = good.deadline
                renewed = reply(200, {**LEASE, "lease": good.id, "lock": "c", "expires_in_ms": 1500})
                self.there.script = lambda request: renewed if good.id in request else nothing

                wait_until(lambda: set(silent) <= set(lost), "the others are lost")
                wait_until(lambda: good in lost or good.deadline > first + 1.5, "it was renewed, or lost")
                self.assertEqual(set(lost), set(silent))

    def test_a_release_by_something_else(self):
        for release in (lambda lease: lease.release(), lambda lease: asyncio.run(lease.release_async())):
            lease = Lock("a", None, url=self.there.url, ttl=0.2).acquire()
            self.there.script = reply(200, b"<html>")
            self.assert_mistake(lambda: release(lease))
            self.there.script = None
            wait_until(lambda: not self.there.held("a"), "it has ended")

    def test_who_has_it_by_something_else(self):
        for answer in (reply(200, b"<html>"), reply(200, {}), reply(404, b"<html>"), reply(204, b""),
                       reply(404, {"error": "not found"}), reply(404, {"status": 200, "title": "x"}),
                       reply(404, NO_ROUTE), reply(404, {**NO_ROUTE, "lock": "b"}), reply(404, {**NO_ROUTE, "lock": 1}),
                       reply(404, {"title": "x", "lock": "a"}), *ENDLESS):
            self.there.script = answer
            for unlock in (lambda: NamedLock(self.there.url).unlock("a"),
                           lambda: asyncio.run(NamedLock(self.there.url).unlock_async("a"))):
                with self.subTest(answer):
                    self.assert_mistake(unlock)

    def test_a_lock_that_nobody_holds_is_named(self):
        self.there.script = reply(404, {**NO_ROUTE, "lock": "ä b"})
        self.assertIsNone(NamedLock(self.there.url).unlock("ä b"), None)
        self.there.script = reply(404, {**NO_ROUTE, "detail": "there is no lock of this name, and nobody asks for one"})
        with self.assertRaisesRegex(StintError, "does not name the lock.*older"):
            NamedLock(self.there.url).unlock("ä b")


class Nobody(ClientTest):
    def test_who_refuses_connections_is_no_gateway(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            for url in (f"http://127.0.0.1:{port}", f"http://localhost:{port}", "unix:/nowhere/permits.sock"):
                self.absence(0.3)
                limiter, lock = RateLimiter(name="a", url=url, timeout=0.2), Lock("a", url=url)
                for call in (limiter.limiting, limiter.sleep_and_retry, lock.acquire, lambda: Client(url).take_all([{"name": "a"}]),
                             lambda: asyncio.run(limiter.limiting_async()),
                             lambda: asyncio.run(lock.acquire_async())):
                    with self.subTest(url), self.assertRaisesRegex(
                            StintUnavailable, "no gateway at .*start one with permits:.*STINT_URL") as caught:
                        call()
                    self.assertIn(url, str(caught.exception))

    def test_a_refusal_of_something_else_is_a_refusal(self):
        there = self.gateway()
        there.script = reply(429, b"<html>slow down</html>")
        with self.assertRaises(RateLimitException):
            RateLimiter(name="a", url=there.url).sleep_and_retry()


if __name__ == "__main__":
    unittest.main()
