"""Debian 12 trees in which what is installed and run is tried, without a container engine: for scripts/test-dockerfile
and scripts/debian/trial.py. Needs root and the package mmdebstrap."""

import ctypes
import fcntl
import os
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import urllib.error
import urllib.request

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def say(text):
    print(f"\n== {text}", flush=True)


def as_root_with_mmdebstrap(script):
    """Runs the script again as root if it is not; ends it if mmdebstrap is missing."""
    if os.geteuid() != 0:
        os.execvp("sudo", ["sudo", sys.executable, "-B", *sys.argv])
    if not shutil.which("mmdebstrap"):
        sys.exit(f"{script}: needs the package mmdebstrap (apt-get install mmdebstrap)")


def make(tree):
    """A minimal Debian 12 in the folder tree, which reaches what this machine reaches."""
    subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", tree], check=True)
    shutil.copy("/etc/resolv.conf", tree / "etc/resolv.conf")


def in_root(root, command, user="root", **more):
    """A process inside the tree, with /proc and /dev for as long as it lives."""
    mounts = 'mount --rbind /proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot --userspec="$1" "$0" "${@:2}"'
    return subprocess.Popen(
        ["unshare", "--mount", "bash", "-euc", mounts, root, user, *command],
        env={"PATH": PATH, "HOME": "/"}, **more
    )


def run_in_root(root, command, user="root"):
    if in_root(root, command, user).wait() != 0:
        sys.exit(f"FAILED: {shlex.join(command)}")


def own_network():
    """Moves this process into a network that has nothing but a loopback device."""
    clone_newnet, siocsifflags, up = 0x40000000, 0x8914, 1
    if ctypes.CDLL(None, use_errno=True).unshare(clone_newnet) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, siocsifflags, struct.pack("16sh14x", b"lo", up))


def expect(what, seen, wanted):
    print(f"{what}: {seen} {'ok' if seen == wanted else f'FAILED, wanted {wanted}'}", flush=True)
    if seen != wanted:
        sys.exit(1)


def status_of(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
