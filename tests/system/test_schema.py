"""`stint schema` against `stint check`: both agree about the samples, and about changed ones."""

import copy
import json
import random
import re
import subprocess
import unittest

import jsonschema
import yaml

from support.case import SystemTest, report, scaled
from support.stint import ROOT, binary

MUTANTS = scaled(300, 2000)
SEED = 20261126

# What check refuses and a schema cannot know.
BEYOND_A_SCHEMA = re.compile("|".join((
    # names that refer to one another
    r'" is (not a limit|not an upstream|not a store|not a lock)\b', r" is a (lock|limit); expected", r"is taken by",
    r"matches the same requests",
    # keys that need or exclude one another
    r"needs requests and per", r"(upstream|per|redis) is missing", r": is only for", r"excludes", r": needs", r"needs a listener for permits",
    r"belongs to a (window|cap|token_bucket)",
    # bounds of numbers with decimals
    r'"[0-9]+\.[0-9]+[a-z]+" is (out of range|too)',
    # texts with a syntax of their own, and lists that may not be empty
    r'" is (not an?|no|no such) (address|key|name|network|method|field)\b', r'does not begin with "/"', r"has no port", r": is empty",
    # variables, which check fills in
    r'; filled in from "',
)))

VALUES = (0, 1, -1, 7, 99_999_999_999_999, "x y", "off", "on", "5s", "10 parsecs", "0.5s", "400d", "64KiB", "3TiB",
          True, False, None, [], {}, ["a"], [1], {"a": 1}, "client_ip", "127.0.0.1:80", "429", 700, "")


class Core(yaml.SafeLoader):
    """YAML 1.2's core schema, which editors read by: off and 0660 are no booleans and octals."""


Core.yaml_implicit_resolvers = {}
for tag, pattern, first in (
        ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"), ("null", "~|null|Null|NULL|", "~nN" + "\0"),
        ("int", "[-+]?[0-9]+", "-+0123456789"),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789")):
    Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first) + [""])
Core.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node), 10))


def places(value, at=()):
    """The path of each value, and of the whole."""
    yield at
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from places(inner, (*at, key))


def found(value, at):
    for key in at:
        value = value[key]
    return value


def mutant(chance, sample, others):
    """A sample with one change."""
    made = copy.deepcopy(sample)
    at = chance.choice([place for place in places(made) if place])
    parent = found(made, at[:-1])
    key = at[-1]
    kind = chance.randrange(6)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[key + "x"] = parent.pop(key)
    elif kind == 2:
        other = chance.choice(others)
        parent[key] = copy.deepcopy(found(other, chance.choice(list(places(other)))))
    elif kind == 3 and isinstance(parent, dict):
        other = chance.choice(others)
        place = chance.choice([place for place in places(other) if place])
        parent[str(place[-1])] = copy.deepcopy(found(other, place))
    else:
        parent[key] = copy.deepcopy(chance.choice(VALUES))
    return made


class Schema(SystemTest):
    def setUp(self):
        super().setUp()
        self.text = subprocess.run([binary(), "schema"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.schema = json.loads(self.text)
        jsonschema.Draft7Validator.check_schema(self.schema)
        self.validator = jsonschema.Draft7Validator(self.schema)
        self.samples = {path: yaml.load(path.read_text("utf-8"), Core) for path in sorted(ROOT.glob("config/*.yaml"))}

    def mistakes(self, configuration):
        """What check says, and what a validator says. In JSON, which is YAML, a text that looks like a number stays
        a text."""
        file = self.folder / "stint.yaml"
        file.write_text(json.dumps(configuration), "utf-8")
        checked = subprocess.run([binary(), "check", file], cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertIn(checked.returncode, (0, 1, 2), checked)
        return ([line.partition("stint.yaml:")[2] for line in checked.stderr.splitlines()] if checked.returncode else [],
                [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"
                 for error in self.validator.iter_errors(configuration)])

    def test_the_file_beside_the_samples_is_the_same(self):
        self.assertEqual(self.text, (ROOT / "config/stint.schema.json").read_text("utf-8"),
                         "write it anew: stint schema > config/stint.schema.json")

    def test_every_reference_has_its_definition(self):
        referred = set(re.findall(r'"\$ref": "#/definitions/([^"]+)"', self.text))
        self.assertEqual(referred - self.schema["definitions"].keys(), set())
        self.assertEqual(self.schema["definitions"].keys() - referred, set())

    def test_the_samples_are_valid(self):
        self.assertGreater(len(self.samples), 5)
        for path, sample in self.samples.items():
            with self.subTest(path.name):
                self.assertEqual([error.message for error in self.validator.iter_errors(sample)], [])
                first = path.read_text("utf-8").partition("\n")[0]
                self.assertEqual(first, "# yaml-language-server: $schema=stint.schema.json")

    def test_changed_samples(self):
        chance = random.Random(SEED)
        samples = list(self.samples.values())
        both = {"good": 0, "bad": 0, "beyond": 0}
        for number in range(MUTANTS):
            made = mutant(chance, chance.choice(samples), samples)
            checked, validated = self.mistakes(made)
            with self.subTest(number, seed=SEED):
                if not checked:
                    self.assertEqual(validated, [], json.dumps(made))
                    both["good"] += 1
                elif validated:
                    both["bad"] += 1
                else:
                    both["beyond"] += 1
                    self.assertTrue(any(map(BEYOND_A_SCHEMA.search, checked)), checked)
        report(f"schema: {MUTANTS} changed samples", "check and a validator agree", both)
        self.assertGreater(min(both.values()), 0, both)


if __name__ == "__main__":
    unittest.main()
