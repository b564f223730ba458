"""trial.py DEB [--keep]: tries the package in a fresh Debian 12 tree, as root: scripts/package --test.

lintian has nothing to say. Installed by apt, the gateway runs as the unit says (there is no systemd: with a user of
no name and the folders that the unit names), and refuses its first request within 10 s of the package being there.
systemd-analyze accepts the unit and calls it at most 2.0 exposed. Upgrades keep a changed configuration, and reload
the service only if the new binary accepts it: the new one then replaces the process that runs, and clients notice
nothing. Removing leaves the configuration and the state; purging does not.
"""

import argparse
import http.client
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fresh_root import as_root_with_mmdebstrap, expect, in_root, make, own_network, run_in_root, say, status_of

SECONDS = 10  # from the package to the first refusal
EXPOSURE = 2.0
USER = "61184"  # the first of those that systemd gives to DynamicUser=
UNIT = "lib/systemd/system/stint.service"
CONFFILE = "etc/stint/stint.yaml"
MADE_FOR_IT = ("var/lib/stint", "var/log/stint", "run/stint")  # StateDirectory= and others

# Takes the place of systemctl where a test says that systemd is there: writes down what it is asked, and reloads the
# process of MAIN_PID as the unit says.
MAIN_PID = "run/stint.pid"
SYSTEMCTL = f"""#!/bin/sh
echo "$@" >>/systemctl.log
[ "$1" != is-enabled ] || echo enabled
case " $* " in *" try-reload-or-restart "*)
    [ ! -e /{MAIN_PID} ] || MAINPID=$(cat /{MAIN_PID}) sh -c "$(sed -n 's/^ExecReload=//p' /{UNIT})"
esac
"""


def output_of(root, command):
    """(exit code, all that it printed) inside the tree."""
    process = in_root(root, command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = process.communicate()[0]
    return process.returncode, said


def install(root, deb, *options):
    """Puts the file deb into the tree and installs it by apt, which takes no input. Returns what was printed."""
    shutil.copy(deb, root / deb.name)
    command = ["apt-get", "install", "-y", "--no-install-recommends", *options, f"/{deb.name}"]
    code, said = output_of(root, ["env", "DEBIAN_FRONTEND=noninteractive", *command])
    (root / deb.name).unlink()
    if code != 0:
        sys.exit(f"FAILED: {shlex.join(command)}\n{said}")
    return said


def newer(deb, folder, version, change=lambda tree: None):
    """The same package as another version, after a change of its tree."""
    tree = folder / version
    subprocess.run(["dpkg-deb", "--raw-extract", deb, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text("utf-8")), "utf-8")
    change(tree)
    made = folder / f"stint_{version}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, made], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)
    return made


def setting(root, name):
    """What the installed unit says: one value, with its words."""
    [value] = re.findall(rf"(?m)^{name}=(.*)$", (root / UNIT).read_text("utf-8"))
    return value


def start(root, environment=()):
    """The gateway as the installed unit starts it."""
    expect("the unit has a user of no name", setting(root, "DynamicUser"), "yes")
    expect("and a folder for its state", setting(root, "StateDirectory"), "stint")
    for folder in MADE_FOR_IT:
        (root / folder).mkdir(mode=0o700, exist_ok=True)
        shutil.chown(root / folder, int(USER), int(USER))
    user = f"{USER}:{USER}"
    expect("ExecStartPre", in_root(root, shlex.split(setting(root, "ExecStartPre")), user).wait(), 0)
    return in_root(root, ["env", *environment, *shlex.split(setting(root, "ExecStart"))], user,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def answers():
    """The statuses of requests until the first that is refused, within the time that all has."""
    seen, until = [], time.monotonic() + SECONDS
    while time.monotonic() < until and 429 not in seen:
        try:
            seen.append(status_of("http://127.0.0.1:8080/"))
        except OSError:
            time.sleep(0.01)  # not yet listening
    return seen


def first_refusal(root, deb):
    say("a first installation, until a request is refused")
    began = time.monotonic()
    install(root, deb)
    installed = time.monotonic()
    own_network()
    stint = start(root)
    seen = answers()
    refused = time.monotonic()
    expect("statuses", seen, [200] * 5 + [429])
    print(f"installed in {installed - began:.1f} s, then refused in {refused - installed:.1f} s")
    expect(f"{refused - began:.1f} s in all, at most {SECONDS} s", refused - began <= SECONDS, True)
    expect("admin listener", status_of("http://127.0.0.1:9901/readyz"), 200)
    return stint


def stop(stint):
    stint.terminate()
    expect("exit code after SIGTERM", stint.wait(15), 0)


def judged_by_systemd(root):
    say("the unit, as systemd-analyze sees it")
    # The tree has no systemd: what the unit refers to is this machine's.
    units = root / "lib/systemd/system"
    subprocess.run(["cp", "--archive", "--no-clobber", "/lib/systemd/system/.", units], check=True)
    ended = subprocess.run(
        ["systemd-analyze", f"--root={root}", "--man=no", "--recursive-errors=no", "verify", f"/{UNIT}",
         f"/{UNIT}".replace(".service", ".socket")], capture_output=True, text=True, check=False)
    said = [line for line in ended.stderr.splitlines() if "stint." in line]
    expect("verify", (ended.returncode, said), (0, []))
    ended = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", f"--root={root}", f"--threshold={EXPOSURE * 10:.0f}",
         f"/{UNIT}"], capture_output=True, text=True, check=False)
    verdict = (ended.stdout.strip().splitlines() or [ended.stderr])[-1]
    print(verdict)
    expect(f"exposure at most {EXPOSURE}", ended.returncode, 0)
    for page in ("man1/stint.1.gz", "man5/stint.yaml.5.gz"):
        expect(f"the manual that the unit names, {page}", (root / "usr/share/man" / page).is_file(), True)


