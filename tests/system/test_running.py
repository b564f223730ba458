"""Starting, stopping, and everything that keeps Stint from starting."""

import json
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import threading
import time
import unittest
from pathlib import Path

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.messages import response_bytes
from support.stint import ROOT, binary
from support.waiting import wait_until

MIB = 1024 * 1024


class Starting(SystemTest):
    def run_stint(self, *arguments, **more):
        return subprocess.run(
            [binary(), *map(str, arguments)], capture_output=True, text=True, timeout=30, check=False, **more
        )

    def write(self, made, name="stint.yaml"):
        file = self.new_folder() / name
        file.write_text(made if isinstance(made, str) else json.dumps(made), encoding="utf-8")
        return file

    def assert_one_clear_line(self, ended, *words, codes=(1, 2)):
        self.assertIn(ended.returncode, codes, ended)
        lines = [line for line in ended.stderr.splitlines() if "[info]" not in line]
        self.assertEqual(len(lines), 1, ended.stderr)
        for word in words:
            self.assertIn(str(word), lines[0])

    def test_a_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            made = config("127.0.0.1:1", listeners=[{"address": f"127.0.0.1:{port}"}])

            self.assert_one_clear_line(self.run_stint("run", "-c", self.write(made)), f"127.0.0.1:{port}")

    def test_no_signal_but_those_that_stop_it_ends_it(self):
        stint = self.stint_before(self.start_upstream())
        for number in sorted(signal.valid_signals()):
            # Stopping and continuing is the system's affair, and faults are real ones. SIGUSR2 replaces it.
            if number in (signal.SIGUSR2, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL,
                          signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE,
                          signal.SIGILL, signal.SIGSEGV, signal.SIGSYS, signal.SIGTRAP, signal.SIGXCPU):
                continue
            stint.signal(number)
            self.assertEqual(fetch(stint.port).status, 200, f"after signal {number}")

    def test_signals_that_come_while_it_reads_its_configuration_have_their_effect_later(self):
        upstream = self.start_upstream()
        made = config(upstream.address)
        pipe = self.new_folder() / "stint.yaml"
        os.mkfifo(pipe)
        stint = subprocess.Popen([binary(), "run", "-c", pipe], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 text=True)
        self.addCleanup(stint.stderr.close)
        self.addCleanup(stint.wait, 10)
        self.addCleanup(stint.terminate)
        with pipe.open("w", encoding="utf-8") as writing:  # opened once Stint reads
            for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
                stint.send_signal(number)
            writing.write(json.dumps(made))
        self.assertRegex(stint.stderr.readline(), "listening on")
        self.assertRegex(stint.stderr.readline(), "the configuration was not reloaded")
        self.assertRegex(stint.stderr.readline(), "is a pipe")  # which a reload does not wait for
        self.assertRegex(stint.stderr.readline(), "SIGUSR1: reopening")
        self.assertRegex(stint.stderr.readline(), "SIGUSR2: starting")  # waits for the pipe, and ends with this one

    def test_signals_that_came_before_it_began_have_their_effect_once_it_has_started(self):
        def send_all():  # they are held back, as by a parent that blocks them
            numbers = (signal.SIGHUP, signal.SIGUSR1)
            signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
            for number in numbers:
                os.kill(os.getpid(), number)

        stint = self.start_stint(config(self.start_upstream().address), preexec=send_all)

        for line in ("configuration 2 is in force", "SIGUSR1: reopening"):
            wait_until(lambda line=line: line in stint.log(), line)

    def test_sigquit_finishes_requests_in_flight_as_sigterm_does(self):
        for number in (signal.SIGTERM, signal.SIGQUIT):
            with self.subTest(number.name):
                release = threading.Event()
                self.addCleanup(release.set)
                upstream = self.start_upstream(
                    lambda connection, release=release: connection.read_request() and release.wait(20)
                    and connection.send(response_bytes(b"done")))
                stint = self.stint_before(upstream)
                client = RawClient(stint.port)
                self.addCleanup(client.close)
                client.send_request()
                upstream.wait_for_requests(1)

                stint.signal(number)
                wait_until(lambda stint=stint: "stopping" in stint.log(), "it drains")
                release.set()

                self.assertEqual(client.read_response().status, 200)
                self.assertEqual(stint.process.wait(10), 0)

    def test_a_second_stint_of_the_same_user_is_refused(self):
        first = self.stint_before(self.start_upstream(), limits={"n": {"requests": 2, "per": "1h"}},
                                  route_limits=["n"])
        second = {**first.config, "admin": config()["listeners"][0]}

        ended = self.run_stint("run", "-c", self.write(second))

        self.assert_one_clear_line(ended, first.port)
        self.assertEqual([fetch(first.port).status for _ in range(4)], [200, 200, 429, 429])

    def test_a_second_stint_with_the_same_admin_address_is_refused(self):
        first = self.stint_before(self.start_upstream())
        second = {**first.config, "listeners": config()["listeners"]}

        self.assert_one_clear_line(self.run_stint("run", "-c", self.write(second)), first.admin_port)

    def test_a_stint_can_start_at_once_where_another_has_just_stopped(self):
        upstream = self.start_upstream()
        made = config(upstream.address)
        for _ in range(3):
            stint = self.start_stint(made)
            self.assertEqual(fetch(stint.port).status, 200)
            stint.stop()

    def test_a_missing_configuration(self):
        for command in (("run", "-c", "/nonexistent/stint.yaml"), ("check", "/nonexistent/stint.yaml")):
            with self.subTest(command):
                self.assert_one_clear_line(self.run_stint(*command), "/nonexistent/stint.yaml")

    def test_a_configuration_that_may_not_be_read(self):
        file = self.write(config("127.0.0.1:1"))
        file.chmod(0)
        if os.access(file, os.R_OK):
            self.skipTest("this user may read everything")
        self.assert_one_clear_line(self.run_stint("run", "-c", file), file)

    def test_a_folder_instead_of_a_configuration(self):
        self.assert_one_clear_line(self.run_stint("run", "-c", self.folder), self.folder)

    def test_a_mistake_stops_run_and_check_alike(self):
        file = self.write("listeners:\n  - adress: 127.0.0.1:8080\nroutes: 7\n")
        for command in (("run", "-c", file), ("check", file)):
            with self.subTest(command):
                ended = self.run_stint(*command)
                self.assertEqual(ended.returncode, 2, ended)
                self.assertIn(f"{file}:2:5: ", ended.stderr + ended.stdout)
                self.assertIn(f"{file}:3:9: ", ended.stderr + ended.stdout)
                self.assertIn("address", ended.stderr + ended.stdout)

    def test_check_accepts_a_good_file(self):
        file = self.write(config("127.0.0.1:1"))
        for command in (("check", file), ("check", "-c", file), ("check", "--config", file)):
            with self.subTest(command):
                ended = self.run_stint(*command)

                self.assertEqual((ended.returncode, ended.stdout),
                                 (0, f"{file}: ok (1 routes, 1 upstreams, 0 limits)\n"), ended)

    def test_check_reads_standard_input(self):
        good = self.run_stint("check", "-", input=json.dumps(config("127.0.0.1:1")))
        bad = self.run_stint("check", "-", input="routes: 7\n")
        large = self.run_stint("check", "-", input="#" * (16 * MIB + 1))

        self.assertEqual((good.returncode, good.stdout), (0, "<stdin>: ok (1 routes, 1 upstreams, 0 limits)\n"))
        self.assertEqual(bad.returncode, 2)
        self.assertIn("<stdin>:1:9: routes: ", bad.stderr)
        self.assertEqual((large.returncode, large.stderr), (2, "<stdin>:1:1: the file is larger than 16 MiB\n"))

    def test_notes_are_a_failure_for_a_strict_check_alone(self):
        noted = self.write(config("127.0.0.1:1", permits={"address": "127.0.0.1:0"},
                                  limits={"n": {"concurrent": 2}}, route_limits=["n"]))
        plain = self.write(config("127.0.0.1:1"))

        self.assertIn(": note: ", self.run_stint("check", noted).stdout)
        self.assertEqual([self.run_stint("check", noted).returncode, self.run_stint("check", "--strict", noted).returncode,
                          self.run_stint("check", "--strict", plain).returncode], [0, 3, 0])

    def test_version_is_a_command_as_well(self):
        self.assertEqual(self.run_stint("version").stdout, self.run_stint("--version").stdout)
        self.assertRegex(self.run_stint("version").stdout, r"^stint \d+\.\d+\.\d+\n$")

    def test_the_samples_are_good(self):
        samples = sorted((ROOT / "config").glob("*.yaml"))
        self.assertLessEqual(
            {"quickstart.yaml", "api.yaml", "cluster.yaml", "crawler.yaml", "permits.yaml"}, {one.name for one in samples})
        for sample in samples:
            with self.subTest(sample.name):
                ended = self.run_stint("check", sample)
                self.assertEqual(ended.returncode, 0, ended)

    def test_an_unknown_command_or_option(self):
        for command, named in (
            (("walk",), '"walk" is not a command; expected run, check, simulate, import-nginx, fields, schema or version'),
            (("chekc", "stint.yaml"), '"chekc" is not a command; did you mean "check"?'),
            (("run", "--confg", "x"), "--confg"),
            (("check", "a.yaml", "b.yaml"), "b.yaml"),
            (("check", "a.yaml", "-c", "b.yaml"), "--config"),
            (("run",), "run needs -c FILE"),
            (("run", "-c", "-"), "run needs a file"),
            (("check",), "check needs a FILE"),
            (("simulate", "-c", "a.yaml"), "simulate needs -c FILE and a LOG"),
            ((), "a command is missing"),
        ):
            with self.subTest(command):
                ended = self.run_stint(*command)
                self.assertEqual((ended.returncode, ended.stdout), (2, ""))
                self.assertIn(named, ended.stderr)

    def test_version_and_help(self):
        for option in ("--version", "--help"):
            self.assertEqual(self.run_stint(option).returncode, 0)

    def test_an_admin_address_off_loopback_needs_a_token(self):
        admin_port = config()["listeners"][0]["address"].rpartition(":")[2]
        made = config("127.0.0.1:1", admin={"address": f"0.0.0.0:{admin_port}"})

        ended = self.run_stint("run", "-c", self.write(made))

        self.assertIn(ended.returncode, (1, 2))
        self.assertIn("token_file", ended.stderr)

    def test_a_unix_socket_left_behind_is_taken_over(self):
        path = self.folder / "left.sock"
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(path))
        upstream = self.start_upstream()
        self.stint_before(upstream, listeners=[{"address": f"unix:{path}"}])

        self.assertEqual(fetch(str(path)).status, 200)

    def test_a_unix_socket_has_the_mode_that_is_configured_and_a_reload_changes_it(self):
        path, admin, permits = (self.folder / name for name in ("a.sock", "admin.sock", "permits.sock"))
        made = config("127.0.0.1:1", listeners=[{"address": f"unix:{path}"}],
                      admin={"address": f"unix:{admin}", "mode": "0600"},
                      permits={"address": f"unix:{permits}", "mode": "0666", "group": os.getgid()})
        file = self.write(made)
        stint = subprocess.Popen([binary(), "run", "-c", file], umask=0o027,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(stint.wait, 10)
        self.addCleanup(stint.terminate)

        def modes():
            return [stat.S_IMODE(each.stat().st_mode) if each.exists() else None
                    for each in (path, admin, permits)]

        wait_until(lambda: modes() == [0o660, 0o600, 0o666], "the sockets have their modes")
        made["listeners"][0]["mode"] = "0606"
        file.write_text(json.dumps(made), encoding="utf-8")
        stint.send_signal(signal.SIGHUP)
        wait_until(lambda: modes() == [0o606, 0o600, 0o666], "the reload has changed one")

    def test_a_reload_sets_a_unix_sockets_mode_only_where_the_configuration_has_changed_it(self):
        kept, gone = (self.folder / name for name in ("kept.sock", "gone.sock"))
        made = config("127.0.0.1:1", listeners=[{"address": f"unix:{kept}"}, {"address": f"unix:{gone}"}])
        stint = self.start_stint(made)
        kept.chmod(0o600)

        self.assertEqual(stint.admin.reload().json()["notes"], [])
        self.assertEqual(stat.S_IMODE(kept.stat().st_mode), 0o600)

        gone.unlink()
        for listener in made["listeners"]:
            listener["mode"] = "0606"
        stint.write(made)
        for _ in range(2):
            self.assertEqual(stint.admin.reload().json()["notes"],
                             [f"unix:{gone}: its mode or group could not be set: No such file or directory"])
        self.assertEqual(stat.S_IMODE(kept.stat().st_mode), 0o606)

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file to any group")
    def test_a_reload_takes_a_unix_socket_from_a_group_that_is_named_no_more(self):
        own, inherited = (self.folder / name for name in ("a.sock", "b/b.sock"))
        inherited.parent.mkdir()
        os.chown(inherited.parent, -1, 13)
        inherited.parent.chmod(0o2755)  # what is made in it gets its group
        made = config("127.0.0.1:1", listeners=[{"address": f"unix:{own}", "group": 12},
                                                {"address": f"unix:{inherited}", "group": 12}])
        stint = self.start_stint(made)
        self.assertEqual([each.stat().st_gid for each in (own, inherited)], [12, 12])

        for listener in made["listeners"]:
            del listener["group"]
        stint.write(made)
        self.assertEqual(stint.admin.reload().json()["notes"], [])
        self.assertEqual([each.stat().st_gid for each in (own, inherited)], [os.getegid(), 13])

    def test_a_reload_leaves_alone_what_is_in_a_unix_sockets_place_by_now(self):
        link, taken = (self.folder / name for name in ("link.sock", "taken.sock"))
        made = config("127.0.0.1:1", listeners=[{"address": f"unix:{link}"}, {"address": f"unix:{taken}"}])
        stint = self.start_stint(made)
        target = self.folder / "precious"
        target.write_text("data", encoding="ascii")
        target.chmod(0o600)
        link.unlink()
        link.symlink_to(target)
        taken.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(taken))
            taken.chmod(0o600)

            for listener in made["listeners"]:
                listener["mode"] = "0606"
            stint.write(made)
            self.assertEqual(
                stint.admin.reload().json()["notes"],
                [f"unix:{path}: its mode or group could not be set: Address already in use"
                 for path in (link, taken)])
            stint.stop()

            self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o600)
            self.assertTrue(link.is_symlink())
            self.assertEqual(stat.S_IMODE(taken.stat().st_mode), 0o600)

    def test_a_unix_socket_that_another_stint_has_taken_over_outlives_the_first(self):
        path = self.folder / "handed_on.sock"
        goes_on = threading.Event()

        def script(connection):
            connection.read_request()
            goes_on.wait(30)
            connection.send(response_bytes(b"ok"))

        upstream = self.start_upstream(script)
        first = self.stint_before(upstream, listeners=[{"address": f"unix:{path}"}])
        with RawClient(str(path)) as client:
            client.send_request()
            wait_until(lambda: upstream.requests, "the request is under way")
            first.signal(signal.SIGTERM)
            wait_until(lambda: not self.takes_connections(path), "the first listens no more")
            second = self.stint_before(self.start_upstream(), listeners=[{"address": f"unix:{path}"}])
            goes_on.set()
            self.assertEqual(client.read_response().status, 200)
        first.stop()

        self.assertEqual(fetch(str(path)).status, 200)
        second.stop()
        self.assertFalse(path.exists())

    @staticmethod
    def takes_connections(path):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(path)) == 0

    def test_a_start_that_fails_leaves_no_unix_socket_behind(self):
        path = self.folder / "first.sock"
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            made = config("127.0.0.1:1", admin=config()["listeners"][0],
                          listeners=[{"address": f"unix:{path}"}, {"address": f"127.0.0.1:{port}"}])

            self.assert_one_clear_line(self.run_stint("run", "-c", self.write(made)), port)
        self.assertFalse(path.exists())

    def test_a_group_of_very_many_members(self):
        groups = self.write("".join(
            f"{name}:x:4321:{','.join(f'somebody-{i}' for i in range(count))}\n"
            for name, count in (("crowd", 30_000), ("people", 150_000))), "group")
        alone = ["unshare", "--mount", "sh", "-c", 'mount --bind "$1" /etc/group && shift && exec "$@"', "sh"]
        try:
            possible = subprocess.run([*alone, groups, "true"], check=False, capture_output=True).returncode == 0
        except FileNotFoundError:
            possible = False
        if not possible:
            self.skipTest("another /etc/group needs root and unshare(1)")

        def check(group):
            file = self.write(config("127.0.0.1:1", listeners=[{"address": "unix:/tmp/a.sock", "group": group}]))
            return subprocess.run([*alone, groups, binary(), "check", file],
                                  capture_output=True, text=True, timeout=30, check=False)

        self.assertEqual(check("crowd").returncode, 0, check("crowd"))
        self.assert_one_clear_line(
            check("people"), '"people" cannot be looked up: a group has an entry of more than 1 MiB')

    def test_a_unix_socket_in_use_is_not_taken_over(self):
        path = self.folder / "used.sock"
        upstream = self.start_upstream()
        self.stint_before(upstream, listeners=[{"address": f"unix:{path}"}])
        second = config(upstream.address, listeners=[{"address": f"unix:{path}"}],
                        admin=config()["listeners"][0])

        self.assert_one_clear_line(self.run_stint("run", "-c", self.write(second)), path)
        self.assertEqual(fetch(str(path)).status, 200)

    def test_a_file_where_a_unix_socket_should_be_is_left_alone(self):
        path = self.folder / "precious"
        path.write_text("data", encoding="ascii")
        made = config("127.0.0.1:1", listeners=[{"address": f"unix:{path}"}], admin=config()["listeners"][0])

        self.assert_one_clear_line(self.run_stint("run", "-c", self.write(made)), path)
        self.assertTrue(stat.S_ISREG(path.stat().st_mode))


