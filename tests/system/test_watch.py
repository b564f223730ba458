"""Files that change are read again, however they are replaced (`watch: true`)."""

import contextlib
import copy
import hashlib
import json
import mmap
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest
from pathlib import Path

from support.case import SystemTest, config
from support.certificates import Authority
from support.client import fetch
from support.config_map import ConfigMap
from support.permits_client import permits_config, permits_port, take_path
from support.ports import free_port
from support.stint import Admin, Stint
from support.waiting import wait_until


def may_unshare() -> bool:
    return shutil.which("unshare") is not None and subprocess.run(
        ["unshare", "-Urm", "true"], capture_output=True, check=False, timeout=30).returncode == 0


class WatchTest(SystemTest):
    def before(self, **more) -> Stint:
        """Stint with a limit of which the tests change the number."""
        more.setdefault("watch", True)
        return self.stint_before(self.start_upstream(), limits={"n": {"requests": 1000, "per": "1h"}},
                                 route_limits=["n"], **more)

    @staticmethod
    def with_requests(stint, requests: int, **top) -> str:
        changed = copy.deepcopy(stint.config)
        changed["limits"]["n"]["requests"] = requests
        return json.dumps({**changed, **top}, indent=1)

    def wait_for(self, stint, requests: int, by_event: bool = True) -> None:
        """Until this number is in force, and the watch has found it by an event, or by the poll."""
        self.wait_in_force(stint, requests)
        self.assertIn(f"watch: {stint.file} has changed{'' if by_event else ', without an event'}\n", stint.log())
        if by_event:
            self.assertNotIn("without an event", stint.log())

    @staticmethod
    def wait_in_force(stint, requests: int) -> None:
        wait_until(lambda: stint.admin.limit("n")["limit"] == requests, f"{requests} requests are in force", 60)

    @staticmethod
    def reloads(stint) -> tuple:
        metrics = stint.admin.metrics()
        return tuple(int(metrics.sum("stint_config_reloads_total", result=result)) for result in ("ok", "failed"))

    def wait_for_failure(self, stint, count: int = 1) -> None:
        wait_until(lambda: self.reloads(stint)[1] == count, f"{count} reloads have failed")

    @staticmethod
    def last_reload(stint) -> dict:
        return stint.admin.get("/config/last_reload")


class FencedTest(WatchTest):
    """With a certificate: when a later one is shown, the watch has looked at all files, and has decided."""

    def setUp(self):
        super().setUp()
        self.authority = Authority(self.new_folder())
        self.pair = self.authority.issue("localhost", file="in-use")
        self.issued = 0

    def serial(self, stint) -> int:
        with (socket.create_connection(("127.0.0.1", stint.port), 10) as plain,
              self.authority.context().wrap_socket(plain, server_hostname="localhost") as sock):
            return int(sock.getpeercert()["serialNumber"], 16)

    def before_fence(self) -> Stint:
        return self.before(listener={"tls": self.pair.tls()})

    def wait_for_fence(self, stint) -> None:
        self.issued += 1
        other = self.authority.issue("localhost", file=f"fence-{self.issued}")
        self.pair.take_over(other)
        wait_until(lambda: self.serial(stint) == other.serial(), "the new certificate is shown", 60, 0.1)


