"""Locks that several gateways share, with a real redis-server."""

import http.client
import json
import os
import random
import signal
import threading
import time
import unittest

from support.case import config, report, scaled
from support.locks_client import lock_path
from support.permits_client import permits_port
from support.ports import free_port
from support.shared_case import ANSWER, SharedTest
from support.waiting import wait_until

SESSION, MAX_TTL = 5.0, 2.0  # seconds
LATEST = SESSION + 1.1 * MAX_TTL + 0.25  # from the end of a gateway to a grant elsewhere
ROUNDS = int(os.environ.get("STINT_LOCK_FAULTS", scaled(1, 8)))  # of each kind of fault


class Caller:
    """Asks for leases over one connection, which it opens again after an error."""

    def __init__(self, port, timeout=10):
        self.port, self.timeout = port, timeout
        self.connection = None

    def request(self, method, path, body=None):
        """The status and the body; (0, {}) if there is no answer."""
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
            self.connection.request(method, path, None if body is None else json.dumps(body))
            answer = self.connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else {}
        except (OSError, http.client.HTTPException):
            self.close()
            return 0, {}

    def acquire(self, lock="jobs", **members):
        return self.request("POST", f"{lock_path(lock)}/leases", members)

    def renew(self, lease, lock="jobs", **members):
        return self.request("PUT", f"{lock_path(lock)}/leases/{lease}", members)

    def release(self, lease, lock="jobs"):
        return self.request("DELETE", f"{lock_path(lock)}/leases/{lease}")

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None


class Storage:
    """What the lock protects: refuses a lower fence than it has seen, and notes two holders at a time."""

    def __init__(self):
        self.lock = threading.Lock()
        self.highest = 0
        self.holder = None  # (fence, end) of the latest, end: when it has stopped for certain
        self.grants = []    # (time, fence, port)
        self.wrong = []

    def enter(self, fence, end, port):
        now = time.monotonic()
        with self.lock:
            if fence <= self.highest:
                self.wrong.append(f"fence {fence} after {self.highest}")
            if self.holder and now < self.holder[1]:
                self.wrong.append(f"{port} enters with {fence}, {self.holder} is inside until {self.holder[1] - now:.3f}"
                                  " s from now")
            self.highest = max(self.highest, fence)
            self.holder = (fence, end, port)
            self.grants.append((now, fence, port))

    def prolong(self, fence, end):
        with self.lock:
            if self.holder and self.holder[0] == fence:
                self.holder = (fence, max(end, self.holder[1]), self.holder[2])
            else:
                self.wrong.append(f"{fence} was renewed, and {self.holder} is inside")

    def leave(self, fence):
        with self.lock:
            if self.holder and self.holder[0] == fence:
                self.holder = None


class SharedLocks(SharedTest):
    def locked(self, name, locks=None, *, max_ttl=f"{MAX_TTL:.0f}s", **top):
        store = {"redis": f"127.0.0.1:{self.redis.port}", "session": f"{SESSION:.0f}s", "timeout": "500ms",
                 **top.pop("store", {})}
        made = config("127.0.0.1:1", gateway_id=name, stores={"main": store},
                      permits={"address": f"127.0.0.1:{free_port()}", "max_ttl": max_ttl},
                      locks=locks or {"jobs": {"shared": "main"}}, **top)
        made["routes"][0].pop("upstream")
        made["routes"][0].update(ANSWER)
        stint = self.start_stint(made)
        self.addCleanup(self.free, stint)
        return stint

    def free(self, stint):
        """What a test has not given back is not its concern."""
        if not stint.running:
            return
        for lock in stint.admin.get("/v1/locks")["locks"]:
            for holder in lock["holders"]:
                stint.admin.request("DELETE", f"{lock_path(lock['lock'])}/leases/{holder['lease']}")

    def both(self, count=2, locks=None, **top):
        gateways = [self.locked(f"edge-{i}", locks, **top) for i in range(count)]
        for stint in gateways:
            self.wait_until_ready(stint)
        self.trust(gateways[0])
        return gateways

    def caller(self, stint, **more):
        made = Caller(permits_port(stint), **more)
        self.addCleanup(made.close)
        return made

    def shown(self, stint, lock="jobs"):
        return stint.admin.get(lock_path(lock))


