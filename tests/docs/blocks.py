"""The console blocks of a Markdown document, and what HTML comments before them say to the check.

    <!-- docs: gateway FILE -->    a section begins: a new folder, the sample upstream, and Stint with FILE (-: without)
    <!-- docs: file NAME -->       the next block, of whatever language, is the file NAME for all documents
    <!-- docs: run COMMAND -->     a command before the next block that readers need not see
    <!-- docs: stream -->          the next block's command does not end by itself: until its output has come
    <!-- docs: skip REASON -->     the next block cannot be run in a test
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

_FENCE = re.compile(r"^( *)```(\S*)\s*$")
_COMMENT = re.compile(r"^\s*<!-- docs: (gateway|file|run|stream|skip)\s*(.*?)\s*-->\s*$")
_ANY_COMMENT = re.compile(r"<!--\s*docs\b")
_CONSOLE = ("", "console", "sh", "bash")


class Malformed(Exception):
    """A document that the check cannot read."""


@dataclass
class Command:
    line: int
    text: str
    output: "list[str]" = field(default_factory=list)


@dataclass
class Block:
    """before: (keyword, argument) of the comments since the last block."""

    document: Path
    line: int
    language: str
    lines: "list[str]"
    before: "list[tuple[str, str]]"

    @property
    def is_console(self) -> bool:
        return self.language in _CONSOLE

    def said(self, keyword: str) -> "str | None":
        return next((argument for word, argument in self.before if word == keyword), None)

    def commands(self) -> "list[Command]":
        """Behind `$ ` with what they print; or, in a block without any, each line."""
        found: "list[Command]" = []
        prompts = any(line.startswith("$ ") for line in self.lines)
        for number, line in enumerate(self.lines, self.line + 1):
            if line.startswith("$ ") or not prompts:
                if not prompts and found and found[-1].text.endswith("\\"):
                    found[-1].text += "\n" + line
                elif line.strip():
                    found.append(Command(number, line[2:] if prompts else line))
            elif not found:
                raise Malformed(f"{self.document}:{number}: output before the first command")
            elif found[-1].text.endswith("\\") and not found[-1].output:
                found[-1].text += "\n" + line
            else:
                found[-1].output.append(line)
        return found


def blocks_of(document: Path, text: str) -> "list[Block]":
    """All blocks of the document that are console blocks or that a comment says something about."""
    found, before = [], []
    block = None
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if block is not None:
            if fence and not fence[2]:
                if block.is_console or block.before:
                    found.append(block)
                block, before = None, []
            else:
                block.lines.append(line)
        elif fence:
            block = Block(document, number, fence[2], [], before)
        elif (comment := _COMMENT.match(line)) and (comment[2] or comment[1] == "stream"):
            before.append((comment[1], comment[2]))
        elif _ANY_COMMENT.search(line):
            raise Malformed(f"{document}:{number}: not a comment that the check knows: {line.strip()}")
    if block is not None or before:
        raise Malformed(f"{document}: ends within a block, or with a comment that no block follows")
    return found
