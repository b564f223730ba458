"""Fixed windows in shared memory, given out in advance: who must wait is told at once when its turn is.

Pure but for the memory: time is an argument, in nanoseconds. Call only inside the memory's lock.
"""

import struct
from hashlib import blake2b
from typing import Dict, Optional

# A record: the digest of its key, when its last window begins (which may be in the future: then the
# windows before it are full), and how many places of that window were given out. 0: it was never used.
_RECORD = struct.Struct("=16sqq")
_WINDOW = struct.Struct("=qq")
_WINDOW_AT = 16

RECORDS = 1 << 16
SIZE = (1 + RECORDS) * _RECORD.size
_PROBED = 64
_FAR = 1 << 62  # about 146 years after the machine was started; what is due later is never

NEVER = -1


class Full(Exception):
    """No place before the one at `due` (NEVER: none at all)."""

    def __init__(self, due: int) -> None:
        super().__init__()
        self.due = due


class Schedule:
    """`calls` places in each window of `period` ns, for each key. A window begins with the first place
    taken after the former one ended, or directly behind it when somebody waits for it."""

    def __init__(self, memory: "memoryview", calls: int, period: int) -> None:
        self._memory = memory
        self._calls = calls
        self._period = period
        self._known: Dict[str, int] = {}  # where the keys were found last; a hint, no more

    def reserve(self, key: Optional[str], now: int, latest: int) -> int:
        """Takes the first free place, which must be due by `latest`, and returns when it is due: `now`,
        or a time in the future, until which the caller must wait or release() the place.

        Raises Full, and has taken nothing, otherwise.
        """
        at = self._record(key, now)
        start: int
        used: int
        start, used = _WINDOW.unpack_from(self._memory, at)
        if used == 0 or now >= start + self._period:
            start, used = now, 0
        if self._calls == 0:
            raise Full(NEVER)
        if used >= self._calls:
            start, used = start + self._period, 0
        due = max(start, now)
        if due > latest or due > _FAR:
            raise Full(due)
        _WINDOW.pack_into(self._memory, at, start, used + 1)
        return due

    def release(self, key: Optional[str], due: int, now: int) -> bool:
        """Gives back the place that is due in the future. Only a place in the last window can be given
        to somebody else; false: it could not, and is lost."""
        at = self._record(key, now)
        start, used = _WINDOW.unpack_from(self._memory, at)
        if used == 0 or start != due:
            return False
        if used > 1:
            _WINDOW.pack_into(self._memory, at, start, used - 1)
        else:
            _WINDOW.pack_into(self._memory, at, start - self._period, self._calls)
        return True

    def _record(self, key: Optional[str], now: int) -> int:
        """Where the window of this key is. Raises Full when 64 records in a row are in use."""
        if key is None:
            return _WINDOW_AT
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._known.get(key)
        if known is not None and self._memory[known:known + 16] == digest:
            return known + _WINDOW_AT
        found = self._find(digest, now)
        if len(self._known) >= RECORDS:
            self._known.clear()
        self._known[key] = found
        return found + _WINDOW_AT

    def _find(self, digest: bytes, now: int) -> int:
        first = int.from_bytes(digest[:4], "little") % RECORDS
        free, earliest = -1, _FAR
        for probe in range(first, first + _PROBED):
            at = (1 + probe % RECORDS) * _RECORD.size
            owner, start, used = _RECORD.unpack_from(self._memory, at)
            if owner == digest:
                return at
            if used == 0 or now >= start + self._period:
                free = at if free < 0 else free
            else:
                earliest = min(earliest, start + self._period)
        if free < 0:
            raise Full(earliest)
        _RECORD.pack_into(self._memory, free, digest, 0, 0)
        return free
