"""A cable between clients and a server: it can be pulled out, be long, and answers can get lost on it."""

import socket
import threading
import time


class Relay:
    """Listens on `port` and passes bytes on to the server's. loses(): whether an answer that has come from the
    server is lost, and the client's connection with it. delay: seconds that bytes take, at least, each way."""

    def __init__(self, to: int, loses=lambda: False):
        self.loses = loses
        self.lost = 0
        self.delay = 0.0
        self._to = to
        self._whole = threading.Event()  # bytes go through
        self._whole.set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._sockets = set()
        self.connections = 0  # that ever came
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Nothing goes through any more, and neither end is told."""
        self._whole.clear()

    def mend(self) -> None:
        """What was sent meanwhile goes through as well."""
        self._whole.set()

    def close(self) -> None:
        self._whole.set()
        with self._lock:
            for sock in (self._listener, *self._sockets):
                _shut(sock)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                stint = socket.create_connection(("127.0.0.1", self._to))
            except OSError:  # nobody is there
                client.close()
                continue
            for sock in (client, stint):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            threading.Thread(target=self._relay, args=(client, stint), daemon=True).start()

    def _relay(self, client, stint) -> None:
        with client, stint:
            with self._lock:
                self._sockets |= {client, stint}
            back = threading.Thread(target=self._pump, args=(stint, client, True), daemon=True)
            back.start()
            self._pump(client, stint, False)
            back.join()
            with self._lock:
                self._sockets -= {client, stint}

    def _pump(self, source, sink, answers: bool) -> None:
        """Until one of them ends; then both do."""
        try:
            while data := source.recv(65536):
                if self.delay:
                    time.sleep(self.delay)
                self._whole.wait()
                if answers and self.loses():
                    self.lost += 1
                    break
                sink.sendall(data)
        except OSError:
            pass
        _shut(source)
        _shut(sink)


def _shut(sock) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it is closed, or never was open
