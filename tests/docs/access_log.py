"""The access log of docs/operations.md's simulation: 60,000 requests within an hour, a twelfth of them by one client,
a third of them searches. The same in every run."""

import json
from datetime import datetime, timedelta, timezone
from random import Random

_COUNT = 60_000
_BEGIN = datetime(2026, 11, 21, 10, tzinfo=timezone.utc)


def main() -> None:
    chance = Random(17)
    for at in sorted(chance.random() for _ in range(_COUNT)):
        time = (_BEGIN + timedelta(hours=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        busy = chance.random() < 0.2 and at > 0.4
        client = "192.0.2.1" if busy else f"198.51.100.{int(chance.random() * 200)}"
        print(json.dumps({
            "time": time, "client": client, "host": "shop.example", "route": "everything", "method": "GET",
            "path": "/search" if chance.random() < 1 / 3 else "/", "status": 200, "decision": "forwarded",
            "duration_ms": 5.0}, separators=(",", ":")))


main()