class OpenFiles(SystemTest):
    def limits_of(self, stint):
        for line in open(f"/proc/{stint.pid}/limits", encoding="ascii"):
            if line.startswith("Max open files"):
                return int(line.split()[3])
        raise AssertionError("no such line")

    def test_the_soft_limit_is_raised_to_what_the_connections_need(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        stint = self.stint_before(
            self.start_upstream(),
            max_connections=500,
            **{},
        )
        stint.stop()
        made = stint.config
        stint = self.start_stint(
            made, preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        )

        self.assertGreaterEqual(self.limits_of(stint), 1000)  # two sockets a connection
        self.assertNotIn("open files", stint.log())

    def test_a_hard_limit_that_is_too_low_is_warned_of(self):
        stint = self.start_stint(
            config(self.start_upstream().address, max_connections=5000),
            preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512)),
        )

        wait_until(lambda: "open files" in stint.log(), "the warning")
        self.assertIn("5000", stint.log())
        self.assertEqual(fetch(stint.port).status, 200)

    def test_running_out_of_files_is_survived(self):
        stint = self.start_stint(
            config(self.start_upstream().address, max_connections=5000, workers=1),
            preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
        )
        clients = [RawClient(stint.port) for _ in range(100)]
        used = self.cpu_seconds(stint)
        time.sleep(0.5)
        self.assertLess(self.cpu_seconds(stint) - used, 0.25)  # no spinning in accept()
        for client in clients:
            client.close()

        wait_until(lambda: self.answers(stint), "new connections are served again")

    @staticmethod
    def answers(stint):
        try:
            return fetch(stint.port).status == 200
        except OSError:
            return False

    @staticmethod
    def cpu_seconds(stint):
        fields = open(f"/proc/{stint.pid}/stat", encoding="ascii").read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_more_connections_than_allowed_do_not_disturb_the_others(self):
        stint = self.stint_before(self.start_upstream(), max_connections=3, workers=1)
        clients = [RawClient(stint.port) for _ in range(3)]
        for client in clients:
            self.assertEqual(client.request().status, 200)

        with RawClient(stint.port) as surplus:
            surplus.send_request()
            self.assertIn(surplus.read_what_comes()[:12], (b"", b"HTTP/1.1 503"))

        for client in clients:
            self.assertEqual(client.request().status, 200)
            client.close()
        wait_until(lambda: self.answers(stint), "there is room again")


