"""A structured-fields parser that is not Stint's: npm's structured-headers, run by node."""

import json
import subprocess

from .node import installed


class Parser:
    """with Parser() as parse: parse(lines of one field) gives [(value, parameters), ...], or None
    where the field is malformed."""

    def __enter__(self):
        self._process = subprocess.Popen(
            ["node", installed("structured_fields") / "parse.mjs"],
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