class Fenced(FencedTest):
    def test_the_same_content_is_no_change(self):
        stint = self.before_fence()
        for _ in range(3):
            stint.file.write_text(stint.file.read_text("utf-8"), encoding="utf-8")
            os.utime(stint.file)
        copied = shutil.copy(stint.file, self.new_folder() / "copy")
        Path(copied).rename(stint.file)
        (stint.folder / "beside.yaml").write_text("not a configuration", encoding="utf-8")
        self.wait_for_fence(stint)
        self.assertEqual(self.reloads(stint), (0, 0))

    def test_a_reload_by_another_way_is_not_repeated(self):
        stint = self.before_fence()
        stint.file.write_text(self.with_requests(stint, 2), encoding="utf-8")
        self.assertEqual(stint.admin.reload().status, 200)
        self.wait_for_fence(stint)
        self.assertEqual(self.last_reload(stint)["by"], "api")  # also if the watch was the faster one before

    def test_a_file_that_is_being_written_is_not_read(self):
        stint = self.before_fence()
        first = self.with_requests(stint, 2)
        for known in (True, False):
            with self.subTest(known=known):
                before = self.reloads(stint)
                if not known:
                    stint.file.unlink()
                with stint.file.open("w", encoding="utf-8") as file:
                    if not known:  # a part that could stand for itself
                        file.write(first)
                        file.flush()
                    self.wait_for_fence(stint)
                    self.assertEqual(self.reloads(stint), before)
                    file.seek(0)
                    file.write(self.with_requests(stint, 3 + int(known)))
                self.wait_for(stint, 3 + int(known))


class Replaced(WatchTest):
    def test_written_in_place(self):
        stint = self.before()
        stint.file.write_text(self.with_requests(stint, 2), encoding="utf-8")
        self.wait_for(stint, 2)
        self.assertEqual(self.reloads(stint), (1, 0))
        self.assertEqual(fetch(stint.port).status, 200)

    def test_another_file_is_renamed_over_it(self):
        stint = self.before()
        for requests in (2, 3):
            other = self.new_folder() / "other"
            other.write_text(self.with_requests(stint, requests), encoding="utf-8")
            other.rename(stint.file)
            self.wait_for(stint, requests)
        self.assertEqual(self.reloads(stint), (2, 0))

    def test_as_editors_do_it(self):
        stint = self.before()
        for requests in (2, 3):
            backup = stint.file.with_name("stint.yaml~")
            stint.file.rename(backup)
            stint.file.write_text(self.with_requests(stint, requests), encoding="utf-8")
            backup.unlink()
            self.wait_for(stint, requests)
        self.assertEqual(self.reloads(stint), (2, 0))

    def test_as_kubernetes_does_it(self):
        stint = Stint(self.new_folder(), config(
            self.start_upstream().address, limits={"n": {"requests": 1000, "per": "1h"}}, route_limits=["n"],
            watch=True))
        mounted = ConfigMap(stint)
        stint.start()
        self.addCleanup(self._finish, stint)
        for requests in (2, 3, 4):
            version = mounted.swap(self.with_requests(stint, requests))
            self.wait_for(stint, requests)
            on_the_way = (stint.folder, version, stint.file)
            wait_until(lambda on_the_way=on_the_way: self.watched(stint) == {each.stat().st_ino for each in on_the_way},
                       "the folders of the link and of the file are watched, and the file")
        self.assertEqual(self.reloads(stint), (3, 0))

    @staticmethod
    def watched(stint) -> set:
        """The inodes that Stint watches by inotify."""
        found = set()
        for info in Path(f"/proc/{stint.pid}/fdinfo").iterdir():
            with contextlib.suppress(FileNotFoundError):  # of a connection that has ended
                found.update(int(inode, 16) for inode in re.findall(
                    r"^inotify wd:\S+ ino:(\w+)", info.read_text(encoding="ascii"), re.M))
        return found

    def test_a_folder_on_the_way_is_replaced(self):
        stint = self.before()
        folder, new = stint.folder, stint.folder.with_name("new")
        shutil.copytree(folder, new)
        (new / "stint.yaml").write_text(self.with_requests(stint, 2), encoding="utf-8")
        folder.rename(folder.with_name("old"))
        new.rename(folder)
        self.wait_in_force(stint, 2)
        log = (folder.with_name("old") / "stderr").read_text("utf-8")
        self.assertIn(f"watch: {stint.file} has changed\n", log)

    def test_of_many_changes_the_last_is_in_force(self):
        stint = self.before()
        for requests in range(2, 102):
            stint.file.write_text(self.with_requests(stint, requests), encoding="utf-8")
        self.wait_for(stint, 101)
        self.assertEqual(fetch(stint.port).status, 200)

    def test_without_an_event_the_poll_sees_it(self):
        stint = self.before()
        text = self.with_requests(stint, 2).encode().ljust(stint.file.stat().st_size)
        with stint.file.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            mapped[:] = text
            self.wait_for(stint, 2, by_event=False)


