"""Requests that are hard to read: written by a grammar, most of them right, some not.

Each request that is meant carries a field X-Tag of its own; what stands in a body and looks like a
request has a tag that ends in "s" and must never be taken for one.
"""

import random
from dataclasses import dataclass

METHODS = ["GET"] * 6 + ["POST"] * 6 + [
    "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "M-SEARCH", "FOO", "get", "Post", "G!T", "X_Y"]
SEGMENTS = [
    "a", "b", "", ".", "..", "...", "%41", "%2F", "%2f", "%2e", "%2E%2E", "%5C", "%20", "%25", "%3F", "%23",
    "%C3%A4", "%FF", "a;b=c", ";", "a,b", "~a", "a+b", "@", "!$&'()*", "a:b", "a|b", "^", "`", "{a}", "[b]",
    "a=b", "%7E", "%0A", "%0d%0a", "http:", "x" * 300]
QUERIES = ["", "", "", "?", "?a=b", "?a=b&c=d;e", "?/../?", "?%", "?%zz", "?%00", "?a=%0d%0a", "??", "?a|b{c}", "?[]^`"]
HOSTS = ["a", "A.Example", "a.example.", "a:80", "a:", "[::1]", "[::1]:80", "127.0.0.1:8", "a_b", "xn--bcher-kva",
         "a%41", "a..b", "-", "~", "a.b.c.d.e", "a!b", "1"]
NAMES = ["X-A", "x-b", "X_C", "x", "X-!#$%&'*+.^`|~", "Cookie", "Accept", "Accept-Encoding", "User-Agent", "Range",
         "If-Match", "If-None-Match", "Content-Type", "Content_Length", "Transfer_Encoding", "Content-Encoding",
         "Transfer-Encodings", "Authorization", "Referer", "X-Forwarded-For", "Via", "Pragma", "Cache-Control"]
VALUES = ["", "b", "5", "chunked", "a, b", '"quoted, \\" text"', "a=b; c=d", "\tb\t", "b  ", "  b", "\x80\xff", "a:b",
          "bytes=0-1", "*", "a\tb", "close", "x" * 500, "gzip", "http://x/ HTTP/1.1", "(a)"]
WRONG_FIELDS = [
    "Content-Length : 5", "Transfer-Encoding : chunked", " X: b", "X:\r\n b", "X", ": b", "X\0: b", "X: a\0b", "X: a\rb",
    "Transfer-Encoding: gzip", "Transfer-Encoding: chunked, chunked", "Content-Length: 1", "Content-Length: +1",
    "Transfer-Encoding: chunked", "Host: b", "Transfer-Encoding:\x0bchunked", "X: a\nTransfer-Encoding: chunked"]
HOP_FIELDS = [
    "Connection: x-a", "Connection: close", "Connection: keep-alive, x-b", "Connection: host, content-length",
    "Connection: transfer-encoding", "Connection: te", "TE: trailers", "Trailer: X-A", "Keep-Alive: timeout=5",
    "Proxy-Connection: close", "Upgrade: h2c", "HTTP2-Settings: AAA", "Expect: 100-continue"]


@dataclass
class Input:
    tags: list
    pieces: list  # as they are sent

    @property
    def bytes(self) -> bytes:
        return b"".join(self.pieces)


class Generator:
    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self._made = 0

    def input(self) -> Input:
        """One connection's worth: a request, or several in a row."""
        self._made += 1
        count = self._random.choice([1, 1, 1, 2, 3])
        tags = [f"{self._made}-{n}" for n in range(count)]
        data = b"".join(self._request(tag) for tag in tags)
        # Where a byte is changed nothing may follow that could be taken for a request of its own.
        if count == 1 and b"/smuggled" not in data and self._chance(0.15):
            flipped = self._flipped(data)
            data = flipped if f"\r\nX-Tag: {tags[0]}\r\n".encode() in flipped else data
        return Input(tags, self._pieces(data))

    def _chance(self, share):
        return self._random.random() < share

    def _one(self, of):
        return self._random.choice(of)

    def _target(self, method):
        if method == "OPTIONS" and self._chance(0.3):
            return "*"
        path = "".join("/" + self._one(SEGMENTS) for _ in range(self._random.randint(1, 4)))
        if self._chance(0.1):
            return self._one(["http://", "HTTP://", "https://"]) + self._one(HOSTS) + self._one([path, "", "/"]) + self._one(QUERIES)
        return path + self._one(QUERIES)

    def _body(self, tag):
        if self._chance(0.3):
            return f"GET /smuggled HTTP/1.1\r\nHost: s\r\nX-Tag: {tag}s\r\n\r\n".encode()
        return bytes(self._one(b"abc\r\n0;:\x80") for _ in range(self._random.randint(0, 60)))

    def _chunks(self, body):
        out = b""
        while body:
            size = self._random.randint(1, len(body))
            digits = self._one(["{:x}", "{:X}", "0{:x}", "0000{:x}"]).format(size)
            out += digits.encode() + self._one([b"", b"", b";a", b";a=b", b';a="b;c"', b" ;a", b";"]) + b"\r\n"
            out += body[:size] + b"\r\n"
            body = body[size:]
        trailers = [b"", b"", b"X-T: u\r\n", b"Content-Length: 7\r\nX-T:\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: t\r\n"]
        return out + self._one([b"0", b"00", b"0;last"]) + b"\r\n" + self._one(trailers) + b"\r\n"

    def _framed(self, tag):
        """(fields, the body's bytes)"""
        body = self._body(tag)
        kind = self._random.random()
        if kind < 0.35:
            return [], b""
        if kind < 0.6:
            return [self._one(["Content-Length: {}", "content-length:{}", "Content-Length: 00{} "]).format(len(body))], body
        if kind < 0.9:
            return [self._one(["Transfer-Encoding: chunked", "transfer-encoding:Chunked ", "Transfer-Encoding:\tCHUNKED"])], self._chunks(body)
        length = f"Content-Length: {max(len(body) + self._random.randint(-5, 5), 0)}"
        return self._one([[length], [length, "Transfer-Encoding: chunked"], [length, length]]), self._one([body, self._chunks(body)])

    def _request(self, tag):
        method = self._one(METHODS)
        framing, body = self._framed(tag)
        fields = [f"{self._one(NAMES)}:{self._one(['', ' ', '  '])}{self._one(VALUES)}" for _ in range(self._random.randint(0, 4))]
        fields += [f"X-Tag: {tag}", *framing]
        if self._chance(0.2):
            fields.append(self._one(HOP_FIELDS))
        if self._chance(0.1):
            fields.append(self._one(WRONG_FIELDS))
        self._random.shuffle(fields)
        version = "1.0" if self._chance(0.05) else "1.1"
        lines = [f"{method} {self._target(method)} HTTP/{version}", f"Host: {self._one(HOSTS)}", *fields]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body

    def _flipped(self, data):
        at = self._random.randrange(len(data))
        byte = self._one([b"\n", b"\r", b"\0", b" ", b"\t", b":", b"", b"\x7f", b"\x0b", bytes([self._random.randrange(256)])])
        return data[:at] + byte + data[at + self._one([0, 1]):]

    def _pieces(self, data):
        if self._chance(0.5):
            return [data]
        cuts = sorted(self._random.randint(0, len(data)) for _ in range(self._random.randint(1, 4)))
        return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)])]