def installed_version(root):
    return output_of(root, ["dpkg-query", "-W", "-f", "${Version}", "stint"])[1]


def upgrades(root, deb, folder):
    say("upgrades with a changed configuration")
    file = root / CONFFILE
    changed = file.read_text("utf-8").replace("requests: 5", "requests: 7")
    file.write_text(changed, "utf-8")

    install(root, newer(deb, folder, "1000.1"))
    expect("version", installed_version(root), "1000.1")
    expect("the configuration is what it was", file.read_text("utf-8") == changed, True)

    def another(tree):
        (tree / CONFFILE).write_text((tree / CONFFILE).read_text("utf-8") + "# of a later version\n", "utf-8")

    later = newer(deb, folder, "1000.2", another)
    install(root, later, "-o", "Dpkg::Options::=--force-confold")
    expect("version", installed_version(root), "1000.2")
    expect("the configuration is what it was", file.read_text("utf-8") == changed, True)
    expect("the package's is beside it", (root / f"{CONFFILE}.dpkg-dist").is_file(), True)


class Load:
    """Clients that ask one request after another, over connections that the gateway keeps open."""

    CLIENTS = 8

    def __init__(self):
        self.stopped = threading.Event()
        self.statuses, self.failures = Counter(), []
        self.threads = [threading.Thread(target=self.ask) for _ in range(self.CLIENTS)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        client = http.client.HTTPConnection("127.0.0.1", 8080, timeout=10)
        while not self.stopped.is_set():
            try:
                client.request("GET", "/")
                with client.getresponse() as response:
                    response.read()
                    self.statuses[response.status] += 1
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                client.close()
            time.sleep(0.002)

    def end(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def main_pid(notified, seconds):
    """The last MAINPID= that comes within the time, or None. notified: the socket of NOTIFY_SOCKET."""
    pid, until = None, time.monotonic() + seconds
    while pid is None and (left := until - time.monotonic()) > 0:
        notified.settimeout(left)
        try:
            found = re.search(rb"(?m)^MAINPID=(\d+)$", notified.recv(4096))
        except TimeoutError:
            break
        pid = int(found[1]) if found else None
    return pid


def has_gone(pid, seconds):
    until = time.monotonic() + seconds
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    return not Path(f"/proc/{pid}").exists()


def replaced(root, deb, folder):
    """With the stand-in for systemctl in its place."""
    say("an upgrade of the package under load")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        notified.bind(str(root / "run/notify"))
        (root / "run/notify").chmod(0o666)
        former = start(root, ["NOTIFY_SOCKET=/run/notify"])
        (root / MAIN_PID).write_text(str(former.pid), "ascii")
        expect("statuses", 429 in answers(), True)
        load = Load()
        try:
            install(root, newer(deb, folder, "1000.5"), "-o", "Dpkg::Options::=--force-confold")
            now = main_pid(notified, SECONDS)
            expect("another process serves", now not in (None, former.pid), True)
            expect("the former one ends in order", former.wait(SECONDS), 0)
            time.sleep(0.5)
        finally:
            load.end()
        print(f"requests by status: {dict(load.statuses)}")
        expect("requests that failed", load.failures, [])
        expect("no other status than 200 and 429", load.statuses.keys() <= {200, 429}, True)
        expect("it runs the new file", os.path.samefile(f"/proc/{now}/exe", root / "usr/bin/stint"), True)
        expect("admin listener", status_of("http://127.0.0.1:9901/readyz"), 200)
        os.kill(now, signal.SIGTERM)
        expect("it ends after SIGTERM", has_gone(now, 15), True)
    (root / MAIN_PID).unlink()
    (root / "run/notify").unlink()


def restarts(root, deb, folder):
    say("what an upgrade asks systemd for (a stand-in)")
    log, systemctl, file = root / "systemctl.log", root / "usr/bin/systemctl", root / CONFFILE
    expect("there is no systemctl in the tree", systemctl.exists(), False)
    systemctl.write_text(SYSTEMCTL, "ascii")
    systemctl.chmod(0o755)
    (root / "run/systemd/system").mkdir(parents=True)
    good = file.read_text("utf-8")

    def asked(version):
        log.write_text("", "ascii")
        said = install(root, newer(deb, folder, version), "-o", "Dpkg::Options::=--force-confold")
        actions = [action for line in log.read_text("ascii").splitlines() for action in line.split()
                   if action in ("stop", "restart", "try-restart", "try-reload-or-restart")]
        return actions, "does not accept /etc/stint/stint.yaml" in said

    expect("with a good configuration", asked("1000.3"), (["try-reload-or-restart"], False))
    file.write_text(good + "nonsense: 1\n", "utf-8")
    expect("with one that the new binary refuses", asked("1000.4"), ([], True))
    file.write_text(good, "utf-8")
    replaced(root, deb, folder)
    shutil.rmtree(root / "run/systemd")
    systemctl.unlink()


def removals(root):
    say("removed, and purged")
    state = root / "var/lib/stint/state.db"
    expect("there is a state", state.is_file(), True)
    run_in_root(root, ["dpkg", "--remove", "stint"])
    expect("the binary is gone", (root / "usr/bin/stint").exists(), False)
    expect("the configuration and the state are there", [(root / CONFFILE).is_file(), state.is_file()], [True, True])
    run_in_root(root, ["dpkg", "--purge", "stint"])
    left = [str(path) for place in ("etc", "usr", "var/lib", "var/log", "lib/systemd")
            for path in (root / place).rglob("*stint*")]
    expect("what is left of it", left, [])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("deb", type=Path)
    arguments.add_argument("--keep", action="store_true", help="leave the tree")
    options = arguments.parse_args()
    as_root_with_mmdebstrap("scripts/package --test")
    say("lintian")
    ended = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", options.deb], check=False,
                           stdout=subprocess.PIPE, text=True)
    expect("lintian", (ended.returncode, ended.stdout), (0, ""))
    folder = Path(tempfile.mkdtemp(prefix="stint-trial-"))
    try:
        say("a Debian 12 tree")
        root = folder / "root"
        make(root)
        run_in_root(root, ["apt-get", "update", "-qq"])  # what there is to install, as on any machine
        stop(first_refusal(root, options.deb.resolve()))
        judged_by_systemd(root)
        upgrades(root, options.deb, folder)
        restarts(root, options.deb, folder)
        removals(root)
        say("the package works")
    finally:
        if options.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
