#!/usr/bin/python3
"""Counts the methods and fields of each class in gateway/, and the .cpp files that define them, by libclang.
A class has at most 40 methods, 30 fields and 2 such files; those of OVER have their numbers there, which may
only fall. Inherited members count; so do the fields of a struct that only one class holds, and the methods
of a friend. Prints each breach; exit code 1 if there is one. --docs writes the largest classes into
docs/architecture.md."""

import ctypes
import json
import re
import shlex
import sys
from collections import Counter, defaultdict
from pathlib import Path

import clang.cindex as cindex
from clang.cindex import CursorKind

ROOT = Path(__file__).resolve().parent.parent
GATEWAY = ROOT / "gateway"
PAGE = ROOT / "docs" / "architecture.md"
BUDGET = (40, 30, 2)
SHOWN = 15

# class: methods, fields, files. A number above the budget may be lowered, never raised; one that is higher than the
# class's own fails, too. A number within the budget is not looked at.
OVER = {
    "config::Config": (0, 40, 0),
    "config::Limit": (0, 36, 0),
    "limits::Counters": (61, 16, 5),
    "limits::Limit": (77, 10, 1),
    "limits::Waiter": (58, 12, 0),
    "locks::Lock": (69, 9, 0),
    "locks::LockManager": (61, 23, 5),
    "locks::Waiting": (62, 4, 1),
    "observe::WorkerCounters": (2, 38, 1),
    "routing::Route": (0, 52, 0),
}

METHODS = {CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION,
           CursorKind.FUNCTION_TEMPLATE}
RECORDS = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE}


def load_library():
    for name in ("libclang-16.so.1", "libclang.so.1"):
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        cindex.Config.set_library_file(name)
        return
    sys.exit("libclang is not installed: scripts/install-deps check")


def arguments():
    """The compiler's, of any file of proxy/."""
    for folder in ("build-test", "build", "build-asan"):
        file = ROOT / folder / "compile_commands.json"
        if file.exists():
            for command in json.loads(file.read_text("utf-8")):
                if "/gateway/proxy" in command["file"] or "stint_proxy" in command["command"]:
                    words = shlex.split(command["command"])
                    return [word for word in words if word.startswith(("-I", "-D", "-isystem", "-std"))]
    sys.exit("there is no build folder: scripts/build first")


def qualified(cursor):
    names = []
    while cursor is not None and cursor.kind != CursorKind.TRANSLATION_UNIT:
        names.append(cursor.spelling)
        cursor = cursor.semantic_parent
    return "::".join(reversed(names)).removeprefix("stint::")


def kind_of(cursor):
    try:
        return cursor.kind
    except ValueError:  # newer than the bindings
        return None


def record_of(kind):
    """The class that a field of this type holds by value, or by a smart pointer or optional."""
    declaration = kind.get_canonical().get_declaration()
    return qualified(declaration) if kind_of(declaration) in RECORDS else ""


class Records:
    def __init__(self):
        self.methods = defaultdict(set)   # by class: "name(types)"
        self.fields = defaultdict(list)   # by class: the classes of its fields, "" for any other type
        self.bases = defaultdict(list)
        self.friends = defaultdict(list)
        self.structs = set()

    def visit(self, cursor):
        for child in cursor.get_children():
            kind = kind_of(child)
            if kind == CursorKind.NAMESPACE:
                self.visit(child)
            elif kind in RECORDS and child.is_definition() and self.is_ours(child):
                self.add(child)
                self.visit(child)

    @staticmethod
    def is_ours(cursor):
        file = cursor.location.file
        return file is not None and str(Path(file.name).resolve()).startswith(f"{GATEWAY}/")

    def add(self, record):
        name = qualified(record)
        if kind_of(record) == CursorKind.STRUCT_DECL:
            self.structs.add(name)
        for child in record.get_children():
            kind = kind_of(child)
            if kind in METHODS and not child.is_deleted_method() and not child.is_default_method():
                self.methods[name].add(child.displayname)
            elif kind == CursorKind.FIELD_DECL:
                self.fields[name].append(record_of(child.type))
            elif kind == CursorKind.CXX_BASE_SPECIFIER:
                self.bases[name].append(record_of(child.type))
            elif kind == CursorKind.FRIEND_DECL:
                for friend in child.get_children():
                    self.friends[name].append(qualified(friend.referenced or friend))
        self.methods.setdefault(name, set())
        self.fields.setdefault(name, [])

    def own_structs(self):
        """Structs that are a field of exactly one class."""
        holders = Counter(held for fields in self.fields.values() for held in set(fields) if held)
        return {held for held, count in holders.items() if count == 1 and held in self.structs}

    def inherited(self, name):
        """Its methods and its bases'. One that overrides another is no further member."""
        return self.methods[name].union(*(self.inherited(base) for base in self.bases[name] if base in self.methods))

    def count(self, name, alone, seen=()):
        methods, fields = len(self.inherited(name)), len(self.fields[name])
        for held in self.fields[name]:
            if held in alone and held not in seen:
                fields += self.count(held, alone, (*seen, name))[1]
        for base in self.bases[name]:
            if base in self.methods and base not in seen:
                fields += self.count(base, alone, (*seen, name))[1]
        for friend in self.friends[name]:
            methods += len(self.methods.get(friend, ())) or 1
        return methods, fields


