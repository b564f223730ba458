"""`stint import-nginx`: nginx and a Stint with its draft, side by side, decide alike about the same requests."""

import random
import re
import select
import subprocess
import threading
import unittest

import yaml

from support.case import SystemTest, scaled
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.nginx import Nginx
from support.ports import free_port
from support.stint import ROOT, binary
from support.waiting import wait_until

# A server of nginx whose main file is this test's own.
HEAD = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
"""
PATHS = """
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi; access_log off;
"""


def imported(file, *, code=0):
    """The draft of a file, and what was printed beside it."""
    ended = subprocess.run([binary(), "import-nginx", file], capture_output=True, text=True, timeout=60, check=False)
    if ended.returncode != code:
        raise AssertionError(f"exit {ended.returncode}:\n{ended.stderr}")
    return ended.stdout, ended.stderr


def checked(case, draft):
    file = case.new_folder() / "draft.yaml"
    file.write_text(draft, "utf-8")
    ended = subprocess.run([binary(), "check", file], capture_output=True, text=True, timeout=60, check=False)
    case.assertEqual(ended.returncode, 0, ended.stderr + draft)


class SideBySide(SystemTest):
    """nginx over a configuration, and Stint over its draft."""

    def start_both(self, http, *, code=0, files=()):
        """http: the inside of http { }; its {port} is nginx's, as in the texts of the (path, text) of files
        beside the configuration. Returns both ports."""
        folder = self.new_folder()
        nginx = Nginx(folder, "")
        for path, text in files:
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text.replace("{port}", str(nginx.port)), "utf-8")
        text = HEAD + "http {{" + PATHS + "}}"
        text = text.format(folder=folder)[:-1] + http.replace("{port}", str(nginx.port)) + "}"
        (folder / "nginx.conf").write_text(text, "utf-8")
        self.addCleanup(nginx.stop)
        nginx.start()
        draft, self.printed = imported(folder / "nginx.conf", code=code)
        checked(self, draft)
        port = free_port()
        draft = f"admin: {{address: 127.0.0.1:{free_port()}}}\n" + draft.replace(f":{nginx.port}", f":{port}")
        self.draft = draft
        self.start_stint(draft)
        return nginx.port, port

    def both(self, ports, ask):
        """What `ask` finds at each, which must be the same."""
        nginx, stint = (ask(port) for port in ports)
        self.assertEqual(nginx, stint, self.draft)
        return nginx


def statuses(port, targets, **more):
    with RawClient(port, **{key: more.pop(key) for key in ("source",) if key in more}) as client:
        return [client.request(target=target, **more).status for target in targets]


class Limits(SideBySide):
    def start(self, zones, locations):
        upstream = self.start_upstream()
        return self.start_both(f"""
            {zones}
            server {{ listen 127.0.0.1:{{port}}; {locations.replace("UP", upstream.address)} }}""")

    def test_a_burst_after_a_pause(self):
        # A minute's rate: nothing comes back while the test runs.
        ports = self.start(
            "limit_req_zone $binary_remote_addr zone=one:1m rate=2r/m;"
            "limit_req_zone $binary_remote_addr zone=two:1m rate=1r/m;", """
            location /none/ { limit_req zone=one; proxy_pass http://UP; }
            location /five/ { limit_req zone=two burst=5 nodelay; limit_req_status 429; proxy_pass http://UP; }
            location / { proxy_pass http://UP; }""")
        self.assertEqual(self.both(ports, lambda port: statuses(port, ["/none/"] * 3)), [200, 503, 503])
        self.assertEqual(self.both(ports, lambda port: statuses(port, ["/five/"] * 9)), [200] * 6 + [429] * 3)
        self.assertEqual(
            self.both(ports, lambda port: statuses(port, ["/none/", "/five/"], source="127.0.0.9")), [200, 200])
        self.both(ports, lambda port: statuses(port, ["/"] * 20))

    def test_a_zone_is_shared_over_locations_and_servers_and_return_is_not_counted(self):
        ports = self.start(
            "limit_req_zone $binary_remote_addr zone=one:1m rate=1r/m; limit_req zone=one burst=3 nodelay;", """
            location /a/ { proxy_pass http://UP; }
            location /b/ { proxy_pass http://UP; limit_req_status 429; }
            location /c/ { return 204; }""")
        self.assertEqual(
            self.both(ports, lambda port: statuses(port, ["/c/", "/a/", "/c/", "/b/", "/a/", "/b/", "/a/", "/b/", "/c/"])),
            [204, 200, 204, 200, 200, 200, 503, 429, 204])

    def test_two_limits_charge_both_or_none(self):
        ports = self.start(
            "limit_req_zone $http_x_key zone=keys:1m rate=1r/m; limit_req_zone $server_name zone=all:1m rate=1r/m;", """
            server_name shop.example;
            location / { limit_req zone=keys burst=1 nodelay; limit_req zone=all burst=4 nodelay;
                         proxy_pass http://UP; }""")

        def ask(port):
            with RawClient(port) as client:
                return [client.request(fields=[("X-Key", key)] if key else []).status for key in "aaaabb" + "cc"]
        self.assertEqual(self.both(ports, ask), [200, 200, 503, 503, 200, 200, 200, 503])

    def test_an_empty_key_is_not_counted(self):
        ports = self.start(
            "limit_req_zone $http_x_key zone=keys:1m rate=1r/m; limit_req_zone $server_name zone=none:1m rate=1r/m;"
            "limit_req_zone $binary_remote_addr$arg_a zone=pairs:1m rate=1r/m;", """
            location /keys { limit_req zone=keys; limit_req zone=none; proxy_pass http://UP; }
            location /pairs { limit_req zone=pairs; proxy_pass http://UP; }""")
        self.assertEqual(self.both(ports, lambda port: statuses(port, ["/keys"] * 5)), [200] * 5)
        self.assertEqual(
            self.both(ports, lambda port: statuses(port, ["/pairs", "/pairs", "/pairs?a=1", "/pairs?a=1", "/pairs?a=2"])),
            [200, 503, 200, 503, 200])

    def test_networks_that_are_exempt(self):
        ports = self.start("""
            geo $limited { default 1; 127.0.0.8/30 0; }
            map $limited $key { 0 ""; 1 $binary_remote_addr; }
            limit_req_zone $key zone=one:1m rate=1r/m;""", """
            location / { limit_req zone=one; proxy_pass http://UP; }""")
        for source, expected in (("127.0.0.1", [200, 503]), ("127.0.0.9", [200, 200])):
            self.assertEqual(self.both(ports, lambda port, at=source: statuses(port, ["/"] * 2, source=at)), expected)

    def test_connections_at_once(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        arrived = threading.Semaphore(0)

        def script(connection):
            while True:
                connection.read_request()
                arrived.release()
                gate.wait(30)
                connection.send(response_bytes())
        upstream = self.start_upstream(script)
        ports = self.start_both(f"""
            limit_conn_zone $binary_remote_addr zone=conns:1m; limit_conn_status 429;
            server {{ listen 127.0.0.1:{{port}};
                location / {{ limit_conn conns 3; proxy_pass http://{upstream.address}; }} }}""")
        held = {port: [RawClient(port) for _ in range(3)] for port in ports}
        for clients in held.values():
            for client in clients:
                client.send_request()
                self.assertTrue(arrived.acquire(timeout=30))
        self.assertEqual(self.both(ports, lambda port: [fetch(port).status for _ in range(4)]), [429] * 4)
        gate.set()
        for port, clients in held.items():
            for client in clients:
                self.assertEqual(client.read_response().status, 200)
                client.close()
            wait_until(lambda at=port: fetch(at).status == 200, "a slot is free")

    def test_a_queue(self):
        # A minute's rate: what waits is not answered while the test runs.
        ports = self.start(
            "limit_req_zone $binary_remote_addr zone=one:1m rate=1r/m;",
            "location / { limit_req zone=one burst=4 delay=2; proxy_pass http://UP; }")

        def ask(port):
            clients = [RawClient(port) for _ in range(5)]
            first = statuses(port, ["/"] * 3)
            for client in clients:
                client.send_request()
                self.addCleanup(client.close)

            def answered():
                return select.select([client.sock for client in clients], [], [], 0)[0]
            wait_until(lambda: len(answered()) == 3, "all but those that wait are answered")
            return first, [client.read_response().status for client in clients if client.sock in answered()]
        self.assertEqual(self.both(ports, ask), ([200] * 3, [503] * 3))

    def test_a_dry_run_refuses_nothing(self):
        ports = self.start(
            "limit_req_zone $binary_remote_addr zone=one:1m rate=1r/m; limit_req_dry_run on;",
            "location / { limit_req zone=one; proxy_pass http://UP; }")
        self.assertEqual(self.both(ports, lambda port: statuses(port, ["/"] * 4)), [200] * 4)


class Locations(SideBySide):
    """Each location answers with its own number."""

    FIXED = ["/", "/a/", "/ab", "/a/b/", "/abc/d", "= /a", "= /ab/x", r"~ \.x$", "~ ^/c", r"~* ^/D/[0-9]+$",
             "/c/", "^~ /e/", "/e", "~ b.*/y", "/a.b/"]

    def ask(self, ports, paths):
        def found(port):
            with RawClient(port) as client:
                return [(path, client.request(target=path).body) for path in paths]
        self.both(ports, found)

    def start(self, locations, **more):
        inside = "\n".join(f"location {one} {{ return 200 \"{number}\"; }}" for number, one in enumerate(locations))
        return self.start_both(f"server {{ listen 127.0.0.1:{{port}}; {inside} }}", **more)

    def paths(self, chance, count):
        parts = ["a", "b", "ab", "abc", "a.b", "c", "cd", "d", "D", "1", "23", "e", "ef", "x", "y", "q.x", "z"]
        for _ in range(count):
            yield "/" + "/".join(chance.choice(parts) for _ in range(chance.randrange(4))) + chance.choice(["", "/"])

    def test_a_server(self):
        chance = random.Random(1)
        ports = self.start(self.FIXED)
        paths = [*self.paths(chance, 400), "/", "/a", "/ab", "/ab/x", "/D/12", "/d/12", "/d/12x", "/ex", "/e/q.x"]
        paths = [path.replace("//", "/") for path in paths]
        self.ask(ports, paths)

    def test_random_servers(self):
        chance = random.Random(20261128)
        for _ in range(scaled(4, 40)):
            chosen = ["/"] + chance.sample(
                ["/a", "/a/", "/ab", "/ab/", "/abc/d", "/a/b", "/a/b/", "/c", "/c/d/", "/d/", "/e/", "= /", "= /a",
                 "= /a/", "= /c/d", r"~ \.x$", "~ ^/a/b", "~ b$", "~* ^/D", r"~ ^/(c|d)/[0-9]+$", r"~ ^/e/|/y$"], 9)
            with self.subTest(chosen):
                ports = self.start(chosen)
                self.ask(ports, [path.replace("//", "/") for path in self.paths(chance, 300)])

    def test_hosts(self):
        servers = "".join(
            f"server {{ listen 127.0.0.1:{{port}}; server_name {names}; location / {{ return 200 \"{number}\"; }} }}"
            for number, names in enumerate(["a.example", "b.example www.b.example", "*.c.example", ".d.example"]))
        ports = self.start_both(servers)

        def found(port):
            return [fetch(port, host=host).body for host in (
                "a.example", "b.example", "www.b.example", "x.b.example", "c.example", "x.c.example", "y.x.c.example",
                "d.example", "x.d.example", "other.example", "A.EXAMPLE", "b.example:81")]
        self.both(ports, found)


class Paths(SideBySide):
    def test_the_host_that_the_upstream_gets(self):
        upstream = self.start_nginx("location / { return 200 $http_host; }")
        ports = self.start_both(f"""server {{ listen 127.0.0.1:{{port}};
            location /a/ {{ proxy_pass http://{upstream.address}; proxy_set_header Host $http_host; }}
            location /b/ {{ proxy_pass http://{upstream.address}; }}
            location /c/ {{ proxy_pass http://{upstream.address}; proxy_set_header Host c.example; }} }}""")
        for path in ("/a/", "/b/", "/c/"):
            for host in ("a.example", "A.example:81", "a.example:80"):
                self.both(ports, lambda port, at=path, host=host: fetch(port, target=at, host=host).body)

    def test_what_the_upstream_gets(self):
        upstream = self.start_nginx("location / { return 200 $request_uri; }")
        inside = "\n".join(f"location {place} {{ {more} proxy_pass http://{upstream.address}{uri}; }}" for place, uri, more in (
            ("/", "", ""), ("/a/", "/", ""), ("/b/", "/x/", ""), ("/c", "/y", ""), ("= /d", "/z", ""),
            ("/e/", "/x", ""), ("/f/", "", "rewrite ^/f/(.*)$ /g/$1 break;")))
        ports = self.start_both(f"server {{ listen 127.0.0.1:{{port}}; {inside} }}")
        self.both(ports, lambda port: [fetch(port, target=path).body for path in (
            "/", "/q?x=1", "/a/", "/a/b/c?d", "/b/", "/b/1/2", "/c", "/c/1", "/cd", "/d", "/e/1", "/f/1/2?x=y", "/f/")])


def answer(port, target, *names, **more):
    """Status, body and these fields of a response, without the port of who sent it."""
    got = fetch(port, target=target, **more)
    fields = [(name, (got.get(name) or "").replace(f":{port}", ":PORT")) for name in names]
    return got.status, got.body if got.status < 300 else b"", fields


class Answers(SideBySide):
    """What nginx answers itself."""

    def test_add_header(self):
        inside = "".join(f"location {place} {{ {what} }}" for place, what in (
            ("/text/", "return 200 \"it is $request_method\";"), ("/empty/", "return 204;"), ("/gone/", "return 404;"),
            ("/own/", "add_header X-C 3; default_type text/html; return 200 <p>;"),
            ("/closed/", "deny all; proxy_pass http://127.0.0.1:1;"), ("/inner/", "internal;")))
        ports = self.start_both(
            f"add_header X-A 1; add_header X-B 2 always; server {{ listen 127.0.0.1:{{port}}; {inside} }}")
        for path in ("/text/", "/empty/", "/gone/", "/own/", "/closed/", "/inner/"):
            with self.subTest(path):
                self.both(ports, lambda port, at=path: answer(port, at, "X-A", "X-B", "X-C"))
        self.both(ports, lambda port: [fetch(port, target=path).get("Content-Type") for path in ("/text/", "/own/")])

    def test_redirects(self):
        inside = "".join(f"location /{number}/ {{ return {what}; }}" for number, what in enumerate((
            "301 https://$host$request_uri", "302 https://$host:8443$request_uri", "307 https://a.example:8443/x?y",
            "308 $scheme://$host$uri", "303 https://b.example/$request_uri", "https://$server_name:81/")))
        ports = self.start_both(f"server {{ listen 127.0.0.1:{{port}}; server_name a.example; {inside} }}")
        for number in range(6):
            for host in ("a.example", "A.example:8080"):
                with self.subTest((number, host)):
                    status, _, ((_, location),) = self.both(ports, lambda port, at=number, host=host: answer(
                        port, f"/{at}/p/q?r=s", "Location", host=host))
                    self.assertIn(status, (301, 302, 303, 307, 308))
                    self.assertTrue(location)


class Files(SideBySide):
    def test_conf_d(self):
        site = """
            limit_req_zone $http_x_key zone=keys:1m rate=1r/m;
            server { listen 127.0.0.1:{port}; server_name b.example;
                     location / { limit_req zone=keys burst=1 nodelay; proxy_pass http://UP; } }"""
        upstream = self.start_nginx("location / { return 200 $request_uri; }")
        files = (("conf.d/1.conf", "server { listen 127.0.0.1:{port} default_server; return 404; }"),
                 ("conf.d/2.conf", site.replace("UP", upstream.address)))
        ports = self.start_both("include conf.d/*.conf;", files=files)

        def ask(port):
            return [fetch(port, target="/x", host=host, fields=[("X-Key", "k")]).status
                    for host in ("b.example", "other.example", "b.example", "b.example")]
        self.assertEqual(self.both(ports, ask), [200, 404, 200, 503])
        # The file alone, without http { } around it, has the same limit.
        alone = self.new_folder() / "2.conf"
        alone.write_text(site.replace("UP", "127.0.0.1:1").replace("{port}", "8080"), "utf-8")
        draft, _ = imported(alone)
        self.assertEqual(yaml.safe_load(draft)["limits"], yaml.safe_load(self.draft)["limits"])

    def test_try_files_to_a_named_location(self):
        upstream = self.start_nginx("location / { return 200 \"$request_uri $http_x_by\"; }")
        ports = self.start_both(f"""
            limit_req_zone $binary_remote_addr zone=one:1m rate=1r/m;
            server {{
                listen 127.0.0.1:{{port}};
                location / {{ try_files /none @app; }}
                location /few/ {{ limit_req zone=one burst=1 nodelay; try_files /none @app; }}
                location /closed/ {{ deny all; try_files /none @app; }}
                location @app {{ proxy_pass http://{upstream.address}; proxy_set_header X-By app; }}
            }}""", code=3)
        self.assertIn(b"/a/b?c app", self.both(ports, lambda port: answer(port, "/a/b?c"))[1])
        self.assertEqual(self.both(ports, lambda port: statuses(port, ["/few/"] * 3)), [200, 200, 503])
        self.assertEqual(self.both(ports, lambda port: statuses(port, ["/closed/", "/"])), [403, 200])


# Configurations as people write them: each has a draft that check accepts.
TYPICAL = {
    "an application behind a proxy": (3, """
        upstream app { server 127.0.0.1:3000; server 127.0.0.1:3001 backup; keepalive 16; }
        map $http_upgrade $connection_upgrade { default upgrade; '' close; }
        server {
            listen 8080 default_server; server_name _; client_max_body_size 20m;
            gzip on; gzip_types text/css;
            location / {
                proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Host $host;
                proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
                proxy_set_header X-Real-IP $remote_addr; proxy_read_timeout 300s; }
            location /static/ { alias /srv/static/; expires 7d; add_header Cache-Control public; }
        }"""),
    "an API with limits": (0, """
        limit_req_zone $binary_remote_addr zone=api:10m rate=20r/s;
        limit_req_zone $binary_remote_addr zone=login:10m rate=5r/m;
        limit_conn_zone $binary_remote_addr zone=conns:10m;
        limit_req_status 429; limit_conn_status 429;
        server {
            listen 8080; server_name api.example; limit_conn conns 20;
            location /v1/ { limit_req zone=api burst=40 delay=20; proxy_pass http://127.0.0.1:3000;
                            proxy_set_header Host $host; }
            location = /v1/login { limit_req zone=login burst=3 nodelay; proxy_pass http://127.0.0.1:3000; }
            location = /health { access_log off; return 200 "ok"; }
        }"""),
    "a balancer behind another": (0, """
        set_real_ip_from 10.0.0.0/8; real_ip_header X-Forwarded-For; real_ip_recursive on;
        upstream pool { least_conn; server 10.0.0.1:80 weight=2; server 10.0.0.2:80 max_fails=3 fail_timeout=30s; }
        server { listen 8080; location / { proxy_pass http://pool; proxy_next_upstream error timeout http_503; } }"""),
    "PHP": (3, """
        server {
            listen 8080; root /var/www; index index.php;
            location / { try_files $uri $uri/ /index.php?$args; }
            location ~ \\.php$ { include fastcgi_params; fastcgi_pass unix:/run/php.sock; }
            location ~ /\\.ht { deny all; }
        }"""),
    "access rules": (3, """
        server {
            listen 8080;
            location /metrics { allow 127.0.0.1; allow 10.0.0.0/8; deny all; proxy_pass http://127.0.0.1:9100; }
            location /admin/ { auth_basic "Admin"; auth_basic_user_file htpasswd; proxy_pass http://127.0.0.1:3000; }
            location / { deny 192.0.2.66; proxy_pass http://127.0.0.1:3000; }
        }"""),
}


class Drafts(SystemTest):
    def test_typical_configurations(self):
        for name, (code, http) in TYPICAL.items():
            with self.subTest(name):
                file = self.new_folder() / "nginx.conf"
                file.write_text(f"events {{}}\nhttp {{ access_log off; {http}\n}}\n", "utf-8")
                draft, _ = imported(file, code=code)
                checked(self, draft)

    def test_those_of_this_project(self):
        bench = (ROOT / "tests/bench/configs/nginx.conf").read_text("utf-8")
        for marks in ("http1 quiet", "http1 limit log", "http2 reject", "http1 keys buffers"):
            with self.subTest(marks):
                lines = [line.partition("#@")[0] for line in bench.splitlines()
                         if "#@" not in line or set(line.partition("#@")[2].split()) & set(marks.split())]
                file = self.new_folder() / "nginx.conf"
                text = "\n".join(lines).replace("@USER@", "nobody").replace("@FOLDER@", str(self.folder))
                file.write_text(re.sub("@(PORT|ORIGIN)@", "8080", text), "utf-8")
                draft, _ = imported(file)
                checked(self, draft)
        forward_auth, listed = imported(ROOT / "config/forward-auth/nginx.conf", code=3)
        checked(self, forward_auth)
        self.assertRegex(listed, r"nginx\.conf:49:9: auth_request: Stint does not check it")

    def test_faults_have_places_and_exit_codes(self):
        folder = self.new_folder()
        file = folder / "nginx.conf"
        for text, said in (("http {\n  server { listen 80 }\n", "2:22: found \"}\", expected \";\" or \"{\""),
                           ("include loop.conf;", "in itself"), ("events { }", "1:1: found no server")):
            file.write_text(text, "utf-8")
            (folder / "loop.conf").write_text("include loop.conf;", "utf-8")
            self.assertIn(said, imported(file, code=2)[1])
        self.assertIn("gone.conf:1:1: cannot be read: No such file", imported(folder / "gone.conf", code=2)[1])
        self.assertIn("cannot be read: Is a directory", imported(folder, code=2)[1])

    def test_standard_input_and_globs(self):
        folder = self.new_folder()
        (folder / "sites").mkdir()
        for name in "ab":
            (folder / "sites" / f"{name}.conf").write_text(
                f"server {{ listen 8080; server_name {name}.example; return 204; }}", "utf-8")
        ended = subprocess.run([binary(), "import-nginx", "-"], input="http { include sites/*.conf; }", cwd=folder,
                               capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual([route["match"] for route in yaml.safe_load(ended.stdout)["routes"]],
                         [{"path": "/"}, {"host": "b.example", "path": "/"}])
        self.assertEqual(ended.stderr, "")

    def test_patterns_of_include_that_find_nothing_are_listed(self):
        folder = self.new_folder()
        (folder / "empty").mkdir()
        (folder / "file").write_text("", "utf-8")
        file = folder / "nginx.conf"
        server = "server { listen 8080; return 204; }"
        file.write_text(f"http {{ include empty/*.conf; {server} }}", "utf-8")
        draft, listed = imported(file)
        self.assertEqual(listed, f'{file}:1:8: note: include: "{folder}/empty/*.conf" has no file here\n')
        self.assertIn("Everything was carried over", draft)
        file.write_text(f"http {{ include gone/*.conf; {server} }}", "utf-8")
        draft, listed = imported(file, code=3)
        self.assertEqual(
            listed, f'{file}:1:8: include: "{folder}/gone/*.conf" cannot be read: No such file or directory; left out\n')
        self.assertIn("# Not carried over (1):", draft)


if __name__ == "__main__":
    unittest.main()
