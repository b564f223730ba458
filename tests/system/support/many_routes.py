"""A configuration of thousands of routes, as its users would write it: block style, shared limits.

    python3 many_routes.py [ROUTES [LIMITS [UPSTREAMS]]] > many.yaml
"""

import sys


def many_routes(routes=20_000, limits=100, upstreams=5, *, endpoint="127.0.0.1:9", listener="127.0.0.1:8080",
                admin="127.0.0.1:8081", own_limits=False) -> str:
    """YAML. Every route has a limit: one of `limits`, which are by client address, or with own_limits one of
    its own. Route i takes the paths below /i/."""
    lines = ["workers: 2", "listeners:", f"  - address: {listener}", "admin:", f"  address: {admin}", "access_log: {path: \"off\"}",
             "upstreams:"]
    for i in range(upstreams):
        lines += [f"  shop{i}:", f"    endpoints: [\"{endpoint}\"]"]
    lines += ["limits:"]
    for i in range(limits):
        lines += [f"  per_client_{i}:", f"    requests: {1000 + i}", "    per: 1m", "    key: client_ip"]
    lines += ["routes:"]
    for i in range(routes):
        lines += [f"  - name: product-{i}", "    match:", f"      path: /{i}/", f"    upstream: shop{i % upstreams}"]
        if own_limits:
            lines += ["    limits:", f"      - name: own-{i}", "        requests: 1000", "        per: 1m",
                      "        key: client_ip"]
        else:
            lines += [f"    limits: [per_client_{i % limits}]"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(many_routes(*map(int, sys.argv[1:])))
