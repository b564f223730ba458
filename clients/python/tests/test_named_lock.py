"""NamedLock: GET_LOCK and RELEASE_LOCK as MySQL's users know them, without what bites."""

import math
import threading
import time
import unittest

from support import ClientTest, in_children, in_threads, wait_until

from stint import NamedLock, StintError, StintUnavailable


class NamedLockTest(ClientTest):
    def setUp(self):
        self.there = self.locks()
        self.mine, self.other = self.session(), self.session()

    def session(self, **more):
        return NamedLock(self.there.url, **more)


class Answers(NamedLockTest):
    def test_true_false_and_none(self):
        self.assertIs(self.mine.lock("jobs"), True)
        self.assertIs(self.other.lock("jobs"), False)
        self.assertIs(self.other.unlock("jobs"), False)
        self.assertIs(self.mine.unlock("jobs"), True)
        self.assertIs(self.mine.unlock("jobs"), None)
        self.assertIs(self.mine.unlock("never heard of"), None)
        self.assertIs(self.other.lock("jobs"), True)

    def test_counted(self):
        for _ in range(2):
            self.assertTrue(self.mine.lock("jobs"))
        self.assertEqual(len(self.there.requests("POST")), 1)
        self.assertTrue(self.mine.unlock("jobs"))
        self.assertFalse(self.other.lock("jobs"))
        self.assertTrue(self.mine.unlock("jobs"))
        self.assertTrue(self.other.lock("jobs"))
        self.assertFalse(self.mine.unlock("jobs"))

    def test_waiting(self):
        self.mine.lock("jobs")
        for timeout in (0, 0.3):
            begun = time.monotonic()
            self.assertFalse(self.other.lock("jobs", timeout))
            took = time.monotonic() - begun
            self.assertTrue(timeout - 0.01 <= took < timeout + 5, took)
        timer = threading.Timer(0.1, self.mine.unlock, ["jobs"])
        timer.start()
        self.assertTrue(self.other.lock("jobs", 20))
        timer.join()

    def test_names_are_data(self):
        names = ["it's", "x',0) , SLEEP(2) -- ", "Queue", "queue", "Queue ", "x" * 1000, "größe", "a/b", ".", ".."]
        for name in names:
            self.assertTrue(self.mine.lock(name), name)
        for name in names:
            self.assertIs(self.other.lock(name), False, name)
        for name in ("a\r\nb", "\0", "x" * 1025):
            with self.assertRaises(StintError) as caught:
                self.mine.lock(name)
            self.assertEqual(caught.exception.status, 400)
        for name in ("", None, 5, ["a"], "\ud800"):
            for call in (self.mine.lock, self.mine.unlock):
                with self.assertRaises(ValueError):
                    call(name)

    def test_no_wait_is_without_end(self):
        for timeout in (None, -1, math.inf, math.nan, "1", [1]):
            with self.assertRaisesRegex(ValueError, "timeout is a number of seconds"):
                self.mine.lock("jobs", timeout)
        with self.assertRaises(ValueError):
            self.session(ttl=0)
        self.assertEqual(self.there.asked, [])

    def test_a_gateway_that_is_away(self):
        self.mine.lock("jobs")
        self.absence(0.1)
        self.there.stop()
        for call in (lambda: self.other.lock("a"), lambda: self.other.unlock("a"), lambda: self.mine.unlock("jobs")):
            with self.assertRaises(StintUnavailable):
                call()
        self.assertTrue(self.mine.lease("jobs") is None)

    def test_a_wrong_token(self):
        there = self.locks(token="s3cret")
        for call in (NamedLock(there.url).lock, NamedLock(there.url).unlock):
            with self.assertRaises(StintError):
                call("jobs")
        self.assertTrue(NamedLock(there.url, "s3cret").lock("jobs"))


class Sessions(NamedLockTest):
    def test_a_lost_lock_is_held_no_more(self):
        told = []
        session = self.session(ttl=0.6, on_lost=told.append)
        session.lock("jobs")
        session.lock("jobs")
        lease = session.lease("jobs")
        self.there.end("jobs")
        self.other.lock("jobs")
        wait_until(lambda: told, "told", 5)
        self.assertEqual((told, lease.lost), ([lease], True))
        self.assertIs(session.unlock("jobs"), False)
        self.other.unlock("jobs")
        self.assertIs(session.unlock("jobs"), None)
        self.assertTrue(session.lock("jobs"))
        self.assertGreater(session.lease("jobs").fencing_token, lease.fencing_token)

    def test_one_that_is_renewed(self):
        session = self.session(ttl=0.6)
        session.lock("jobs")
        time.sleep(1.2)
        self.assertFalse(self.other.lock("jobs"))
        self.assertTrue(session.unlock("jobs"))

    def test_close_gives_everything_back(self):
        with self.session() as session:
            for name in ("a", "b", "b"):
                session.lock(name)
        self.assertTrue(self.other.lock("a") and self.other.lock("b"))
        self.assertIs(session.unlock("a"), False)
        with self.assertRaises(KeyError):
            with self.session() as session:
                session.lock("c")
                self.absence(0.1)
                self.there.stop()
                raise KeyError("x")
        with self.assertRaises(StintUnavailable):
            with self.session() as session:
                self.there.start()
                session.lock("d")
                self.there.stop()

    def test_threads_are_one_holder(self):
        self.assertEqual(in_threads(4, lambda _: self.mine.lock("jobs", 20)), [True] * 4)
        self.assertEqual(len(self.there.requests("POST")), 1)
        self.assertEqual(in_threads(4, lambda _: self.mine.unlock("jobs")), [True] * 4)
        self.assertIs(self.mine.unlock("jobs"), None)

    def test_unlock_while_a_thread_of_the_session_waits(self):
        self.other.lock("jobs")
        waiter = threading.Thread(target=self.mine.lock, args=("jobs", 20))
        waiter.start()
        wait_until(lambda: self.there.waiting("jobs") == 1, "it waits")
        self.assertIs(self.mine.unlock("jobs"), False)
        self.other.unlock("jobs")
        waiter.join()
        self.assertTrue(self.mine.unlock("jobs"))

    def test_deadlock_is_bounded(self):
        self.mine.lock("a")
        self.other.lock("b")
        begun = time.monotonic()
        self.assertEqual(in_threads(2, lambda n: (self.mine.lock("b", 0.3) if n else self.other.lock("a", 0.3))),
                         [False, False])
        self.assertLess(time.monotonic() - begun, 5)

    def test_a_child_begins_its_own_session(self):
        self.mine.lock("jobs")
        self.assertEqual(in_children(1, lambda _: int(self.mine.unlock("jobs") is not False)), [0])
        self.assertEqual(in_children(1, lambda _: int(self.mine.lock("jobs") or not self.mine.lock("c"))), [0])
        self.assertTrue(self.mine.unlock("jobs"))

    def test_names_do_not_pile_up(self):
        for number in range(50):
            self.mine.lock(f"job {number}")
            self.mine.unlock(f"job {number}")
            self.mine.unlock("another")
        self.assertEqual(self.mine._session.get()._names, {})


if __name__ == "__main__":
    unittest.main()
