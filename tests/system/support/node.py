"""Folders with packages of npm's, for tests that want somebody else's implementation."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_SYSTEM = Path(__file__).resolve().parent.parent


def installed(name: str) -> Path:
    """A copy of tests/system/NAME with its packages: in the build folder, made by the first test
    that needs it."""
    source = _SYSTEM / name
    beside = os.environ.get("STINT_NODE_FOLDER")
    folder = (Path(beside).parent / f"node-{name}" if beside else
              Path(tempfile.gettempdir()) / f"stint-node-{name}-{os.getuid()}")
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(path for path in source.iterdir() if path.is_file())
    wanted = "".join(path.read_text(encoding="utf-8") for path in files)
    stamp = folder / "installed"
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return folder
        for path in files:
            shutil.copy(path, folder)
        done = subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"],
            cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise AssertionError(f"npm ci: {done.stdout}{done.stderr}")
        stamp.write_text(wanted, encoding="utf-8")
    return folder
