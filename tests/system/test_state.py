"""Counts outlive the process, whatever ends it and whatever becomes of their file."""

import ctypes
import datetime
import os
import resource
import sqlite3
import time
import unittest
from pathlib import Path

from support.case import SystemTest, config
from support.client import RawClient, fetch
from support.stint import Stint
from support.waiting import wait_until

ORDER = {"requests": 5, "per": "30s"}


def without_file_rights() -> None:
    """In the child: the superuser may not write what its mode forbids (CAP_DAC_OVERRIDE)."""
    ctypes.CDLL(None).prctl(24, 1)  # PR_CAPBSET_DROP


class Kept(SystemTest):
    def setUp(self):
        super().setUp()
        self.upstream = self.start_upstream()
        self.kept = self.folder / "kept"
        self.kept.mkdir()
        self.file = self.kept / "state.db"

    def settings(self, limits=None, state=None, **more) -> dict:
        limits = limits or {"order": ORDER}
        return config(
            self.upstream.address, limits=limits, route_limits=list(limits),
            state=str(self.file) if state is None else state, **more)

    def before(self, limits=None, state=None, **more) -> Stint:
        return self.start_stint(self.settings(limits, state), **more)

    def ask(self, stint, count, **request) -> list:
        with RawClient(stint.port) as client:
            return [client.request(**request).status for _ in range(count)]

    def end(self, stint, how) -> None:
        """how: kill, after the second that may be lost; stop, at once."""
        if how == "kill":
            time.sleep(1.0)
            stint.kill()
        else:
            stint.stop()

    def again(self, stint, how="kill") -> Stint:
        self.end(stint, how)
        return stint.start()

    def writes(self, stint, name="writes") -> float:
        return stint.admin.metrics().sum(f"stint_state_{name}_total")

    def aside(self) -> list:
        files = self.kept.glob("state.db.broken-*")
        return sorted(file.name for file in files if not file.name.endswith("-wal"))


