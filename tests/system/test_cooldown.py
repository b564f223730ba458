"""Pauses that an upstream asks for: from its 429 or 503 until the rate has come back."""

import concurrent.futures
import email.utils
import math
import signal
import threading
import time
import unittest

from support.case import SystemTest, report, scaled
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.waiting import wait_until

PAUSE = scaled(2, 30)  # seconds; scripts/acceptance takes the 30
CRAWLERS = 20


class Target:
    """Answers as it is told to, and notes when each request had arrived."""

    def __init__(self, test, delay=0.0):
        self.answer = response_bytes()
        self.delay = delay
        self.arrivals = []
        self.first_pause = None  # when the first answer that asks for one was about to be sent
        self._lock = threading.Lock()
        self.server = test.start_upstream(self._script)
        self.address = self.server.address

    def _script(self, connection):
        while connection.read_request():
            with self._lock:
                self.arrivals.append(time.monotonic())
            time.sleep(self.delay)
            answer = self.answer
            with self._lock:
                if self.first_pause is None and not answer.startswith(b"HTTP/1.1 2"):
                    self.first_pause = time.monotonic()
            connection.send(answer)

    def say(self, status, *fields):
        self.answer = response_bytes(status=status, fields=fields)

    def count(self, begin=0.0, end=float("inf")):
        with self._lock:
            return sum(begin <= each < end for each in self.arrivals)


