"""Users of a lock over a Redis counter (docs/migrating.md): holders that die or freeze, late holders, lost replies."""

import contextlib
import random
import signal
import time
import unittest

from support.case import scaled
from support.locks_case import LocksTest
from support.locks_client import LockClient
from support.permits_case import gateway_url as url, milliseconds
from support.permits_client import permits_port

from stint import Lock, LockFailureException

# The client renews each third of it: about every 250 ms.
LEASE = 0.8


def relay_url(relay) -> str:
    return f"http://127.0.0.1:{relay.port}"


def holds(gateway, key="product", most=2, ttl=LEASE):
    """What a child does: it is inside until it is told to leave, or until it is no more."""
    def work(pipe):
        with Lock(key, most, ttl=ttl, url=gateway) as lease:
            pipe.send(lease.fencing_token)
            pipe.recv()

    return work


class HolderDies(LocksTest):
    """Two holders of two slots; two others wait for the slots."""

    topic = "Redis lock, holder dies"
    TIMES = scaled(1, 5)

    def freed(self, stint, gateway, end) -> float:
        """How long after end(holders) both slots were somebody else's."""
        holders = [self.child(holds(gateway)) for _ in range(2)]
        for holder in holders:
            holder.hear()
        waiters = [self.locker(stint, hold=None) for _ in range(2)]
        for waiter in waiters:
            waiter.asks_to_acquire("product", max=2, wait_ms=10_000)
        self.wait_for_waiters(stint, "product", 2)
        time.sleep(2 * LEASE)  # it takes its renewals to hold them for so long
        self.assertEqual(self.shown(stint, "product")["waiting"], 2)

        begun = time.monotonic()
        end(holders)

        answers = [self.granted(waiter.read()) for waiter in waiters]
        took = max(answer.received for answer in answers) - begun
        for waiter, answer in zip(waiters, answers):
            self.assertEqual(waiter.release("product", answer.body["lease"]).status, 204)
        for holder in holders:
            holder.end()
        self.wait_for_held(stint, "product", 0)
        return took

    def both_freed(self, name, most, end):
        stint = self.locks()
        took = [self.freed(stint, url(stint), end) for _ in range(self.TIMES)]
        self.figure(f"two holders {name}, {self.TIMES} times: both slots free after", f"<= {most:g} s",
                    f"{max(took):.3f} s", max(took) <= most)
        self.assertLess(max(took), 5)

    def test_killed(self):
        self.both_freed("killed (SIGKILL)", 0.05, lambda holders: [one.signal(signal.SIGKILL) for one in holders])

    def test_terminated(self):
        self.both_freed("terminated (SIGTERM)", 0.05, lambda holders: [one.signal(signal.SIGTERM) for one in holders])

    def test_frozen(self):
        self.both_freed("frozen (SIGSTOP)", 1.0, lambda holders: [one.signal(signal.SIGSTOP) for one in holders])

    def test_cut_off(self):
        stint = self.locks()
        took = []
        for _ in range(self.TIMES):
            relay = self.relay(stint)
            took.append(self.freed(stint, relay_url(relay), lambda _, relay=relay: relay.cut()))
        self.figure(f"two holders cut off, {self.TIMES} times: both slots free after", "<= 1 s",
                    f"{max(took):.3f} s", max(took) <= 1.0)
        self.assertLess(max(took), 5)

    def test_a_killed_holder_frees_its_slot_every_time(self):
        times = scaled(20, 100)
        stint = self.locks({"product": {"max": 1}})
        freed, took = 0, []
        for _ in range(times):
            holder = self.child(holds(url(stint), most=1, ttl=30))
            holder.hear()
            with LockClient(permits_port(stint), hold=None) as waiter:
                waiter.asks_to_acquire("product", wait_ms=5000)
                self.wait_for_waiters(stint, "product", 1)
                begun = holder.signal(signal.SIGKILL)
                answer = waiter.read()
                took.append(answer.received - begun)
                if answer.status == 201:
                    freed += 1
                    waiter.release("product", answer.body["lease"])
            holder.end()

        self.count(f"a holder killed -9, {times} times: its slot is free", f"{times} times", freed, freed == times)
        self.figure(f"a holder killed -9, {times} times: the latest", "<= 50 ms", milliseconds(max(took)),
                    max(took) <= 0.05)