class Counts(Kept):
    def test_A4_a_restart_does_not_refill(self):
        for how in ("kill", "stop"):
            with self.subTest(how):
                self.file = self.kept / f"{how}.db"
                stint = self.before()
                begun = time.monotonic()
                self.assertEqual(self.ask(stint, 5), [200] * 5)

                self.again(stint, how)

                self.assertEqual(self.ask(stint, 8), [429] * 8)
                refused = fetch(stint.port)
                left = 30 - (time.monotonic() - begun)
                self.assertAlmostEqual(int(refused.get("retry-after-ms")) / 1000, left, delta=0.5)
                self.assertEqual(stint.admin.limit("order")["used"], 5)

    def test_counts_survive_one_kill_after_another(self):
        stint = self.before()
        for used in range(1, 4):
            self.assertEqual(self.ask(stint, 1), [200])
            self.again(stint)
            self.assertEqual(stint.admin.limit("order")["used"], used)
        self.assertEqual(self.ask(stint, 3), [200, 200, 429])

    def test_every_algorithm_goes_on(self):
        limits = {
            "fixed": {"requests": 100, "per": "1h"},
            "clock": {"requests": 100, "per": "1h", "anchor": "clock"},
            "day": {"requests": 100, "per": "day", "time_zone": "Europe/Berlin"},
            "sliding": {"requests": 100, "per": "1h", "algorithm": "sliding_window"},
            "bucket": {"requests": 1, "per": "1h", "algorithm": "token_bucket", "burst": 100},
        }
        stint = self.before(limits)
        self.assertEqual(self.ask(stint, 7), [200] * 7)

        self.again(stint)

        seen = stint.admin.limits()
        self.assertEqual({name: seen[name]["used"] for name in limits}, dict.fromkeys(limits, 7))

    def test_keys_are_found_again(self):
        limits = {"key": {**ORDER, "key": "header:X-Key", "max_keys": 100000}}
        for how in ("kill", "stop"):
            with self.subTest(how):
                self.file = self.kept / f"{how}.db"
                stint = self.before(limits)
                for number in range(50):
                    fetch(stint.port, fields=[("X-Key", f"k{number}")])
                self.assertEqual(self.ask(stint, 6, fields=[("X-Key", "much")]), [200] * 5 + [429])

                self.again(stint, how)

                self.assertEqual(stint.admin.limit("key")["live_keys"], 51)
                self.assertEqual(self.ask(stint, 1, fields=[("X-Key", "much")]), [429])
                self.assertEqual(self.ask(stint, 5, fields=[("X-Key", "k7")]), [200] * 4 + [429])

    def test_other_quotas_and_table_sizes_take_over_the_counts(self):
        limits = {"key": {**ORDER, "key": "header:X-Key", "max_keys": 100000}}
        stint = self.before(limits)
        fields = [("X-Key", "a")]
        self.assertEqual(self.ask(stint, 5, fields=fields), [200] * 5)
        self.end(stint, "kill")

        limits["key"].update(requests=7, max_keys=10)
        stint.write({**self.settings(limits), "admin": stint.config["admin"]})
        stint.start()

        self.assertEqual(self.ask(stint, 3, fields=fields), [200, 200, 429])

    def test_a_limit_that_comes_back_later_finds_its_counts(self):
        stint = self.before({"order": ORDER, "other": ORDER})
        self.assertEqual(self.ask(stint, 5), [200] * 5)
        self.end(stint, "stop")
        whole = stint.config
        without = {**whole, "limits": {"other": ORDER}}
        without["routes"] = [{**whole["routes"][0], "limits": ["other"]}]
        stint.write(without)
        stint.start()
        self.again(stint)

        stint.write(whole)
        self.assertEqual(stint.admin.reload().status, 200)

        self.assertEqual(stint.admin.limit("order")["used"], 5)

    def test_windows_shorter_than_5_s_survive_a_clean_stop_only(self):
        stint = self.before({"short": {"requests": 5, "per": "4s"}})
        self.assertEqual(self.ask(stint, 5), [200] * 5)
        self.again(stint, "stop")
        self.assertEqual(self.ask(stint, 1), [429])
        wait_until(lambda: self.ask(stint, 1) == [200], "the window is over", seconds=10)
        self.end(stint, "stop")

    def test_a_quiet_gateway_writes_nothing(self):
        stint = self.before()
        self.ask(stint, 1)
        wait_until(lambda: self.writes(stint) == 2, "it is written")
        time.sleep(1.2)
        self.assertEqual(self.writes(stint), 2)
        self.assertEqual(self.writes(stint, "write_failures"), 0)
        last = stint.admin.metrics().sum("stint_state_last_write_timestamp_seconds")
        self.assertAlmostEqual(last, time.time(), delta=5)

    def test_nobody_else_may_read_the_file(self):
        stint = self.before(preexec=lambda: os.umask(0))
        self.ask(stint, 1)
        wait_until(lambda: self.writes(stint) == 2, "it is written")
        for file in self.kept.iterdir():
            self.assertEqual(file.stat().st_mode & 0o077, 0, file)

    def test_the_configuration_shows_it_and_a_reload_says_that_it_needs_a_restart(self):
        stint = self.before()
        shown = {"file": str(self.file), "on_start": "open"}
        self.assertEqual(stint.admin.get("/config")["state"], shown)

        stint.write({**stint.config, "state": {"file": "other.db"}})

        self.assertEqual(stint.admin.reload().json()["notes"], ["state: takes effect with a restart"])
        self.assertEqual(stint.admin.get("/config")["state"], shown)


