"""What the Debian package has beside the binary says the same as the binary: the completion for bash, the manual
pages, the configuration, the list of what a build needs. scripts/package --test tries the package itself."""

import os
import re
import shlex
import subprocess
import unittest
from pathlib import Path

from support.case import SystemTest
from support.client import fetch
from support.ports import free_port
from support.stint import ROOT, binary
from support.waiting import wait_until

DEBIAN = ROOT / "scripts/debian"
COMPLETE = """
source "$0"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_stint
printf '%s\\n' "${COMPREPLY[@]}"
"""


def printed(*command) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def helped(*command) -> str:
    return printed(binary(), *command, "--help")


def commands() -> list:
    return re.findall(r"(?m)^  ([a-z-]+) ", helped().partition("Subcommands:")[2])


def options(*command) -> set:
    """The names of options that --help lists."""
    text = helped(*command).partition("Options:")[2].partition("Subcommands:")[0]
    lists = re.findall(r"(?m)^  (-\S+)", text)
    return {name.partition("{")[0].partition(":")[0] for each in lists for name in each.split(",")}


def completed(*words) -> list:
    """What bash offers for the last of the words."""
    return printed("bash", "-euc", COMPLETE, DEBIAN / "stint.bash", *words).split()


class Completion(unittest.TestCase):
    def test_it_offers_the_commands_and_their_options_and_nothing_else(self):
        self.assertGreaterEqual(len(commands()), 7)
        self.assertEqual(set(completed("stint", "")), {*commands(), *options()})
        for command in commands():
            with self.subTest(command):
                self.assertEqual(set(completed("stint", command, "-")), options(command))
                self.assertIn("--help", options(command))

    def test_it_offers_what_begins_like_the_word(self):
        self.assertEqual(completed("stint", "che"), ["check"])
        self.assertEqual(completed("stint", "--v"), ["--version"])
        self.assertEqual(completed("stint", "check", "--st"), ["--strict", "--store"])

    def test_formats_are_those_that_the_binary_takes(self):
        [listed] = re.findall(r"--format TEXT:\{(\S+)\}", helped("simulate"))
        for words in (("--format", ""), ("--format", "="), ("--format", "=", "")):
            self.assertEqual(sorted(completed("stint", "simulate", *words)), sorted(listed.split(",")), words)
        self.assertEqual(completed("stint", "simulate", "--format", "=", "ng"), ["nginx"])

    def test_files_and_free_names_are_left_to_bash(self):
        for words in (("run", "-c", "st"), ("check", "st"), ("check", "--config", ""), ("simulate", "--against", ""),
                      ("simulate", "--logged", "x"), ("simulate", "-c", "a.yaml", ""), ("import-nginx", ""), ("check", "--store", "=", "a")):
            self.assertEqual(completed("stint", *words), [], words)


