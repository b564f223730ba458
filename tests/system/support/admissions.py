"""When requests were admitted, as their clients can know it, and how many a promise surely let into a span.

A client knows of an admission that it was between `sent`, when the request left it, and `received`, when the
answer had come. So a count here is of admissions that were *surely* within a span: sent after it began and received
before it ended. What took longer on the way seems later or earlier than it was, never closer to another one:
a count above the number proves that the number was exceeded, on any machine. A count below it may miss as many as
were on the way at the span's ends, which the rate times a request's time tells.
"""

from bisect import bisect_left


def most_in_a_span(admissions, span: float) -> int:
    """The most that were surely within any span of this length. admissions: (sent, received)."""
    sents = sorted(sent for sent, _ in admissions)
    receiveds = sorted(received for _, received in admissions)
    across = [(sent, received) for sent, received in admissions if received - sent > span]
    most = 0
    for begin in sents:
        # Those received in time, less those sent too early; who is both would be taken off twice.
        count = bisect_left(receiveds, begin + span) - bisect_left(sents, begin)
        count += sum(sent < begin and received >= begin + span for sent, received in across)
        most = max(most, count)
    return most


def most_above_a_rate(admissions, rate: float, longest: float = 0.05) -> float:
    """How much more than rate x t was surely admitted in any span of t: of a token bucket at most its burst.
    longest: seconds; a request that took longer is not counted, since nobody knows where it belongs."""
    known = sorted((sent, received) for sent, received in admissions if received - sent <= longest)
    most, best, latest = 0.0, float("-inf"), float("-inf")
    for index, (sent, received) in enumerate(known):
        # From the span's first request to this one; both, and all between, are within [sent, latest].
        latest = max(latest, received)
        best = max(best, rate * sent - index)
        most = max(most, index + 1 - rate * latest + best)
    return most


def most_in_a_window(admissions, per: float, offset: float, margin: float = 0.002) -> int:
    """The most that were surely within one window of the wall clock. offset: what it is ahead of the clock of the
    admissions. margin: seconds that the gateways' reading of it may be old."""
    counts: "dict[int, int]" = {}
    for sent, received in admissions:
        first, last = (sent + offset - margin) // per, (received + offset + margin) // per
        if first == last:
            counts[first] = counts.get(first, 0) + 1
    return max(counts.values(), default=0)


def surely_within(admissions, begin: float, end: float) -> int:
    return sum(begin <= sent and received < end for sent, received in admissions)
