"""What RFC 9113 (HTTP/2), RFC 7541 (HPACK) and RFC 8441 (extended CONNECT) ask of a server, section by section.

A row: the section, what a client sends, the frames, what must come. Each is played on a connection of its own, on
which SETTINGS were exchanged. What must come is
  "goes on"     nothing: another request of the connection is served;
  "200"         the status of the response on stream 1, after which the connection goes on; "200 BODY" its body, too;
  "reset CODE"  RST_STREAM of stream 1, after which the connection goes on;
  "end CODE"    GOAWAY with the code, and the connection's end.
A row with two of them, as "reset A | end B", may get either: the RFC leaves the choice. A request that is malformed
may be answered with 400 before its stream ends (RFC 9113 section 8.1.1).
"""

import struct
import unittest

from support.case import SystemTest, config
from support.http2 import PREFACE, Gone, Http2Client
from support.upstream import answer
from support.client import RawClient

CODES = ["NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
         "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM"]
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM = ACK = 1
END_HEADERS, PADDED, WITH_PRIORITY = 4, 8, 32
OTHER = 0x7ffffff1  # the stream of the request that asks whether the connection goes on


def frame(kind, flags=0, stream=1, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def text(value):
    """A string of HPACK without Huffman's code (RFC 7541 section 5.2)."""
    value = value if isinstance(value, bytes) else value.encode("latin-1")
    assert len(value) < 127
    return bytes([len(value)]) + value


def block(*fields):
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


def pseudo(method="GET", path="/", scheme="http", authority="a"):
    given = ((":method", method), (":scheme", scheme), (":path", path), (":authority", authority))
    return [(name, value) for name, value in given if value is not None]


def head(*more, end=True, stream=1, raw=None, flags=0, **named):
    """HEADERS of a whole request. more: fields; named: as pseudo(); raw: the block instead."""
    made = block(*pseudo(**named), *more) if raw is None else raw
    return frame(HEADERS, flags | END_HEADERS | (END_STREAM if end else 0), stream, made)


def fields(*given):
    """HEADERS with exactly these."""
    return head(raw=block(*given))


def post(*data, length=None):
    """A request with a body, whose last piece ends it."""
    more = [] if length is None else [("content-length", str(length))]
    frames = [head(*more, method="POST", end=False)]
    return b"".join(frames + [frame(DATA, END_STREAM if i + 1 == len(data) else 0, 1, piece)
                              for i, piece in enumerate(data)])


def settings(*pairs, flags=0, stream=0):
    return frame(SETTINGS, flags, stream, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def window(size, stream=0):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size))


WHOLE = block(*pseudo())
PING_8 = b"01234567"
MALFORMED = "reset PROTOCOL_ERROR"

FRAMES = [
    ("4.1", "a frame of an unknown type", frame(0xbe, 0xff, 0, b"x") + frame(0xbe, 0, 1, b"x"), "goes on"),
    ("4.1", "flags that are not defined", frame(PING, 0xfe, 0, PING_8), "goes on"),
    ("4.1", "the reserved bit before the stream", frame(PING, 0, 0x80000000, PING_8), "goes on"),
    ("4.2", "DATA above SETTINGS_MAX_FRAME_SIZE", post(b"x" * 16385), "end FRAME_SIZE_ERROR | reset FRAME_SIZE_ERROR"),
    ("4.2", "DATA of SETTINGS_MAX_FRAME_SIZE", post(b"x" * 16384), "200"),
    ("4.2", "HEADERS above SETTINGS_MAX_FRAME_SIZE", head(raw=WHOLE + b"\0" * 16385), "end FRAME_SIZE_ERROR"),
    ("4.2", "SETTINGS above SETTINGS_MAX_FRAME_SIZE", settings(*[(0xf0, 0)] * 2731), "end FRAME_SIZE_ERROR"),
    ("4.3", "another frame within a header block", frame(HEADERS, END_STREAM, 1, WHOLE) + frame(PING, 0, 0, PING_8),
     "end PROTOCOL_ERROR"),
    ("4.3", "another stream's CONTINUATION within a header block",
     frame(HEADERS, END_STREAM, 1, WHOLE) + frame(CONTINUATION, END_HEADERS, 3), "end PROTOCOL_ERROR"),
    ("4.3", "another stream's HEADERS within a header block",
     frame(HEADERS, END_STREAM, 1, WHOLE) + head(stream=3), "end PROTOCOL_ERROR"),
    ("5.5", "a frame of an unknown type within a header block",
     frame(HEADERS, END_STREAM, 1, WHOLE) + frame(0xbe), "end PROTOCOL_ERROR"),
]

