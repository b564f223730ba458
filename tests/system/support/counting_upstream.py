"""An upstream that counts what it has in progress, exactly: one thread, which hears of the end of a connection
before it reads any request that was sent later."""

import random
import re
import select
import socket
import threading
import time

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class CountingUpstream:
    """Answers each GET after a random time. arrivals: when each came to the gateway, in milliseconds since 1970, as
    its id tells (a UUIDv7); most: the most in progress at a time. A request whose connection ends is in progress no
    longer."""

    def __init__(self, shortest=0.0, longest=0.0, seed=7):
        self.shortest, self.longest = shortest, longest
        self.arrivals = []
        self.most = 0
        self._random = random.Random(seed)
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._connections = {}  # by descriptor: socket, bytes so far
        self._due = {}          # of those in progress: when to answer
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self):
        self._ended.set()
        self._thread.join()
        for sock, _ in self._connections.values():
            sock.close()
        self._listening.close()

    def _run(self):
        poll = select.epoll()
        poll.register(self._listening, select.EPOLLIN)
        while not self._ended.is_set():
            wait = min([0.05, *(when - time.monotonic() for when in self._due.values())])
            events = poll.poll(max(wait, 0))
            requests = []
            for descriptor, _ in events:
                if descriptor == self._listening.fileno():
                    sock, _ = self._listening.accept()
                    sock.setblocking(False)
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._connections[sock.fileno()] = [sock, b""]
                    poll.register(sock, select.EPOLLIN)
                elif data := self._read(descriptor):
                    requests.append((descriptor, data))
            for descriptor, data in requests:  # after all ends of connections
                self._take(descriptor, data)
            for descriptor in [each for each, when in self._due.items() if when <= time.monotonic()]:
                del self._due[descriptor]
                self._connections[descriptor][0].send(RESPONSE)

    def _read(self, descriptor):
        """All that has come; of a connection that has ended nothing."""
        data = b""
        try:
            while more := self._connections[descriptor][0].recv(65536):
                data += more
        except BlockingIOError:
            return data
        except OSError:
            pass
        self._due.pop(descriptor, None)
        self._connections.pop(descriptor)[0].close()
        return b""

    def _take(self, descriptor, data):
        connection = self._connections[descriptor]
        connection[1] += data
        if b"\r\n\r\n" not in connection[1]:
            return
        told = re.search(rb"X-Request-Id: ([0-9a-f]{8})-([0-9a-f]{4})-7", connection[1], re.I)
        self.arrivals.append(int(told[1] + told[2], 16))
        connection[1] = b""
        self._due[descriptor] = time.monotonic() + self._random.uniform(self.shortest, self.longest)
        self.most = max(self.most, len(self._due))