class Cores(SystemTest):
    @staticmethod
    def cores_of(stint):
        """Of each thread: its name, and the cores on which it may run."""
        found = []
        for task in Path(f"/proc/{stint.pid}/task").iterdir():
            found.append((task.joinpath("comm").read_text().strip(), os.sched_getaffinity(int(task.name))))
        return found

    def workers_of(self, stint):
        return sorted((cores for name, cores in self.cores_of(stint) if name == "stint-worker"), key=sorted)

    def test_pinned_workers_share_out_the_cores_in_turn(self):
        cores = sorted(os.sched_getaffinity(0))
        stint = self.stint_before(self.start_upstream(), workers=len(cores) + 1, pin_workers=True)

        self.assertEqual(fetch(stint.port).status, 200)
        self.assertEqual(self.workers_of(stint), sorted([{core} for core in cores] + [{cores[0]}], key=sorted))
        for name, usable in self.cores_of(stint):
            if name != "stint-worker":
                self.assertEqual(usable, set(cores), name)
        self.assertIs(stint.admin.get("/config")["pin_workers"], True)
        stint.write({**stint.config, "pin_workers": False})
        self.assertEqual(stint.admin.reload().json()["notes"], ["pin_workers: takes effect with a restart"])

    def test_auto_is_a_worker_for_each_core_that_it_may_use(self):
        last = max(os.sched_getaffinity(0))
        stint = self.start_stint(config(self.start_upstream().address, workers="auto", pin_workers=True),
                                 preexec=lambda: os.sched_setaffinity(0, {last}))

        self.assertEqual(self.workers_of(stint), [{last}])


