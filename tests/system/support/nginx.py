"""Debian's nginx as a real upstream, with a log by which the gateway is judged."""

import math
import os
import signal
import socket
import subprocess
from pathlib import Path

from .ports import free_port
from .waiting import wait_until

_ECHO = Path("/usr/lib/nginx/modules/ngx_http_echo_module.so")

_CONFIG = """
daemon off;
{load}
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    types {{ text/html html; }}
    default_type application/octet-stream;
    log_format timed '$msec $request_time $status $request_method $uri';
    access_log {folder}/access.log timed;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 0;
    keepalive_requests 1000000;
    server {{
        listen 127.0.0.1:{port} backlog=1024{tls};
        {certificate}
        root {root};
        {locations}
    }}
}}
"""


class Served:
    """One request as nginx logged it; seconds since the epoch, exact to the millisecond."""

    def __init__(self, line: str):
        end, took, status, self.method, self.uri = line.split(" ", 4)
        self.end = round(float(end) * 1000) / 1000
        self.start = round(float(end) * 1000 - float(took) * 1000) / 1000
        self.status = int(status)


class Nginx:
    """locations: nginx configuration inside `server`, which serves the files of folder/site. port:
    a free one, where the locations name it themselves. tls: a
    certificate (support.certificates.Pair), to serve https."""

    def __init__(self, folder: Path, locations: str, *, root: Path | None = None, port: int = 0,
                 tls=None):
        self.folder = folder
        self.root = root or folder / "site"
        self.root.mkdir(parents=True, exist_ok=True)
        self.port = port or free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.process = None
        (folder / "nginx.conf").write_text(
            _CONFIG.format(
                load=f"load_module {_ECHO};" if _ECHO.exists() else "",
                user="user root;" if os.getuid() == 0 else "",
                folder=folder,
                port=self.port,
                root=self.root,
                tls=" ssl" if tls else "",
                certificate=f"ssl_certificate {tls.certificate}; ssl_certificate_key {tls.key};"
                if tls else "",
                locations=locations,
            ),
            encoding="utf-8",
        )

    def start(self) -> "Nginx":
        with open(self.folder / "output", "wb") as output:
            self.process = subprocess.Popen(
                ["/usr/sbin/nginx", "-p", self.folder, "-e", self.folder / "error.log",
                 "-c", self.folder / "nginx.conf"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )
        wait_until(self._listens, "nginx listens")
        return self

    def _listens(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError("nginx: " + (self.folder / "output").read_text(encoding="utf-8"))
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def stop(self) -> None:
        """Lets nginx finish its requests, so that its log is complete."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.terminate()
                self.process.wait()

    def served(self) -> list:
        """What was asked of it so far, in the order in which it ended."""
        text = (self.folder / "access.log").read_text(encoding="utf-8")
        return [Served(line) for line in text.splitlines()]


def most_at_once(served) -> int:
    """How many were in flight together at most; one that ends as another starts is not."""
    now = most = 0
    for _, step in sorted(event for one in served for event in ((one.start, 1), (one.end, -1))):
        now += step
        most = max(most, now)
    return most


def budget_use(served, requests: int, per: float, slack: float) -> tuple:
    """(share, text): the span that comes closest to what fixed windows of `requests` every `per`
    seconds can admit; more than 1.0 is more than they can. In a span of T seconds the ends of at most
    floor((T + slack) / per) windows lie between the first that it touches and the last; slack is
    for the time between admission and nginx's reading."""
    starts = sorted(one.start for one in served)
    worst = (0.0, "no requests")
    for first, begin in enumerate(starts):
        for last in range(first, len(starts)):
            span = starts[last] - begin
            seen = last - first + 1
            allowed = requests * (math.floor((span + slack) / per) + 2)
            worst = max(worst, (seen / allowed, f"{seen} of {allowed} in {span:.3f} s"))
    return worst
