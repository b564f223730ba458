"""Upgrades (SIGUSR2) that fail: the former process serves on as if nothing were, and says why; a later one works."""

import os
import random
import signal
import time
import unittest

from support.case import config, report, scaled
from support.client import fetch
from support.locks_client import locks_config
from support.load import Load
from support.upgrade import UpgradeTest, processes_of
from support.waiting import wait_until

# Scripts in the program's place: without a process more, and with the configuration's name as an argument to the end.
BEGINS = ": > began"
HANGS = f'{BEGINS}\nexec tail -f "$3" > /dev/null'
KILLS = scaled(10, 40)


class Faults(UpgradeTest):
    watches = False

    def started(self, seconds=30):
        self.nginx = self.start_nginx("location / { return 200 ok; }")
        self.stint = self.start_upgradable(
            config(self.nginx.address, limits={"n": {"requests": 10**9, "per": "1h"}}, route_limits=["n"],
                   **({"watch": True} if self.watches else {})),
            arguments=("--upgrade-timeout", str(seconds)))
        return self.stint

    def used(self) -> int:
        return self.stint.admin.limit("n")["used"]

    def began(self) -> bool:
        """Whether the script in the program's place runs, or has run."""
        return (self.stint.folder / "began").exists()

    def await_reason(self, log: int) -> None:
        """Until the log has a line about the failure, after that many characters."""
        wait_until(lambda: any(each in self.stint.log()[log:] for each in ("[warning]", "[error]")), "the reason", 30)

    def await_progress(self, load) -> None:
        before = load.total
        wait_until(lambda: load.failures or load.total > before + 50, "the load goes on", 30)


