"""Runs every console block of the README and docs, and compares what is printed with what they say, but for
times, ids and dates. tests/docs/blocks.py has the comments by which a document says what must run before, and
what cannot be run here: that is listed with its reason.

    tests/docs/check.py [-v] [DOCUMENT ...]     STINT_BINARY: the stint to run
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "system"))

from blocks import Block, Command, Malformed, blocks_of  # noqa: E402
from masks import Bindings, difference  # noqa: E402
from session import Session  # noqa: E402

# Examples have to be done within a window: on a machine that is busy with other things a section is begun anew.
_TRIES = 4


class Differs(Exception):
    """What a command printed is not what the document says."""


def documents() -> "list[Path]":
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "clients" / "python" / "README.md"]


def named(document: Path) -> str:
    return str(document.relative_to(ROOT) if document.is_relative_to(ROOT) else document)


def sections_of(blocks: "list[Block]") -> "list[list[Block]]":
    """A section begins with a gateway of its own."""
    sections: "list[list[Block]]" = [[]]
    for block in blocks:
        if block.said("gateway") is not None:
            sections.append([])
        sections[-1].append(block)
    return [section for section in sections if section]


def run_command(session: Session, where: str, command: Command, bindings: Bindings, streams: bool) -> None:
    text = bindings.put_in(command.text)
    ends = (lambda lines: difference(command.output, lines, Bindings()) is None) if streams else None
    code, lines = session.run(text, ends)
    if found := difference(command.output, lines, bindings):
        raise Differs(f"{where}:{command.line}: {command.text}\n{found}")
    if not command.output and code != 0 and not streams:
        raise Differs(f"{where}:{command.line}: {command.text}\nended with {code}")


def files_of(documents: "list[Path]") -> "dict[str, list[str]]":
    """The files that documents contain: each is there for all of them."""
    found = {}
    for document in documents:
        for block in blocks_of(document, document.read_text(encoding="utf-8")):
            if (name := block.said("file")) is not None:
                found[name] = block.lines
    return found


def run_block(session: Session, block: Block, bindings: Bindings) -> int:
    """How many commands it had."""
    where = named(block.document)
    for keyword, argument in block.before:
        if keyword == "run":
            code, lines = session.run(bindings.put_in(argument))
            if code != 0:
                raise Differs(f"{where}:{block.line}: before it: {argument}\nended with {code}: " + "\n".join(lines))
    if not block.is_console or block.said("skip") is not None:
        return 0
    commands = block.commands()
    for command in commands:
        run_command(session, where, command, bindings, block.said("stream") is not None)
    return len(commands)


def run_section(stint: Path, section: "list[Block]") -> int:
    with Session(stint) as session:
        bindings = Bindings()
        for name, lines in files_of(documents()).items():
            session.write(name, lines)
        config = section[0].said("gateway")
        if config is not None:
            session.start_upstream()
            if config != "-":
                session.start_gateway(config)
        return sum(run_block(session, block, bindings) for block in section)


def run_with_patience(stint: Path, section: "list[Block]") -> int:
    for attempt in range(1, _TRIES + 1):
        try:
            return run_section(stint, section)
        except (Differs, AssertionError) as found:
            if attempt == _TRIES:
                raise
            print(f"once more, as this differs: {found}" if "-v" in sys.argv else
                  f"once more: {str(found).splitlines()[0]}", flush=True)
    raise AssertionError("not reached")


def check(stint: Path, document: Path) -> "tuple[int, list[str], list[str]]":
    """How many commands ran, what was skipped, what differs."""
    try:
        blocks = blocks_of(document, document.read_text(encoding="utf-8"))
    except Malformed as problem:
        return 0, [], [str(problem)]
    skipped = [f"{named(document)}:{block.line}: {block.said('skip')}"
               for block in blocks if block.said("skip") is not None]
    ran, differing = 0, []
    for section in sections_of(blocks):
        try:
            ran += run_with_patience(stint, section)
        except (Differs, Malformed, AssertionError) as found:
            differing.append(str(found))
    return ran, skipped, differing


def main() -> int:
    stint = Path(os.environ.get("STINT_BINARY") or ROOT / "build" / "gateway" / "stint").resolve()
    if not stint.exists():
        sys.exit(f"{stint} is not there: build it, or say in STINT_BINARY where it is")
    chosen = [Path(name).resolve() for name in sys.argv[1:] if not name.startswith("-")]
    ran, skipped, differing = 0, [], []
    for document in chosen or documents():
        found = check(stint, document)
        ran, skipped, differing = ran + found[0], skipped + found[1], differing + found[2]
    for text in differing:
        print(f"\n{text}", file=sys.stderr)
    print(f"{ran} commands ran; {len(skipped)} blocks were skipped:")
    for text in skipped:
        print(f"  {text}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
