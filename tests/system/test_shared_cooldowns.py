"""Pauses that gateways share: what an upstream asks one of them for, all of them heed."""

import json
import time
import unittest

from support.case import SystemTest, config
from support.client import fetch
from support.messages import response_bytes
from support.redis import Redis
from support.waiting import wait_until


class SharedCooldowns(SystemTest):
    def setUp(self):
        super().setUp()
        self.redis = Redis(self)
        self.answer = response_bytes()
        self.upstream = self.start_upstream(self._script)
        self.seen = 0

    def _script(self, connection):
        while connection.read_request():
            self.seen += 1
            connection.send(self.answer)

    def gateway(self, name, cooldown=None, **top):
        made = config(
            self.upstream.address, gateway_id=name,
            stores={"main": {"redis": f"127.0.0.1:{self.redis.port}"}},
            upstream={"host": "shop.test", "cooldown": cooldown or {"shared": "main"}}, **top)
        stint = self.start_stint(made)
        wait_until(lambda: self.store(stint)["state"] == "ready", "a session at the store", 20)
        return stint

    def store(self, stint):
        return stint.admin.get("/stores")["stores"][0]

    def pause(self, stint, seconds, status="429 Too Many Requests", **options):
        """The upstream asks this gateway for a pause, once."""
        self.answer = response_bytes(status=status, fields=[("Retry-After", str(seconds))])
        fetch(stint.port, **options)
        self.answer = response_bytes()

    def wait_until_paused(self, stint, path="/"):
        wait_until(lambda: self.explained(stint, path)["decision"] == "refuse", "a pause")

    def explained(self, stint, path="/"):
        return stint.admin.request("POST", "/explain", body=json.dumps({"host": "a", "path": path})).json()

    def pauses(self, stint):
        return stint.admin.get("/cooldowns")["cooldowns"]


class OneForAll(SharedCooldowns):
    def test_a_429_to_one_gateway_pauses_all(self):
        first, second = self.gateway("a"), self.gateway("b")
        self.assertEqual(fetch(second.port).status, 200)
        self.pause(first, 60)
        self.wait_until_paused(second)
        before = self.seen

        refused = fetch(second.port)
        self.assertEqual(refused.status, 429)
        self.assertLessEqual(int(refused.get("Retry-After-Ms")), 60_000)
        self.assertGreater(int(refused.get("Retry-After-Ms")), 40_000)
        self.assertEqual(fetch(first.port).status, 429)
        self.assertEqual(self.seen, before)

        self.assertIn("another gateway", self.explained(second)["because"])
        self.assertNotIn("another gateway", self.explained(first)["because"])
        self.assertTrue(self.pauses(second)[0]["elsewhere"])
        self.assertNotIn("elsewhere", self.pauses(first)[0])
        self.assertEqual(self.store(second)["pauses"], {"under_way": 1, "learnt": 1, "unshared": 0})
        self.assertEqual(second.admin.metrics().sum("stint_store_pauses_learnt_total", store="main"), 1)
        self.assertIn("as other gateways were told", second.log())

    def test_a_gateway_that_starts_heeds_what_is_under_way(self):
        first = self.gateway("a")
        self.pause(first, 60)
        wait_until(lambda: self.redis.command("exists", "{stint}:p").strip() == "1", "a pause")
        late = self.gateway("b")
        self.wait_until_paused(late)
        self.assertEqual(fetch(late.port).status, 429)

    def test_without_the_store_each_pauses_and_tells_when_it_is_back(self):
        first, second = self.gateway("a"), self.gateway("b")
        self.redis.kill()
        wait_until(lambda: self.store(first)["state"] != "ready", "the end of the store")
        self.pause(first, 60)
        self.assertEqual(fetch(first.port).status, 429)
        self.assertEqual(fetch(second.port).status, 200)
        self.redis.start()  # knows nothing
        self.wait_until_paused(second)
        self.assertEqual(fetch(second.port).status, 429)

    def test_only_the_key_pauses_and_none_is_in_the_store(self):
        by_key = {"scope": "key", "key": "header:X-Key", "shared": "main"}
        first, second = self.gateway("a", by_key), self.gateway("b", by_key)
        self.pause(first, 60, fields=[("X-Key", "secret")])
        wait_until(lambda: fetch(second.port, fields=[("X-Key", "secret")]).status == 429, "a pause")
        self.assertEqual(fetch(second.port, fields=[("X-Key", "other")]).status, 200)
        self.assertNotIn("secret", self.redis.command("hgetall", "stint:{0}:p"))


if __name__ == "__main__":
    unittest.main()
