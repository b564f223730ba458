"""fields_page.py VERSION DAY: the manual page stint.yaml(5), from what `stint fields` prints on standard input.

Understands what that page consists of: headings, paragraphs, and tables of key, type, default, reload and text.
"""

import re
import sys

HEAD = r""".TH STINT.YAML 5 "{day}" "stint {version}" "File formats"
.SH NAME
stint.yaml \- configuration of the rate\-limiting gateway stint
.SH DESCRIPTION
The file is YAML.
.B stint check
.I FILE
reports every mistake in it with its line, and
.B stint schema
prints a JSON Schema for editors; it is also in
.IR /usr/share/stint/stint.schema.json .
.PP
Below is every key, its type with bounds, and its default.
A change is applied at a reload, if nothing else is said.
"""

# Letters that are more than themselves to roff.
ROFF = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}

TAIL = r""".SH EXAMPLES
A server of this machine, with at most 5 requests in 10 seconds from each client:
.PP
.EX
listeners:
  \- address: 0.0.0.0:8080
upstreams:
  site: {endpoints: [127.0.0.1:9000]}
limits:
  per_client: {requests: 5, per: 10s, key: client_ip}
routes:
  \- name: everything
    match: {path: /}
    upstream: site
    limits: [per_client]
.EE
.SH FILES
.TP
.I /etc/stint/stint.yaml
What the service reads.
.TP
.I /usr/share/doc/stint/examples
Samples.
.SH SEE ALSO
.BR stint (1)
"""


def plain(text):
    """Text of Markdown as text of roff. What stands in backquotes is left as it is."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"`([^`]*)`", text)
    parts[::2] = [re.sub(r"\\([*|_<>\[\]])", r"\1", re.sub(r"(?<!\\)\*", "", part)) for part in parts[::2]]
    return "".join(ROFF.get(letter, letter) for letter in "".join(parts))


def line(text):
    """The same as a line of its own, which begins no request. An empty one has nothing to say."""
    made = plain(text)
    return (r"\&" + made if made[:1] in (".", "'") else made) + "\n"


def entry(row):
    key, kind, default, reload, text = row
    required = default.startswith("*required*")
    facts = f"{kind}. {default.replace('*', '', 2).capitalize() if required else 'Default: ' + default}."
    applied = {"yes": "", "restart": " A change needs a restart.",
               "new connections": " A change is for connections opened after it."}[reload]
    return f".TP\n.B {plain(key)}\n{line(text)}.br\n{line(facts[:1].upper() + facts[1:] + applied)}"


def page(lines):
    made, paragraph = [], []
    for text in [*lines, ""]:
        if text.startswith("|"):
            row = [cell.strip() for cell in re.split(r"(?<!\\)\|", text)[1:-1]]
            if row[0] != "key" and not row[0].startswith("---"):
                made.append(entry(row))
        elif text.startswith("## "):
            made.append(f".SH {plain(text[3:])}\n")
        elif text and not text.startswith("# "):
            paragraph.append(text)
        elif paragraph:
            made.append(".PP\n" + line(" ".join(paragraph)))
            paragraph = []
    return "".join(made)


def main():
    version, day = sys.argv[1:]
    lines = sys.stdin.read().splitlines()
    tables = lines[lines.index("## Top level"):]  # what stands before is of the Markdown page
    sys.stdout.write(HEAD.format(version=version, day=day) + page(tables) + TAIL)


if __name__ == "__main__":
    main()
