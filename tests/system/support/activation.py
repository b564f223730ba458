"""Listening sockets that are handed to Stint, as a service manager does."""

import fcntl
import socket


def apart(made: socket.socket) -> socket.socket:
    """The same socket with a descriptor that no moved one is in the way of."""
    moved = socket.socket(fileno=fcntl.fcntl(made.fileno(), fcntl.F_DUPFD_CLOEXEC, 100))
    made.close()
    return moved


def listening(port=0) -> socket.socket:
    """On 127.0.0.1."""
    made = apart(socket.socket())
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", port))
    made.listen(1000)
    return made


def handed(*sockets) -> dict:
    """Arguments for a Stint that is started as systemd starts it: the descriptors from 3 on are the sockets."""
    moves = " ".join(f"{3 + i}<&{each.fileno()}-" for i, each in enumerate(sockets))
    return {"within": ("/bin/bash", "-c", f'exec {moves}; LISTEN_PID=$$ exec "$@"', "stint"),
            "pass_fds": tuple(each.fileno() for each in sockets), "environment": {"LISTEN_FDS": str(len(sockets))}}
