"""Whether a command has printed what the document says: the same but for times, ids, dates and versions."""

import re

_ID = re.compile(r"\b[lp]_[0-9a-f]{32}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b\d{16}\b")

# What differs from run to run. Of a duration it stays whether it is 0.
_MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?"), "TIME"),
    (re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT"), "DATE"),
    (re.compile(r'("(?:reset|resets_in|retry_after|waited|expires_in|held)_ms": ?)[1-9]\d*'), r"\1N"),
    (re.compile(r"^(Retry-After|Retry-After-Ms|Content-Length): [1-9]\d*$"), r"\1: N"),
    (re.compile(r"\b(Will )?retry in [1-9]\d* (s|seconds)\b"), r"\1retry in N \2"),
    (re.compile(r"\b(Python|curl|SimpleHTTP)/\d+(\.\d+)*\+?"), r"\1/V"),
    (_ID, "ID"),
)
_STYLE = re.compile(r"\x1b\[[0-9;]*m")  # curl writes names of fields in bold
_LEFT_OUT = re.compile(r"\[warning\] max_connections: ")  # of a machine that lets fewer files be open
_PROGRESS = re.compile(
    r"^ *(% Total +% Received|Dload +Upload).*|.*(\d:\d\d:\d\d|--:--:--) +(\d:\d\d:\d\d|--:--:--).*$")


def _masked(line: str) -> str:
    for pattern, to in _MASKS:
        line = pattern.sub(to, line)
    return line.rstrip()


def printed(raw: str) -> "list[str]":
    """The lines of a terminal's text, without curl's progress and without empty ones at the end."""
    text = re.sub(r"\r+\n", "\n", _STYLE.sub("", raw))
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in text.split("\n")]
    lines = [line for line in lines if not _PROGRESS.match(line) and not _LEFT_OUT.search(line)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


class Bindings:
    """Which id of this run stands for an id of the document."""

    def __init__(self) -> None:
        self._of: "dict[str, str]" = {}

    def put_in(self, text: str) -> str:
        """The text with this run's ids."""
        return _ID.sub(lambda found: self._of.get(found[0], found[0]), text)

    def agree(self, expected: str, actual: str) -> bool:
        """False if an id of the document would stand for two of this run's."""
        written, seen = _ID.findall(expected), _ID.findall(actual)
        if "…" in expected or len(written) != len(seen):
            return True  # what is left out may hold ids
        return all(self._of.setdefault(one, other) == other for one, other in zip(written, seen))


def _line_matches(expected: str, actual: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in _masked(expected).split("…"))
    return re.fullmatch(pattern, _masked(actual)) is not None


def difference(expected: "list[str]", actual: "list[str]", bindings: Bindings) -> "str | None":
    """None if the output is what was expected. `…` stands for anything in a line; alone, for any lines."""
    while expected and not expected[-1].strip():
        expected = expected[:-1]
    pairs = _pair(expected, actual)
    if pairs is None:
        return "\n".join(["the document has", *("    " + line for line in expected),
                          "printed was", *("    " + line for line in actual)])
    for one, other in pairs:
        if not bindings.agree(one, other):
            return f"an id that stood for another one before: {one!r}, printed was {other!r}"
    return None


def _pair(expected: "list[str]", actual: "list[str]") -> "list[tuple[str, str]] | None":
    if not expected:
        return None if actual else []
    if expected[0].strip() == "…":
        rests = (_pair(expected[1:], actual[start:]) for start in range(len(actual) + 1))
        return next((rest for rest in rests if rest is not None), None)
    if not actual or not _line_matches(expected[0], actual[0]):
        return None
    rest = _pair(expected[1:], actual[1:])
    return None if rest is None else [(expected[0], actual[0]), *rest]