class Manual(SystemTest):
    def shown(self, page: Path) -> str:
        """The page as text, of which groff has had nothing to complain."""
        environment = dict(os.environ, MANWIDTH="10000", MANROFFSEQ="", LC_ALL="C.UTF-8")
        ended = subprocess.run(["man", "--warnings", "-l", page], env=environment, capture_output=True, text=True,
                               check=False)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def test_stint_names_every_command_and_option(self):
        text = self.shown(DEBIAN / "stint.1")
        for command in commands():
            self.assertRegex(text, rf"(?m)^       stint {command}\b", "the synopsis")
            self.assertRegex(text, rf"(?m)^       {command}\b", "the commands")
        every = options().union(*(options(command) for command in commands()))
        described = text.partition("\nOPTIONS")[2].partition("\nEXIT STATUS")[0]
        heads = re.findall(r"(?m)^ {7}(-\S.*)", described)
        self.assertEqual(
            {name for head in heads for name in re.findall(r"(?<![\w-])--?[a-z]+(?:-[a-z]+)*", head)}, every)

    def test_the_configurations_names_every_key(self):
        fields = printed(binary(), "fields")
        made = subprocess.run(["/usr/bin/python3", "-B", DEBIAN / "fields_page.py", "1.2.3", "2026-01-02"], input=fields,
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        page = self.folder / "stint.yaml.5"
        page.write_text(made, "utf-8")
        text = self.shown(page)
        sections = re.findall(r"(?m)^## (.*)$", fields)
        keys = re.findall(r"(?m)^\| `([^`]+)`", fields)
        self.assertGreater(len(keys), 200)
        self.assertEqual(re.findall(r"(?m)^(\S.*)$", text)[3:-4], sections)
        self.assertEqual([each.replace("\\-", "-") for each in re.findall(r"(?m)^\.TP\n\.B (.*)$", made)], keys)
        self.assertIn("X-Forwarded-*, X-Forwarded, ", text)
        self.assertIn("stint 1.2.3", text)


class Packaging(SystemTest):
    def test_the_configuration_answers_at_once(self):
        made = (ROOT / "config/package.yaml").read_text("utf-8")
        port = free_port()
        file = self.folder / "stint.yaml"
        file.write_text(made.replace("127.0.0.1:8080", f"127.0.0.1:{port}").replace(
            "127.0.0.1:9901", f"127.0.0.1:{free_port()}").replace("/var/lib/stint", str(self.folder)), "utf-8")
        log = self.enterContext(open(self.folder / "log", "w", encoding="utf-8"))
        stint = subprocess.Popen([binary(), "run", "-c", file], stdout=log, stderr=log)
        self.addCleanup(stint.wait)
        self.addCleanup(stint.kill)
        wait_until(lambda: "listening on" in (self.folder / "log").read_text("utf-8"), "a listener")
        self.assertEqual([fetch(port).status for _ in range(6)], [200] * 5 + [429])

    def test_its_files_name_the_schema_where_it_is(self):
        subprocess.run([DEBIAN / "lay-out", binary(), self.folder], cwd=ROOT, check=True,
                       env=dict(os.environ, SOURCE_DATE_EPOCH="0"))
        schema = self.folder / "usr/share/stint/stint.schema.json"
        self.assertEqual(schema.read_text("utf-8"), printed(binary(), "schema"))
        examples = self.folder / "usr/share/doc/stint/examples"
        samples = {path.name for path in ROOT.glob("config/*.yaml")} - {"package.yaml"}
        self.assertEqual({path.name for path in examples.glob("*.yaml")}, samples)
        for file in (self.folder / "etc/stint/stint.yaml", *examples.glob("*.yaml")):
            named = file.read_text("utf-8").partition("\n")[0].partition("$schema=")[2]
            place = self.folder / named.lstrip("/") if named.startswith("/") else file.parent / named
            self.assertEqual(place.resolve(), schema.resolve(), file)

    def test_the_folder_of_its_state_is_the_unit_s(self):
        unit = (ROOT / "config/systemd/stint.service").read_text("utf-8")
        self.assertIn("\nStateDirectory=stint\n", unit)
        self.assertIn("\nExecStart=/usr/bin/stint run -c /etc/stint/stint.yaml\n", unit)
        self.assertIn("\nstate: /var/lib/stint/", (ROOT / "config/package.yaml").read_text("utf-8"))

    def test_the_version_is_the_binary_s(self):
        version = printed(binary(), "version").split()[1]
        self.assertRegex((DEBIAN / "changelog").read_text("utf-8"), rf"^stint \({re.escape(version)}\) ")

    def test_a_build_needs_what_scripts_install(self):
        listed = (ROOT / "scripts/install-deps").read_text("utf-8")
        needed = {package for group in ("build", "release")
                  for package in shlex.split(re.search(rf"(?ms)^{group}=\((.*?)\)", listed)[1])}
        control = (DEBIAN / "control").read_text("utf-8")
        said = re.search(r"(?ms)^Build-Depends:\n(.*?)^\S", control)[1]
        # What every build of a Debian package has anyway.
        self.assertEqual({line.strip(" ,") for line in said.splitlines()},
                         needed - {"g++"} | {"debhelper-compat (= 13)"})


if __name__ == "__main__":
    unittest.main()
