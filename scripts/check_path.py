#!/usr/bin/env python3
"""Holds the table of docs/architecture.md from main to the upstream's socket against the code in gateway/. Each row
names a file, a function that the file defines, and how that function goes on: code of it that calls the next row's
function. Where it does not call it itself, "through `X`" says what leads there: a class X is an interface, which
the caller's file names, which declares the function as virtual, and which the next function's class implements;
any other X is named by both functions. Prints docs/architecture.md:line for each row that is wrong; exit code 1 if
there is one, or if the rows name more than MOST_FILES files.

A row: | 1 | `runtime/listener.cpp` | `Listener::start` | `net::spawn(…, accept_all(…))` | free text |
"…" in code stands for any code. Of overloads, "write_now(Stream&" with the begin of its parameters is the one."""

import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GATEWAY = ROOT / "gateway"
SHOWN = "docs/architecture.md"
PAGE = ROOT / SHOWN
BEGIN, END = "<!-- from main to the socket: checked by scripts/check_path.py -->", "<!-- end of the way -->"

# That somebody new has to open. May only fall, until they are as few as wanted.
MOST_FILES, WANTED_FILES = 8, 8

NOT_CODE = re.compile(
    r'R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|(?<!\w)\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
ATTRIBUTE = re.compile(r"\[\[[\w:, ]*\]\]")
QUALIFIERS = re.compile(r"\s*(?:(?:const|noexcept|override|final|mutable|&&?|->\s*[\w:<>,*& ]+)\s*)*")
INITIALISER = re.compile(r"\s*[,:]\s*[\w:<>]+\s*(?=[({])")
CELL = re.compile(r"`([^`]+)`")
CLOSING = {"(": ")", "{": "}"}


@dataclass(frozen=True)
class Function:
    name: str  # "Listener::start"
    parameters: str
    body: str

    @property
    def simple(self):
        return self.name.split("::")[-1]


def code_of(text):
    """Without comments, attributes and what is in quotation marks, at the same places."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])  # noqa: E731
    return ATTRIBUTE.sub(blank, NOT_CODE.sub(blank, text))


def closed(code, begin):
    """The place behind the bracket that closes the one at `begin`."""
    opening, closing, depth = code[begin], CLOSING[code[begin]], 0
    for place in range(begin, len(code)):
        depth += (code[place] == opening) - (code[place] == closing)
        if depth == 0:
            return place + 1
    return len(code)


def body_of(code, behind):
    """From the end of the parameters: where the function's body begins, or None if it has none here."""
    place = QUALIFIERS.match(code, behind).end()
    while found := INITIALISER.match(code, place):
        place = closed(code, found.end())
    place += len(code[place:]) - len(code[place:].lstrip())
    return place if code[place:place + 1] == "{" else None


@lru_cache
def classes_of(file):
    """[(name, begin, end, bases)] of the classes that the file defines."""
    code = code_of(file.read_text("utf-8"))
    found = []
    for record in re.finditer(r"\b(?<!enum )(?:class|struct)\s+(\w+)(?:\s+final)?\s*(?::([^{;()]*))?(?=\{)", code):
        found.append((record[1], record.end(), closed(code, record.end()), record[2] or ""))
    return found


@lru_cache
def functions_of(file, name):
    """Those that the file defines by this name, be it in a class's own braces."""
    code = code_of(file.read_text("utf-8"))
    *owner, simple = name.split("::")
    found = []
    for place in re.finditer(rf"(?<![\w.:~>])((?:\w+::)*){re.escape(simple)}\s*\(", code):
        parameters = closed(code, place.end() - 1)
        begin = body_of(code, parameters)
        if begin is None:
            continue
        inside = [record for record in classes_of(file) if record[1] <= place.start() < record[2]]
        # The innermost class that is around it, or what is before its name.
        owners = [inside[-1][0]] if inside else place[1].split("::")[:-1][-1:]
        if owners == owner[-1:]:
            found.append(Function(name, code[place.end():parameters - 1], code[begin:closed(code, begin)]))
    return found


def tight(code):
    """Without white space that no word needs."""
    return re.sub(r"(?<!\w) | (?!\w)", "", re.sub(r"\s+", " ", code))


def has(body, piece):
    """True if the code is in one statement there, "…" being any."""
    pattern = "[^;]*?".join(re.escape(tight(part)) for part in piece.split("…"))
    # A name begins where the piece does: `begin(…)` is not within `rebegin(…)`.
    return re.search(rf"(?<!\w){pattern}" if re.match(r"\w", piece) else pattern, tight(body)) is not None


def names(code, name):
    return re.search(rf"\b{re.escape(name)}\b", code) is not None


def calls(code, function):
    return re.search(rf"(?<!\w){re.escape(function)}\s*\(", code) is not None


def beside(file):
    """It and the header or .cpp of the same name."""
    return [one for one in (file.with_suffix(".hpp"), file.with_suffix(".cpp")) if one.exists()]


@lru_cache
def headers():
    return sorted(GATEWAY.rglob("*.hpp"))


@lru_cache
def definition_of(record):
    """(file, begin, end) of the class's braces. "layer::Name" is looked for in that layer alone."""
    layer, simple = record.split("::") if "::" in record else (None, record)
    for file in headers():
        if layer and file.relative_to(GATEWAY).parts[0] != layer:
            continue
        for name, begin, end, _ in classes_of(file):
            if name == simple:
                return file, begin, end
    return None


def implements(file, record, interface):
    """True if the class derives from the interface, as the file, its header or another header says."""
    layer, _, simple = interface.rpartition("::")
    for one in (*beside(file), *headers()):
        shown = simple if one.relative_to(GATEWAY).parts[0] == layer else interface
        if any(name == record and names(bases, shown) for name, _, _, bases in classes_of(one)):
            return True
    return False


@dataclass
class Row:
    line: int
    file: str
    function: str
    on: str  # the cell of how it goes on

    @property
    def path(self):
        return GATEWAY / self.file

    @property
    def code(self):
        found = CELL.search(re.sub(r"through `[^`]*`", "", self.on))
        return found[1] if found else ""

    @property
    def through(self):
        found = re.search(r"\bthrough `([^`]+)`", self.on)
        return found[1] if found else ""

    def found(self):
        """(function, None), or (None, what is wrong)."""
        if not self.path.is_file():
            return None, f"there is no gateway/{self.file}"
        name, _, parameters = self.function.partition("(")
        those = [one for one in functions_of(self.path, name) if tight(one.parameters).startswith(tight(parameters))]
        if not those:
            return None, f"gateway/{self.file} does not define {self.function}"
        if len(those) > 1:
            return None, f"gateway/{self.file} defines {len(those)} of {self.function}: add the begin of its parameters"
        return those[0], None


def rows_of(text):
    """Rows of the table, and what is wrong with their form."""
    lines = text.splitlines()
    try:
        begin, end = lines.index(BEGIN), lines.index(END)
    except ValueError:
        return [], [f"{SHOWN}: has no table between {BEGIN} and {END}"]
    rows, wrong = [], []
    for number in range(begin + 1, end):
        cells = [cell.strip() for cell in lines[number].strip().strip("|").split(" | ")]
        if not lines[number].startswith("|") or not cells[0].isdigit():
            continue
        if len(cells) < 4 or not CELL.fullmatch(cells[1]) or not CELL.fullmatch(cells[2]):
            wrong.append(f"{SHOWN}:{number + 1}: is no row of a number, `file`, `function` and how it goes on")
            continue
        rows.append(Row(number + 1, cells[1].strip("`"), cells[2].strip("`"), cells[3]))
        if int(cells[0]) != len(rows):
            wrong.append(f"{SHOWN}:{number + 1}: is number {len(rows)}, not {cells[0]}")
    return rows, wrong


def through_interface(row, here, after):
    """What is wrong with a call by the interface row.through."""
    file, begin, end = definition_of(row.through)
    if not calls(here.body, after.simple):
        return f"{here.name} does not call {after.simple}()"
    simple = row.through.split("::")[-1]
    if not any(names(code_of(one.read_text("utf-8")), simple) for one in beside(row.path)):
        return f"gateway/{row.file} does not name {row.through}"
    body = code_of(file.read_text("utf-8"))[begin:end]
    if not any(calls(line, after.simple) and names(line, "virtual") for line in body.split(";")):
        return f"{row.through} has no virtual {after.simple}()"
    return None


def step(row, here, next_row, after):
    """What is wrong with the way from a row to the next one, or None."""
    if row.code and not has(here.body, row.code):
        return f"{here.name} has no code like {row.code}"
    if not row.through:
        return None if calls(row.code, after.simple) else f"its code ({row.code or 'none'}) does not call {after.name}"
    if definition_of(row.through):
        wrong = through_interface(row, here, after)
        owner = after.name.split("::")[-2] if "::" in after.name else ""
        if not wrong and not implements(next_row.path, owner, row.through):
            return f"{owner or after.name} does not implement {row.through}"
        return wrong
    for function in (here, after):
        if not names(function.body, row.through):
            return f"{function.name} does not name {row.through}"
    return None


def checked(rows):
    functions = []
    for row in rows:
        function, wrong = row.found()
        functions.append(function)
        if wrong:
            yield row, wrong
    for at, row in enumerate(rows):
        if functions[at] is None:
            continue
        if at + 1 == len(rows):
            if not row.code or not has(functions[at].body, row.code):
                yield row, f"{functions[at].name} has no code like {row.code or 'a system call'}"
        elif functions[at + 1] is not None and (wrong := step(row, functions[at], rows[at + 1], functions[at + 1])):
            yield row, wrong
    if rows and (rows[0].file, rows[0].function) != ("main.cpp", "main"):
        yield rows[0], "the way begins in main.cpp with main"


def main() -> int:
    rows, found = rows_of(PAGE.read_text("utf-8"))
    if not rows and not found:
        found = [f"{SHOWN}: the table has no row"]
    found += (f"{SHOWN}:{row.line}: {wrong}" for row, wrong in checked(rows))
    files = list(dict.fromkeys(row.file for row in rows))
    if len(files) > MOST_FILES:
        found.append(f"{SHOWN}: the way goes through {len(files)} files, at most {MOST_FILES}: {', '.join(files)}")
    elif not found and len(files) < MOST_FILES > WANTED_FILES:
        found.append(f"{SHOWN}: the way goes through {len(files)} files: lower MOST_FILES in scripts/check_path.py")
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