class Spread(SystemTest):
    """Of a few connections that stay, each worker has its share, wherever the kernel's hash puts them."""

    WORKERS = 4

    def connections(self, stint, port):
        """How many of this port's connections each worker's epoll has, fewest first."""
        ours = {f"socket:[{line.split()[9]}]" for line in Path("/proc/net/tcp").read_text().splitlines()
                if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "01"}
        descriptors = set()
        watched = []
        for number in os.listdir(f"/proc/{stint.pid}/fd"):
            try:
                if os.readlink(f"/proc/{stint.pid}/fd/{number}") in ours:
                    descriptors.add(number)
                watched.append({line.split()[1] for line in
                                Path(f"/proc/{stint.pid}/fdinfo/{number}").read_text().splitlines()
                                if line.startswith("tfd:")})
            except FileNotFoundError:  # closed since it was listed
                pass
        return sorted(len(descriptors & each) for each in watched)[-self.WORKERS:]

    def check_spread(self, stint, port, *request):
        def nobody_is_there():
            metrics = stint.admin.metrics()
            return metrics.sum("stint_connections_open") + metrics.sum("stint_permit_connections") == 0

        wait_until(nobody_is_there, "who asked whether the gateway is up has left")
        clients = []
        for each in range(1, 3):
            for _ in range(self.WORKERS):
                clients.append(RawClient(port))
            wait_until(lambda: self.connections(stint, port) == [each] * self.WORKERS,
                       f"each worker has {each}")
        for client in clients:
            self.assertEqual(client.request(*request).status, 200)
            client.close()
        wait_until(lambda: self.connections(stint, port) == [0] * self.WORKERS, "all are closed")

    def test_of_requests(self):
        stint = self.stint_before(self.start_upstream(), workers=self.WORKERS)
        self.check_spread(stint, stint.port)

    def test_of_askers_for_permits(self):
        stint = self.stint_before(self.start_upstream(), workers=self.WORKERS,
                                  permits={"address": "127.0.0.1:0"}, limits={"shop": {"requests": 100, "per": "1h"}})
        port = int(re.search(r"permits listening on 127.0.0.1:(\d+)", stint.log())[1])
        self.check_spread(stint, port, "POST", "/v1/limits/shop/take", {"Host": "localhost"})