class Mistakes(WatchTest):
    def test_a_mistake_is_told_once_and_the_configuration_stays(self):
        stint = self.before()
        good = self.with_requests(stint, 2)
        bad = good.replace('"requests": 2', '"requests": "two"')
        self.assertNotEqual(good, bad)
        line = 1 + bad[:bad.index('"two"')].count("\n")
        stint.file.write_text(bad, encoding="utf-8")
        self.wait_for_failure(stint)

        last = self.last_reload(stint)
        self.assertEqual((last["by"], last["applied"], last["generation"]), ("watch", False, 1))
        self.assertRegex(last["errors"][0], rf"stint\.yaml:{line}:\d+: limits\.n\.requests: ")
        self.assertEqual(stint.admin.metrics().sum("stint_config_last_reload_success"), 0)
        self.assertEqual(stint.admin.limit("n")["limit"], 1000)
        self.assertEqual(fetch(stint.port).status, 200)

        stint.file.write_text(good, encoding="utf-8")
        self.wait_for(stint, 2)
        self.assertEqual(self.reloads(stint), (1, 1))
        self.assertEqual(stint.log().count(last["errors"][0]), 1)
        self.assertEqual(stint.admin.metrics().sum("stint_config_last_reload_success"), 1)
        self.assertEqual(self.last_reload(stint)["applied"], True)

    def test_what_was_in_force_comes_back(self):
        stint = self.before()
        good = stint.file.read_text("utf-8")
        stint.file.write_text("routes: [", encoding="utf-8")
        self.wait_for_failure(stint)
        stint.file.write_text(good, encoding="utf-8")
        wait_until(lambda: self.reloads(stint) == (1, 1), "the file is in force again")

    def test_a_file_that_is_gone_for_good_is_told_once(self):
        stint = self.before()
        text = stint.file.read_text("utf-8")
        stint.file.unlink()
        self.wait_for_failure(stint)
        self.assertIn("cannot be read: No such file", self.last_reload(stint)["errors"][0])
        self.assertEqual(fetch(stint.port).status, 200)
        stint.file.write_text(text, encoding="utf-8")
        wait_until(lambda: self.reloads(stint) == (1, 1), "the file is in force again")