class RollBack(Faults):
    def assert_rolled_back(self) -> None:
        stint = self.stint
        before, pid, log = stint.serving(), stint.pid, len(stint.log())
        with Load(stint.port, connections=8, pause=0.005) as load:
            self.await_progress(load)
            stint.signal(signal.SIGUSR2)
            self.await_reason(log)
            wait_until(lambda: not stint.others(), "the new process has ended")
            self.await_progress(load)
        self.assertEqual(load.failures, [])
        self.assertEqual(set(load.statuses), {200})
        self.assertEqual((stint.pid, stint.serving(), stint.process.poll()), (pid, before, None))
        self.assertEqual(self.used(), load.total)
        self.assertEqual(fetch(stint.port).status, 200)  # over a new connection
        self.assertEqual(stint.admin.reload().status, 200)
        self.later(load.total + 1)

    def later(self, used: int) -> None:
        """An upgrade that works, after all."""
        self.stint.replace_program()
        self.stint.upgrade_at_last()
        self.assertEqual(fetch(self.stint.port).status, 200)
        self.assertEqual(self.used(), used + 1)

    def test_while_holders_of_locks_are_not_known_there_is_no_upgrade(self):
        stint = self.start_upgradable(locks_config(permits={"start_up_grace": "60s"}, **config(
            self.start_nginx("location / { return 200 ok; }").address)))
        stint.signal(signal.SIGUSR2)
        wait_until(lambda: "no upgrade: locks are full until start_up_grace is over" in stint.log(), "the reason")
        self.assertEqual(stint.others(), [])

    def test_limits_that_have_started_closed_are_not_handed_over(self):
        stint = self.start_upgradable(config(
            self.start_nginx("location / { return 200 ok; }").address, limits={"n": {"requests": 1, "per": "1h"}},
            route_limits=["n"], state={"file": str(self.new_folder() / "state.db"), "on_start": "closed"}))
        stint.process.kill()
        stint.process.wait()
        stint.start()
        stint.signal(signal.SIGUSR2)
        wait_until(lambda: "no upgrade: limits have started closed" in stint.log(), "the reason")
        self.assertEqual(fetch(stint.port).status, 429)

    def by_script(self, script: str) -> None:
        self.started().replace_program(f"{BEGINS}\n{script}")
        self.assert_rolled_back()
        self.assertTrue(self.began())

    def test_a_program_that_fails(self):
        self.by_script("exit 1")

    def test_a_program_that_ends_without_a_failure(self):
        self.by_script("exit 0")

    def test_a_program_that_crashes(self):
        self.by_script("kill -SEGV $$")

    def test_a_program_that_fails_late_and_leaves_the_sockets_to_a_child(self):
        self.by_script("sleep 3 & sleep 0.3; exit 1")

    def test_a_program_that_hangs_is_ended(self):
        self.started(2).replace_program(HANGS)
        begun = time.monotonic()
        stint, log = self.stint, len(self.stint.log())
        stint.signal(signal.SIGUSR2)
        wait_until(self.began, "it hangs")
        self.assertEqual(fetch(stint.port).status, 200)
        wait_until(lambda: not stint.others(), "it is ended", 30)
        self.assertGreater(time.monotonic() - begun, 1.9)
        self.await_reason(log)
        self.assertEqual(self.used(), 1)
        self.assertIsNone(stint.process.poll())

    def test_a_program_that_hangs_and_ignores_all_signals_is_ended(self):
        self.started(1).replace_program(f"trap '' TERM INT HUP QUIT\n{HANGS}")
        self.stint.signal(signal.SIGUSR2)
        wait_until(self.began, "it hangs")
        wait_until(lambda: not self.stint.others(), "it is ended", 30)
        self.assertEqual(fetch(self.stint.port).status, 200)

    def test_a_program_that_is_not_there(self):
        self.started().program.unlink()
        self.assert_rolled_back()

    def test_a_program_that_may_not_be_run(self):
        self.started().program.chmod(0o644)
        self.assert_rolled_back()

    def test_a_file_that_is_no_program(self):
        self.started().replace_program()
        self.stint.program.write_bytes(b"\x7fELF and no more")
        self.assert_rolled_back()

    def test_a_configuration_with_a_mistake(self):
        stint = self.started()
        text = stint.file.read_text(encoding="utf-8")
        stint.file.write_text(text.replace('"requests"', '"reqeusts"'), encoding="utf-8")
        before, pid = stint.serving(), stint.pid
        self.assertEqual(fetch(stint.port).status, 200)
        log = len(stint.log())

        stint.signal(signal.SIGUSR2)

        wait_until(lambda: "reqeusts" in stint.log()[log:], "the report of the new process")
        self.await_reason(log)
        wait_until(lambda: not stint.others(), "the new process has ended")
        self.assertEqual((stint.pid, stint.serving(), stint.process.poll()), (pid, before, None))
        self.assertEqual((fetch(stint.port).status, self.used()), (200, 2))
        stint.file.write_text(text, encoding="utf-8")
        self.later(2)

    def test_a_configuration_with_an_address_in_use(self):
        stint = self.started()
        text = stint.file.read_text(encoding="utf-8")
        stint.write({**stint.config, "listeners": [*stint.config["listeners"], {"address": self.nginx.address}]})
        self.assert_fails_over_the_address(stint)
        stint.file.write_text(text, encoding="utf-8")
        self.later(1)

    def test_a_unix_socket_stays_in_its_place_over_an_address_in_use(self):
        stint, path = self.started(), self.new_folder() / "own.sock"
        own = [*stint.config["listeners"], {"address": f"unix:{path}"}]
        stint.write({**stint.config, "listeners": own})
        self.assertEqual(stint.admin.reload().status, 200)
        file = path.stat().st_ino
        stint.write({**stint.config, "listeners": [*own, {"address": self.nginx.address}]})
        self.assert_fails_over_the_address(stint)
        self.assertEqual(path.stat().st_ino, file)
        self.assertEqual(fetch(str(path)).status, 200)
        stint.write({**stint.config, "listeners": own})
        self.later(2)
        self.assertEqual((path.stat().st_ino, fetch(str(path)).status), (file, 200))

    def assert_fails_over_the_address(self, stint) -> None:
        before, log = stint.serving(), len(stint.log())
        stint.signal(signal.SIGUSR2)
        wait_until(lambda: self.nginx.address in stint.log()[log:], "the address in use")
        wait_until(lambda: not stint.others(), "the new process has ended")
        self.assertEqual(stint.serving(), before)
        self.assertEqual(fetch(stint.port).status, 200)


