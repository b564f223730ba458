"""A WebSocket over a stream of HTTP/2 (RFC 8441), with the functions that other raw clients have."""

import contextlib
import socket
import threading

from hyperframe.frame import DataFrame, SettingsFrame, WindowUpdateFrame

from .http2 import Gone, Http2Client

CONNECT_PROTOCOL = SettingsFrame.ENABLE_CONNECT_PROTOCOL
LARGEST_FRAME = 16_384


class Http2WebSocket:
    """status, head: of the response. A thread reads; send() waits for the windows that the gateway gives."""

    def __init__(self, port, *, target="/", fields=(), protocol="websocket", early=b"", context=None):
        self.client = client = Http2Client.to(port, context, seconds=60)
        self._changed = threading.Condition()
        self._gone = self._ended = False
        client.until(lambda: client.settings)
        self.window = min(client.settings.get(SettingsFrame.INITIAL_WINDOW_SIZE, 65_535), 65_535) - len(early)
        scheme = "https" if context else "http"
        self.stream = client.begin(
            [(":method", "CONNECT"), (":protocol", protocol), (":scheme", scheme), (":path", target),
             (":authority", "localhost"), ("sec-websocket-version", "13"), *fields], early or None, end=False)
        self.response = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._wait(lambda: self.response is not None and (self.response.heads or self.response.reset is not None))
        self.head = self.response.heads[-1] if self.response.heads else []
        self.status = self.response.status

    def _read(self):
        try:
            while True:
                frame = self.client.frame()
                with self._changed:
                    self.response = self.client.responses.get(self.stream)
                    if isinstance(frame, WindowUpdateFrame) and frame.stream_id == self.stream:
                        self.window += frame.window_increment
                    self._changed.notify_all()
        except (Gone, TimeoutError, OSError, ValueError):
            with self._changed:
                self._gone = True
                self._changed.notify_all()

    def _wait(self, condition):
        with self._changed:
            while not (condition() or self._gone):
                if not self._changed.wait(60):
                    raise TimeoutError("nothing came")

    @property
    def broken(self):
        return self.response.reset

    def get(self, path):
        """Another request of the connection."""
        stream = self.client.request("GET", path)
        self._wait(lambda: stream in self.client.responses and self.client.responses[stream].ended)
        return self.client.responses[stream]

    def send(self, data):
        while data:
            self._wait(lambda: self.window > 0)
            with self._changed:
                size = min(self.window, LARGEST_FRAME, len(data))
                self.window -= size
            if self._gone or not size:
                raise Gone("while it was sent to")
            self.client.send(DataFrame(self.stream, data[:size]))
            data = data[size:]

    def end(self):
        self._ended = True
        self.client.send(self.client.data(self.stream, b"", True))

    def read_exactly(self, size):
        self._wait(lambda: len(self.response.body) >= size)
        with self._changed:
            data, self.response.body = self.response.body[:size], self.response.body[size:]
        if len(data) < size:
            raise Gone("too early")
        return data

    def ends(self):
        self._wait(lambda: self.response.ended or self.response.reset is not None)
        return True

    def reset(self):
        self._ended = True
        self.client.reset(self.stream)

    def close(self):
        with contextlib.suppress(OSError, Gone):  # closed already
            if not self._ended:
                self.end()
            self.client.sock.shutdown(socket.SHUT_RDWR)  # the thread that reads would keep it open
        self.client.close()