STREAMS = [
    ("5.1", "DATA on an idle stream", frame(DATA, END_STREAM, 1, b"x"), "end PROTOCOL_ERROR"),
    ("5.1", "RST_STREAM on an idle stream", frame(RST_STREAM, 0, 1, b"\0\0\0\x08"), "end PROTOCOL_ERROR"),
    ("5.1", "WINDOW_UPDATE on an idle stream", window(1, 1), "end PROTOCOL_ERROR"),
    ("5.1", "CONTINUATION on an idle stream", frame(CONTINUATION, END_HEADERS, 1, WHOLE), "end PROTOCOL_ERROR"),
    ("5.1", "PRIORITY on an idle stream", frame(PRIORITY, 0, 1, b"\0\0\0\0\x10"), "goes on"),
    ("5.1", "DATA behind END_STREAM", head(path="/slow") + frame(DATA, END_STREAM, 1, b"x"),
     "reset STREAM_CLOSED | end STREAM_CLOSED"),
    ("5.1", "HEADERS behind END_STREAM", head(path="/slow") + head(path="/slow"),
     "reset STREAM_CLOSED | end STREAM_CLOSED"),
    ("5.1", "CONTINUATION behind END_HEADERS", head(path="/slow") + frame(CONTINUATION, END_HEADERS),
     "end PROTOCOL_ERROR"),
    ("5.1", "WINDOW_UPDATE and PRIORITY behind END_STREAM",
     head() + window(1, 1) + frame(PRIORITY, 0, 1, b"\0\0\0\0\x10"), "200"),
    # "An endpoint MAY treat receipt of any other type of frame on a closed stream as a connection error": RFC 7540 had
    # a MUST there, which h2spec asks for. Such HEADERS are counted as glitches.
    ("5.1", "DATA behind RST_STREAM",
     head(end=False) + frame(RST_STREAM, 0, 1, b"\0\0\0\x08") + frame(DATA, END_STREAM, 1, b"x"),
     "goes on | end STREAM_CLOSED"),
    ("5.1", "HEADERS behind RST_STREAM",
     head(end=False) + frame(RST_STREAM, 0, 1, b"\0\0\0\x08") + head(), "goes on | end STREAM_CLOSED"),
    ("5.1.1", "a stream with an even number", head(stream=2), "end PROTOCOL_ERROR"),
    # "The first use of a new stream identifier implicitly closes all streams in the 'idle' state" with lower ones: these
    # are HEADERS of a closed stream, as above.
    ("5.1.1", "a stream below one that was opened", head(stream=5) + head(stream=3, path="/slow"),
     "end PROTOCOL_ERROR | end STREAM_CLOSED | goes on"),
    # Priorities are of RFC 7540, which had these as stream errors; of RFC 9113 section 5.3.2 they mean nothing.
    ("5.3.2", "HEADERS that depend on themselves", head(raw=b"\0\0\0\x01\x10" + WHOLE, flags=WITH_PRIORITY),
     "end PROTOCOL_ERROR"),
    ("5.3.2", "PRIORITY that depends on itself", frame(PRIORITY, 0, 1, b"\0\0\0\x01\x10"), "goes on"),
]