class Together(SharedLocks):
    def test_all_gateways_together_have_one_holder(self):
        gateways = self.both()
        first, second = [self.caller(each) for each in gateways]
        status, lease = first.acquire(owner="a")
        self.assertEqual(status, 201, lease)
        status, refused = second.acquire(owner="b")
        self.assertEqual((status, refused["lock"]), (409, "jobs"))
        self.assertEqual((self.shown(gateways[0])["shared"], self.shown(gateways[0])["share"]), ("main", 1))
        self.assertEqual(self.shown(gateways[1])["held"], 0)
        self.assertEqual(self.store(gateways[0])["locks"], 1)
        self.assertEqual(first.renew(lease["lease"])[0], 200)

        granted = []
        waiter = threading.Thread(target=lambda: granted.append(second.acquire(wait_ms=20000)))
        waiter.start()
        wait_until(lambda: self.shown(gateways[1])["waiting"] == 1, "a waiter")
        self.assertEqual(first.renew(lease["lease"])[0], 200)  # also while its share is asked for
        self.assertEqual(first.release(lease["lease"])[0], 204)
        waiter.join()
        self.assertEqual(granted[0][0], 201, granted)
        self.assertGreater(granted[0][1]["fence"], lease["fence"])
        self.assertEqual(first.acquire()[0], 409)
        self.assertEqual(second.release(granted[0][1]["lease"])[0], 204)
        status, lease = first.acquire(wait_ms=5000)
        self.assertEqual(status, 201)
        self.assertGreater(lease["fence"], granted[0][1]["fence"])

    def test_gateways_that_wait_take_turns(self):
        gateways = self.both(3)
        counts = [0] * 3
        end = time.monotonic() + scaled(3, 10)

        def work(number):
            caller = self.caller(gateways[number])
            while time.monotonic() < end:
                status, lease = caller.acquire(wait_ms=5000)
                if status == 201:
                    counts[number] += 1
                    caller.release(lease["lease"])
        threads = [threading.Thread(target=work, args=(i % 3,)) for i in range(9)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        print(f"grants of three gateways that wait all the time: {counts}", flush=True)
        self.assertGreater(min(counts), 0)

    def test_a_semaphore_of_three(self):
        gateways = self.both(2, {"jobs": {"max": 3, "shared": "main"}})
        callers = [self.caller(each) for each in gateways]
        inside = [callers[i % 2].acquire(wait_ms=3000) for i in range(3)]
        self.assertEqual([each[0] for each in inside], [201] * 3, inside)
        self.assertEqual([each.acquire()[0] for each in callers], [409, 409])

    def test_more_grants_than_one_block_of_fences(self):
        [stint] = self.both(1)
        caller = self.caller(stint)
        fences = []
        for _ in range(1000):
            status, lease = caller.acquire(wait_ms=2000)
            self.assertEqual(status, 201, lease)
            fences.append(lease["fence"])
            caller.release(lease["lease"])
        self.assertEqual(fences, sorted(set(fences)))


class Without(SharedLocks):
    def test_without_the_store_nothing_is_granted_and_leases_end_as_told(self):
        gateways = self.both()
        first, second = [self.caller(each) for each in gateways]
        status, lease = first.acquire(ttl_ms=2000)
        self.assertEqual(status, 201)
        self.redis.kill()
        wait_until(lambda: self.store(gateways[1])["state"] == "down", "the end of the store")
        self.assertEqual(second.acquire()[0], 503)
        self.assertEqual(second.acquire(wait_ms=1000)[0], 503)
        # Within its session the first one goes on: it has the share.
        wait_until(lambda: first.renew(lease["lease"])[0] == 503, "the end of the session", 10)
        wait_until(lambda: first.renew(lease["lease"])[0] == 410, "the end of the lease", 10)
        self.assertEqual(first.acquire()[0], 503)

    def test_a_gateway_that_stops_leaves_a_held_lock_until_its_lease_can_have_ended(self):
        gateways = self.both()
        first, second = [self.caller(each) for each in gateways]
        self.assertEqual(first.acquire(ttl_ms=2000)[0], 201)
        sent = time.monotonic()
        gateways[0].stop()
        status, lease = second.acquire(wait_ms=20000)
        self.assertEqual(status, 201, lease)
        self.assertGreaterEqual(time.monotonic() - sent, 1.9 - 0.1)

    def test_a_reload_that_ends_shared_grants_nothing_before_the_others_leases_have_ended(self):
        gateways = self.both()
        first, second = [self.caller(each) for each in gateways]
        status, lease = first.acquire(ttl_ms=2000)
        self.assertEqual(status, 201)
        made = gateways[1].config
        made["locks"]["jobs"] = {}
        gateways[1].write(made)
        self.assertEqual(gateways[1].admin.reload().status, 200)
        status, refused = second.acquire()
        self.assertEqual((status, refused.get("reason")), (409, "start_up_grace"), refused)
        status, own = second.acquire(wait_ms=10000)
        self.assertEqual(status, 201, own)
        self.assertEqual(first.renew(lease["lease"])[0] in (200, 410), True)
        self.assertNotIn("shared", self.shown(gateways[1]))

    def test_a_reload_that_begins_shared_tells_the_store_of_the_leases_that_live(self):
        gateways = [self.locked("edge-0", {"jobs": {}, "other": {"shared": "main"}}), self.locked("edge-1")]
        for stint in gateways:
            self.wait_until_ready(stint)
        self.trust(gateways[0])
        first, second = [self.caller(each) for each in gateways]
        status, lease = first.acquire(wait_ms=10000, ttl_ms=2000)  # its start_up_grace
        self.assertEqual(status, 201, lease)
        made = gateways[0].config
        made["locks"]["jobs"] = {"shared": "main"}
        gateways[0].write(made)
        self.assertEqual(gateways[0].admin.reload().status, 200)
        wait_until(lambda: self.store(gateways[0])["counters"] > 0, "the report")
        time.sleep(0.1)
        self.assertEqual(second.acquire()[0], 409)
        self.assertEqual(first.renew(lease["lease"])[0], 200)
        self.assertEqual(first.release(lease["lease"])[0], 204)
        status, later = second.acquire(wait_ms=10000)
        self.assertEqual(status, 201, later)
        self.assertGreater(later["fence"], lease["fence"])


class Storm(SharedLocks):
    def test_never_two_holders_through_faults(self):
        self.storage = Storage()
        self.ends = False
        gateways = self.both(4)
        threads = [threading.Thread(target=self.work, args=(gateways[i % 4], i)) for i in range(32)]
        for each in threads:
            each.start()
        try:
            time.sleep(1)
            for i in range(ROUNDS):
                self.stop_the_store(gateways, 1.0)
                self.lose_the_store(gateways)
                self.kill_a_holders_gateway(gateways[i % 4])
        finally:
            self.ends = True
            for each in threads:
                each.join()
        grants = self.storage.grants
        print(f"{len(grants)} grants, fences {grants[0][1]} to {grants[-1][1]}", flush=True)
        self.assertEqual(self.storage.wrong, [])
        self.assertGreater(len(grants), 100)

    def work(self, stint, number):
        chance = random.Random(number)
        caller = self.caller(stint)
        while not self.ends:
            sent = time.monotonic()
            status, lease = caller.acquire(ttl_ms=chance.choice((300, 1000, 2000)), wait_ms=2000)
            if status != 201:
                time.sleep(0.05)
                continue
            end = sent + (lease["waited_ms"] + lease["expires_in_ms"]) / 1000
            if time.monotonic() >= end:
                continue
            self.storage.enter(lease["fence"], end, stint.port)
            self.hold(caller, chance, lease, end)

    def hold(self, caller, chance, lease, end):
        time.sleep(chance.uniform(0, 0.01))
        if chance.random() < 0.02:  # it freezes, and never gives the lease back
            return time.sleep(max(0, end - time.monotonic()))
        if chance.random() < 0.2:
            sent = time.monotonic()
            status, renewed = caller.renew(lease["lease"])
            if status == 200:
                self.storage.prolong(lease["fence"], sent + renewed["expires_in_ms"] / 1000)
            if status != 200:
                return None  # it goes on to its end
        if time.monotonic() < end:
            self.storage.leave(lease["fence"])
            caller.release(lease["lease"])
        return None

    def await_grant(self, since, seconds, what):
        wait_until(lambda: self.storage.grants and self.storage.grants[-1][0] > since, what, seconds, pause=0.002)
        return next(at for at, _, _ in self.storage.grants if at > since)

    def stop_the_store(self, gateways, seconds):
        self.redis.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.redis.send_signal(signal.SIGCONT)
        self.await_grant(time.monotonic() + 0.5, 30, "a grant after the store stood still")

    def lose_the_store(self, gateways):
        self.redis.kill()
        time.sleep(0.3)
        self.redis.start()
        began = time.monotonic()
        self.await_grant(began + 0.5, 30, "a grant after the store has forgotten everything")

    def kill_a_holders_gateway(self, stint):
        wait_until(lambda: self.storage.holder and self.storage.holder[2] == stint.port, "a holder there", 30,
                   pause=0.0005)
        stint.kill()
        killed = time.monotonic()
        granted = self.await_grant(killed + 0.02, 30, "a grant after the kill")
        took = granted - killed
        print(f"kill -9 of a holder's gateway: the next grant after {took:.2f} s; at most {LATEST:.2f} s and a call",
              flush=True)
        report("shared locks: kill -9 of a holder's gateway", f"a grant within {LATEST:.2f} s and a call",
               f"{took:.2f} s")
        stint.start()
        self.wait_until_ready(stint)


if __name__ == "__main__":
    unittest.main()