class Cooldown(SystemTest):
    def before(self, target, cooldown="on", **more):
        return self.stint_before(target, upstream={"cooldown": cooldown}, **more)

    def assert_paused(self, stint, status, at_most, at_least):
        answer = fetch(stint.port)
        self.assertEqual(answer.status, status)
        wait = int(answer.get("Retry-After-Ms")) / 1000
        self.assertLessEqual(wait, at_most)
        self.assertGreater(wait, at_least)
        self.assertEqual(answer.json()["retry_after_ms"], int(answer.get("Retry-After-Ms")))
        return answer

    def test_twenty_crawlers_leave_the_target_alone(self):
        target = Target(self, delay=0.05)
        stint = self.before(target)
        stop = threading.Event()
        statuses = []

        def crawl(_):
            with RawClient(stint.port) as client:
                while not stop.is_set():
                    answer = client.request()
                    statuses.append(answer.status)
                    if answer.status == 429:
                        stop.wait(int(answer.get("Retry-After-Ms", 200)) / 1000)

        with concurrent.futures.ThreadPoolExecutor(CRAWLERS) as pool:
            crawlers = [pool.submit(crawl, each) for each in range(CRAWLERS)]
            wait_until(lambda: target.count() > 5 * CRAWLERS, "the crawl is under way")
            target.say("429 Too Many Requests", ("Retry-After", str(PAUSE)))
            wait_until(lambda: target.first_pause is not None, "the first 429")
            begin = target.first_pause
            time.sleep(max(0.0, begin + PAUSE * 0.6 - time.monotonic()))
            target.say("200 OK")
            target.delay = 0.5  # the probe's answer takes its time
            wait_until(lambda: target.count(begin + PAUSE * 0.6) >= 1, "the probe", PAUSE + 5)
            probe = target.arrivals[-1]
            time.sleep(0.4)
            during_probe = target.count(probe - 0.01, probe + 0.4)
            target.delay = 0.0
            time.sleep(1.0)
            stop.set()
            for each in crawlers:
                each.result(30)

        late = target.count(begin + 0.05, begin + PAUSE - 0.01)
        in_flight = target.count(begin, begin + 0.05)
        report(f"cool-down: requests at the target in {PAUSE} s", "0", late)
        report("cool-down: probes until the first answer", "1", during_probe)
        self.assertEqual(late, 0)
        self.assertLess(in_flight, CRAWLERS)
        self.assertGreaterEqual(probe, begin + PAUSE)
        self.assertLess(probe, begin + PAUSE + 1.5)
        self.assertEqual(during_probe, 1)
        self.assertGreater(target.count(probe + 0.5), 0)  # it goes on
        self.assertEqual(set(statuses), {200, 429})

    def test_a_delay_pauses_with_the_upstream_s_own_status(self):
        for status, name in ((429, "quota-exceeded"), (503, "temporary-reduced-capacity")):
            with self.subTest(status):
                target = Target(self)
                stint = self.before(target)
                target.say(f"{status} No", ("Retry-After", "7"))
                self.assertEqual(fetch(stint.port).get("Retry-After"), "7")  # the upstream's own

                answer = self.assert_paused(stint, status, 7, 6)

                self.assertTrue(answer.json()["type"].endswith("#" + name))
                self.assertEqual(target.count(), 1)

    def test_every_form_of_a_date_pauses_by_the_upstream_s_own_clock(self):
        base = time.time() - 3600  # the upstream's clock is an hour behind
        when = time.gmtime(base + 9)
        forms = (
            email.utils.formatdate(base + 9, usegmt=True),
            time.strftime("%A, %d-%b-%y %H:%M:%S GMT", when),
            time.asctime(when),
        )
        for form in forms:
            with self.subTest(form):
                target = Target(self)
                stint = self.before(target)
                target.say("503 Busy", ("Retry-After", form),
                           ("Date", email.utils.formatdate(base, usegmt=True)))
                fetch(stint.port)

                self.assert_paused(stint, 503, 10, 7)

    def test_a_huge_time_is_capped(self):
        target = Target(self)
        stint = self.before(target, {"max_cooldown": "20s"})
        target.say("429 No", ("Retry-After", "9" * 40))
        fetch(stint.port)

        self.assert_paused(stint, 429, 20, 19)

    def test_no_time_is_made_up(self):
        target = Target(self)
        stint = self.before(target)
        target.say("429 No")
        with_default = self.before(target, {"default": "5s"})

        self.assertEqual([fetch(stint.port).status for _ in range(3)], [429] * 3)
        self.assertEqual(target.count(), 3)
        fetch(with_default.port)
        self.assert_paused(with_default, 429, 5, 4)
        self.assertEqual(target.count(), 4)

    def test_without_cooldown_every_request_goes(self):
        target = Target(self)
        stint = self.before(target, "off")
        target.say("429 No", ("Retry-After", "7"))

        self.assertEqual([fetch(stint.port).status for _ in range(3)], [429] * 3)
        self.assertEqual(target.count(), 3)

    def test_hosts_pause_for_themselves_and_routes_too(self):
        target = Target(self)
        by_host = self.before(target)
        target.say("429 No", ("Retry-After", "60"))
        fetch(by_host.port, host="a.example")
        target.say("200 OK")

        self.assertEqual(fetch(by_host.port, host="A.example:80").status, 429)
        self.assertEqual(fetch(by_host.port, host="b.example").status, 200)

        route = {"upstream": "up"}
        by_route = self.stint_before(target, routes=[
            {"name": "a", "match": {"path": "/a"}, "cooldown": "on", **route},
            {"name": "b", "match": {"path": "/b"}, "cooldown": {"scope": "route"}, **route}])
        target.say("429 No", ("Retry-After", "60"))
        fetch(by_route.port, target="/a")
        target.say("200 OK")
        self.assertEqual(fetch(by_route.port, target="/a", host="other").status, 429)
        self.assertEqual(fetch(by_route.port, target="/b").status, 200)

    def test_keys_pause_for_themselves(self):
        target = Target(self)
        stint = self.before(target, {"scope": "key", "key": "header:X-Api-Key"})
        target.say("429 No", ("Retry-After", "60"))
        fetch(stint.port, fields=[("X-Api-Key", "one")])
        target.say("200 OK")

        self.assertEqual(fetch(stint.port, fields=[("X-Api-Key", "one")]).status, 429)
        self.assertEqual(fetch(stint.port, fields=[("X-Api-Key", "two")]).status, 200)
        self.assertEqual(fetch(stint.port).status, 200)
        [shown] = stint.admin.get("/cooldowns")["cooldowns"]
        self.assertEqual((shown["scope"], shown["name"]), ("key:header:x-api-key", "one"))

    def test_a_refused_request_is_charged_to_no_limit(self):
        target = Target(self)
        stint = self.before(target, limits={"n": {"requests": 9, "per": "1h"}}, route_limits=["n"])
        target.say("429 No", ("Retry-After", "60"))
        for _ in range(4):
            fetch(stint.port)

        self.assertEqual(stint.admin.limit("n")["used"], 1)

    def test_a_probe_that_dies_is_replaced(self):
        target = Target(self)
        stint = self.before(target)
        target.say("429 No", ("Retry-After", "1"))
        fetch(stint.port)
        time.sleep(1.05)
        target.delay = 5
        with RawClient(stint.port) as probe:
            probe.send_request()
            wait_until(lambda: target.count() == 2, "the probe at the target")
            self.assertEqual(fetch(stint.port).status, 429)
            self.assertEqual(target.count(), 2)
        target.delay = 0
        target.say("200 OK")

        wait_until(lambda: fetch(stint.port).status == 200, "the next probe")
        self.assertEqual(target.count(), 3)

    def test_a_pause_lives_over_a_reload_and_can_be_seen(self):
        target = Target(self)
        stint = self.before(target)
        target.say("503 No", ("Retry-After", "60"))
        fetch(stint.port)
        self.assertEqual(stint.admin.reload().status, 200)

        self.assert_paused(stint, 503, 60, 55)
        [shown] = stint.admin.get("/cooldowns")["cooldowns"]
        self.assertEqual(
            (shown["of"], shown["scope"], shown["name"], shown["state"], shown["status"]),
            ("upstream:up", "host", "test.example", "paused", 503))
        self.assertGreater(shown["remaining_ms"], 55_000)
        metrics = stint.admin.metrics()
        labels = {"of": "upstream:up", "scope": "host"}
        self.assertEqual(metrics.sum("stint_cooldown_paused", **labels), 1)
        self.assertEqual(metrics.sum("stint_cooldown_pauses_total", **labels), 1)
        self.assertEqual(metrics.sum("stint_cooldown_refusals_total", **labels), 1)
        self.assertEqual(metrics.sum("stint_requests_total", decision="cooling_down"), 1)


