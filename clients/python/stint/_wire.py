"""HTTP/1.1 as the permit listener speaks it: bytes of requests, and answers out of bytes. No input, no
output, no clock."""

import json
import math
import re
from typing import Any, Dict, NoReturn, Optional, Tuple
from urllib.parse import quote

from ._address import Address
from ._errors import RateLimitException, StintError, StintUnavailable, Unproven

MAX_ANSWER = 1 << 20

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n", re.IGNORECASE)
_NOTHING = _LENGTH.search(b"\r\ncontent-length:0\r\n")  # as a 204 has that does not say so
_CODED = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_STINT = re.compile(rb"\r\nserver:[ \t]*stint[ \t]*\r\n", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection:[ \t]*close", re.IGNORECASE)
_RETRY_AFTER_MS = re.compile(rb"\r\nretry-after-ms:[ \t]*([0-9]{1,15})[ \t]*\r\n", re.IGNORECASE)
_RETRY_AFTER = re.compile(rb"\r\nretry-after:[ \t]*([0-9]{1,12})[ \t]*\r\n", re.IGNORECASE)


class Requests:
    """Makes the requests to one gateway. The head is made once for each path."""

    def __init__(self, authority: str, token: Optional[str]) -> None:
        self._fields = f" HTTP/1.1\r\nHost: {authority}\r\n"
        if token is not None:
            if not token or not all("!" <= character <= "~" for character in token):
                raise ValueError("a token is visible ASCII without spaces")
            self._fields += f"Authorization: Bearer {token}\r\n"
        self._bare = f"{self._fields}Content-Length: 0\r\n\r\n"
        self._fields += "Content-Type: application/json\r\nContent-Length: "
        self._heads: Dict[str, bytes] = {}

    def bare(self, method: str, path: str) -> bytes:
        """A request without a body; `path` may end in anything that the request line can hold."""
        return f"{method} {path}{self._bare}".encode("ascii")

    def head_and_tail(self, method: str, path: str) -> Tuple[bytes, bytes]:
        """bare(method, path + segment) is the head, the segment and the tail."""
        return f"{method} {path}".encode("ascii"), self._bare.encode("ascii")

    def post(self, path: str, body: Dict[str, Any]) -> bytes:
        """POST of a JSON object, members that are None left out."""
        head = self._heads.get(path)
        if head is None:
            head = f"POST {path}{self._fields}".encode("ascii")
            if len(self._heads) >= 1000:
                self._heads.clear()
            self._heads[path] = head
        content = json.dumps({name: value for name, value in body.items() if value is not None},
                             separators=(",", ":")).encode("ascii")
        return b"%s%d\r\n\r\n%s" % (head, len(content), content)


def take_path(name: str) -> str:
    """The path at which the limit `name`, any text, is taken from."""
    return f"/v1/limits/{_segment(name, 'limit')}/take"


def lock_path(name: str) -> str:
    """The path of the lock `name`, any text."""
    return f"/v1/locks/{_segment(name, 'lock')}"


def _segment(name: str, what: str) -> str:
    if not isinstance(name, str) or not name:
        raise ValueError(f"a {what} is named by a text that is not empty, not by {name!r}")
    segment = quote(name, safe="")
    return segment.replace(".", "%2E") if segment in (".", "..") else segment  # dot segments would be taken out


class Answer:
    """A whole answer, or the head of one that no permit listener gives, without a body; status 0: it is not HTTP/1.
    last: the connection is of no use after it."""

    __slots__ = ("status", "head", "body", "last")

    def __init__(self, status: int, head: bytes, body: bytes, last: bool) -> None:
        self.status = status
        self.head = head
        self.body = body
        self.last = last

    def members(self) -> Dict[str, Any]:
        """Of the body, if it is a JSON object, and none otherwise: of a proxy's page, say."""
        try:
            read = json.loads(self.body.decode("utf-8"))
        except (ValueError, RecursionError):  # nested too deeply
            return {}
        return read if isinstance(read, dict) else {}

    def retry_after(self) -> Optional[float]:
        """Seconds, or None if the answer names none."""
        if found := _RETRY_AFTER_MS.search(self.head):
            return int(found[1]) / 1000
        if found := _RETRY_AFTER.search(self.head):
            return float(found[1])
        return None


# The head that was read last, and what it says: most answers on a connection begin with the same one.
_last_head: Tuple[bytes, int, int, bool] = (b"", 0, 0, False)
# The same of a 201, up to the field that names what was made, which is the last one of it.
_last_created: Tuple[bytes, int, int, bool] = (b"-", 0, 0, False)
_LOCATION = b"\r\nLocation:"
_BEGIN = b"HTTP/1."
_STATUS_LINE = re.compile(rb"HTTP/1\.[0-9] [0-9]{3}[ \r]")
_NO_LENGTH = -1  # with which whatever came is more than the answer has


def parse(received: bytes) -> Optional[Answer]:
    """The answer that these bytes begin; None as long as some are missing. A permit listener says how long an
    answer is, is brief and says no more: what does otherwise is answered for by its head alone."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        is_one = len(received) <= MAX_ANSWER and _BEGIN.startswith(received[:len(_BEGIN)])
        return None if is_one else Answer(0, received[:1000], b"", True)
    head = received[:end + 2]
    known, status, length, last = _last_created
    if not (head.startswith(known) and head.find(b"\r\n", len(known)) == end):
        known, status, length, last = _last_head
        if head != known:
            status, length, last = _learn_head(head)
    missing = end + 4 + length - len(received)
    if missing < 0 or length > MAX_ANSWER:
        return Answer(status, head, b"", True)
    return None if missing else Answer(status, head, received[end + 4:], last)


def _learn_head(head: bytes) -> Tuple[int, int, bool]:
    """_read_head(), remembered for the next answer."""
    global _last_head, _last_created
    status, length, last = read = _read_head(head)
    if status != 201:
        _last_head = head, status, length, last
        return read
    place = head.find(_LOCATION) + len(_LOCATION)
    if place >= len(_LOCATION) and head.find(b"\r\n", place) == len(head) - 2 and _LENGTH.search(head, 0, place):
        _last_created = head[:place], status, length, last
    return read


def _read_head(head: bytes) -> Tuple[int, int, bool]:
    """Status, length of the body, and whether the connection is of no use after it."""
    if _STATUS_LINE.match(head) is None:
        return 0, _NO_LENGTH, True
    status = int(head[9:12])
    length = _LENGTH.search(head) or (_NOTHING if head.startswith(b"HTTP/1.1 204") else None)
    if length is None or _CODED.search(head) is not None:
        return status, _NO_LENGTH, True
    last = not head.startswith(b"HTTP/1.1") or _CLOSE.search(head) is not None
    return status, int(length[1]), last


def check_there(answer: Answer, address: Address) -> None:
    """StintUnavailable if a proxy says in the gateway's place, by 502, 503 or 504, that it is away.

    A refusal is none of these (503 with Retry-After), and neither is what Stint's own proxy says of its upstream,
    unless a permit listener is known to be behind it: the proxy's address was taken for the permit listener's."""
    if answer.status not in (502, 503, 504) or (answer.status == 503 and answer.retry_after() is not None):
        return
    if address.proven:
        raise StintUnavailable(f"{address} answered {answer.status}: the gateway is away; {_words(answer)}")
    if answer.status == 503 or _STINT.search(answer.head) is None:
        raise Unproven(f"{address} answered {answer.status}: the gateway is away, or this is not the address under "
                       f"permits: of its configuration; {_words(answer)}")


def raise_for(answer: Answer, what: str, address: object = "the gateway") -> NoReturn:
    """The exception that an answer other than 200 means; `what` was asked for at this address."""
    retry_after = answer.retry_after()
    if answer.status == 429 or (answer.status == 503 and retry_after is not None):
        if retry_after is None:
            raise RateLimitException(f"{what}: never; {_words(answer)}", math.inf, never=True)
        raise RateLimitException(f"{what}: {retry_after:.3f} s remain; {_words(answer)}", retry_after,
                                 status=answer.status)
    problem = answer.members()
    if not problem or answer.status < 400 or (answer.status >= 500 and answer.status != 501):
        raise no_permit_listener(answer, what, address)
    raise StintError(f"{what}: {answer.status}; {_words(answer)}", answer.status,
                     str(problem.get("title", "")), problem.get("detail"))


def no_permit_listener(answer: Answer, what: str, address: object) -> StintError:
    """The mistake by which something else was asked."""
    return StintError(f"{what}: {address} answered {answer.status or 'no HTTP'}, but not as a permit listener does: is "
                      f"it the address under permits: of a gateway's configuration? "
                      f"{(answer.body or answer.head)[:80]!r}", answer.status)


def _words(answer: Answer) -> str:
    problem = answer.members()
    return str(problem.get("detail") or problem.get("title") or "no reason given")
