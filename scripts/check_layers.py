#!/usr/bin/env python3
"""Holds every #include in gateway/ against the layers: who may include whom, and which library is
named where. Prints file:line for each breach; exit code 1 if there is one."""

import re
import sys
from pathlib import Path

GATEWAY = Path(__file__).resolve().parent.parent / "gateway"

# layer: the layers, or single headers, that it may include besides its own. `main` is main.cpp.
LAYERS = {
    "base": "",
    "limits": "base",
    "shared": "limits base",
    "locks": "limits base",
    "routing": "base limits http/ascii.hpp",
    "http": "base",
    "config": "base",
    "tls": "base",
    "net": "tls base",
    "redis": "net tls base",
    "stores": "redis shared limits net observe base",
    "upstream": "routing limits net tls http base",
    "observe": "base",
    "state": "base",
    "admission": "routing limits http base observe/outcome.hpp",
    "server": "routing/client_address.hpp routing/trusted_proxies.hpp http net tls observe base",
    "proxy": "admission server upstream routing limits http net tls observe base",
    "permits": "admission server proxy routing locks limits http net observe base",
    "runtime": "state stores admission permits proxy server upstream routing locks limits http net tls observe config base",
    "simulate": "admission runtime routing limits http net observe config base",
    "import": "config base",
    "admin": "admission runtime stores shared/session.hpp permits/lock_json.hpp server proxy upstream routing locks limits http net tls observe config base",
    "check": "admin runtime config base",
    "main": "check admin import simulate runtime config base",
}

# library's headers: the layers, or files, that may include them.
LIBRARIES = {
    r"yaml-cpp/": "config",
    r"boost/beast": "http/head_parser.cpp",
    r"boost/asio": "net redis stores upstream server proxy runtime admin",
    r"boost/json": "permits",
    r"nlohmann/": "admin observe simulate config/fields/json_schema_types.hpp",
    r"prometheus/": "observe",
    r"spdlog/": "config net stores upstream observe state server proxy permits runtime admin main",
    r"CLI/": "main",
    r"openssl/": "tls net/tls_session.cpp http/websocket.cpp",
    r"sodium": "base admin",
    r"date/": "base/time_zone.cpp",
    r"re2/": "base/regex.cpp",
    r"sqlite3\.h": "state",
    r"nghttp2/": "server/http2_session.cpp server/http2_callbacks.hpp",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def breach(layer, file, kind, header):
    """What is wrong with this include, or None."""
    if kind == '"':
        target = header.split("/")[0]
        if target not in LAYERS:
            return f'"{header}" is not in a layer: write it as "layer/file.hpp"'
        if target != layer and not {target, header} & set(LAYERS[layer].split()):
            return f'{layer} may not include {target} ("{header}")'
    for library, allowed in LIBRARIES.items():
        if re.match(library, header) and not {layer, file} & set(allowed.split()):
            return f"<{header}> may be included only in: {allowed}"
    return None


def main():
    found = 0
    for path in sorted([*GATEWAY.rglob("*.hpp"), *GATEWAY.rglob("*.cpp")]):
        file = path.relative_to(GATEWAY)
        layer = file.parts[0] if len(file.parts) > 1 else "main"
        if layer not in LAYERS:
            sys.exit(f"gateway/{file}: {layer} is not a layer; add it to scripts/check_layers.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            include = INCLUDE.match(line)
            problem = include and breach(layer, str(file), *include.groups())
            if problem:
                found += 1
                print(f"gateway/{file}:{number}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