class WaitingForIt(SystemTest):
    """when_paused: wait. Who comes during a pause is held until it may be sent."""

    def before(self, target, max_wait="30s", max_waiting=1000, ramp_up="1s", **more):
        cooldown = {"when_paused": "wait", "max_wait": max_wait, "max_waiting": max_waiting,
                    "ramp_up": ramp_up}
        return self.stint_before(target, upstream={"cooldown": cooldown}, **more)

    def paused(self, seconds, **more):
        """A Stint whose target has asked for a pause, and would answer 200 by now."""
        target = Target(self)
        stint = self.before(target, **more)
        target.say("429 No", ("Retry-After", str(seconds)))
        self.begun = time.monotonic()
        self.assertEqual(fetch(stint.port).status, 429)
        target.say("200 OK")
        return target, stint

    def client(self, stint, **more):
        client = RawClient(stint.port)
        self.addCleanup(client.close)
        client.send_request(**more)
        return client

    def wait_for(self, stint, count):
        wait_until(lambda: self.waiting(stint) == count, f"{count} wait")

    def waiting(self, stint):
        shown = stint.admin.get("/cooldowns")["cooldowns"]
        return sum(each["waiting"] for each in shown)

    def test_twenty_crawlers_wait_and_all_get_their_pages(self):
        target = Target(self, delay=0.05)
        stint = self.before(target, max_wait=f"{PAUSE + 30}s", ramp_up=f"{scaled(2, 30)}s")
        begin = threading.Event()
        own = []  # the statuses of each crawler

        def crawl(_):
            statuses = []
            own.append(statuses)
            with RawClient(stint.port) as client:
                client.sock.settimeout(PAUSE + 40)
                while not begin.is_set():
                    statuses.append(client.request().status)
                while statuses[-1] != 200 or len(statuses) < 10:  # one more page, in the end
                    statuses.append(client.request().status)
                statuses.append(client.request().status)

        with concurrent.futures.ThreadPoolExecutor(CRAWLERS) as pool:
            crawlers = [pool.submit(crawl, each) for each in range(CRAWLERS)]
            wait_until(lambda: target.count() > 5 * CRAWLERS, "the crawl is under way")
            target.say("429 Too Many Requests", ("Retry-After", str(PAUSE)))
            wait_until(lambda: target.first_pause is not None, "the first 429")
            first = target.first_pause
            self.wait_for(stint, CRAWLERS)
            self.assertEqual(stint.admin.metrics().sum("stint_cooldown_waiting"), CRAWLERS)
            begin.set()
            target.say("200 OK")
            target.delay = 0.5  # the probe's answer takes its time
            wait_until(lambda: target.count(first + 0.3) >= 1, "the probe", PAUSE + 5)
            probe = target.arrivals[-1]
            time.sleep(0.4)
            during_probe = target.count(probe - 0.01, probe + 0.4)
            target.delay = 0.0
            for each in crawlers:
                each.result(60)

        late = target.count(first + 0.1, first + PAUSE - 0.01)
        report(f"cool-down (wait): requests at the target in {PAUSE} s", "0", late)
        report("cool-down (wait): probes until the first answer", "1", during_probe)
        self.assertEqual(late, 0)
        self.assertGreaterEqual(probe, first + PAUSE)
        self.assertLess(probe, first + PAUSE + scaled(1.5, 0.5))
        self.assertEqual(during_probe, 1)
        self.assertEqual([each[-1] for each in own], [200] * CRAWLERS)
        # The 429 are the target's own: those that were under way, in the instant of the first.
        self.assertLessEqual(sum(each.count(429) for each in own), CRAWLERS)
        self.assertEqual(stint.admin.metrics().sum("stint_cooldown_refusals_total"), 0)
        self.assertEqual(self.waiting(stint), 0)

    def test_those_who_wait_go_in_the_order_they_came(self):
        came = []
        answers = iter([response_bytes(status="429 No", fields=[("Retry-After", "1")])])

        def script(connection):
            while request := connection.read_request():
                came.append(request.target)
                connection.send(next(answers, response_bytes()))

        stint = self.before(self.start_upstream(script), ramp_up="3s")
        fetch(stint.port, target="/first")
        clients = []
        for number in range(4):
            clients.append(self.client(stint, target=f"/{number}"))
            self.wait_for(stint, number + 1)

        self.assertEqual([each.read_response().status for each in clients], [200] * 4)
        self.assertEqual(came, ["/first", "/0", "/1", "/2", "/3"])

    def test_the_request_is_sent_as_it_came_with_its_body_and_its_wait_is_logged(self):
        bodies = []

        def script(connection):
            while request := connection.read_request():
                bodies.append(request.body)
                connection.send(first if len(bodies) == 1 else response_bytes())

        first = response_bytes(status="503 No", fields=[("Retry-After", "1")])
        stint = self.before(self.start_upstream(script))
        fetch(stint.port)
        self.assertEqual(fetch(stint.port, "POST", "/kept", body=b"hello").status, 200)

        self.assertEqual(bodies, [b"", b"hello"])
        line = next(each for each in stint.wait_for_lines(2) if each["path"] == "/kept")
        self.assertGreater(line["waited_ms"], 800)
        self.assertLessEqual(line["waited_ms"], line["duration_ms"])
        self.assertEqual(line["decision"], "forwarded")

    def test_too_long_a_pause_is_answered_at_once(self):
        target, stint = self.paused(60, max_wait="5s")

        begun = time.monotonic()
        refused = fetch(stint.port)

        self.assertLess(time.monotonic() - begun, scaled(4, 0.5))
        self.assertEqual(refused.status, 429)
        self.assertGreater(int(refused.get("Retry-After-Ms")), 55_000)
        self.assertEqual(target.count(), 1)
        self.assertEqual(stint.admin.metrics().sum("stint_requests_total", decision="cooling_down"), 1)

    def test_who_has_waited_too_long_for_a_probe_is_answered(self):
        target, stint = self.paused(1, max_wait="2s")
        target.delay = 6
        self.client(stint)
        self.wait_for(stint, 1)
        late = self.client(stint)

        answer = late.read_response()

        self.assertEqual(answer.status, 429)
        self.assertGreater(time.monotonic() - self.begun, 1.9)
        self.assertLess(time.monotonic() - self.begun, scaled(6, 4))
        self.assertEqual(target.count(), 2)

    def test_only_so_many_wait_and_a_client_that_goes_away_frees_its_place(self):
        target, stint = self.paused(3, max_waiting=2)
        first, second = self.client(stint), self.client(stint)
        self.wait_for(stint, 2)
        self.assertEqual(fetch(stint.port).status, 429)

        first.close()
        self.wait_for(stint, 1)
        third = self.client(stint)
        self.wait_for(stint, 2)

        self.assertEqual([each.read_response().status for each in (second, third)], [200, 200])
        self.assertEqual(target.count(), 3)
        self.assertEqual(stint.admin.metrics().sum("stint_requests_total", decision="client_gone"), 1)

    def test_limits_are_charged_once_and_at_the_later_time(self):
        target, stint = self.paused(
            2, limits={"n": {"requests": 1, "per": "1s"}, "day": {"requests": 9, "per": "1d"},
                       "slot": {"concurrent": 1}},
            route_limits=["n", "day", "slot"])
        client = self.client(stint)  # in the first one's window of n
        self.wait_for(stint, 1)
        self.assertEqual(stint.admin.limit("day")["used"], 1)  # the one that was told to pause
        self.assertEqual(stint.admin.limit("slot")["in_flight"], 0)

        self.assertEqual(client.read_response().status, 200)
        self.assertEqual(stint.admin.limit("day")["used"], 2)
        self.assertEqual(stint.admin.limit("n")["used"], 1)  # in a window that began when it went

    def test_who_waits_for_a_limit_when_a_pause_begins_is_charged_nothing_until_it_is_over(self):
        target = Target(self, delay=0.3)
        stint = self.before(
            target, route_limits=["slot", "n"],
            limits={"slot": {"concurrent": 1, "when_exceeded": "wait", "max_wait": "20s"},
                    "n": {"requests": 9, "per": "1h"}})
        target.say("429 No", ("Retry-After", "1"))
        first = self.client(stint)
        wait_until(lambda: target.count() == 1, "the first at the target")
        second = self.client(stint)
        wait_until(lambda: stint.admin.limit("slot")["waiting"] == 1, "the second waits for its turn")
        self.assertEqual(first.read_response().status, 429)
        target.say("200 OK")

        self.wait_for(stint, 1)
        self.assertEqual(stint.admin.limit("n")["used"], 1)
        wait_until(lambda: stint.admin.limit("slot")["in_flight"] == 0, "a free slot")
        self.assertEqual(second.read_response().status, 200)
        self.assertEqual(stint.admin.limit("n")["used"], 2)

    def test_who_waits_when_stint_stops_is_let_go_or_cut_off_in_time(self):
        target, stint = self.paused(1)
        client = self.client(stint)
        self.wait_for(stint, 1)
        stint.signal(signal.SIGTERM)

        self.assertEqual(client.read_response().status, 200)
        self.assertEqual(stint.process.wait(10), 0)


