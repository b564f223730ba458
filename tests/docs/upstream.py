"""The sample upstream of scripts/run, Python's http.server, but that /echo answers with the request as it came."""

import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if not self.path.startswith("/echo"):
            super().do_GET()
            return
        fields = "".join(f"{name}: {value}\n" for name, value in self.headers.items())
        content = f"{self.requestline}\n{fields}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=sys.argv[2])


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
