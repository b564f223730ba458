#!/usr/bin/env python3
"""A table of jobs and eight consumers, one of which is killed every second: no job is done twice, none is lost.

    python3 jobs_table.py [--url http://127.0.0.1:8082] [--rows 2000] [--consumers 8]

A consumer takes the first row that waits, under a lock, and commits before it gives the lock back. The row
keeps the lease's fencing token: a consumer that was frozen, and comes when its lease is long over, finds a row
with a higher one and leaves it. Who is killed loses its lock with its connection, at once; the rows it had
taken are given back. The exit code is 1 if a row was taken or done twice, or not done.
"""

import argparse
import multiprocessing
import os
import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # not needed where stint is installed

from stint import Lock, LockFailureException, StintError, StintUnavailable  # noqa: E402

WORK_TIME = 0.02
KILLS_EVERY = 1.0
TTL = 2  # seconds after which a frozen consumer's place is another's

TABLES = """
CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT DEFAULT 'waiting', worker INTEGER, fence INTEGER DEFAULT 0,
                   taken INTEGER DEFAULT 0);
CREATE INDEX jobs_by_state ON jobs (state, id);
CREATE TABLE done (job INTEGER, worker INTEGER);
CREATE INDEX done_by_job ON done (job);
CREATE TABLE late (job INTEGER, worker INTEGER);
"""


def open_table(file):
    table = sqlite3.connect(file, timeout=30, isolation_level=None)
    table.execute("PRAGMA journal_mode = WAL")
    table.execute("PRAGMA synchronous = OFF")  # a killed process loses nothing by it, only a machine does
    return table


def take(table, lock):
    """The next row and its fence, or None if none waits. Two statements and no transaction around them:
    that nobody else comes between is the lock's doing."""
    with lock as lease:
        row = table.execute("SELECT id FROM jobs WHERE state = 'waiting' ORDER BY id LIMIT 1").fetchone()
        if row is None:
            return None
        fence = lease.fencing_token
        taken = table.execute("UPDATE jobs SET state = 'taken', taken = taken + 1, worker = ?, fence = ? "
                              "WHERE id = ? AND fence < ?", (os.getpid(), fence, row[0], fence))
        if taken.rowcount == 0:
            table.execute("INSERT INTO late VALUES (?, ?)", (row[0], os.getpid()))
            return None
        return row[0], fence


def finish(table, job, fence):
    """Done, unless the row is another's by now."""
    table.execute("BEGIN IMMEDIATE")
    if table.execute("UPDATE jobs SET state = 'done' WHERE id = ? AND fence = ? AND state = 'taken'",
                     (job, fence)).rowcount:
        table.execute("INSERT INTO done VALUES (?, ?)", (job, os.getpid()))
    else:
        table.execute("INSERT INTO late VALUES (?, ?)", (job, os.getpid()))
    table.execute("COMMIT")


def consume(url, name, file):
    """One consumer: until all is done."""
    table, lock = open_table(file), Lock(name, timeout=10, ttl=TTL, url=url)
    while True:
        taken = take(table, lock)
        if taken is not None:
            time.sleep(WORK_TIME)
            finish(table, *taken)
        elif table.execute("SELECT 1 FROM jobs WHERE state != 'done' LIMIT 1").fetchone():
            time.sleep(WORK_TIME)  # what others work at may come back
        else:
            return


def give_back(table, url, name, worker):
    """What a dead consumer had taken waits again."""
    with Lock(name, timeout=10, ttl=TTL, url=url):
        table.execute("UPDATE jobs SET state = 'waiting', taken = taken - 1 WHERE state = 'taken' AND worker = ?",
                      (worker,))


def supervise(url, name, file, consumers):
    """Keeps so many consumers going and kills one every second. How many it killed, and failures of others."""
    table = open_table(file)

    def start():
        consumer = multiprocessing.Process(target=consume, args=(url, name, file))
        consumer.start()
        return consumer

    fleet, killed, failed, next_kill = [start() for _ in range(consumers)], 0, 0, time.monotonic() + KILLS_EVERY
    while fleet:
        time.sleep(0.02)
        if time.monotonic() >= next_kill:
            next_kill += KILLS_EVERY
            random.choice(fleet).kill()
        for consumer in [consumer for consumer in fleet if not consumer.is_alive()]:
            fleet.remove(consumer)
            if consumer.exitcode:
                killed += consumer.exitcode == -9
                failed += consumer.exitcode != -9
                give_back(table, url, name, consumer.pid)
                if failed < consumers:
                    fleet.append(start())
    return killed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="of the gateway; default: STINT_URL, then http://127.0.0.1:8082")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--consumers", type=int, default=8)
    arguments = parser.parse_args()

    name = f"jobs-{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/jobs.sqlite"
        table = open_table(file)
        table.executescript(TABLES)
        table.executemany("INSERT INTO jobs (id) VALUES (?)", ((number + 1,) for number in range(arguments.rows)))
        table.close()
        begun = time.monotonic()
        try:
            with Lock(name, ttl=TTL, url=arguments.url):
                pass  # there is a gateway, and callers may name locks
            killed, failed = supervise(arguments.url, name, file, arguments.consumers)
        except (StintError, StintUnavailable, LockFailureException) as error:
            return f"{error} (see --help)"
        took = time.monotonic() - begun
        done, twice, lost, late = (open_table(file).execute(question).fetchone()[0] for question in (
            "SELECT count(*) FROM done",
            "SELECT count(*) FROM jobs WHERE taken > 1 OR (SELECT count(*) FROM done WHERE job = id) > 1",
            "SELECT count(*) FROM jobs WHERE id NOT IN (SELECT job FROM done)",
            "SELECT count(*) FROM late"))

    print(f"{arguments.rows} rows, {done} done, {twice} twice, {lost} lost, {late} late writes refused")
    print(f"{killed} consumers killed, {failed} failed, {took:.1f} s")
    return 1 if twice or lost or failed else 0


if __name__ == "__main__":
    sys.exit(main())