TYPES = [
    ("6.1", "DATA on stream 0", frame(DATA, 0, 0, b"x"), "end PROTOCOL_ERROR"),
    ("6.1", "DATA with padding",
     head(method="POST", end=False) + frame(DATA, PADDED | END_STREAM, 1, b"\x03hi" + bytes(3)), "200 hi"),
    ("6.1", "DATA that is all padding",
     head(method="POST", end=False) + frame(DATA, PADDED, 1, b"\x03" + bytes(3)) + frame(DATA, END_STREAM, 1, b"hi"),
     "200 hi"),
    ("6.1", "DATA with more padding than frame",
     head(method="POST", end=False) + frame(DATA, PADDED | END_STREAM, 1, b"\x03hi"), "end PROTOCOL_ERROR"),
    ("6.2", "HEADERS on stream 0", head(stream=0), "end PROTOCOL_ERROR"),
    ("6.2", "HEADERS with padding", head(raw=b"\x03" + WHOLE + bytes(3), flags=PADDED), "200"),
    ("6.2", "HEADERS with a priority", head(raw=b"\0\0\0\0\x10" + WHOLE, flags=WITH_PRIORITY), "200"),
    ("6.2", "HEADERS with more padding than frame", head(raw=b"\xff" + WHOLE, flags=PADDED), "end PROTOCOL_ERROR"),
    ("6.2", "HEADERS too short for a priority", head(raw=b"\0", flags=WITH_PRIORITY), "end FRAME_SIZE_ERROR"),
    ("6.3", "PRIORITY on stream 0", frame(PRIORITY, 0, 0, b"\0\0\0\x01\x10"), "end PROTOCOL_ERROR"),
    ("6.3", "PRIORITY of 4 bytes", head(path="/slow") + frame(PRIORITY, 0, 1, b"\0\0\0\0"),
     "reset FRAME_SIZE_ERROR | end FRAME_SIZE_ERROR"),
    ("6.4", "RST_STREAM on stream 0", frame(RST_STREAM, 0, 0, b"\0\0\0\x08"), "end PROTOCOL_ERROR"),
    ("6.4", "RST_STREAM of 3 bytes", head(path="/slow") + frame(RST_STREAM, 0, 1, b"\0\0\0"), "end FRAME_SIZE_ERROR"),
    ("6.4", "RST_STREAM with a code that is not known",
     head(path="/slow") + frame(RST_STREAM, 0, 1, b"\xff\0\0\0"), "goes on"),
    ("6.5", "SETTINGS on a stream", settings(stream=1), "end PROTOCOL_ERROR"),
    ("6.5", "SETTINGS of 5 bytes", frame(SETTINGS, 0, 0, bytes(5)), "end FRAME_SIZE_ERROR"),
    ("6.5", "an acknowledgement with a payload", settings((3, 1), flags=ACK), "end FRAME_SIZE_ERROR"),
    ("6.5.2", "SETTINGS_ENABLE_PUSH of 2", settings((2, 2)), "end PROTOCOL_ERROR"),
    ("6.5.2", "SETTINGS_INITIAL_WINDOW_SIZE above 2^31-1", settings((4, 1 << 31)), "end FLOW_CONTROL_ERROR"),
    ("6.5.2", "SETTINGS_MAX_FRAME_SIZE below 16,384", settings((5, 16383)), "end PROTOCOL_ERROR"),
    ("6.5.2", "SETTINGS_MAX_FRAME_SIZE above 2^24-1", settings((5, 1 << 24)), "end PROTOCOL_ERROR"),
    ("6.5.2", "a setting that is not known", settings((0xf0f0, 7)), "goes on"),
    ("6.5.3", "a setting twice: the last one holds", settings((4, 0), (4, 100)) + head(), "200"),
    ("RFC 9218 2.1", "SETTINGS_NO_RFC7540_PRIORITIES of 2", settings((9, 2)), "end PROTOCOL_ERROR"),
    ("RFC 8441 3", "SETTINGS_ENABLE_CONNECT_PROTOCOL of 2", settings((8, 2)), "end PROTOCOL_ERROR"),
    ("6.6, 8.4", "PUSH_PROMISE of a client",
     head(path="/slow") + frame(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\x02" + WHOLE), "end PROTOCOL_ERROR"),
    ("6.7", "PING on a stream", frame(PING, 0, 1, PING_8), "end PROTOCOL_ERROR"),
    ("6.7", "PING of 6 bytes", frame(PING, 0, 0, b"012345"), "end FRAME_SIZE_ERROR"),
    ("6.7", "the answer to a PING that nobody has sent", frame(PING, ACK, 0, PING_8), "goes on"),
    ("6.8", "GOAWAY on a stream", frame(GOAWAY, 0, 1, bytes(8)), "end PROTOCOL_ERROR"),
    ("6.8", "GOAWAY: what was begun is served", head() + frame(GOAWAY, 0, 0, bytes(8)), "200 hello then end"),
    ("6.9", "WINDOW_UPDATE of 0 for the connection", window(0), "end PROTOCOL_ERROR"),
    ("6.9", "WINDOW_UPDATE of 0 for a stream", head(path="/slow") + window(0, 1),
     "reset PROTOCOL_ERROR | end PROTOCOL_ERROR"),
    ("6.9", "WINDOW_UPDATE of 3 bytes", frame(WINDOW_UPDATE, 0, 0, bytes(3)), "end FRAME_SIZE_ERROR"),
    ("6.9.1", "a window above 2^31-1 for the connection", window(0x7fffffff), "end FLOW_CONTROL_ERROR"),
    ("6.9.1", "a window above 2^31-1 for a stream", head(path="/slow") + window(0x7fffffff, 1),
     "reset FLOW_CONTROL_ERROR"),
    ("6.9.1", "more than a stream's window, of a request that waits",
     head(method="POST", path="/wait", end=False) + frame(DATA, 0, 1, bytes(16384)) * 5,
     "reset FLOW_CONTROL_ERROR | end FLOW_CONTROL_ERROR"),
    ("6.9.2", "SETTINGS that bring a stream's window above 2^31-1",
     settings((4, 0)) + head(path="/slow") + window(0x7fffffff, 1) + settings((4, 1)),
     "reset FLOW_CONTROL_ERROR | end FLOW_CONTROL_ERROR"),
    ("6.9.2", "a window of 0 that is opened later", settings((4, 0)) + head() + window(1, 1) + settings((4, 7)),
     "200"),
    ("6.10", "CONTINUATION on stream 0", frame(HEADERS, END_STREAM, 1, WHOLE) + frame(CONTINUATION, END_HEADERS, 0),
     "end PROTOCOL_ERROR"),
    ("6.10", "a head in three frames, one of them empty",
     frame(HEADERS, END_STREAM, 1, WHOLE[:5]) + frame(CONTINUATION) + frame(CONTINUATION, END_HEADERS, 1, WHOLE[5:]),
     "200"),
    ("6.10", "CONTINUATION behind DATA",
     head(method="POST", path="/slow", end=False) + frame(DATA, 0, 1, b"x") + frame(CONTINUATION, END_HEADERS),
     "end PROTOCOL_ERROR"),
]

REQUESTS = [
    ("8.1", "HEADERS without END_STREAM behind a head", head(method="POST", path="/slow", end=False) +
     frame(HEADERS, END_HEADERS, 1, block(("x-a", "1"))), MALFORMED),
    ("8.1", "trailers", head(method="POST", end=False) + frame(DATA, 0, 1, b"hi") +
     frame(HEADERS, END_HEADERS | END_STREAM, 1, block(("x-a", "1"))), "200 hi"),
    ("8.1", "pseudo-fields as trailers", head(method="POST", path="/slow", end=False) +
     frame(HEADERS, END_HEADERS | END_STREAM, 1, block((":path", "/"))), MALFORMED),
    ("8.1, 8.2.2", "a connection field as a trailer", head(method="POST", path="/slow", end=False) +
     frame(HEADERS, END_HEADERS | END_STREAM, 1, block(("connection", "close"))), MALFORMED),
    ("8.1.1", "a body shorter than its length", post(b"h", length=2), MALFORMED),
    ("8.1.1", "a body longer than its length", post(b"hi!", length=2), MALFORMED),
    ("8.1.1", "a body longer than its length in two frames", post(b"hi", b"!", length=2), MALFORMED),
    ("8.1.1", "a length and no body", head(("content-length", "2")), MALFORMED),
    ("8.1.1", "a length of nothing and no body", head(("content-length", "0")), "200"),
    ("8.1.1", "a length that holds", post(b"h", b"i", length=2), "200 hi"),
    ("8.1.1", "two lengths that differ", head(("content-length", "2"), ("content-length", "3"), end=False), MALFORMED),
    ("8.1.1", "two lengths that are equal", head(("content-length", "2"), ("content-length", "2"), end=False),
     MALFORMED),
    *[("8.1.1; RFC 9110 8.6", f"a length of {value!r}", head(("content-length", value), end=False), MALFORMED)
      for value in ("", "+2", "-2", "0x2", "a", "2.0", "2 2", "2, 2", "9223372036854775808", "18446744073709551618")],
    ("8.2.1", "a name in upper case", head(("X-A", "1")), MALFORMED),
    *[("8.2.1", f"a name with {byte!r}", head((b"x" + byte + b"a", "1")), MALFORMED)
      for byte in (b"\0", b" ", b"\n", b"\r", b":", b"\x7f", b"\x80", b"(")],
    ("8.2.1", "a name that is empty", head(("", "1")), MALFORMED),
    *[("8.2.1", f"a value with {byte!r}", head(("x-a", b"1" + byte + b"2")), MALFORMED)
      for byte in (b"\0", b"\n", b"\r", b"\r\nx-b: 1", b"\x01", b"\x7f")],
    *[("8.2.1", f"a value of {value!r}", head(("x-a", value)), MALFORMED) for value in (" 1", "1 ", "\t1", "1\t")],
    *[("8.2.2", f"{name}: {value}", head((name, value)), MALFORMED) for name, value in (
        ("connection", "close"), ("connection", "x-a"), ("keep-alive", "timeout=5"), ("proxy-connection", "close"),
        ("transfer-encoding", "chunked"), ("transfer-encoding", ""), ("upgrade", "websocket"), ("te", "gzip"),
        ("te", "trailers, gzip"))],
    ("8.2.2", "te: trailers", head(("te", "trailers")), "200"),
    ("8.2.3", "a cookie in crumbs", head(("cookie", "a=1"), ("cookie", "b=2"), path="/cookie"), "200 a=1; b=2"),
    ("8.3", "a pseudo-field behind a field", fields((":method", "GET"), ("x-a", "1"), (":scheme", "http"),
                                                    (":path", "/"), (":authority", "a")), MALFORMED),
    ("8.3", "a pseudo-field that is not known", fields(*pseudo(), (":x", "1")), MALFORMED),
    ("8.3", "a pseudo-field of responses", fields(*pseudo(), (":status", "200")), MALFORMED),
    *[("8.3.1", f"{name} twice", fields(*pseudo(), (name, value)), MALFORMED)
      for name, value in pseudo()],
    *[("8.3.1", f"no :{name}", head(**{name: None}), MALFORMED) for name in ("method", "scheme", "path")],
    ("8.3.1", "neither :authority nor Host", head(authority=None), MALFORMED),
    *[("8.3.1", f"a :path of {path!r}", head(path=path), MALFORMED)
      for path in ("", "x", "*", "http://a/", "/a b", "/a#b", b"/\x01", b"/\xc3\xa4")],
    ("8.3.1", "OPTIONS *", head(method="OPTIONS", path="*"), "200"),
    *[("8.3.1", f"a :method of {method!r}", head(method=method), MALFORMED) for method in ("", "G T", "G(T")],
    *[("8.3.1", f"a :scheme of {scheme!r}", head(scheme=scheme), MALFORMED) for scheme in ("", "ftp", "1http")],
    ("8.3.1", "user information in :authority", head(authority="u:p@a"), MALFORMED),
    ("8.3.1", "an :authority that is no host", head(authority="a b"), MALFORMED),
    ("8.3.1", "a Host that differs from :authority", head(("host", "b")), MALFORMED),
    ("8.3.1", "a Host that says the same", head(("host", "A")), "200"),
    ("8.3.1", "Host alone", head(("host", "a"), authority=None), "200"),
    ("8.3.1", "two Hosts", head(("host", "a"), ("host", "a"), authority=None), MALFORMED),
    ("8.5", "CONNECT", fields((":method", "CONNECT"), (":authority", "a:443")), "405"),
    ("8.5", "CONNECT with a :path", fields((":method", "CONNECT"), (":authority", "a:443"), (":path", "/")),
     MALFORMED + " | 405"),
    ("8.5", "CONNECT without :authority", fields((":method", "CONNECT")), MALFORMED),
]

HPACK = [
    ("2.3.3, 6.1", "index 0", head(raw=WHOLE + b"\x80"), "end COMPRESSION_ERROR"),
    ("2.3.3, 6.1", "an index above both tables", head(raw=WHOLE + b"\xfe"), "end COMPRESSION_ERROR"),
    ("2.3.3, 6.2", "an indexed name above both tables", head(raw=WHOLE + b"\x7e\x01a"), "end COMPRESSION_ERROR"),
    ("2.3.2, 6.2.1", "a field that was put into the table",
     head(raw=WHOLE + b"\x40" + text("x-a") + text("1") + b"\xbe"), "200"),
    ("4.2, 6.3", "the table's size of 0, which empties it",
     head(raw=b"\x40" + text(":method") + text("GET") + block(*pseudo()[1:])) +
     frame(HEADERS, END_HEADERS | END_STREAM, 3, b"\x20" + block(*pseudo()[1:]) + b"\xbe"), "end COMPRESSION_ERROR"),
    ("4.2, 6.3", "a table's size that was announced", head(raw=b"\x3f\xe1\x1f" + WHOLE), "200"),
    ("4.2, 6.3", "a table's size above what was announced", head(raw=b"\x3f\xe2\x1f" + WHOLE),
     "end COMPRESSION_ERROR"),
    ("4.2", "a table's size behind a field", head(raw=WHOLE + b"\x20"), "end COMPRESSION_ERROR"),
    ("4.2", "two sizes before the fields", head(raw=b"\x20\x3f\xe1\x1f" + WHOLE), "200"),
    ("5.1", "an integer above 32 bits", head(raw=WHOLE + b"\xff\xff\xff\xff\xff\xff\x7f"), "end COMPRESSION_ERROR"),
    ("5.1", "an integer that does not end", head(raw=WHOLE + b"\xff" + b"\x80" * 20), "end COMPRESSION_ERROR"),
    ("5.1", "an integer that is cut off", head(raw=WHOLE + b"\xff"), "end COMPRESSION_ERROR"),
    ("5.2", "a string longer than the block", head(raw=WHOLE + b"\0\x03x-a\x7f1"), "end COMPRESSION_ERROR"),
    ("5.2", "a field without its value", head(raw=WHOLE + b"\0\x03x-a"), "end COMPRESSION_ERROR"),
    ("5.2", "Huffman's code", head(raw=block(*pseudo()[:-1]) + b"\x01\x81\x1f"), "200"),
    ("5.2", "Huffman's EOS", head(raw=WHOLE + b"\0\x03x-a\x84\xff\xff\xff\xff"), "end COMPRESSION_ERROR"),
    ("5.2", "Huffman's code with 8 bits of padding", head(raw=WHOLE + b"\0\x03x-a\x82\x1f\xff"),
     "end COMPRESSION_ERROR"),
    ("5.2", "Huffman's code with zeros as padding", head(raw=WHOLE + b"\0\x03x-a\x81\x18"), "end COMPRESSION_ERROR"),
]


class Observed:
    """What has come of one row."""

    def __init__(self, client):
        self.client = client

    def text(self, due):
        found = self.client.responses
        try:
            if due.startswith(("200", "40")):
                self.client.response(1)
            elif due.startswith("reset"):
                self.client.until(lambda: 1 in found and found[1].reset is not None or self.refused())
            elif due.startswith("end"):
                self.client.until(lambda: False)
            if due.endswith("then end"):
                self.client.until(lambda: False)
            return self.first() if self.goes_on() else "does not go on"
        except Gone:
            last = self.client.goaways[-1] if self.client.goaways else None
            if due.endswith("then end"):
                return self.first() + " then end"
            return f"end {CODES[last[1]]}" if last else "end"
        except TimeoutError:
            return "goes on"

    def refused(self):
        return 1 in self.client.responses and self.client.responses[1].status == 400

    def first(self):
        response = self.client.responses.get(1)
        if response is None or not (response.heads or response.reset is not None):
            return "goes on"
        if response.heads:
            return f"{response.status} {response.body.decode()}"
        return f"reset {CODES[response.reset]}"

    def goes_on(self):
        self.client.raw(head(stream=OTHER))
        return self.client.response(OTHER).status == 200


def holds(due, seen):
    """One of the things that must come is what was seen."""
    for each in due.split(" | "):
        if each == seen or each[:3].isdigit() and (seen == each or seen.startswith(each + " ")):
            return True
        if each == MALFORMED and seen.startswith("400"):
            return True
    return False


def script(connection):
    while request := connection.read_request():
        if request.target == "/slow":
            connection.ends()
            return
        body = request.get("Cookie").encode() if request.target == "/cookie" else request.body or b"hello"
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


class Rows(SystemTest):
    def play(self, rows):
        self.upstream = self.start_upstream(script)
        whole = config(self.upstream.address, listener={"h2c": True})
        whole["limits"] = {"once": {"requests": 1, "per": "1h", "when_exceeded": "wait", "max_wait": "1h"}}
        whole["routes"].insert(0, dict(whole["routes"][0], name="wait", match={"path": "/wait"}, limits=["once"]))
        self.stint = self.start_stint(whole)
        taken = Http2Client.to(self.stint.port)
        self.addCleanup(taken.close)
        self.assertEqual(taken.get("/wait").status, 200)
        for section, what, sent, due in rows:
            with self.subTest(section=section, sent=what):
                seen = self.seen(sent, due)
                self.assertTrue(holds(due, seen), f"{seen!r} instead of {due!r}")

    def seen(self, sent, due):
        client = Http2Client.to(self.stint.port, seconds=0.5 if "goes on" in due else 5)
        try:
            client.until(lambda: client.settings)
            client.raw(sent)
            return Observed(client).text(due.split(" | ")[0])
        except Gone:
            return "end"
        finally:
            client.close()

    def test_frames(self):
        self.play(FRAMES)

    def test_streams(self):
        self.play(STREAMS)

    def test_types_of_frames(self):
        self.play(TYPES)

    def test_requests(self):
        self.play(REQUESTS)

    def test_hpack(self):
        self.play(HPACK)


class Prefaces(SystemTest):
    """RFC 9113 section 3.4: "A GOAWAY frame MAY be omitted in this case, since an invalid preface indicates that the
    peer is not using HTTP/2." Another preface is answered in HTTP/1.1."""

    def test_prefaces(self):
        upstream = self.start_upstream(answer(b"hello"))
        stint = self.start_stint(config(upstream.address, listener={"h2c": True}))
        for what, sent in (
                ("another preface", PREFACE.replace(b"SM", b"XM") + settings()),
                ("a frame other than SETTINGS behind it", PREFACE + frame(PING, 0, 0, PING_8)),
                ("an acknowledgement behind it", PREFACE + settings(flags=ACK))):
            with self.subTest(sent=what):
                client = RawClient(stint.port)
                self.addCleanup(client.close)
                client.send(sent)
                client.read_to_end()
        self.assertEqual(upstream.requests, [])


if __name__ == "__main__":
    unittest.main()
