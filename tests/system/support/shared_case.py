"""The test case of what several gateways share, with a real redis-server."""

import contextlib

from .case import SystemTest, config
from .client import fetch
from .redis import Redis
from .waiting import wait_until

ANSWER = {"respond": {"status": 200, "body": "yes"}}


class SharedTest(SystemTest):
    @classmethod
    @contextlib.contextmanager
    def outside_of_tests(cls):
        """One with which a script starts gateways and their store; all of it ends with the context."""
        case = cls()
        try:
            case.setUp()
            yield case
        finally:
            case.doCleanups()

    def setUp(self):
        super().setUp()
        self.redis = Redis(self)

    def gateway(self, limits, *, name, store_port=None, per_route=False, upstream=None, within=None, **top):
        """A gateway whose route `/` has these limits, or with per_route a route /NAME each, and answers by itself
        unless there is an upstream. store_port: where the store is reached, if not directly."""
        settings = {"redis": f"127.0.0.1:{store_port or self.redis.port}", "session": "5s", **top.pop("store", {})}
        if name:
            top.setdefault("gateway_id", name)
        made = config(upstream or "127.0.0.1:1", limits=limits, route_limits=list(limits),
                      **{"stores": {"main": settings}, **top})
        if per_route:
            made["routes"] = [{"name": limit, "match": {"path": f"/{limit}"}, "upstream": "up", "limits": [limit]}
                              for limit in limits]
        if not upstream:
            for route in made["routes"]:
                route.pop("upstream")
                route.update(ANSWER)
        return self.start_stint(made, **(within or {}))

    def gateways(self, count, limits, *, trust=True, **top):
        all_of_them = [self.gateway(limits, name=f"edge-{i}", **top) for i in range(count)]
        for stint in all_of_them:
            self.wait_until_ready(stint)
        if trust:
            self.trust(all_of_them[0])
        return all_of_them

    def store(self, stint):
        return stint.admin.get("/stores")["stores"][0]

    def wait_until_ready(self, stint):
        wait_until(lambda: self.store(stint)["state"] == "ready", "a session at the store", 20)

    def trust(self, stint):
        """A new store gives nothing for a while: it might have forgotten what others hold."""
        self.assertEqual(stint.admin.request("POST", "/stores/main/trust").status, 202)
        wait_until(lambda: self.store(stint)["session"]["learned"], "a store that gives shares")

    def statuses(self, stint, count, **options):
        return [fetch(stint.port, **options).status for _ in range(count)]
