"""What Stint forwards, nginx, Apache httpd and Node read as exactly the requests that it means."""

import collections
import os
import queue
import random
import re
import threading
import unittest

from support.case import SystemTest, config, report, scaled
from support.client import RawClient
from support.real_servers import Apache, Nginx, Node
from support.tap import Tap
from support.tricky import Generator, Input

INPUTS = scaled(400, 20_000)
THREADS = 8

# Right, and read wrongly by somebody at some time.
BY_HAND = {
    "escaped slash": b"GET /a%2Fb%2f..%2Fc HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\n\r\n",
    "dot segments": b"GET /a/./b/../c//d/. HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\n\r\n",
    "escaped line end": b"GET /%0d%0aX:%20y HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\n\r\n",
    "parameters": b"GET /a;b=c/..;/d HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\n\r\n",
    "two question marks": b"GET /a?b?c=/../d HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\n\r\n",
    "absolute form": b"GET http://b/c?d HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\n\r\n",
    "absolute form without a path": b"GET http://b?d HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\n\r\n",
    "GET with a body": b"GET / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\nContent-Length: 3\r\n\r\nabc",
    "GET with chunks": b"GET / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "length with zeros": b"POST / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\nContent-Length: 0003\r\n\r\nabc",
    "length of nothing": b"POST / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\nContent-Length: 0\r\n\r\n",
    "chunk extensions": b"POST / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\nTransfer-Encoding: chunked\r\n\r\n"
                        b'3;a="\x80;b"\r\nabc\r\n00;c\r\n\r\n',
    "trailers": b"POST / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\nTransfer-Encoding: chunked\r\n\r\n"
                b"3\r\nabc\r\n0\r\nContent-Length: 9\r\nHost: b\r\n\r\n",
    "capital coding": b"POST / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\ntransfer-encoding:\tCHUNKED \r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "underscores": b"POST / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\nContent_Length: 99\r\nTransfer_Encoding: chunked\r\n"
                   b"Content-Length: 3\r\n\r\nabc",
    "nominated framing": b"POST / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\nConnection: content-length, host\r\nContent-Length: 3\r\n\r\nabc",
    "request in a body": b"POST / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\nContent-Length: 45\r\n\r\n"
                         b"GET /s HTTP/1.1\r\nHost: s\r\nX-Tag: smuggled\r\n\r\n",
    "odd field names": b"GET / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\n!#$%&'*+-.^_`|~: x\r\n\r\n",
    "bytes above ASCII": b"GET / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\nX: \x80\xff\r\n\r\n",
    "no Host in 1.0": b"GET / HTTP/1.0\r\nX-Tag: @\r\n\r\n",
    "empty line before": b"\r\nGET / HTTP/1.1\r\nHost: a\r\nX-Tag: @\r\n\r\n",
}


# What the servers refuse of what Stint forwards, as a whole: why, and how to tell.
NODE_METHODS = frozenset(
    "ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE "
    "NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND "
    "UNLINK UNLOCK UNSUBSCRIBE".split())
UNIQUE = frozenset("authorization if-match if-none-match range referer user-agent content-type".split())
REFUSED_BY = {
    "Nginx": {
        "a method that is not in capitals": lambda one: not re.fullmatch("[A-Z_-]+", one.method),
        "the target *": lambda one: one.target == "*",
        "a repeated field": lambda one: not UNIQUE.isdisjoint(one.repeated),
    },
    "Apache": {},
    "Node": {"a method it does not know": lambda one: one.method not in NODE_METHODS},
}