class UnderWay(Faults):
    def hanging(self, seconds=60):
        """An upgrade that is under way, and its process."""
        stint = self.started(seconds)
        stint.replace_program(HANGS)
        stint.signal(signal.SIGUSR2)
        wait_until(self.began, "it hangs")
        # A process has no arguments for a moment while the script becomes another program.
        [pid] = wait_until(lambda: self.began() and stint.others(), "its process")
        return stint, pid

    def end(self, stint, pid) -> None:
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not stint.others(), "it has ended")
        stint.replace_program()
        stint.upgrade_at_last()
        self.assertEqual(fetch(stint.port).status, 200)

    def test_another_signal_has_no_effect(self):
        stint, pid = self.hanging()
        log = len(stint.log())

        stint.signal(signal.SIGUSR2)

        wait_until(lambda: len(stint.log()) > log, "it says so")
        time.sleep(0.3)
        self.assertEqual(stint.others(), [pid])
        self.assertEqual(fetch(stint.port).status, 200)
        self.end(stint, pid)

    def test_a_reload_is_refused(self):
        stint, pid = self.hanging()
        stint.config["limits"]["n"]["requests"] = 7
        stint.write(stint.config)
        log = len(stint.log())

        answered = stint.admin.reload()
        self.assertNotEqual(answered.status, 200, answered.text())
        self.assertLess(answered.status, 504)
        stint.signal(signal.SIGHUP)

        wait_until(lambda: len(stint.log()) > log, "it says so")
        time.sleep(0.3)
        self.assertEqual(stint.admin.limit("n")["limit"], 10**9)
        self.end(stint, pid)
        self.assertEqual(stint.admin.limit("n")["limit"], 7)
        stint.config["limits"]["n"]["requests"] = 8
        stint.write(stint.config)
        self.assertEqual(stint.admin.reload().status, 200)
        self.assertEqual(stint.admin.limit("n")["limit"], 8)

    def assert_made_up_for(self, ask) -> None:
        stint, pid = self.hanging()
        stint.config["limits"]["n"]["requests"] = 7
        stint.write(stint.config)
        ask(stint)
        wait_until(lambda: "the configuration is not read again" in stint.log(), "it is refused", 30)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: stint.admin.limit("n")["limit"] == 7, "it is made up for")

    def test_a_reload_that_was_refused_is_made_up_for_when_the_upgrade_fails(self):
        self.assert_made_up_for(lambda stint: stint.signal(signal.SIGHUP))

    def test_a_change_that_was_seen_is_made_up_for_when_the_upgrade_fails(self):
        self.watches = True
        self.assert_made_up_for(lambda stint: None)

    def test_a_stop_ends_both(self):
        stint, _ = self.hanging()

        stint.stop()

        wait_until(lambda: not processes_of(stint.file), "none is left")


class Killed(Faults):
    """kill -9 of the new process, at a random moment of the upgrade. If it served already, it is as with any process
    that is killed; else nothing may have been lost."""

    def test_the_former_one_serves_on_with_exact_counts(self):
        stint, at_random = self.started(), random.Random(51)
        begun = time.monotonic()
        stint.upgrade()
        takes = time.monotonic() - begun
        outcomes = {"the former one went on": 0, "the new one served already": 0}
        for number in range(KILLS):
            used = self.used()
            with Load(stint.port, connections=8, pause=0.002) as load:
                self.await_progress(load)
                survived = self.kill_it(at_random.uniform(0, 1.3 * takes) if number else 0)
                if survived:
                    self.await_progress(load)
            if survived:
                self.assertEqual(load.failures, [], f"kill {number}")
                self.assertEqual(self.used(), used + load.total, f"kill {number}")
                outcomes["the former one went on"] += 1
                stint.upgrade_at_last()
                self.assertEqual(self.used(), used + load.total)
            else:
                outcomes["the new one served already"] += 1
                stint.start()
        report(f"kill -9 of the new process in {KILLS} upgrades: what became of the service", "exact counts", outcomes)
        self.assertGreater(outcomes["the former one went on"], 0)

    def kill_it(self, delay: float) -> bool:
        """Whether the former process serves on."""
        stint = self.stint
        stint.signal(signal.SIGUSR2)
        [pid] = wait_until(stint.others, "the new process", pause=0.0005)
        time.sleep(delay)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            self.fail("it has ended by itself")
        return stint.settle()


if __name__ == "__main__":
    unittest.main()
