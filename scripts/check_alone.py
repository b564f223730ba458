#!/usr/bin/env python3
"""Compiles each file of gateway/ alone, as a build with STINT_UNITY=OFF does, without making code of it: a file
that lacks an include is not saved by those before it in its batch. Prints what the compiler says; exit code
1 if a file does not compile."""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-alone"


def compile_alone(entry) -> str:
    command = shlex.split(entry["command"])
    if Path(command[0]).name == "ccache":
        del command[0]
    at = command.index("-o")
    del command[at:at + 2]
    command = [part for part in command if part != "-c"] + ["-fsyntax-only"]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def main() -> int:
    configured = subprocess.run(
        ["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DSTINT_UNITY=OFF",
         "-DSTINT_TESTS=OFF", "-DSTINT_LTO=OFF"], capture_output=True, text=True, check=False)
    if configured.returncode != 0:
        print(configured.stdout, configured.stderr)
        return 1
    entries = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    own = [entry for entry in entries if Path(entry["file"]).is_relative_to(ROOT / "gateway")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [text for text in pool.map(compile_alone, own) if text]
    print(f"{len(own)} files", *failures, sep="\n")
    return 1 if failures or not own else 0


if __name__ == "__main__":
    sys.exit(main())
