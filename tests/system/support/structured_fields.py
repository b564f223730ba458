"""A structured-fields parser that is not Stint's: npm's structured-headers, run by node."""

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_SOURCE = Path(__file__).resolve().parent.parent / "structured_fields"


def _installed() -> Path:
    """The folder with the parser: in the build folder, made by the first test that needs it."""
    folder = Path(os.environ.get("STINT_NODE_FOLDER") or
                  Path(tempfile.gettempdir()) / f"stint-structured-fields-{os.getuid()}")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = "".join((_SOURCE / name).read_text(encoding="utf-8")
                     for name in ("package.json", "package-lock.json", "parse.mjs"))
    stamp = folder / "installed"
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return folder
        for name in ("package.json", "package-lock.json", "parse.mjs"):
            shutil.copy(_SOURCE / name, folder)
        done = subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"],
            cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise AssertionError(f"npm ci: {done.stdout}{done.stderr}")
        stamp.write_text(wanted, encoding="utf-8")
    return folder


class Parser:
    """with Parser() as parse: parse(lines of one field) gives [(value, parameters), ...], or None
    where the field is malformed."""

    def __enter__(self):
        self._process = subprocess.Popen(
            ["node", _installed() / "parse.mjs"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def __call__(self, lines):
        self._process.stdin.write(json.dumps(lines) + "\n")
        self._process.stdin.flush()
        members = json.loads(self._process.stdout.readline())
        return None if members is None else [(name, parameters) for name, parameters in members]
