"""Chromium before Stint, over TLS with HTTP/2."""

import collections
import hashlib
import signal
import threading
import unittest
from datetime import datetime

from browser import Browser
from case import ClientTest, most_within, too_early, url_of
from pages import ASSETS, BIG, PIECES, assets
from support.activation import handed, listening
from support.waiting import wait_until

NUMBER, PER = 20, 1.0  # of the limit that lets requests wait
WAITS = {"requests": NUMBER, "per": "1s", "algorithm": "sliding_window", "when_exceeded": "wait", "max_wait": "30s"}
WAIT_LESS = {**WAITS, "per": "300ms"}
ALL_MAY_WAIT = {"max_waiting_streams": 100}


class ChromiumTest(ClientTest):
    def setUp(self):
        super().setUp()
        self.browser = Browser(self.new_folder(), self.authority)
        self.addCleanup(self.browser.close)

    def on(self, stint):
        """An empty page, whose scripts then ask for what they want."""
        self.browser.open(url_of(stint) + "/empty")

    def whole_page(self, what, protocol="h2"):
        """Rows on the assets of the page that is open."""
        seen = [each for each in self.browser.resources() if each["path"].startswith("/asset/")]
        self.row(f"{what}: assets that arrived whole", ASSETS,
                 sum(each["status"] == 200 and each["size"] == assets()[each["path"]] for each in seen))
        used = self.browser.run("""
            return [...document.images].filter(each => each.naturalWidth > 0).length + (window.ran || 0)
                + [...document.styleSheets].filter(each => each.cssRules.length > 0).length;""")
        self.row(f"{what}: pictures shown, scripts run, style sheets applied", ASSETS, used)
        self.row(f"{what}: protocols of the assets", {protocol: ASSETS},
                 dict(collections.Counter(each["protocol"] for each in seen)))

    def one_connection(self, what, stint):
        self.row(f"{what}: connections that carried it, as Chromium tells", 1,
                 len(self.browser.connections(url_of(stint))))
        self.row(f"{what}: handshakes, as Stint tells", 1,
                 int(stint.admin.metrics().sum("stint_tls_handshakes_total")))

    def statuses(self, lines) -> dict:
        return dict(collections.Counter(str(line["status"]) for line in lines))


class Pages(ChromiumTest):
    def test_the_requests_of_a_page_wait(self):
        what = f"a page of {ASSETS} assets where {NUMBER} in any {PER:g} s go and others wait"
        stint = self.start(limit=WAITS, http2=ALL_MAY_WAIT)
        self.browser.open(url_of(stint) + "/page")
        lines = stint.wait_for_lines(ASSETS + 1)
        self.whole_page(what)
        self.row(f"{what}: answers by status", {"200": ASSETS + 1}, self.statuses(lines))
        self.one_connection(what, stint)
        waited = sum(line.get("waited_ms", 0) > 0 for line in lines)
        self.row(f"{what}: requests that waited", "> 0", waited, waited > 0)
        heads = [datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp() for line in lines]
        came = [at for _, at in self.site.arrivals]
        self.row(f"{what}: requests that the upstream had before the limit can have allowed it", 0,
                 too_early(heads, came, NUMBER, PER))
        most = most_within(came, PER / 2)  # which holds if none took longer than another by the other half to come
        self.row(f"{what}: the most that the upstream got in any {PER / 2:g} s", f"<= {NUMBER}", most, most <= NUMBER)

    def test_no_more_streams_than_may_wait(self):
        what = f"the same with max_streams: {NUMBER}, as many as may wait by default"
        stint = self.start(limit=WAIT_LESS, http2={"max_streams": NUMBER})
        self.browser.open(url_of(stint) + "/page")
        lines = stint.wait_for_lines(ASSETS + 1)
        self.whole_page(what)
        self.row(f"{what}: answers by status", {"200": ASSETS + 1}, self.statuses(lines))
        self.one_connection(what, stint)

    def test_a_connection_that_ends_with_a_page(self):
        what = f"the same twice where a connection ends (GOAWAY) after {ASSETS + 1} requests"
        stint = self.start(limit=WAIT_LESS, http2={**ALL_MAY_WAIT, "max_requests": ASSETS + 1})
        for lines in (ASSETS + 1, 2 * (ASSETS + 1)):
            self.browser.open(url_of(stint) + "/page")
            seen = stint.wait_for_lines(lines)
            self.whole_page(what)
        self.row(f"{what}: answers by status", {"200": 2 * (ASSETS + 1)}, self.statuses(seen))
        self.row(f"{what}: connections", 2, len(self.browser.connections(url_of(stint))))

    def test_reloads_while_a_page_is_loaded(self):
        what = "the same with 3 reloads meanwhile, one with another certificate"
        stint = self.start(limit=WAITS, http2=ALL_MAY_WAIT)
        renewed = self.authority.issue("localhost", file="renewed")
        loading = threading.Thread(target=self.browser.open, args=(url_of(stint) + "/page",))
        loading.start()
        for number in range(3):
            wait_until(lambda number=number: len(self.site.arrivals) > 1 + NUMBER * number, "the page is on its way")
            if number == 1:
                self.pair.take_over(renewed)
            self.assertEqual(stint.admin.reload().status, 200)
        to_come = ASSETS + 1 - len(self.site.arrivals)
        loading.join()
        lines = stint.wait_for_lines(ASSETS + 1)
        self.row(f"{what}: assets still to come at the third", "> 0", to_come, to_come > 0)
        self.whole_page(what)
        self.row(f"{what}: answers by status", {"200": ASSETS + 1}, self.statuses(lines))
        self.one_connection(what, stint)


