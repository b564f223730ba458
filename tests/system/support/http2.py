"""A client of HTTP/2 that sends what it is told to, also what no client should: frames by Debian's
hyperframe, fields by its hpack."""

import socket
import time

from hpack import Decoder, Encoder
from hyperframe.frame import (ContinuationFrame, DataFrame, Frame, GoAwayFrame, HeadersFrame, PingFrame,
                              RstStreamFrame, SettingsFrame, WindowUpdateFrame)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


class Gone(Exception):
    """The connection has ended."""


class Response:
    def __init__(self):
        self.heads = []     # of each head, the 1xx ones included: a list of fields
        self.body = b""
        self.trailer = []
        self.ended = False
        self.reset = None   # the code of a RST_STREAM

    @property
    def status(self):
        return int(dict(self.heads[-1])[":status"]) if self.heads else None

    def get(self, name, default=None):
        return dict(self.heads[-1]).get(name, default)


class Http2Client:
    """seconds: how long it waits for a frame."""

    def __init__(self, sock, *, settings=None, acknowledges=True, window=None, seconds=10.0):
        self.sock = sock
        self.sock.settimeout(seconds)
        self.encoder, self.decoder = Encoder(), Decoder()
        self.acknowledges = acknowledges
        self.gives_window = window is None
        self.responses = {}
        self.goaways = []   # (last stream, code)
        self.pings = []
        self.settings = {}
        self.next_id = 1
        self._received = b""
        told = dict(settings or {})
        if window is not None:
            told[SettingsFrame.INITIAL_WINDOW_SIZE] = window
        self.raw(PREFACE)
        self.send(SettingsFrame(0, settings=told))

    @classmethod
    def to(cls, port, context=None, name="localhost", **more):
        sock = socket.create_connection(("127.0.0.1", port), 10)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context:
            sock = context.wrap_socket(sock, server_hostname=name)
        return cls(sock, **more)

    def close(self):
        self.sock.close()

    # --- what is sent ---

    def raw(self, data: bytes):
        try:
            self.sock.sendall(data)
        except OSError as error:
            raise Gone(str(error)) from error

    def send(self, *frames):
        self.raw(b"".join(frame.serialize() for frame in frames))

    def fields(self, method="GET", path="/", fields=(), authority="localhost", scheme="http"):
        return [(":method", method), (":scheme", scheme), (":authority", authority), (":path", path), *fields]

    def request(self, method="GET", path="/", fields=(), body=None, end=True, **more) -> int:
        """Begins a request, and returns its stream. body: None for none; end: it is complete."""
        return self.begin(self.fields(method, path, fields, **more), body, end)

    def begin(self, fields, body=None, end=True) -> int:
        stream, frames = self.made(fields, body, end)
        self.send(*frames)
        return stream

    def made(self, fields, body=None, end=True):
        """A request's stream and frames, which are not sent yet."""
        stream = self.next_id
        self.next_id += 2
        head = HeadersFrame(stream, self.encoder.encode(fields))
        head.flags.add("END_HEADERS")
        frames = [head]
        if body is not None:
            frames.append(self.data(stream, body, end))
        elif end:
            head.flags.add("END_STREAM")
        return stream, frames

    def replace(self, streams, method="GET", path="/", body=None):
        """Resets the streams, and begins as many in the same bytes. Returns these."""
        frames, begun = [RstStreamFrame(stream, 8) for stream in streams], []
        for _ in streams:
            stream, made = self.made(self.fields(method, path), body)
            begun.append(stream)
            frames += made
        self.send(*frames)
        return begun

    @staticmethod
    def data(stream, body, end=False):
        frame = DataFrame(stream, body)
        if end:
            frame.flags.add("END_STREAM")
        return frame

    def reset(self, stream, code=8):
        self.send(RstStreamFrame(stream, code))

    def ping(self, data=b"01234567"):
        self.send(PingFrame(0, data))

    # --- what comes ---

    def frame(self):
        """The next frame. Raises Gone at the end, TimeoutError if none comes."""
        while True:
            if len(self._received) >= 9:
                frame, size = Frame.parse_frame_header(memoryview(self._received[:9]))
                if len(self._received) >= 9 + size:
                    frame.parse_body(memoryview(self._received[9:9 + size]))
                    self._received = self._received[9 + size:]
                    self._take(frame)
                    return frame
            try:
                data = self.sock.recv(65536)
            except TimeoutError:
                raise
            except OSError as error:
                raise Gone(str(error)) from error
            if not data:
                raise Gone("closed")
            self._received += data

    def _take(self, frame):
        response = self.responses.setdefault(frame.stream_id, Response()) if frame.stream_id else None
        if isinstance(frame, (HeadersFrame, ContinuationFrame)):
            fields = [(str(name), str(value)) for name, value in self.decoder.decode(frame.data)]
            if any(name == ":status" for name, _ in fields):
                response.heads.append(fields)
            else:
                response.trailer = fields
        elif isinstance(frame, DataFrame):
            response.body += frame.data
            if self.gives_window and frame.flow_controlled_length:
                self.send(WindowUpdateFrame(0, frame.flow_controlled_length),
                          WindowUpdateFrame(frame.stream_id, frame.flow_controlled_length))
        elif isinstance(frame, RstStreamFrame):
            response.reset = frame.error_code
        elif isinstance(frame, GoAwayFrame):
            self.goaways.append((frame.last_stream_id, frame.error_code))
        elif isinstance(frame, PingFrame):
            if "ACK" in frame.flags:
                self.pings.append(frame.opaque_data)
            else:
                answer = PingFrame(0, frame.opaque_data)
                answer.flags.add("ACK")
                self.send(answer)
        elif isinstance(frame, SettingsFrame) and "ACK" not in frame.flags:
            self.settings.update(frame.settings)
            if self.acknowledges:
                answer = SettingsFrame(0)
                answer.flags.add("ACK")
                self.send(answer)
        if "END_STREAM" in frame.flags:
            response.ended = True

    def until(self, condition):
        """Reads frames until condition() is true."""
        while not condition():
            self.frame()

    def response(self, stream) -> Response:
        """The response of a stream, complete or reset."""
        found = self.responses.setdefault(stream, Response())
        self.until(lambda: found.ended or found.reset is not None)
        return found

    def get(self, path="/", **more) -> Response:
        return self.response(self.request("GET", path, **more))

    def until_gone(self, seconds=10.0) -> bool:
        """Reads until the connection ends. False: it does not."""
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                self.frame()
        except Gone:
            return True
        except TimeoutError:
            pass
        return False
