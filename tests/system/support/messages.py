"""HTTP/1.1 messages as the tests see them: what was on the wire, nothing tidied up."""

import json
from dataclasses import dataclass, field


@dataclass
class Message:
    start: str
    fields: list = field(default_factory=list)  # (name, value) in order, as spelt
    body: bytes = b""
    trailers: list = field(default_factory=list)

    def all(self, name: str) -> list:
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name: str, default=None):
        """The only value of a field; two of the same name are an error in the test's eyes."""
        values = self.all(name)
        if len(values) > 1:
            raise AssertionError(f"{name} stands {len(values)} times: {values}")
        return values[0] if values else default

    def json(self):
        return json.loads(self.body)


@dataclass
class Response(Message):
    @property
    def status(self) -> int:
        return int(self.start.split(" ")[1])


@dataclass
class Request(Message):
    @property
    def method(self) -> str:
        return self.start.split(" ")[0]

    @property
    def target(self) -> str:
        return self.start.split(" ")[1]


def parse_head(kind, raw: bytes):
    """A Request or Response from the bytes up to and with the empty line."""
    start, *lines = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    return kind(start, parse_fields(lines))


def parse_fields(lines) -> list:
    pairs = (line.partition(":") for line in lines)
    return [(name, value.strip(" \t")) for name, _, value in pairs]


def request_bytes(method="GET", target="/", fields=(), body=b"", host="test.example") -> bytes:
    """One request. A body gets its Content-Length unless the fields say how it is framed."""
    fields = list(fields.items() if isinstance(fields, dict) else fields)
    names = {name.lower() for name, _ in fields}
    if "host" not in names and host is not None:
        fields.insert(0, ("Host", host))
    if body and not names & {"content-length", "transfer-encoding"}:
        fields.append(("Content-Length", str(len(body))))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body


def response_bytes(body=b"ok", status="200 OK", fields=()) -> bytes:
    fields = list(fields.items() if isinstance(fields, dict) else fields)
    if not {name.lower() for name, _ in fields} & {"content-length", "transfer-encoding"}:
        fields.append(("Content-Length", str(len(body))))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + body


def chunked(*pieces: bytes) -> bytes:
    """The pieces as chunks, with the last one."""
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
