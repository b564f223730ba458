"""Users of a lock over a Redis counter (docs/migrating.md): leases are listed, and can be released by hand."""

import time
import unittest
from datetime import datetime, timezone

from support.locks_case import LocksTest
from support.locks_client import acquiring, asking
from support.stream import Stream


class Listing(LocksTest):
    """Eight holders of three locks, and one that waits."""

    topic = "Redis lock, listing"
    SCRIPT = (("list", 1, "connection"), *(("product", 3, hold) for hold in ("connection", "stream", None)),
              *(("comments", 9, hold) for hold in ("connection", None, None, "stream")))

    def hold(self, stint, number: int):
        """(what the listing is to say of it, when it was asked and was answered on the wall clock)"""
        name, most, hold = self.SCRIPT[number]
        asked = time.time()
        request = acquiring(name, hold, max=most, owner=f"worker {number}", ttl_ms=10_000 + 1000 * number)
        stream = Stream(self.locker(stint).sock)
        stream.send(request)
        if hold == "stream":
            self.assertEqual(stream.read_response_head().status, 201)
            stream.read_until(b"event: granted")
        else:
            self.assertEqual(stream.read_response().status, 201)
        return (name, f"worker {number}", hold or "lease"), asked, time.time()

    def test_what_is_held_is_visible(self):
        stint = self.locks()
        truth = [self.hold(stint, number) for number in range(8)]
        waiter = self.locker(stint)
        waiter.asks_to_acquire("list", owner="next", wait_ms=10_000)
        self.wait_for_waiters(stint, "list", 1)

        listed = {lock["lock"]: lock for lock in self.client(stint).request(asking("GET", "/v1/locks")).body["locks"]}

        seen = sorted((name, holder["owner"], holder["hold"]) for name, lock in listed.items()
                      for holder in lock["holders"])
        self.count("the list, of 8 scripted holders", "the truth", f"{len(seen)} holders",
                   seen == sorted(known for known, _, _ in truth))
        self.assertEqual({name: (lock["max"], lock["held"], lock["waiting"]) for name, lock in listed.items()},
                         {"list": (1, 1, 1), "product": (3, 3, 0), "comments": (9, 4, 0)})
        self.assertEqual([one["owner"] for one in listed["list"]["waiters"]], ["next"])
        holders = {holder["owner"]: holder for lock in listed.values() for holder in lock["holders"]}
        self.assertEqual(len({holder["fence"] for holder in holders.values()}), 8)
        for number, ((_, owner, _), asked, answered) in enumerate(truth):
            self.assert_times(holders[owner], 10_000 + 1000 * number, asked, answered)

    def assert_times(self, holder, ttl_ms, asked, answered):
        since = datetime.strptime(holder["since"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()
        self.assertTrue(asked - 0.002 <= since <= answered + 0.002, (asked, since, answered))
        age = (time.time() - asked) * 1000
        self.assertTrue(0 <= holder["held_ms"] <= age + 2, holder)
        self.assertTrue(ttl_ms - age - 2 <= holder["expires_in_ms"] <= ttl_ms, holder)

    def test_a_lease_is_released_by_hand(self):
        stint = self.locks()
        holder, other, waiter = self.locker(stint), self.locker(stint), self.locker(stint)
        leases = [self.granted(client.acquire("product", max=2)).body["lease"] for client in (holder, other)]
        waiter.asks_to_acquire("product", wait_ms=10_000)
        self.wait_for_waiters(stint, "product", 1)
        by_id = {one["lease"] for one in self.shown(stint, "product")["holders"]}
        self.assertEqual(by_id, set(leases))

        seen = [stint.admin.request("DELETE", f"/v1/locks/product/leases/{leases[0]}").status for _ in range(2)]

        self.granted(waiter.read())
        self.count("manual release by id, twice", "204, 404; only the waiter profits",
                   f"{seen[0]}, {seen[1]}", seen == [204, 404])
        self.assertEqual(holder.renew("product", leases[0]).status, 410)
        self.assertEqual(other.renew("product", leases[1]).status, 200)


if __name__ == "__main__":
    unittest.main()
