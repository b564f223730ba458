#!/usr/bin/env python3
"""Looks for names and comments that an engineer who knows nginx, Envoy or HAProxy could neither grep nor
guess, in gateway/. Prints file:line for each name of OLD_NAMES, and more comments that are riddles than
MOST_RIDDLES; exit code 1 if there is one. --riddles prints those comments, too."""

import re
import sys
from pathlib import Path

GATEWAY = Path(__file__).resolve().parent.parent / "gateway"

# folder: names that no identifier in it has any more; "": in any.
OLD_NAMES = {
    "": """
        Seat take_seat Vacate seats_taken Reception Receptions place_of_next emptiest WaitingRoom WaitingLine
        ScopeWaiter PlaceQueue PlaceWaiter told_policies ToldPolicies PolicyTelling told_quota ToldQuota
        read_told_quota introduces introduction break_off judge_break explain_break is_shortage OwnReply
        use_common_words fence_off take_route take_fence take_place take_turn take_admission connects_again
        NotedKeys KeyWitness look_for_end has_ended Silence UntriedBuffer say_end never_say_end cut_short untie
        end_tied is_tied hold_for_former unkept find_living living_of living_known TakeAsk AskReader FeedbackAsk
        LeaseAsk tell_waiters requote BriefMutex ring_at ring_now Mistake Wrong Draft Adoption InForce notes_on
        DescribedRequest not_checked_notes spill_ sent_at_once_ Switching switching_ brief_mutex
        """,
    "proxy": "Turn Turns Hold Place hold_ place_ turn_ Broken broken_ missed Shortage make_room renews moved unsent_ keep_",
    "limits": "Bell bell_ Openings ScopeLine Terms Rules rules_of returnable Prepaid Book",
    "locks": "Book Wish Missed End Kept Hold tie wish living",
    "permits": "Ties Taking Locking Pending Members Writes Replays Pauses Served keep_ unsent_",
    "runtime": "Openings",
    "upstream": "Charge",
    "config": "Report",
}

# file without its ending: names that it must not declare any more; elsewhere the same word is a good name.
OLD_DECLARATIONS = {
    "proxy/exchange": "hold retries",
    "proxy/forward/attempts": "judged moved",
    "admission/local_reply": "promise",
    "limits/decision": "held early returnable",
    "limits/permit": "tell learn early",
    "limits/algorithm/counter_cell": "Slot",
    "limits/algorithm/algorithm_ops": "Slot Rules",
    "limits/counter/counters": "Claim Slot Terms",
    "limits/algorithm/window": "Place",
    "locks/lock_manager": "tell figures living",
    "runtime/gateway": "notes_on",
    "runtime/persistence": "figures",
    "permits/persistence_waits": "tell",
    "proxy/admission/queued_request": "tell ring room",
}

# Files, without their endings, that have other names now.
OLD_FILES = set("""
    proxy/seat runtime/reception proxy/turns runtime/openings limits/waiting_room limits/waiting_line proxy/hold
    limits/scope_waiter limits/cooldown_line proxy/place upstream/place_queue upstream/charge proxy/told_policies
    http/told_quota proxy/introduce proxy/interruption proxy/shortage proxy/own_reply proxy/switch proxy/noted_keys
    net/untried_read locks/book permits/ties permits/taking permits/locking permits/pending permits/ask
    permits/members permits/writes permits/replays permits/pauses limits/slot limits/rules limits/brief_mutex
    limits/exact config/report runtime/described_request runtime/check_notes
    """.split())

# Comments that begin with a fragment, or speak of somebody without saying who. May only fall.
MOST_RIDDLES = 0
RIDDLE = re.compile(r"^(What|Whether|Of|Who)\b|\bwho waits\b|\bnobody\b|\bis told\b", re.IGNORECASE)

TOKEN = re.compile(
    r'R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/|^[ ]*#[^\n]*|\b[A-Za-z_]\w*\b',
    re.DOTALL | re.MULTILINE)


def old_names(file: Path):
    """(line, name) of each old name that code in the file has."""
    text = file.read_text(encoding="utf-8")
    path = file.relative_to(GATEWAY)
    old = set(OLD_NAMES[""].split()) | set(OLD_NAMES.get(path.parts[0], "").split())
    if file.suffix == ".hpp":
        old |= set(OLD_DECLARATIONS.get(path.with_suffix("").as_posix(), "").split())
    if f"{path.parts[0]}/{file.stem}" in OLD_FILES:
        yield 1, file.name
    for token in TOKEN.finditer(text):
        if token.group() in old:
            yield text.count("\n", 0, token.start()) + 1, token.group()


def comment_blocks(file: Path):
    """(line, text) of each run of lines that are comments, and of each comment behind code."""
    begun, block = 0, []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines() + [""], 1):
        code, mark, comment = line.partition("//")
        alone = mark and not code.strip()
        if block and not alone:
            yield begun, " ".join(block)
            block = []
        if alone:
            begun = begun if block else number
            block.append(comment.strip())
        elif mark and '"' not in code and not code.endswith(":"):
            yield number, comment.strip()


def main() -> int:
    files = sorted([*GATEWAY.rglob("*.hpp"), *GATEWAY.rglob("*.cpp")])
    found = [f"{file}:{line}: {name} has another name now" for file in files for line, name in old_names(file)]
    riddles = [f"{file}:{line}: {text}" for file in files for line, text in comment_blocks(file) if RIDDLE.search(text)]
    if "--riddles" in sys.argv[1:]:
        print(*riddles, sep="\n")
    if len(riddles) > MOST_RIDDLES:
        found.append(f"{len(riddles)} comments are riddles, at most {MOST_RIDDLES} may be: see --riddles")
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
