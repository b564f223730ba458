"""The docs check itself: what it finds, and what it lets pass."""

import sys
import tempfile
import unittest
from pathlib import Path

import check
from blocks import Malformed, blocks_of
from masks import Bindings, difference, printed


def differs(expected, actual, bindings=None):
    return difference(expected.split("\n"), actual.split("\n"), bindings or Bindings()) is not None


class Masks(unittest.TestCase):
    def test_times_ids_and_dates_may_differ(self):
        for one, other in (
            ('{"remaining":4,"reset_ms":800,"waited_ms":0}', '{"remaining":4,"reset_ms":64,"waited_ms":0}'),
            ("Date: Sat, 21 Nov 2026 11:12:24 GMT", "Date: Mon, 23 Nov 2026 01:00:00 GMT"),
            ("Retry-After-Ms: 9712", "Retry-After-Ms: 7"), ('"since": "2026-11-21T18:52:34.956Z"',
                                                            '"since": "2027-01-01T00:00:00.000Z"'),
            ("used up; retry in 10 s.", "used up; retry in 9 s."), ("Server: SimpleHTTP/0.6 Python/3.11.7",
                                                                    "Server: SimpleHTTP/0.6 Python/3.11.2"),
            ("l_" + "0" * 32, "l_" + "a" * 32), ("a …, z", "a b, c, z"), ("a\n…", "a"), ("a\n…\nd", "a\nb\nc\nd"),
        ):
            with self.subTest(one):
                self.assertFalse(differs(one, other))

    def test_numbers_and_words_may_not(self):
        for one, other in (
            ('{"remaining":9,"reset_ms":800}', '{"remaining":10,"reset_ms":800}'), ("200 200 429", "200 429 429"),
            ('{"reset_ms":59868}', '{"reset_ms":0}'), ('{"waited_ms":0}', '{"waited_ms":3}'),
            ("a", "a\nb"), ("a\nb", "a"),
            ("HTTP/1.1 200 OK", "HTTP/1.1 429 Too Many Requests"), ('"per_ms": 800', '"per_ms": 900'), ("a …", "b c"),
            ("x: unknown key", "x: unknown key; did you mean y?"), ("", "curl: (7) Failed to connect"),
        ):
            with self.subTest(one):
                self.assertTrue(differs(one, other))

    def test_an_id_stands_for_one_id(self):
        first, second, other = ("l_" + digit * 32 for digit in "abc")
        bindings = Bindings()
        self.assertFalse(differs(f'"lease":"{first}"', f'"lease":"{second}"', bindings))
        self.assertEqual(bindings.put_in(f"curl /leases/{first}"), f"curl /leases/{second}")
        self.assertTrue(differs(f'"lease":"{first}"', f'"lease":"{other}"', bindings))

    def test_what_a_terminal_adds(self):
        raw = ("\x1b[1mServer\x1b[0m: x\r\r\n  % Total    % Received\r\n"
               "100 2 100 2 0 0 9 0 --:--:-- --:--:-- 9\r\nok\r\n\r\n")
        self.assertEqual(printed(raw), ["Server: x", "ok"])
        self.assertEqual(printed("200 200 200 429 \n"), ["200 200 200 429"])


class Documents(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "x.md"
            document.write_text(text, encoding="utf-8")
            return check.check(Path(sys.executable), document)

    def test_a_false_line_is_found(self):
        ran, skipped, differing = self.check("```\n$ echo 1; echo 2\n1\n3\n```\n")
        self.assertEqual((ran, skipped), (0, []))
        self.assertIn("x.md:2: echo 1; echo 2", differing[0])
        self.assertEqual(self.check("```\n$ echo 1; echo 2\n1\n2\n$ echo \\\n    3\n3\n```\n"), (2, [], []))

    def test_a_block_without_output_has_to_succeed(self):
        self.assertEqual(self.check("```sh\ntrue  # a comment\ntrue\n```\n"), (2, [], []))
        self.assertIn("ended with 1", self.check("```sh\nfalse\n```\n")[2][0])
        self.assertIn("before it: false", self.check("<!-- docs: run false -->\n```\n$ true\n```\n")[2][0])

    def test_what_is_skipped_is_listed_with_its_reason(self):
        ran, skipped, differing = self.check("<!-- docs: skip it needs root -->\n```\nrm -r /nowhere\n```\n")
        self.assertEqual((ran, differing), (0, []))
        self.assertRegex(skipped[0], "x.md:2: it needs root$")

    def test_a_stream_is_stopped_when_its_output_has_come(self):
        block = "<!-- docs: stream -->\n```\n$ echo a; echo b; sleep 600\na\n%s\n```\n"
        self.assertEqual(self.check(block % "b"), (1, [], []))

    def test_what_cannot_be_read_is_a_mistake(self):
        for text in ("<!-- docs: skip -->\n```\nx\n```\n", "<!-- docs: jump over it -->\n```\nx\n```\n",
                     "<!-- docs: run true -->\n", "```\n$ true\n", "```\nprinted\n$ true\n```\n"):
            with self.subTest(text):
                self.assertEqual(len(self.check(text)[2]), 1)

    def test_other_languages_are_no_console(self):
        found = blocks_of(Path("x"), "```yaml\na: b\n```\n```text\n$ no\n```\n```console\n$ yes\n```\n")
        self.assertEqual([block.language for block in found], ["console"])
        with self.assertRaises(Malformed):
            blocks_of(Path("x"), "<!-- docs : skip it -->\n")


if __name__ == "__main__":
    unittest.main()
