// Changes of the script, each of which takes out one of its safeguards.
#pragma once

#include "shared/store_script.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace stint::shared {

struct Mutant {
    std::string_view name;
    std::string_view from; // occurs once in the script
    std::string_view to;
};

inline constexpr Mutant mutants[] = {
    {"another primary is not noticed", "field.replid ~= replid or stepped or",
     "not field.replid or stepped or"},
    {"an epoch is quiet at once", "local quiet = span <= quiet_span()", "local quiet = true"},
    {"an epoch is quiet before the former sessions have ended", "base or since) - longest_ttl",
     "base or since)"},
    {"who vouches knows of all that live", "if age < longest_ttl then", "if false then"},
    {"who vouches has heard at each call who lives",
     "if now - known < longest_ttl then known = now", "if false then known = now"},
    {"epochs that are lost have higher numbers", "local unknown = knows > version",
     "local unknown = known_epoch ~= epoch and known_ordinal >= ordinal - 1"},
    {"an epoch is quiet before former use has aged", "local quiet = span <= quiet_span()",
     "local quiet = 0 <= quiet_span()"},
    {"a session out of its time confirms", " or session.confirms ~= '1'", ""},
    {"an epoch is learned without one that died untold", "if untold and session.died >= since then",
     "if false then"},
    {"a late beat is taken for the latest", "local is_late = beats < mine.beats",
     "local is_late = false"},
    {"a late beat tells that its session had never been active",
     "confirms == 'n' and not is_new and '0' or confirms", "confirms"},
    {"a session that others list had never been active",
     "known.state ~= 'd' and known.confirms == 'n'", "false"},
    {"a late beat brings back a session that was forgotten", "knows < mine.joined then",
     "false then"},
    {"a caller from an epoch that is known knows of nothing that is lost",
     "local unknown = knows > version", "local unknown = version < 0"},
    {"a listed session has its caller's time to live", "tonumber(ARGV[16] or 0) or 0", "0 or 0"},
    {"sessions join at once", "other.knows < session.joined", "false"},
    {"what sessions know of each other is not merged",
     "if not known or (unknown and known.state == 'd' and known.died <= since) then",
     "if not known then elseif false then"},
    {"a session that was dead before the lost epochs stays dead",
     "or (unknown and known.state == 'd' and known.died <= since)", ""},
    {"the clock is believed", "now = math.max(known, seen)", "now = wall"},
    {"a step forward is believed", "math.min(now, seen + elapsed + slack)", "now"},
    {"a dead session's use does not age", "now >= session.died + span", "true"},
    {"an old call is carried out", "seq <= last.seq", "false"},
    {"a share is used in a window that was over for its former holder",
     "local open = (window >= given_up or is_past) and (window >= lower or is_lower_past)",
     "local open = true"},
    {"the others' shares are not counted", "held_by_others = held_by_others + party.hold\n", "\n"},
    {"an epoch after one in doubt is trusted", "return math.floor(now - age)", "return 0"},
    {"what a session held that has ended is forgotten with the store",
     "known = math.max(known, session.died)", "known = base"},
    {"a session that is heard has told its shares", "session.state ~= 'd' then return -1",
     "false then return -1"},
    {"the age of what is known is told by a clock that began anew", "return math.floor(now - age)",
     "return math.floor(known_base)"},
    {"the use of a gateway that has left does not age",
     "if op == 'leave' then\n    end_session(mine, now)",
     "if op == 'leave' then\n    end_session(mine, 0)"},
    {"sessions of the former epoch die by their former beats",
     "session.heard, session.knows, session.told, session.confirms = now, 0, '-', '0'",
     "session.knows, session.told, session.confirms = 0, '-', '0'"},
    {"a session vouches for what was granted before it",
     "confirms == '1' and field.learned ~= epoch and from > base", "false"},
    {"each gateway's own number holds",
     "not counter.number or (propose == 1 and tonumber(counter.number) ~= number)", "true"},
    {"what is given up stays counted", "if grant == 0 and want == 0 then",
     "grant = math.max(grant, last and last.hold or 0)\nif grant == 0 and want == 0 then"},
    {"what is known grows older when the clock jumps", "if not first then jump = now - known end",
     ""},
    {"a step of the store's clock is not noticed", "replid or stepped or", "replid or"},
    {"what a session held that has ended is forgotten with a step",
     "base = math.max(base, session.died)", ""},
    {"a time without gateways passes for a step", "if seen < 0 and field.apart and",
     "if false and"},
    {"a long time without calls passes for a step", "moves and seen >= 0 and elapsed / 9 or 0",
     "0"},
    {"a session ends by another one's time to live",
     "now - session.heard >= session.ttl then\n            end_session(session, session.heard + "
     "session.ttl)",
     "now - session.heard >= ttl then\n            end_session(session, session.heard + ttl)"},
    {"a call is carried out however late", "if late or ", "if "},
    {"nobody hears what others want", "if recalls or renumbered or gives then",
     "if renumbered then"},
    {"a gateway that is alone gets a part",
     "wanting == 1 and own.wants and room or math.min(room, own.part)",
     "math.min(room, math.floor(number / 4))"},
    {"what the store has not lost is as old as its own clock says",
     "    if not moves then\n        set_clock()", "    if false then\n        set_clock()"},
    {"a gateway's window by the clock is over for all when it is over for one",
     "if window > 0 then span = span + apart end", ""},
    {"an ended session is forgotten before all have heard of its end",
     "math.max(session.span, longest_ttl)", "session.span"},
    {"what a gateway has given up counts again if the store has lost that",
     "party.told_in < ordinal_of(session.told)", "false"},
    {"a session's span is that of its latest file",
     "own_span = math.max(own_span, tonumber(its_span))", ""},
    {"an epoch begins without those that died untold",
     "stepped or settled or (is_from_before(session) and session.told == '-')",
     "stepped or settled"},
    {"a session counts after what it held has aged",
     "elseif now < session.died + session.span then", "else"},
    {"a share counts for as long as the caller's burst says",
     "span = math.max(span, tonumber(its_span))", ""},
    {"a session that was joining has held nothing", "return session.confirms ~= 'n'",
     "return session.confirms ~= 'n' and session.state ~= 'j'"},
    {"a window that a wrong clock has told is never over",
     "steady >= tonumber(counter.window_at or steady) + apart", "false"},
    {"a window that a wrong clock has told hides those of others",
     "and (window >= lower or is_lower_past)", ""},
    {"an operator's word does not hold for those that have died untold", "session.confirms = 'n'",
     ""},
    {"an operator's word holds for what is lost later", "field.trusted ~= epoch and",
     "base > 0 and"},
    {"fencing numbers begin anew with the store", "math.max(fence, now * per_ms) + 1", "fence + 1"},
    {"fencing numbers do not follow the callers' clocks", "tonumber(ARGV[20]) * per_ms", "0"},
    {"a counter is kept for as long as its last caller says", "longer, 'GT')", "longer)"},
    {"a part of a bucket is one of any number", "return math.ceil(units * number / of)",
     "return units"},
    {"a fence that is not believed hides another one", ", tonumber(ARGV[21])})", "})"},
    {"a reserve counts as much as a need", "divide(true) and not divide(false)",
     "divide(true) and false"},
    {"the longest lease of others is not known",
     "span = math.max(span, tonumber(counter.span or 0))", ""},
};

// What lets all gateways have their turn.
inline constexpr Mutant fairness_mutants[] = {
    {"gateways that lack what they need take no turns", "if in_turns then take_turns() end",
     "in_turns = false"},
    {"a gateway whose requests cost more than its part takes no turns alone",
     "if sum >= most then return end", "if true then return end"},
    {"a unit given up for a waiting gateway is granted to another one", "held_by_others - reserved",
     "held_by_others"},
    {"a unit is passed on before it is used", "lock and 0 or 500", "0"},
};

// Safeguards that are needed while a hash slot moves to another node.
inline constexpr Mutant migration_mutants[] = {
    {"another node is not noticed", "field.replid ~= replid or stepped or",
     "not field.replid or stepped or"},
    {"a migration that is broken off is not noticed", "field.moving == '1' and not moving",
     "false"},
};

inline std::string mutated(const Mutant& mutant, bool in_cluster = false) {
    std::string script = store_script(in_cluster);
    const std::size_t at = script.find(mutant.from);
    if (at == std::string::npos || script.find(mutant.from, at + 1) != std::string::npos)
        throw std::runtime_error{"the script does not have it once: " + std::string{mutant.from}};
    return script.replace(at, mutant.from.size(), mutant.to);
}

} // namespace stint::shared