def definition_files():
    """layer, class: the .cpp files that define members of it."""
    files = defaultdict(set)
    member = re.compile(r"^(?![ \t#/}]).*?\b(\w+)::~?\w+\(", re.M)
    start = re.compile(r"^(\w+)::~?\w+\(", re.M)
    for file in GATEWAY.rglob("*.cpp"):
        text = file.read_text("utf-8")
        for found in (*member.finditer(text), *start.finditer(text)):
            files[file.relative_to(GATEWAY).parts[0], found[1]].add(file.name)
    return files


def measured():
    load_library()
    headers = sorted(str(file.relative_to(GATEWAY)) for file in GATEWAY.rglob("*.hpp"))
    umbrella = "".join(f'#include "{header}"\n' for header in headers)
    unit = cindex.Index.create().parse(
        "all.cpp", args=[*arguments(), "-x", "c++", "-Wno-everything"], unsaved_files=[("all.cpp", umbrella)],
        options=cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
    errors = [each for each in unit.diagnostics if each.severity >= cindex.Diagnostic.Error]
    if errors:
        sys.exit(f"libclang cannot read gateway/: {errors[0]}")
    records = Records()
    records.visit(unit.cursor)
    alone, files = records.own_structs(), definition_files()
    return {name: (*records.count(name, alone), len(files[name.split("::")[0], name.split("::")[-1]]))
            for name in records.methods}


def table(sizes):
    largest = sorted(sizes, key=lambda name: max(n / most for n, most in zip(sizes[name], BUDGET)), reverse=True)
    rows = [f"| `{name}` | {' | '.join(map(str, sizes[name]))} |" for name in largest[:SHOWN]]
    return "\n".join(["| class | methods | fields | .cpp files |", "|---|---|---|---|", *rows])


def documented(sizes, write):
    """Breaches of the page's table, which is made anew if `write`."""
    begin, end = "<!-- written by scripts/check_budget.py --docs -->\n", "\n<!-- end of the largest classes -->"
    text = PAGE.read_text("utf-8")
    head, _, rest = text.partition(begin)
    old, found, tail = rest.partition(end)
    if not found:
        return [f"{PAGE} has no place for the largest classes"]
    if write:
        PAGE.write_text(f"{head}{begin}{table(sizes)}{end}{tail}", "utf-8")
    elif old != table(sizes):
        return [f"the largest classes in {PAGE} are others now: scripts/check_budget.py --docs"]
    return []


def main() -> int:
    sizes = measured()
    found = documented(sizes, write="--docs" in sys.argv[1:])
    for name, size in sorted(sizes.items()):
        allowed = tuple(max(most, over) for most, over in zip(BUDGET, OVER.get(name, BUDGET)))
        for what, number, most in zip(("methods", "fields", "files that define it"), size, allowed):
            if number > most:
                found.append(f"{name} has {number} {what}, and may have {most}")
        if name in OVER and any(over > most and number < over
                                for number, over, most in zip(size, OVER[name], BUDGET)):
            found.append(f"{name} is {size} now: lower it in OVER, or take it out")
    found += [f"OVER names {name}, which there is no more" for name in OVER if name not in sizes]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