class Broken(Kept):
    """Whatever the file is, Stint starts, says so once, and keeps counts from then on."""

    def starts_over(self, *said) -> None:
        stint = self.before()
        log = stint.log()
        lines = [line for line in log.splitlines() if "moved" in line or ".broken-" in line]
        self.assertEqual(len(lines), 1, log)
        for part in said:
            self.assertIn(part, lines[0])
        self.assertEqual(len(self.aside()), 1)
        self.assertIn(self.aside()[0], lines[0])
        self.assertEqual(self.ask(stint, 5), [200] * 5)
        self.again(stint)
        self.assertEqual(self.ask(stint, 1), [429])

    def good_file(self) -> bytes:
        limits = {"key": {**ORDER, "key": "header:X-Key"}, "order": ORDER}
        stint = self.before(limits)
        for number in range(100):
            fetch(stint.port, fields=[("X-Key", f"k{number}")])
        self.end(stint, "stop")
        return self.file.read_bytes()

    def test_a_text_in_its_place(self):
        self.file.write_text("not a database\n" * 100)
        self.starts_over("not a database")
        self.assertEqual((self.kept / self.aside()[0]).read_text(), "not a database\n" * 100)

    def test_a_file_that_was_cut(self):
        whole = self.good_file()
        for length in (100, 4096, len(whole) - 100):
            with self.subTest(length):
                for old in self.kept.iterdir():
                    old.unlink()
                self.file.write_bytes(whole[:length])
                self.starts_over("it is damaged")

    def test_flipped_bits_inside_what_was_kept(self):
        whole = bytearray(self.good_file())
        database = sqlite3.connect(self.file)
        (value,) = database.execute("select max(value) from entries where home=x'636f756e74657273'").fetchone()
        database.close()
        whole[bytes(whole).index(value) + len(value) // 2] ^= 4
        self.file.write_bytes(whole)
        self.starts_over("a row is not what was written")

    def test_another_programs_database(self):
        database = sqlite3.connect(self.file)
        database.execute("create table mine(a)")
        database.commit()
        database.close()
        self.starts_over("not a state file of Stint")
        database = sqlite3.connect(self.kept / self.aside()[0])
        self.assertEqual(database.execute("select count(*) from mine").fetchone(), (0,))
        database.close()

    def test_a_file_of_a_later_version(self):
        self.good_file()
        database = sqlite3.connect(self.file)
        database.execute("pragma user_version=2")
        database.commit()
        database.close()
        self.starts_over("another version of Stint")

    def test_a_log_that_is_torn(self):
        stint = self.before()
        self.assertEqual(self.ask(stint, 5), [200] * 5)
        self.end(stint, "kill")
        log = Path(f"{self.file}-wal")
        log.write_bytes(log.read_bytes()[:-10])  # into what was written last
        stint.start()
        self.assertIn("200", str(self.ask(stint, 1)))
        self.assertEqual(self.aside(), [])

    def test_a_folder_that_does_not_exist(self):
        self.file = self.kept / "none" / "state.db"
        stint = self.before()
        self.assertEqual(stint.log().count("No such file or directory"), 1)
        self.assertEqual(self.ask(stint, 6), [200] * 5 + [429])
        self.assertGreaterEqual(self.writes(stint, "write_failures"), 1)

        self.file.parent.mkdir()

        wait_until(lambda: self.writes(stint) > 0, "the file is made", seconds=15)
        self.assertIn("is written again", stint.log())
        self.assertEqual(stint.log().count("No such file or directory"), 1)
        self.again(stint)
        self.assertEqual(self.ask(stint, 1), [429])

    def test_a_disk_that_is_full_and_then_is_not(self):
        keyed = {"key": {"requests": 5, "per": "1h", "key": "header:X-Key"}}
        small = (200_000, resource.RLIM_INFINITY)
        stint = self.before(keyed, preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, small))
        with RawClient(stint.port) as client:
            for number in range(6000):
                self.assertEqual(client.request(fields=[("X-Key", f"k{number}")]).status, 200)
        wait_until(lambda: self.writes(stint, "write_failures") > 0, "no more fits")
        self.assertEqual(stint.log().count("until it can be written"), 1)

        resource.prlimit(stint.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)

        wait_until(lambda: "is written again" in stint.log(), "it is written again")
        self.again(stint)
        self.assertEqual(stint.admin.limit("key")["live_keys"], 6000)

    def test_a_file_that_can_only_be_read_goes_on_and_nothing_new_is_kept(self):
        keyed = {"order": {**ORDER, "key": "header:X-Key"}}
        state = {"file": str(self.file), "on_start": "closed"}
        stint = self.before(keyed)
        self.assertEqual(self.ask(stint, 5, fields=[("X-Key", "much")]), [200] * 5)
        blocked = stint.admin.request("POST", "/limits/order/block", body='{"key": "bad", "for": "1h"}')
        self.assertEqual(blocked.status, 200)
        self.end(stint, "stop")
        whole = self.file.read_bytes()
        self.file.chmod(0o444)

        for settings in (None, state):
            stint = self.before(keyed, settings, preexec=without_file_rights)
            self.assertEqual(self.ask(stint, 1, fields=[("X-Key", "bad")]), [403])
            self.assertEqual(self.ask(stint, 1, fields=[("X-Key", "much")]), [429])
            # It does not tell whether another Stint has run since.
            self.assertEqual(self.ask(stint, 1, fields=[("X-Key", "new")]), [200 if settings is None else 429])
            self.assertEqual(stint.log().count("it cannot be written (Permission denied)"), 1, stint.log())
            self.assertEqual(stint.log().count("what it has goes on, nothing new is kept"), 1)
            self.end(stint, "stop")
            self.assertEqual(self.file.read_bytes(), whole)
        self.assertEqual(self.aside(), [])

    def test_a_file_that_another_stint_has(self):
        first = self.before()
        self.assertEqual(self.ask(first, 5), [200] * 5)
        second = self.before()
        self.assertIn("another process has it open", second.log())
        self.assertEqual(self.ask(second, 3), [200] * 3)
        first.stop()
        wait_until(lambda: "is written again" in second.log(), "the second has it", seconds=15)
        self.again(second)
        self.assertEqual(second.admin.limit("order")["used"], 3)


