"""nginx, Apache httpd and Node as upstreams that say how they have read each request.

Each has `address`, start() and stop(), and after stop() `records`: a list of Record. A request is told
by its field X-Tag; one that a server refuses before it has read its fields has the tag "".
"""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .ports import free_port
from .upstream import RawServer
from .waiting import wait_until

_APACHE = Path("/usr/sbin/apache2")
_MODULES = Path("/usr/lib/apache2/modules")


@dataclass
class Record:
    tag: str
    method: str
    target: str
    body: bytes | None  # None: not known
    status: int


class _Server:
    """A process on a port of its own, whose files are in its folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.records = []
        self._process = None

    def _run(self, command, stop_signal=signal.SIGTERM):
        self._stop_signal = stop_signal
        with open(self.folder / "output", "wb") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=self.folder)
        wait_until(self._listens, f"{type(self).__name__} listens")
        return self

    def _listens(self) -> bool:
        if self._process.poll() is not None:
            raise AssertionError(f"{type(self).__name__}: {(self.folder / 'output').read_text('utf-8', 'replace')}")
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def stop(self) -> None:
        """Lets the server finish, and reads what it has recorded."""
        if not self._process or self._process.poll() is not None:
            return
        self._process.send_signal(self._stop_signal)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.records = [record for record in map(self._record, self._lines()) if record]

    def _lines(self) -> list:
        file = self.folder / "requests"
        return file.read_text("latin-1").split("\n")[:-1] if file.exists() else []

    def _record(self, line: str):
        raise NotImplementedError


_NGINX_CONFIG = """
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 2048; }}
http {{
    log_format read escape=json
        '{{"tag":"$http_x_tag","method":"$request_method","target":"$request_uri","body":"$request_body","status":$status}}';
    access_log {folder}/requests read;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 0;
    client_body_buffer_size 1m;
    client_body_in_single_buffer on;
    keepalive_requests 1000000;
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        location / {{ proxy_pass http://unix:{folder}/sink; }}
    }}
    server {{
        listen unix:{folder}/sink;
        access_log off;
        return 200;
    }}
}}
"""


class Nginx(_Server):
    """It has the body of a request that it passes on; here to itself."""

    def start(self):
        (self.folder / "nginx.conf").write_text(
            _NGINX_CONFIG.format(
                user="user root;" if os.getuid() == 0 else "", folder=self.folder, port=self.port),
            encoding="utf-8")
        return self._run(
            ["/usr/sbin/nginx", "-p", self.folder, "-e", self.folder / "error.log",
             "-c", self.folder / "nginx.conf"], signal.SIGQUIT)

    def _record(self, line):
        read = json.loads(line, strict=False)
        if not read["method"] and read["status"] == 400 and not read["target"]:
            return Record("", "", "", None, 400)
        return Record(read["tag"], read["method"], read["target"], read["body"].encode("latin-1"), read["status"])


_APACHE_CONFIG = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/pid
DefaultRuntimeDir {folder}
ErrorLog {folder}/error.log
LogLevel crit
Listen 127.0.0.1:{port}
{user}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule proxy_module {modules}/mod_proxy.so
LoadModule proxy_http_module {modules}/mod_proxy_http.so
ServerLimit 1
StartServers 1
ThreadsPerChild 64
ThreadLimit 64
MaxRequestWorkers 64
MaxKeepAliveRequests 0
KeepAliveTimeout 60
GracefulShutdownTimeout 5
LimitRequestFields 0
AllowEncodedSlashes NoDecode
LogFormat "%{{X-Tag}}i\\t%>s\\t%r" read
CustomLog {folder}/requests read
ProxyPass / http://{behind}/ nocanon
"""


class Apache(_Server):
    """Its log has the request line as it was read; the body is what it passes on, to this process."""

    def __init__(self, folder):
        super().__init__(folder)
        self._behind = None

    def start(self):
        self._behind = RawServer()
        (self.folder / "apache.conf").write_text(
            _APACHE_CONFIG.format(
                folder=self.folder, port=self.port, modules=_MODULES, behind=self._behind.address,
                user="User www-data\nGroup www-data" if os.getuid() == 0 else ""),
            encoding="utf-8")
        if os.getuid() == 0:
            shutil.chown(self.folder, "www-data")
        return self._run([_APACHE, "-f", self.folder / "apache.conf", "-DFOREGROUND"], signal.SIGWINCH)

    def stop(self):
        self._bodies = {}
        if self._behind:
            self._behind.close()
            self._bodies = {request.get("X-Tag", ""): request.body for request in self._behind.requests}
        super().stop()

    def _record(self, line):
        tag, status, request = line.split("\t", 2)
        method, _, rest = request.partition(" ")
        target = rest.rpartition(" ")[0]
        tag = "" if tag == "-" else tag
        return Record(tag, method, target, self._bodies.get(tag), int(status))


_NODE_SCRIPT = """
const http = require('http');
const out = require('fs').createWriteStream('requests', {flags: 'a'});
const write = (record) => out.write(JSON.stringify(record) + '\\n');
const server = http.createServer({keepAliveTimeout: 60000}, (request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    write({tag: request.headers['x-tag'] || '', method: request.method, target: request.url,
           body: Buffer.concat(chunks).toString('base64'), status: 200});
    response.end();
  });
});
server.on('clientError', (error, socket) => {
  if (error.code && error.code.startsWith('HPE_') && !socket.refused)
    write({tag: '', method: '', target: error.code, body: '', status: 400});
  socket.refused = true;
  socket.end('HTTP/1.1 400 Bad Request\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n');
});
process.on('SIGTERM', () => { server.closeAllConnections(); server.close(() => out.end()); });
server.listen(PORT, '127.0.0.1', 1024);
"""


class Node(_Server):
    def start(self):
        (self.folder / "server.js").write_text(_NODE_SCRIPT.replace("PORT", str(self.port)), encoding="utf-8")
        return self._run([shutil.which("node") or "/usr/bin/node", "server.js"])

    def _record(self, line):
        read = json.loads(line)
        return Record(read["tag"], read["method"], read["target"], base64.b64decode(read["body"]), read["status"])