class Fencing(LocksTest):
    topic = "Redis lock, fencing"

    def test_a_late_holder_is_fenced_off(self):
        stint = self.locks()
        late, following = self.locker(stint), self.locker(stint)
        old = self.granted(late.acquire("product", ttl_ms=300)).body
        new = self.granted(following.acquire("product", wait_ms=10_000)).body

        seen = (late.renew("product", old["lease"]).status, late.release("product", old["lease"]).status,
                self.held(stint, "product"), old["fence"] < new["fence"])

        self.count("a late holder's renewal, release; count; its number is lower", "410, 410; 1; True",
                   "{}, {}; {}; {}".format(*seen), seen == (410, 410, 1, True))
        self.assertEqual(following.renew("product", new["lease"]).status, 200)

    def test_a_client_that_was_frozen_hears_that_it_lost_its_lease(self):
        stint = self.locks()
        late = self.child(self.late(url(stint)))
        old_fence = late.hear()
        late.signal(signal.SIGSTOP)
        begun = time.monotonic()
        new = self.granted(self.locker(stint, hold=None).acquire("product", wait_ms=10_000, ttl_ms=30_000))
        time.sleep(max(0.0, begun + scaled(1.2, 2.0) - time.monotonic()))

        late.signal(signal.SIGCONT)

        late.tell("leave")
        lost, error = late.hear()
        self.count("a client frozen longer than its lease: its flag, its release", "lost, an error",
                   f"{'lost' if lost else 'held'}, {error}", bool(lost and error))
        self.assertLess(old_fence, new.body["fence"])
        self.assertEqual(self.held(stint, "product"), 1)

    @staticmethod
    def late(gateway):
        def work(pipe):
            lock = Lock("product", ttl=LEASE, url=gateway)
            lease = lock.acquire()
            pipe.send(lease.fencing_token)
            pipe.recv()
            lost = lease.lost
            try:
                lock.release()
                pipe.send((lost, None))
            except Exception as error:  # pylint: disable=broad-except
                pipe.send((lost, type(error).__name__))

        return work


class LostReplies(LocksTest):
    topic = "Redis lock, lost replies"

    def test_a_repeated_acquire_finds_its_lease_again(self):
        stint = self.locks()
        relay = self.relay(stint, loses=lambda: True)
        asked = {"max": 1, "idempotency_key": "the first page", "ttl_ms": 30_000}
        with contextlib.suppress(ConnectionError), LockClient(relay.port, hold=None) as client:
            self.fail(f"answered: {client.acquire('product', **asked)}")
        self.wait_for_held(stint, "product", 1)
        there = self.shown(stint, "product")["holders"]

        again = self.granted(self.locker(stint, hold=None).acquire("product", **asked)).body

        seen = (again["lease"] == there[0]["lease"], self.held(stint, "product"), again["count"], again["replayed"])
        self.count("the reply lost, asked again with the same id", "the same grant, count 1",
                   f"{'the same' if seen[0] else 'another'} grant, count {seen[1]}", seen == (True, 1, 1, True))
        self.assertEqual(again["fence"], there[0]["fence"])

    def test_a_repeated_release_is_told_that_it_was_one(self):
        stint = self.locks()
        client = self.locker(stint, hold=None)
        lease = self.granted(client.acquire("product")).body["lease"]
        relay = self.relay(stint, loses=lambda: True)
        with contextlib.suppress(ConnectionError), LockClient(relay.port) as unlucky:
            unlucky.release("product", lease)
        self.wait_for_held(stint, "product", 0)

        self.assertEqual(client.release("product", lease).status, 204)

    def test_random_cuts_lose_nothing(self):
        times, cuts = scaled((200, 20), (1000, 100))
        stint = self.locks()
        dice = random.Random(9)
        answers = 0
        unlucky = set(dice.sample(range(2 * times), cuts))

        def loses():
            nonlocal answers
            answers += 1
            return answers in unlucky

        relay = self.relay(stint, loses=loses)
        entered = refused = errors = 0
        for _ in range(times):
            try:
                with Lock("product", 1, timeout=5, url=relay_url(relay)):
                    entered += 1
            except LockFailureException:
                refused += 1
            except Exception:  # pylint: disable=broad-except
                errors += 1

        held = self.held(stint, "product")
        self.count(f"{cuts} random cuts in {times} acquires: entered, refused, errors; count at the end",
                   f"{times}, 0, 0; 0", f"{entered}, {refused}, {errors}; {held}",
                   (entered, refused, errors, held) == (times, 0, 0, 0))
        self.assertGreater(relay.lost, cuts * 9 // 10)


if __name__ == "__main__":
    unittest.main()
