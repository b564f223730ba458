"""Stint as the bench harness runs it: one worker, each variant a configuration.

    STINT_BENCH=tests/bench/stint.py STINT_BINARY=build/gateway/stint .../bench/run.py --proxies stint
"""

import os
from pathlib import Path

_BINARY = os.environ.get("STINT_BINARY") or Path(__file__).resolve().parents[2] / "build/gateway/stint"

_CONFIG = """
workers: 1
listeners:
  - address: 127.0.0.1:@PORT@@TLS@
timeouts: {head: 600s, body_idle: 600s, idle: 600s, connect: 5s, response: 600s}
max_connections: 15000
access_log: {path: off}
upstreams:
  up: {endpoints: [127.0.0.1:@UPSTREAM@]}
@LIMITS@
routes:
  - {name: all, match: {path: /}, upstream: up@USES@}
"""

# Never reached: a counter for each client address and a cap for all.
_IN_FORCE = {
    "LIMITS": "limits:\n"
    "  per_client: {requests: 2000000000, per: 1h, key: client_ip}\n"
    "  in_flight: {concurrent: 15000}",
    "USES": ", limits: [per_client, in_flight]",
}

MORE = {
    "stint": {
        "files": {"stint.yaml": _CONFIG},
        "command": [str(Path(_BINARY).resolve()), "run", "-c", "@DIR@/stint.yaml"],
        "variants": {
            "plain": {"TLS": "", "LIMITS": "", "USES": ""},
            "limit": {"TLS": "", **_IN_FORCE},
            "tls": {"TLS": "\n    tls: {certificate: @CERT@, key: @KEY@}", **_IN_FORCE},
            "reject": {
                "TLS": "",
                "LIMITS": "limits:\n  per_client: {requests: 1, per: 1h, key: client_ip}",
                "USES": ", limits: [per_client]",
            },
        },
    }
}