class Closed(Kept):
    def closed(self, **more):
        return {"file": str(self.file), "on_start": "closed", **more}

    def test_a_first_start_is_closed_until_a_window_has_passed(self):
        for state in (self.closed(), {"on_start": "closed"}):
            with self.subTest(state):
                self.file.unlink(missing_ok=True)
                stint = self.before({"n": {"requests": 5, "per": "3s"}}, state)
                ready = time.monotonic()
                refused = fetch(stint.port)
                self.assertEqual(refused.status, 429)
                wait = int(refused.get("retry-after-ms")) / 1000
                self.assertLessEqual(wait, 3)
                self.assertGreater(wait, 1)
                shown = stint.admin.limit("n")
                self.assertEqual(shown["remaining"], 0)
                self.assertIn("closed until one window", stint.log())

                time.sleep(wait)

                self.assertEqual(self.ask(stint, 6), [200] * 5 + [429])
                self.assertLess(time.monotonic() - ready, 4)
                stint.stop()

    def test_a_clean_stop_opens_the_next_start_and_a_kill_closes_it(self):
        stint = self.before(state=self.closed())
        self.assertEqual(self.ask(stint, 1), [429])
        self.again(stint, "stop")
        self.assertEqual(self.ask(stint, 6), [200] * 5 + [429])
        self.again(stint, "stop")
        self.assertEqual(self.ask(stint, 1), [429])
        self.again(stint, "kill")
        refused = fetch(stint.port)
        self.assertEqual(refused.status, 429)
        self.assertGreater(int(refused.get("retry-after")), 25)

    def test_a_file_that_was_moved_aside_closes_it(self):
        stint = self.before(state=self.closed())
        self.again(stint, "stop")
        self.assertEqual(self.ask(stint, 1), [200])
        self.end(stint, "stop")
        self.file.write_bytes(self.file.read_bytes()[:-1000])
        stint.start()
        self.assertEqual(self.ask(stint, 1), [429])

    def test_a_day_is_closed_until_it_ends(self):
        stint = self.before({"day": {"requests": 5, "per": "day", "time_zone": "UTC"}}, self.closed())
        now = datetime.datetime.now(datetime.timezone.utc)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + datetime.timedelta(days=1)
        refused = fetch(stint.port)
        self.assertEqual(refused.status, 429)
        self.assertAlmostEqual(
            int(refused.get("retry-after")), (midnight - now).total_seconds(), delta=5)

    def test_a_cap_is_not_closed(self):
        stint = self.before({"cap": {"concurrent": 3}}, self.closed())
        self.assertEqual(self.ask(stint, 3), [200] * 3)


if __name__ == "__main__":
    unittest.main()
