"""Folders with packages of npm's, for tests that want somebody else's implementation."""

import os
import sys
import unittest
from pathlib import Path

from .stint import ROOT

_SYSTEM = Path(__file__).resolve().parent.parent
_FOLDER = Path(os.environ.get("STINT_NPM_FOLDER") or ROOT / "build-npm")
_SKIPPED = 77  # what ctest takes for "skipped"


def installed(name: str) -> Path:
    """The copy of tests/system/NAME with its packages that scripts/install-npm-clients has made of these files. The
    test that asks for it is skipped where there is none."""
    files = sorted(path for path in (_SYSTEM / name).iterdir() if path.is_file())
    wanted = "".join(path.read_text(encoding="utf-8") for path in files)
    stamp = _FOLDER / name / "installed"
    if not stamp.exists() or stamp.read_text(encoding="utf-8").strip() != wanted.strip():
        raise unittest.SkipTest(f"the packages of tests/system/{name} are not installed: scripts/install-deps test "
                                "gets them from npm, and says why if it cannot")
    return stamp.parent


def main(name: str) -> None:
    """unittest.main() of a file whose tests all need tests/system/NAME: ctest lists it as skipped where the
    packages are missing."""
    try:
        installed(name)
    except unittest.SkipTest as reason:
        print(reason)
        sys.exit(_SKIPPED)
    unittest.main()