class Ends(ChromiumTest):
    """Stint ends while a page asks, and another one goes on with its listening socket."""

    # Asks for all that may wait, and all the while for one thing after another that needs no turn.
    ASK = """
        window.over = false;
        const seen = {assets: {}, others: {}};
        const ask = async (path, counts) => {
            const status = await fetch(path).then((answer) => answer.text().then(() => answer.status), () => 'failed');
            counts[status] = (counts[status] || 0) + 1;
        };
        const steady = async () => { for (let n = 0; !window.over; ++n) await ask(`/free/${n}`, seen.others); };
        window.asked = Promise.all([steady(), ...arguments[0].map((path) => ask(path, seen.assets))]).then(() => seen);
        return 0;"""

    def start_with(self, kept):
        made = self.configuration(limit=WAITS, http2=ALL_MAY_WAIT)
        made["listeners"][0]["address"] = "127.0.0.1:%d" % kept.getsockname()[1]
        made["routes"].insert(0, {"name": "free", "match": {"path": "/free"}, "upstream": "up"})
        return self.start_stint(made, **handed(kept))

    def assets_so_far(self):
        return sum(path.startswith("/asset/") for path in self.site.paths())

    def test_it_is_stopped_while_requests_wait(self):
        what = "Stint stops while requests of a page wait, another one takes over"
        kept = listening()
        self.addCleanup(kept.close)
        first = self.start_with(kept)
        self.on(first)
        self.browser.run(self.ASK, list(assets()))
        # Chromium fails some of the requests that it has not sent when it hears of the end.
        wait_until(lambda: first.admin.limit("l")["waiting"] + self.assets_so_far() >= ASSETS, "all have been sent")
        to_come = ASSETS - self.assets_so_far()
        first.signal(signal.SIGTERM)
        second = self.start_with(kept)
        ended = first.process.wait(30)
        so_far = len(self.site.arrivals)
        wait_until(lambda: len(self.site.arrivals) > so_far + 10, "the page goes on")
        seen = self.browser.run("window.over = true; return window.asked;")
        self.row(f"{what}: assets still to come at SIGTERM", "> 0", to_come, to_come > 0)
        self.row(f"{what}: exit code", 0, ended)
        self.row(f"{what}: answers to the requests for assets", {"200": ASSETS}, seen["assets"])
        failed = sum(count for status, count in seen["others"].items() if status != "200")
        self.row(f"{what}: failures of others, which come one after another", "0 or 1", failed, failed <= 1)
        paths = self.site.paths()
        self.row(f"{what}: requests that the upstream got twice", 0, len(paths) - len(set(paths)))
        connections = len(self.browser.connections(url_of(first)))
        self.row(f"{what}: connections", 2, connections)
        old = {line["path"] for line in first.access_log() if line["status"] == 200}
        self.row(f"{what}: assets that came from the one that was stopped", ASSETS, len(old & set(assets())))
        self.assertGreater(len(second.access_log()), 0)


class Refusals(ChromiumTest):
    ASK = """
        const ask = async (path) => {
            const answer = await fetch(path);
            const body = await answer.text();
            return {status: answer.status, body, retry: Number(answer.headers.get('Retry-After')),
                    type: answer.headers.get('Content-Type')};
        };
        const asked = (paths) => Promise.all(paths.map(ask));"""

    def test_fetch_sees_refusals(self):
        what = f"fetch() of {ASSETS} assets, {NUMBER} an hour"
        stint = self.start()
        self.on(stint)
        stint.write(self.again(stint, {"requests": NUMBER, "per": "1h"}))
        self.assertEqual(stint.admin.reload().status, 200)
        seen = self.browser.run(self.ASK + "return asked(arguments[0]);", list(assets()))
        self.row(f"{what}: answers by status", {"200": NUMBER, "429": ASSETS - NUMBER}, self.statuses(seen))
        refused = [each for each in seen if each["status"] == 429]
        self.row(f"{what}: refusals with a Retry-After of 50 to 60 minutes", ASSETS - NUMBER,
                 sum(3000 < each["retry"] <= 3600 for each in refused))
        self.row(f"{what}: refusals whose body the page can read", {"application/problem+json": ASSETS - NUMBER},
                 dict(collections.Counter(each["type"] for each in refused if '"status":429' in each["body"])))
        self.row(f"{what}: assets that the upstream was asked for", NUMBER, len(self.site.arrivals) - 1)
        self.one_connection(what, stint)

    def test_fetch_comes_again_when_told(self):
        what = f"fetch() of {ASSETS} assets, 40 in 2 s, each is told when to come again"
        stint = self.start()
        self.on(stint)
        stint.write(self.again(stint, {"requests": 40, "per": "2s", "retry_after": "reserve"}))
        self.assertEqual(stint.admin.reload().status, 200)
        tries = self.browser.run(self.ASK + """
            const until = async (path) => {
                for (let tries = 1; ; ++tries) {
                    const answer = await ask(path);
                    if (answer.status !== 429 || tries === 10) return {tries, status: answer.status};
                    await new Promise((done) => setTimeout(done, answer.retry * 1000));
                }
            };
            return Promise.all(arguments[0].map(until));""", list(assets()))
        self.row(f"{what}: last answers by status", {"200": ASSETS}, self.statuses(tries))
        most = max(each["tries"] for each in tries)
        self.row(f"{what}: the most tries of an asset", "2 to 4", most, 2 <= most <= 4)

    def again(self, stint, limit):
        """The configuration of a Stint that runs without a limit, with one."""
        made = self.configuration(limit=limit)
        made["listeners"][0]["address"] = stint.config["listeners"][0]["address"]
        made["admin"] = stint.config["admin"]
        return made


