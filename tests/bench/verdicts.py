"""What a run of scripts/bench shows, against the targets: lines of a table."""

from dataclasses import dataclass, field

from measuring import median
from workloads import WORKLOADS

PROGRAMS = ("stint", "nginx", "haproxy")
KEY_BYTES, KEY_SHARE, MOST_PAUSE_MS, IDLE_KB = 48, 0.85, 1.0, 2.0
LATENCY_SHARE = 1.10


@dataclass
class Line:
    work: str
    what: str
    cells: dict = field(default_factory=dict)  # program: text
    seen: str = ""
    target: str = ""
    good: bool | None = None  # None: a figure without a target
    values: dict = field(default_factory=dict)  # program: what bars are drawn of
    unit: str = ""  # of those

    @property
    def verdict(self):
        return {None: "", True: "met", False: "MISSED"}[self.good]


def cost(run):
    return run["cpu_us"]


def best_setting(subjects, program, figure):
    """The subject of that program with the least median."""
    own = [subject for subject in subjects if subject.split("+")[0] == program]
    return min(own, key=lambda subject: median(subjects[subject], figure), default=None)


def cell(subject, runs, figure, form):
    values = sorted(map(figure, runs))
    spread = f" ({form.format(values[0])}–{form.format(values[-1])})" if len(values) > 1 else ""
    _, _, setting = subject.partition("+")
    return form.format(median(runs, figure)) + spread + (f", {setting}" if setting else "")


def compared(work, what, subjects, figure, form, most, against=None):
    """A line with each program's best setting; the target is a share of the best of `against`."""
    line = Line(work, what)
    for program in PROGRAMS:
        if subject := best_setting(subjects, program, figure):
            line.cells[program] = cell(subject, subjects[subject], figure, form)
            line.values[program] = median(subjects[subject], figure)
            line.unit = "µs"
    judges = against or [subject for subject in subjects if subject != "stint"]
    best = min(median(subjects[subject], figure) for subject in judges)
    share = median(subjects["stint"], figure) / best
    line.seen = f"{share:.2f}"
    line.target = f"≤ {most:.2f}"
    line.good = share <= most
    return line


def noise(subjects):
    worst = max(run["foreign"] for runs in subjects.values() for run in runs)
    return f"; others used up to {worst:.2f} of a core" if worst > 0.3 else ""


def work_lines(rows):
    for workload in WORKLOADS:
        subjects = rows.get(workload.name)
        if not subjects:
            continue
        what = f"{workload.title}: µs of CPU a request{noise(subjects)}"
        yield compared(workload.name, what, subjects, cost, "{:.1f}", workload.most, workload.against)
        if workload.name == "W1f":
            for quantile in ("p50", "p99"):
                yield compared(
                    "W1f", f"the same: {quantile} of the latency, µs", subjects,
                    lambda run, quantile=quantile: run["latency_us"][quantile], "{:.0f}", LATENCY_SHARE)


def bytes_a_key(run):
    return (run["memory_kb"]["after"] - run["memory_kb"]["before"]) * 1024 / run["done"]


def key_lines(rows):
    subjects, few = rows.get("W3"), rows.get("W3few")
    if not subjects:
        return
    total = subjects["stint"][0]["done"]
    work = f"{total:,} distinct keys"
    yield compared("W3", f"{work}: µs of CPU a request{noise(subjects)}", subjects, cost, "{:.1f}", KEY_SHARE)
    own = bytes_a_key(subjects["stint"][0])
    # A table doubles now and then: the target is for a million.
    judged = {"target": f"≤ {KEY_BYTES}", "good": own <= KEY_BYTES} if total >= 1_000_000 else {}
    yield Line("W3", f"{work}: bytes a key",
               {subject: f"{bytes_a_key(runs[0]):.0f}" for subject, runs in subjects.items()},
               f"{own:.0f}", **judged)
    if few:
        longest = {name: {subject: runs[0]["latency_us"]["max"] / 1000 for subject, runs in of.items()}
                   for name, of in (("many", subjects), ("few", few))}
        added = longest["many"]["stint"] - longest["few"]["stint"]
        yield Line("W3", f"{work}: longest latency, ms (in brackets: the same load on few keys)",
                   {subject: f"{longest['many'][subject]:.1f} ({longest['few'][subject]:.1f})"
                    for subject in subjects if subject in few},
                   f"{added:+.1f}", f"≤ +{MOST_PAUSE_MS:g}", added <= MOST_PAUSE_MS)


def kilobytes(run):
    return (run["memory_kb"]["after"] - run["memory_kb"]["before"]) / run["done"]


def other_lines(rows, counts):
    if subjects := rows.get("W7"):
        own = kilobytes(subjects["stint"][0])
        yield Line("W7", f"{subjects['stint'][0]['done']:,} idle connections: KB of resident memory each",
                   {subject: f"{kilobytes(runs[0]):.2f}" for subject, runs in subjects.items()},
                   f"{own:.2f}", f"≤ {IDLE_KB}", own <= IDLE_KB)
    if subjects := rows.get("2workers"):
        runs = subjects["stint"]
        yield Line("2workers", "W1 with two workers, which share both cores with load and origin: µs of CPU a request",
                   {"stint": cell("stint", runs, cost, "{:.1f}")},
                   f"{median(runs, lambda run: run['rate']):,.0f}/s")
    yield from count_lines(counts)


def count_lines(counts, bound=None):
    from instructions import LIMITER_BOUND, W1_BOUND, W1_HTTP2_BOUND

    if "stint" not in counts:
        return
    bound = bound or W1_BOUND
    programs = {name: count for name, count in counts.items() if name in PROGRAMS}
    yield Line("W1", "user-space instructions a request", {name: f"{count:,.0f}" for name, count in programs.items()},
               f"{counts['stint']:,.0f}", f"≤ {bound:,}", counts["stint"] <= bound, programs)
    refusing = {name: counts[f"{name} refusing"] for name in PROGRAMS if f"{name} refusing" in counts}
    if refusing:
        yield Line("W2", "user-space instructions a refusal",
                   {name: f"{count:,.0f}" for name, count in refusing.items()}, f"{refusing['stint']:,.0f}",
                   values=refusing)
    over_http2 = {name: counts[f"{name} over HTTP/2"] for name in PROGRAMS if f"{name} over HTTP/2" in counts}
    if over_http2:
        own = over_http2["stint"]
        yield Line("W1h2", "user-space instructions a request over HTTP/2",
                   {name: f"{count:,.0f}" for name, count in over_http2.items()}, f"{own:,.0f}",
                   f"≤ {W1_HTTP2_BOUND:,}", own <= W1_HTTP2_BOUND, over_http2)
    if "stint without limits" in counts:
        own = counts["stint"] - counts["stint without limits"]
        yield Line("W1", "of these for the two limits", {"stint": f"{own:,.0f}"}, f"{own:,.0f}",
                   f"≤ {LIMITER_BOUND:,}", own <= LIMITER_BOUND)


def lines(results):
    rows = results["rows"]
    return [*work_lines(rows), *key_lines(rows), *other_lines(rows, results["instructions"])]


def markdown(shown):
    header = ("work", "", "Stint", "nginx", "HAProxy", "of the better peer, or seen", "target", "")
    table = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    for line in shown:
        cells = (line.work, line.what, *(line.cells.get(program, "–") for program in PROGRAMS),
                 line.seen, line.target or "–", line.verdict)
        table.append("| " + " | ".join(cells) + " |")
    return "\n".join(table) + "\n"
