"""In the place of a program that is upgraded: the program as one of another hand-over version. Stands between it and
the process that starts it, and changes the version that this one tells.

    other_version.py PROGRAM ARGUMENT...

What the program sends arrives LATE seconds later."""

import os
import select
import socket
import struct
import subprocess
import sys
import time

VARIABLE = "STINT_PREDECESSOR"
HELLO, MOST, MOST_DESCRIPTORS = 1, 64 * 1024, 256


def changed(message: bytes) -> bytes:
    if message[0] != HELLO:
        return message
    [version] = struct.unpack_from("=I", message, 1)
    return message[:1] + struct.pack("=I", version + 1) + message[5:]


def relay(process: socket.socket, program: socket.socket) -> None:
    other = {process: program, program: process}
    poll = select.poll()
    for each in other:
        poll.register(each, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            source = next(each for each in other if each.fileno() == descriptor)
            message, descriptors, _, _ = socket.recv_fds(source, MOST, MOST_DESCRIPTORS)
            if not message:
                return
            if source is program:
                time.sleep(float(os.environ.get("LATE", "0")))
            socket.send_fds(other[source], [changed(message)], descriptors)
            for each in descriptors:
                os.close(each)


def main() -> None:
    if sys.argv[1] == "relay":
        relay(*(socket.socket(fileno=int(each)) for each in sys.argv[2:]))
        return
    process = int(os.environ[VARIABLE])
    own, program = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    subprocess.Popen([sys.executable, "-B", __file__, "relay", str(process), str(own.fileno())],
                     pass_fds=(process, own.fileno()))
    own.close()
    os.dup2(program.fileno(), process)
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