class Bodies(ChromiumTest):
    def test_an_answer_in_parts(self):
        stint = self.start()
        self.on(stint)
        seen = self.browser.run("""
            const reader = (await fetch('/parts')).body.getReader();
            const pieces = [];
            for (;;) {
                const {done, value} = await reader.read();
                if (done) return pieces;
                pieces.push(new TextDecoder().decode(value));
                await fetch(`/taken?${pieces.length}`);
            }""")
        self.row("a streamed answer, each piece sent when the page has had the last: pieces in order", PIECES,
                 sum(each == f"piece {number}" for number, each in enumerate(seen)))
        self.one_connection("a streamed answer", stint)

    def test_uploads_and_downloads(self):
        stint = self.start()
        self.on(stint)
        wanted = hashlib.sha256(BIG).hexdigest()
        seen = self.browser.run("""
            const text = (bytes) => Array.from(
                new Uint8Array(bytes), (each) => each.toString(16).padStart(2, '0')).join('');
            const send = async (body) => (await fetch('/digest', {method: 'POST', body})).text();
            const body = await (await fetch('/big')).arrayBuffer();
            const down = text(await crypto.subtle.digest('SHA-256', body));
            return [down, ...await Promise.all([1, 2, 3].map(() => send(body)))];""")
        self.row(f"{len(BIG) >> 20} MiB down, then the same up in 3 uploads at once: right digests", 4,
                 seen.count(wanted))
        self.one_connection("uploads", stint)

    def test_an_upload_in_parts(self):
        stint = self.start()
        self.on(stint)
        seen = self.browser.run("""
            let sent = 0;
            const body = new ReadableStream({
                async pull(controller) {
                    if (sent > 0) await fetch(`/sent?${sent}`);
                    if (sent === PIECES) return controller.close();
                    controller.enqueue(new TextEncoder().encode(`piece ${sent++};`));
                }
            }, {highWaterMark: 0});
            return (await fetch('/upload-in-parts', {method: 'POST', body, duplex: 'half'})).text();""".replace(
                "PIECES", str(PIECES)))
        self.row("a streamed upload, each piece sent when the upstream has had the last: pieces in order", PIECES,
                 sum(each == f"piece {number}" for number, each in enumerate(seen.split(";"))))
        self.one_connection("a streamed upload", stint)


class WebSockets(ChromiumTest):
    def test_messages_there_and_back(self):
        stint = self.start()
        self.on(stint)
        seen = self.browser.run("""
            const socket = new WebSocket(`wss://${location.host}/socket`);
            socket.binaryType = 'arraybuffer';
            const next = () => new Promise((done, failed) => {
                socket.onmessage = (event) => done(event.data);
                socket.onclose = (event) => failed(new Error(`closed: ${event.code}`));
            });
            await new Promise((done, failed) => {
                socket.onopen = done;
                socket.onerror = () => failed(new Error('no connection'));
            });
            const big = new Uint8Array(1 << 20).map((_, index) => index * 7);
            let same = 0;
            for (const message of ['hello', '', 'x'.repeat(70000)]) {
                socket.send(message);
                same += await next() === message;
            }
            socket.send(big);
            const back = new Uint8Array(await next());
            same += back.length === big.length && back.every((each, index) => each === big[index]);
            const closed = new Promise((done) => { socket.onclose = (event) => done(event.code); });
            socket.close(1000);
            return [same, await closed];""")
        lines = [line for line in stint.wait_for_lines(2) if line["path"] == "/socket"]
        self.row("a WebSocket: messages that came back the same, and the code at the end", [4, 1000], seen)
        self.row("a WebSocket: protocol and status in the log", [["HTTP/2.0", 101]],
                 [[line["protocol"], line["status"]] for line in lines])
        self.one_connection("a WebSocket", stint)


if __name__ == "__main__":
    unittest.main()