class Differential(SystemTest):
    def setUp(self):
        super().setUp()
        self.servers, self.taps, self.stints = {}, {}, []
        for kind in (Nginx, Apache, Node):
            server = kind(self.new_folder())
            self.addCleanup(server.stop)
            tap = Tap(server.start().port)
            self.addCleanup(tap.close)
            self.servers[kind.__name__], self.taps[kind.__name__] = server, tap
            # What is under way must not be given up when the client has said all.
            self.stints.append(self.start_stint(config(
                tap.address, listener={"half_close": "allow"}, workers=1, access_log={"path": "off"},
                absolute_form="route")))

    def send_all(self, inputs):
        """Each of the inputs through each Stint, over a connection of its own."""
        work, failures = queue.SimpleQueue(), []
        for item in inputs:
            for stint in self.stints:
                work.put((stint, item))

        def worker():
            while not failures:
                try:
                    self.send(*work.get_nowait())
                except queue.Empty:
                    return
                except OSError as error:
                    failures.append(repr(error))

        threads = [threading.Thread(target=worker) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def send(self, stint, item: Input):
        with RawClient(stint.port) as client:
            try:
                for piece in item.pieces:
                    client.send(piece)
                client.half_close()
                client.read_what_comes()
            except TimeoutError:
                raise TimeoutError(f"no end of {item.bytes!r}") from None
            except OSError:
                pass  # refused and closed before it had all come

    def judge(self, inputs):
        """The tags of the requests that were forwarded, whole, to each of the servers."""
        by_tag = {tag: item for item in inputs for tag in item.tags}
        forwarded = []
        for name, server in self.servers.items():
            server.stop()
            requests, faults = self.taps[name].forwarded()
            with self.subTest(server=name):
                self.assertEqual(faults, [], "not one request for everybody")
                self.assertEqual([one for one in requests if one.tag not in by_tag], [], "asked by nobody")
                self.compare(name, server.records, requests, by_tag)
            forwarded.append({one.tag for one in requests if one.whole})
        return forwarded

    def compare(self, name, records, requests, by_tag):
        """That each record is of a request that was forwarded, the same one, and that the others were
        refused for a reason that the test knows. A request may have been tried twice."""
        attempts, read = collections.defaultdict(list), collections.defaultdict(list)
        for one in requests:
            attempts[one.tag].append(one)
        for record in records:
            read[record.tag].append(record)
        nameless = len(read.pop("", []))
        self.assertEqual(set(read) - set(attempts), set(), f"{name} read requests that nobody forwarded")
        refused, unread = collections.Counter(), 0
        for tag, forwarded in attempts.items():
            unread += len(forwarded) - len(read[tag])
            self.assertLessEqual(len(read[tag]), len(forwarded), f"{name} read {by_tag[tag].bytes!r} more than once")
            for record in read[tag]:
                self.same(name, record, forwarded[0], by_tag[tag])
            if not read[tag] and any(one.whole and one.answered for one in forwarded):
                refused[self.reason(name, forwarded[0], by_tag[tag])] += 1
        self.assertLessEqual(nameless, unread, f"{name} read requests without a tag")
        report(f"differential: refused by {name}", "as a whole", f"{refused.total()} of {len(attempts)}: {dict(refused)}")

    def same(self, name, record, forwarded, item):
        self.assertEqual(
            (record.method, record.target), (forwarded.method, forwarded.target), f"{name} read {item.bytes!r}")
        if forwarded.whole and record.body is not None and record.status < 400:
            self.assertEqual(record.body, forwarded.body, f"{name} read {item.bytes!r}")

    def reason(self, name, forwarded, item):
        for why, refuses in REFUSED_BY[name].items():
            if refuses(forwarded):
                return why
        self.fail(f"{name} refuses {forwarded}, for no reason that this test knows; of {item.bytes!r}")

    def test_requests_by_hand(self):
        tags = {f"h{n}": name for n, name in enumerate(BY_HAND)}
        inputs = [Input([tag], [BY_HAND[name].replace(b"@", tag.encode())]) for tag, name in tags.items()]
        self.send_all(inputs)
        for forwarded in self.judge(inputs):
            self.assertEqual([name for tag, name in tags.items() if tag not in forwarded], [], "not forwarded")

    def test_generated_requests(self):
        seed = int(os.environ.get("STINT_SEED") or random.randrange(1 << 32))
        generator = Generator(seed)
        inputs = [generator.input() for _ in range(INPUTS)]
        with self.subTest(seed=seed):
            self.send_all(inputs)
            forwarded = [len(tags) for tags in self.judge(inputs)]
            asked = sum(len(item.tags) for item in inputs)
            report("differential: forwarded", "more than a third", f"{forwarded} of {asked}, STINT_SEED={seed}")
            self.assertGreater(min(forwarded), asked // 3)


if __name__ == "__main__":
    unittest.main()