class Learning(SystemTest):
    """An upstream that takes QUOTA requests in a window, says so, and refuses what is more."""

    QUOTA = 10
    WINDOW = 2.0

    def limited(self, fields):
        lock = threading.Lock()
        state = {"end": 0.0, "used": 0}
        self.answers = []  # (when, status)

        def script(connection):
            while connection.read_request():
                with lock:
                    now = time.time()
                    if now >= state["end"]:
                        state.update(end=now + self.WINDOW, used=0)
                    admitted = state["used"] < self.QUOTA
                    state["used"] += 1 if admitted else 0
                    left, end = self.QUOTA - state["used"], state["end"]
                    self.answers.append((now, 200 if admitted else 429))
                time.sleep(0.02)
                connection.send(response_bytes(
                    status="200 OK" if admitted else "429 No", fields=fields(left, end)))

        return self.start_upstream(script)

    def learn(self, fields, seconds):
        upstream = self.limited(fields)
        stint = self.stint_before(upstream, upstream={"cooldown": {"learn": True}})
        fetch(stint.port)  # the first answer
        end = time.monotonic() + seconds

        def crawl(_):
            with RawClient(stint.port) as client:
                while time.monotonic() < end:
                    answer = client.request()
                    if answer.status == 429:
                        time.sleep(min(int(answer.get("Retry-After-Ms")) / 1000, 0.05))

        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            list(pool.map(crawl, range(10)))
        return stint

    def test_an_upstream_that_tells_its_limits_never_has_to_refuse(self):
        dialects = {
            "draft": lambda left, end: [
                ("RateLimit-Policy", '"n";q=10;w=2'),
                ("RateLimit", f'"n";r={left};t={math.ceil(end - time.time())}')],
            "epoch": lambda left, end: [
                ("X-RateLimit-Remaining", str(left)), ("X-RateLimit-Reset", str(math.ceil(end)))],
        }
        for name, fields in dialects.items():
            with self.subTest(name):
                self.learn(fields, seconds := scaled(7, 30))
                statuses = [status for _, status in self.answers]
                report(f"learn ({name}): 429 by the upstream", "0", statuses.count(429))
                self.assertEqual(statuses.count(429), 0)
                # A window of 2 s is told as up to 3, so at least a third of its rate is made use of.
                self.assertGreater(len(statuses), seconds / 3 * self.QUOTA * 0.6)

    def test_who_comes_too_early_is_told_when(self):
        upstream = self.limited(lambda left, end: [("RateLimit", '"n";r=0;t=30')])
        stint = self.stint_before(upstream, upstream={"cooldown": {"learn": True}})
        fetch(stint.port)
        answer = fetch(stint.port)

        self.assertEqual(answer.status, 429)
        self.assertIn(int(answer.get("Retry-After")), (29, 30))
        self.assertIn("takes no more for now", answer.json()["detail"])


if __name__ == "__main__":
    unittest.main()
