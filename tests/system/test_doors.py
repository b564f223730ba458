"""The same request through every door that asks for a decision: a listener, /v1/check, POST /explain and
`stint simulate`. Each answers alike, but for the rows of gateway/admission/door.hpp: a door that differs
without a row fails, and so does a row that makes no difference."""

import json
import re
import subprocess
import threading
import time
import unittest
from dataclasses import dataclass, field

from support.case import SystemTest
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.permits_client import PermitClient, permits_port
from support.ports import free_port
from support.stint import ROOT, binary
from support.waiting import wait_until

ROWS = set(re.findall(r"Difference\{\s*Door::(\w+),\s*Feature::(\w+)",
                      (ROOT / "gateway/admission/door.hpp").read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Request:
    method: str = "GET"
    target: str = "/"
    fields: tuple = ()
    body: bytes = b""
    host: str = "localhost"


@dataclass
class Case:
    name: str
    features: set = field(default_factory=set)  # those of door.hpp that decide about it
    limits: dict = field(default_factory=dict)
    route: dict = field(default_factory=dict)
    upstream: dict = field(default_factory=dict)
    top: dict = field(default_factory=dict)
    listener: dict = field(default_factory=dict)
    before: tuple = ()  # requests that come first, through the listener
    request: Request = Request()
    answers: tuple = ()  # the upstream's, in turn; then 200
    held: bool = False  # the first of `before` is still running
    permit_of: str = ""  # the request shows a permit of this limit
    fence: str = ""  # a lock that is leased before
    wanted: tuple = ()  # (outcome, status) through the listener


LOGGED = ("x-key", "x-me", "x-cost", "x-stint-fence", "max-forwards")

ONE = {"one": {"requests": 1, "per": "1h"}}
GET = Request()

CASES = (
    Case("admitted", limits=ONE, wanted=("forwarded", 200)),
    Case("used up", limits=ONE, before=(GET,), wanted=("refused", 429)),
    Case("a limit's own status", limits={"one": {"requests": 1, "per": "1h", "status": 503}},
         before=(GET,), wanted=("refused", 503)),
    Case("a route's own status for a limit", limits=ONE,
         route={"limits": [{"limit": "one", "status": 503}]}, before=(GET,), wanted=("refused", 503)),
    Case("two limits, the one to wait for longest is told",
         limits={"one": {"requests": 1, "per": "1m"}, "two": {"requests": 1, "per": "1h"}},
         before=(GET,), wanted=("refused", 429)),
    Case("paced", limits={"even": {"requests": 60, "per": "1h", "pace": True}}, before=(GET,),
         wanted=("refused", 429)),
    Case("a cost that the limit never has",
         limits={"one": {"requests": 5, "per": "1h", "cost": "header:X-Cost"}},
         request=Request(fields=(("X-Cost", "9"),)), wanted=("refused", 429)),
    Case("keyed", limits={"one": {"requests": 1, "per": "1h", "key": "header:X-Key"}},
         before=(Request(fields=(("X-Key", "a"),)),), request=Request(fields=(("X-Key", "b"),)),
         wanted=("forwarded", 200)),
    Case("a denied key",
         limits={"one": {"requests": 1, "per": "1h", "key": "header:X-Key", "deny": ["eve"]}},
         request=Request(fields=(("X-Key", "eve"),)), wanted=("refused", 403)),
    Case("a missing key",
         limits={"one": {"requests": 1, "per": "1h", "key": "header:X-Key", "missing_key": "refuse"}},
         wanted=("refused", 403)),
    Case("exempt", limits={"one": {"requests": 1, "per": "1h", "exempt": ["127.0.0.0/8"]}},
         before=(GET,), wanted=("forwarded", 200)),
    Case("shadow", limits={"one": {"requests": 1, "per": "1h", "enforce": False}}, before=(GET,),
         wanted=("forwarded", 200)),
    Case("a dry run would queue",
         limits={"one": {"requests": 1, "per": "1h", "enforce": False, "when_exceeded": "wait", "max_wait": "2h"}},
         before=(GET,), wanted=("forwarded", 200)),
    Case("a dry run would queue, an enforced limit refuses",
         limits={"one": {"requests": 1, "per": "1h", "enforce": False, "when_exceeded": "wait", "max_wait": "2h"},
                 "two": {"requests": 1, "per": "1h"}},
         before=(GET,), wanted=("refused", 429)),
    Case("no route", route={"match": {"path": "/a"}}, wanted=("no_route", 404)),
    Case("another method", route={"match": {"path": "/", "methods": ["GET"]}},
         request=Request(method="PUT"), wanted=("rejected", 405)),
    Case("a path of two readings", request=Request(target="/a%00"), wanted=("rejected", 400)),
    Case("no forward proxy", request=Request(target="http://elsewhere.example/", host="elsewhere.example"),
         wanted=("rejected", 421)),
    Case("queued", {"queue"},
         limits={"one": {"requests": 1, "per": "1500ms", "when_exceeded": "wait", "max_wait": "10s"}},
         before=(GET,), wanted=("forwarded", 200)),
    Case("queued in vain", {"queue"},
         limits={"one": {"requests": 1, "per": "1h", "when_exceeded": "wait", "max_wait": "2s"}},
         before=(GET,), wanted=("refused", 429)),
    Case("a slot in a coming window", {"reservation"},
         limits={"one": {"requests": 1, "per": "1h", "retry_after": "reserve",
                         "reserve_for": "header:X-Me"}},
         before=(GET, Request(fields=(("X-Me", "first"),))),
         request=Request(fields=(("X-Me", "second"),)), wanted=("refused", 429)),
    Case("a pause", {"cooldown"}, upstream={"cooldown": "on"}, before=(GET,),
         answers=(response_bytes(status="503 Wait", fields=(("Retry-After", "60"),)),),
         wanted=("cooling_down", 503)),
    Case("a pause to wait for", {"cooldown_wait"},
         upstream={"cooldown": {"when_paused": "wait", "max_wait": "10s"}}, before=(GET,),
         answers=(response_bytes(status="503 Wait", fields=(("Retry-After", "2"),)),),
         wanted=("forwarded", 200)),
    Case("in flight", {"concurrency_limit"}, limits={"slots": {"concurrent": 1}}, before=(GET,),
         held=True, wanted=("refused", 429)),
    Case("what does not count",
         limits={"good": {"requests": 1, "per": "1h", "count_when": {"status": [200]}}},
         before=(GET,), answers=(response_bytes(status="404 No"),), wanted=("forwarded", 200)),
    Case("what counts", {"settlement"},
         limits={"good": {"requests": 1, "per": "1h", "count_when": {"status": [200]}}},
         before=(GET,), wanted=("refused", 429)),
    Case("a cost that the response tells", {"response_cost"},
         limits={"units": {"requests": 15, "per": "1h", "cost": "header:X-Cost", "reserve": 10}},
         before=(GET,), answers=(response_bytes(fields=(("X-Cost", "1"),)),),
         wanted=("forwarded", 200)),
    Case("a cost that uses up the limit", {"settlement"},
         limits={"units": {"requests": 15, "per": "1h", "cost": "header:X-Cost", "reserve": 10}},
         before=(GET,), answers=(response_bytes(fields=(("X-Cost", "10"),)),),
         wanted=("refused", 429)),
    Case("a shown permit", {"prepaid_permit"}, limits={"two": {"requests": 2, "per": "1h"}},
         permit_of="two", before=(GET, GET), wanted=("forwarded", 200)),
    Case("no fencing token", {"require_fence"}, top={"locks": {"jobs": {}}},
         route={"require_fence": "jobs"}, request=Request(method="POST"), wanted=("refused", 412)),
    Case("an old fencing token", {"require_fence"}, top={"locks": {"jobs": {}}}, fence="jobs",
         route={"require_fence": "jobs"},
         request=Request(method="POST", fields=(("X-Stint-Fence", "0"),)), wanted=("refused", 412)),
    Case("a safe method needs no fencing token", top={"locks": {"jobs": {}}},
         route={"require_fence": "jobs"}, wanted=("forwarded", 200)),
    Case("too long a body", {"max_body"}, route={"max_body": "10B"},
         request=Request(method="POST", body=b"x" * 11), wanted=("rejected", 413)),
    Case("Max-Forwards", {"max_forwards"},
         request=Request(method="OPTIONS", fields=(("Max-Forwards", "0"),)),
         wanted=("rejected", 200)),
    Case("redirected to https", {"redirect_http"}, listener={"redirect_http": 443},
         wanted=("responded", 308)),
    Case("the route's own response", {"respond"}, route={"respond": {"status": 204}},
         limits=ONE, wanted=("responded", 204)),
    Case("the route's own response, used up", route={"respond": {"status": 204}}, limits=ONE,
         before=(GET,), wanted=("refused", 429)),
)

# Rows that need a client with a certificate: tests/system/test_tls.py, unit.routing.
ELSEWHERE = {("check", "tls_subject"), ("simulate", "tls_subject")}


@dataclass
class Seen:
    """What a door says. Times in seconds."""

    outcome: str
    status: int
    limit: str = ""
    retry_after: float | None = None
    waited: float = 0.0

    def same(self, other) -> bool:
        def near(a, b):
            return (a is None) == (b is None) and (a is None or abs(a - b) < 1)

        return ((self.outcome, self.status, self.limit) == (other.outcome, other.status, other.limit)
                and near(self.retry_after, other.retry_after) and near(self.waited, other.waited))


class Doors(SystemTest):
    def gateway(self, case):
        release = threading.Event()
        self.addCleanup(release.set)
        answers = list(case.answers)

        def script(connection):
            while connection.read_request():
                if case.held:
                    release.wait(20)
                connection.send(answers.pop(0) if answers else response_bytes(body=b"ok"))

        upstream = self.start_upstream(script)
        limits = {**case.limits}
        route = {"name": "all", "match": {"path": "/"}, "upstream": "up", "limits": list(limits),
                 **case.route}
        if "respond" in route:
            del route["upstream"]
        if case.name == "redirected to https":
            route.pop("limits")
        stint = self.start_stint({
            "workers": 1,
            "max_connections": 1000,
            "listeners": [{"address": f"127.0.0.1:{free_port()}", **case.listener}],
            "permits": {"address": f"127.0.0.1:{free_port()}", "start_up_grace": "0s"},
            "trusted_proxies": ["127.0.0.1"],
            "upstreams": {"up": {"endpoints": [upstream.address], **case.upstream}},
            "routes": [route],
            **({"limits": limits} if limits else {}),
            **case.top,
        })
        return stint, release

    def prepare(self, case, stint):
        """Brings the gateway to where the request comes. Returns the request."""
        fields = list(case.request.fields)
        if case.permit_of or case.fence:
            with PermitClient(permits_port(stint)) as client:
                if case.permit_of:
                    fields.append(("X-Stint-Permit", client.take(case.permit_of, ticket=True).body["permit"]))
                else:
                    lease = fetch(permits_port(stint), "POST", f"/v1/locks/{case.fence}/leases",
                                  fields=[("Content-Type", "application/json")], body=b'{"ttl_ms": 60000}', host="localhost")
                    self.assertEqual(lease.status, 201, lease.body)
                    ended = fetch(permits_port(stint), "DELETE",
                                  f"/v1/locks/{case.fence}/leases/{json.loads(lease.body)['lease']}",
                                  host="localhost")
                    self.assertEqual(ended.status, 204, ended.body)
        threads = []
        for request in case.before:
            if case.held:
                threads.append(threading.Thread(target=self.send, args=(stint, request)))
                threads[-1].start()
                wait_until(lambda: stint.in_flight() == 1, "the slot is taken")
                self.wait_for_log_clock()
            else:
                self.send(stint, request)
        if case.before and not case.held:
            stint.wait_for_lines(len(case.before))
        request = Request(case.request.method, case.request.target, tuple(fields), case.request.body,
                          case.request.host)
        return request, threads

    @staticmethod
    def wait_for_log_clock():
        """The log tells times in whole milliseconds, rounded down: what happens after this is later in it than
        what has happened before, also an end, which is such a time and an exact duration."""
        before = time.time()
        wait_until(lambda: time.time() > before + 0.002, "the log's clock has gone on", pause=0)

    @staticmethod
    def send(stint, request):
        with RawClient(stint.port) as client:
            return client.request(request.method, request.target, request.fields, request.body,
                                  host=request.host)

    def through_listener(self, stint, request) -> Seen:
        lines = len(stint.access_log())
        answer = self.send(stint, request)
        line = stint.wait_for_lines(lines + 1)[-1]
        wait = answer.get("Retry-After-Ms")
        return Seen(line["decision"], answer.status, line.get("limit", ""),
                    int(wait) / 1000 if wait else None, line.get("waited_ms", 0) / 1000)

    @staticmethod
    def through_explain(stint, request) -> Seen:
        fields = dict(request.fields)
        answered = stint.admin.request("POST", "/explain", body=json.dumps(
            {"method": request.method, "host": request.host, "path": request.target,
             "client_ip": "127.0.0.1", "headers": fields}))
        found = answered.json()
        if found["decision"] in ("admit", "wait"):
            responds = found.get("responds_with")
            return Seen("responded" if responds else "forwarded", responds or 200,
                        waited=found.get("wait_ms", 0) / 1000)
        wait = found.get("retry_after_ms")
        return Seen(found["outcome"], found["status"], found.get("decided_by", ""),
                    wait / 1000 if wait is not None else None)

    @staticmethod
    def through_check(stint, request) -> Seen:
        before = stint.admin.metrics().sum("stint_limit_wait_seconds_sum")
        answer = fetch(permits_port(stint), "GET", "/v1/check", fields=[
            ("X-Forwarded-Method", request.method), ("X-Forwarded-Host", request.host),
            ("X-Forwarded-Uri", request.target), ("X-Forwarded-For", "127.0.0.1"), *request.fields])
        waited = stint.admin.metrics().sum("stint_limit_wait_seconds_sum") - before
        if answer.status == 200:
            return Seen("forwarded", 200, waited=waited)
        problem = json.loads(answer.body)
        wait = answer.get("Retry-After-Ms")
        limit = problem.get("limit") or problem.get("lock", "")
        if "lock" in problem:
            limit = f"lock:{limit}"
        outcome = {404: "no_route", 400: "rejected", 405: "rejected", 421: "rejected"}.get(answer.status, "refused")
        if "upstream" in problem:
            outcome = "cooling_down"
        return Seen(outcome, answer.status, limit, int(wait) / 1000 if wait else None, waited)

    def through_simulate(self, stint, seen) -> Seen:
        """The last line of the gateway's own log, after those before it."""
        log = stint.folder / "replayed.log"
        log.write_text("".join(json.dumps(line) + "\n" for line in stint.access_log()), encoding="utf-8")
        arguments = [binary(), "simulate", "--json", "-c", str(stint.file), str(log)]
        for name in LOGGED:
            arguments += ["--logged", name]
        ended = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        found = json.loads(ended.stdout)
        difference = found["difference"]
        admitted = sum(line["decision"] in ("forwarded", "responded") for line in stint.access_log())
        same = (found["configuration"]["admitted"] == admitted and difference["newly_refused"] == difference["newly_admitted"] == 0
                and difference["other_route"] == 0 and found["log"]["rejected_before_routing"] == 0
                and not found["configuration"]["field_not_in_log"])
        waited = found["configuration"]["longest_wait_ms"] / 1000
        if not same:
            return Seen("another", 0)
        return Seen(seen.outcome, seen.status, seen.limit, seen.retry_after, waited)

    def judge(self, case, door, through, seen):
        differs = any((door, feature) in ROWS for feature in case.features)
        self.assertNotEqual(seen.same(through), differs, f"{door}: {seen}; through the listener: {through}")
        if differs:
            self.shown |= {(door, feature) for feature in case.features if (door, feature) in ROWS}

    def logged(self, case):
        """The case with a log that carries the fields which its limits look at."""
        case.top = {**case.top, "access_log": {"fields": [f"header:{name}" for name in LOGGED]}}
        return case

    def test_every_door_decides_alike_but_for_the_rows(self):
        self.shown = set()
        for case in CASES:
            with self.subTest(case.name):
                self.logged(case)
                stint, release = self.gateway(case)
                request, threads = self.prepare(case, stint)
                explained = self.through_explain(stint, request)
                through = self.through_listener(stint, request)
                self.assertEqual((through.outcome, through.status), case.wanted, through)
                if case.held:
                    self.wait_for_log_clock()
                release.set()
                for thread in threads:
                    thread.join()
                stint.wait_for_lines(len(case.before) + 1)
                self.judge(case, "explain", through, explained)
                if through.outcome not in ("rejected", "no_route") or case.features:
                    self.judge(case, "simulate", through, self.through_simulate(stint, through))
                other, release = self.gateway(case)
                request, threads = self.prepare(case, other)
                checked = self.through_check(other, request)
                release.set()
                for thread in threads:
                    thread.join()
                self.judge(case, "check", through, checked)
        self.assertEqual(ROWS - self.shown - ELSEWHERE, set(), "rows that make no difference")


if __name__ == "__main__":
    unittest.main()