class NamedFiles(FencedTest):
    @staticmethod
    def certificates(stint) -> tuple:
        metrics = stint.admin.metrics()
        return (int(metrics.sum("stint_tls_certificate_reloads_total")),
                int(metrics.sum("stint_tls_certificate_reload_failures_total")))

    def test_a_certificate_is_replaced(self):
        stint = self.before_fence()
        former = self.serial(stint)
        other = self.authority.issue("localhost", file="next")
        self.pair.take_over(other)
        wait_until(lambda: self.serial(stint) == other.serial(), "the new certificate is shown")
        self.assertNotEqual(former, other.serial())
        self.assertEqual((self.reloads(stint), self.certificates(stint)), ((0, 0), (1, 0)))

        key = self.pair.key.read_bytes()
        self.pair.key.write_bytes(self.authority.issue("localhost", file="foreign").key.read_bytes())
        wait_until(lambda: self.certificates(stint) == (1, 1), "the pair does not fit")
        self.pair.key.write_bytes(key)
        wait_until(lambda: self.certificates(stint) == (2, 1), "the pair fits again")
        self.assertEqual(self.reloads(stint), (0, 0))

    def test_a_certificate_that_a_new_configuration_lacks(self):
        stint = self.before_fence()
        other = self.authority.issue("localhost", file="next")
        key = other.key.read_bytes()
        other.key.write_bytes(self.pair.key.read_bytes())
        changed = copy.deepcopy(stint.config)
        changed["listeners"][0]["tls"] = other.tls()
        stint.file.write_text(json.dumps(changed), encoding="utf-8")
        self.wait_for_failure(stint)

        renewed = self.authority.issue("localhost", file="renewed")
        self.pair.take_over(renewed)  # those in force are renewed meanwhile
        wait_until(lambda: self.serial(stint) == renewed.serial(), "the renewed certificate is shown")

        other.key.write_bytes(key)
        wait_until(lambda: self.serial(stint) == other.serial(), "the new certificate is shown")
        self.assertEqual(self.reloads(stint), (1, 1))

    def test_files_that_come_after_the_configuration_that_names_them(self):
        for watch in (True, False):  # the reload may also end the watch
            with self.subTest(watch=watch):
                stint = self.before_fence()
                other = self.authority.issue("localhost", file=f"next-{watch}")
                later = [(path, path.read_bytes()) for path in (other.certificate, other.key)]
                for path, _ in later:
                    path.unlink()
                changed = {**copy.deepcopy(stint.config), "watch": watch}
                changed["listeners"][0]["tls"] = other.tls()
                stint.file.write_text(json.dumps(changed), encoding="utf-8")
                self.wait_for_failure(stint)

                for path, content in later:
                    path.write_bytes(content)
                wait_until(lambda stint=stint, other=other: self.serial(stint) == other.serial(),
                           "the new certificate is shown")
                self.assertEqual(self.reloads(stint), (1, 1))

    def test_a_certificate_is_renewed_before_the_drain(self):
        stint = self.before(listener={"tls": self.pair.tls()}, timeouts={"drain_delay": "60s"})
        stint.signal(signal.SIGTERM)
        wait_until(lambda: "the drain begins in" in stint.log(), "the delay has begun")
        renewed = self.authority.issue("localhost", file="renewed")
        self.pair.take_over(renewed)
        wait_until(lambda: self.serial(stint) == renewed.serial(), "the renewed certificate is shown")

    def test_a_token_is_replaced(self):
        token = self.new_folder() / "token"
        token.write_text("first", encoding="utf-8")
        made = permits_config({"n": {"requests": 1000, "per": "1h"}}, watch=True)
        made["permits"]["token_file"] = str(token)
        stint = self.start_stint(made)
        token.write_text("second", encoding="utf-8")
        wait_until(lambda: self.reloads(stint) == (1, 0), "the token was read again")
        self.assertEqual(self.last_reload(stint)["by"], "watch")
        for name, status in (("first", 401), ("second", 200)):
            listener = Admin(permits_port(stint), token=name)
            self.assertEqual(listener.request("POST", take_path("n"), body="{}").status, status)