class Stopping(SystemTest):
    def test_requests_in_flight_are_finished(self):
        proceed = threading.Event()

        def script(connection):
            connection.read_request()
            proceed.wait(20)
            connection.send(response_bytes(b"finished"))

        upstream = self.start_upstream(script)
        stint = self.stint_before(upstream)
        with RawClient(stint.port) as waiting, RawClient(stint.port) as idle:
            waiting.send_request()
            upstream.wait_for_requests(1)

            stopper = threading.Thread(target=stint.stop)
            stopper.start()
            wait_until(lambda: not self.accepts(stint), "no new connections are accepted")
            self.assertTrue(idle.ends())
            self.assertTrue(stint.running)
            proceed.set()
            answered = waiting.read_response()

            self.assertEqual((answered.status, answered.body), (200, b"finished"))
            self.assertEqual(answered.get("Connection"), "close")
            self.assertTrue(waiting.ends())
            stopper.join(10)
        self.assertEqual(stint.process.returncode, 0)

    @staticmethod
    def accepts(stint):
        try:
            RawClient(stint.port).close()
            return True
        except OSError:
            return False

    def test_a_large_response_on_its_way_is_finished(self):
        block = b"x" * MIB

        def script(connection):
            connection.read_request()
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (32 * MIB))
            for _ in range(32):
                connection.send(block)

        # Its connection is closed when the response ends, not when patience does.
        stint = self.stint_before(self.start_upstream(script), timeouts={"drain": "60s"})
        with RawClient(stint.port, receive_buffer=65536) as client:
            client.send_request()
            client.read_response_head()
            stopper = threading.Thread(target=stint.stop)
            stopper.start()
            size = 0
            while data := client.read_some():
                size += len(data)
            stopper.join(10)
        self.assertEqual(size, 32 * MIB)
        self.assertEqual(stint.process.returncode, 0)

    def test_stopping_is_clean_whenever_it_comes(self):
        made = config(self.start_upstream().address)
        for number in range(25):
            stint = self.start_stint(made)
            self.assertEqual(fetch(stint.port).status, 200)
            time.sleep(0.003 * number)  # so that it meets every moment of a worker's tick
            stint.stop()

    def test_sigint_stops_it_too(self):
        stint = self.stint_before(self.start_upstream())

        stint.signal(2)

        self.assertEqual(stint.process.wait(10), 0)

    def test_a_second_signal_does_not_wait_for_the_first(self):
        upstream = self.start_upstream(lambda connection: connection.read_request() and connection.ends())
        stint = self.stint_before(upstream, timeouts={"drain": "60s"})
        with RawClient(stint.port) as client:
            client.send_request()
            upstream.wait_for_requests(1)
            stint.signal(15)
            wait_until(lambda: not self.accepts(stint), "it drains")

            stint.signal(15)

            stint.process.wait(10)

    def test_a_drain_may_be_delayed_until_balancers_have_turned_away(self):
        upstream = self.start_upstream()
        stint = self.stint_before(upstream, timeouts={"drain_delay": "600s"})
        with RawClient(stint.port) as client:
            stint.signal(15)
            wait_until(lambda: stint.admin.request("GET", "/readyz").status == 503, "not ready any more")
            client.send_request()
            response = client.read_response()
            self.assertEqual((response.status, response.get("Connection")), (200, None))
            self.assertEqual(fetch(stint.port).status, 200)
            stint.signal(15)
        self.assertEqual(stint.process.wait(10), 0)

    def test_the_drain_begins_when_its_delay_is_over(self):
        stint = self.stint_before(self.start_upstream(), timeouts={"drain_delay": "300ms"})
        stint.signal(15)
        self.assertEqual(stint.process.wait(10), 0)

    def test_readiness_ends_before_life_does(self):
        upstream = self.start_upstream(lambda connection: connection.read_request() and connection.ends())
        stint = self.stint_before(upstream, timeouts={"drain": "10s"})
        with RawClient(stint.port) as client:
            client.send_request()
            upstream.wait_for_requests(1)
            stint.signal(15)

            wait_until(lambda: stint.admin.request("GET", "/readyz").status == 503, "not ready any more")
            self.assertEqual(stint.admin.request("GET", "/healthz").status, 200)
            client.reset()
        self.assertEqual(stint.process.wait(10), 0)


if __name__ == "__main__":
    unittest.main()