class Switched(WatchTest):
    @staticmethod
    def watches(stint) -> int:
        """The descriptors that Stint has for events of folders."""
        links = []
        for link in Path(f"/proc/{stint.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # of a connection that has ended
                links.append(os.readlink(link))
        return links.count("anon_inode:inotify")

    def test_off_by_default_and_by_a_reload(self):
        stint = self.before(watch=False)
        self.assertEqual(self.watches(stint), 0)
        stint.file.write_text(self.with_requests(stint, 2, watch=True), encoding="utf-8")
        stint.signal(signal.SIGHUP)
        wait_until(lambda: self.watches(stint) == 1, "the files are watched")
        stint.file.write_text(self.with_requests(stint, 3, watch=True), encoding="utf-8")
        self.wait_for(stint, 3)
        stint.file.write_text(self.with_requests(stint, 4, watch=False), encoding="utf-8")
        self.wait_for(stint, 4)
        self.assertEqual(self.watches(stint), 0)
        for _ in range(5):
            for watch in (True, False):
                stint.file.write_text(self.with_requests(stint, 4, watch=watch), encoding="utf-8")
                self.assertEqual(stint.admin.reload().status, 200)
                self.assertEqual(self.watches(stint), int(watch))

    def test_the_last_reload_is_told(self):
        stint = self.before()
        self.assertEqual(self.last_reload(stint)["by"], "start")
        stint.signal(signal.SIGHUP)
        wait_until(lambda: self.last_reload(stint)["by"] == "signal", "the signal is told")
        stint.admin.reload()
        self.assertEqual(self.last_reload(stint)["by"], "api")
        stint.file.write_text(self.with_requests(stint, 2), encoding="utf-8")
        wait_until(lambda: self.last_reload(stint)["by"] == "watch", "the watch is told")
        last = self.last_reload(stint)
        self.assertEqual((last["applied"], last["generation"], last["notes"]), (True, 4, []))
        in_force = stint.admin.request("GET", "/config").body
        self.assertEqual(last["config_sha256"], hashlib.sha256(in_force).hexdigest())
        self.assertEqual(stint.admin.request("POST", "/config/last_reload").status, 405)

    def test_what_comes_while_it_stops_is_no_failed_reload(self):
        stint = self.before(timeouts={"drain_delay": "60s"})
        stint.signal(signal.SIGTERM)
        wait_until(lambda: "the drain begins in" in stint.log(), "the delay has begun")
        stint.signal(signal.SIGHUP)
        stint.signal(signal.SIGUSR1)
        wait_until(lambda: "SIGUSR1: reopening" in stint.log(), "both signals have come")
        self.assertEqual(stint.admin.reload().status, 503)
        self.assertEqual(self.reloads(stint), (0, 0))
        self.assertEqual(stint.admin.metrics().sum("stint_config_last_reload_success"), 1)
        self.assertEqual(self.last_reload(stint)["by"], "start")

    @unittest.skipUnless(may_unshare(), "no user namespaces")
    def test_without_inotify_it_is_told_and_polled(self):
        for limit, reason, watches in (("instances", "Too many open files", 0),
                                       ("watches", "No space left on device", 1)):
            with self.subTest(limit):
                stint = self.before_within(f"echo 0 > /proc/sys/user/max_inotify_{limit}")
                self.assertEqual(self.watches(stint), watches)
                self.assertEqual(stint.log().count(f"cannot be watched: {reason}"), 1)
                stint.file.write_text(self.with_requests(stint, 2), encoding="utf-8")
                self.wait_for(stint, 2, by_event=False)
                self.assertEqual(stint.log().count("cannot be watched"), 1)
                self.assertEqual(stint.admin.metrics().sum("stint_config_unwatched_folders"), 1)

    @unittest.skipUnless(may_unshare(), "no user namespaces")
    def test_a_file_that_is_a_mount_is_told(self):
        pair = Authority(self.new_folder()).issue("localhost")
        stint = self.before_within(f"mount --bind stint.yaml stint.yaml && mount --bind {pair.key} {pair.key}")
        self.assertIn(f"{stint.file} is mounted as a single file", stint.log())
        self.assertEqual(stint.log().count("mounted as a single file"), 1)
        self.assertIn("watch: 1 file is read again when it changes\n", stint.log())
        changed = copy.deepcopy(stint.config)
        changed["listeners"].append({"address": f"127.0.0.1:{free_port()}", "tls": pair.tls()})
        for generation in (2, 3):
            stint.file.write_text(json.dumps(changed, indent=generation), encoding="utf-8")
            self.assertEqual(stint.admin.reload().status, 200)
        self.assertIn(f"{pair.key} is mounted as a single file", stint.log())
        self.assertEqual(stint.log().count("mounted as a single file"), 2)
        self.assertIn("watch: 3 files are read again when they change\n", stint.log())
        self.assertNotIn("mounted as a single file", self.before().log())

    def before_within(self, command: str) -> Stint:
        within = ["unshare", "-Urm", "sh", "-c", f'{command} && exec "$@"', "sh"]
        return self.start_stint(
            config(self.start_upstream().address, limits={"n": {"requests": 1000, "per": "1h"}},
                   route_limits=["n"], watch=True), within=within)


if __name__ == "__main__":
    unittest.main()
