// The third part: a call about the shares of one counter.
#include "shared/store_script_parts.hpp"

namespace stint::shared {

std::string_view store_script_shares() noexcept {
    return R"lua(
-- sync. ARGV: ..., seq, hold, want, number, propose, span, window, life, timeout, need; of a lock also
-- the caller's latest fencing number, which a wrong clock may have begun, 1 if it needs a block of
-- them, its wall clock, and the highest number that it had of the store; of a token bucket "parts",
-- and the number that `hold`, `want` and `need` are parts of. need: the least part that admits what
-- the gateway's clients ask for; 0: nobody asks, and what the gateway wants is a reserve.
local seq, hold, want = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local number, propose, own_span = tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])
local window, life, need = tonumber(ARGV[14]), tonumber(ARGV[15]), tonumber(ARGV[17])
local counter = pairs_of(KEYS[2])
local steady = now - jumped -- what counters note does not jump with the clock

-- What a session has told last of the counter: its share, what it wants and needs, the call, its
-- turn; for a lock when that was, for a token bucket the number that it holds parts of; its span, and
-- the epoch in which it has told. If its file has or had a larger burst, its span is longer, and what
-- it has used counts for so long, whoever asks.
local entries, span = {}, own_span
for id, packed in pairs(counter) do
    local hold, want, need, its_seq, turn, of, its_span, told_in =
        packed:match('^(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+)$')
    if hold then
        entries[id] = {id = id, hold = tonumber(hold), want = tonumber(want), need = tonumber(need),
                       seq = tonumber(its_seq), turn = tonumber(turn), of = tonumber(of), told_in = tonumber(told_in)}
        span = math.max(span, tonumber(its_span))
        if id == me then own_span = math.max(own_span, tonumber(its_span)) end
    end
end

-- A lock is a counter whose slots are leased: what a dead session held is others' when the longest
-- lease of any gateway is over. Fencing numbers follow the registry's clock, which calls cannot
-- outrun; so they rise also if the store has lost what it gave out. They follow the callers' clocks
-- as well: one that is ahead may have lifted what was lost. What a caller knows counts, too; but
-- nothing that no clock can have brought.
local known_fence = tonumber(ARGV[18]) or -1
local lock, block, per_ms, year = known_fence >= 0, 256, 2048, 366 * 24 * 3600 * 1000
-- A caller that does not know yet that the counter is a lock's must not free what is leased.
span = math.max(span, tonumber(counter.span or 0))
local fence, turns, patience = tonumber(counter.fence or 0), tonumber(counter.turns or 0), 3000
-- The counter is kept for as long as any gateway has asked for: with a larger burst in its file a
-- gateway needs it for longer, and tells it again less often.
local function keep_counter()
    local longer = string.format('%d', life)
    if next(counter) then
        redis.call('PEXPIRE', KEYS[2], longer, 'GT')
    else
        redis.call('PEXPIRE', KEYS[2], longer)
    end
end
if lock then
    life = math.max(life, 2 * (span + longest_ttl) + 60000)
    for _, told in ipairs({known_fence, tonumber(ARGV[20]) * per_ms, tonumber(ARGV[21])}) do
        if told < (now + year) * per_ms then fence = math.max(fence, told) end
    end
    redis.call('HSET', KEYS[2], 'span', string.format('%d', span), 'fence', string.format('%d', fence))
    keep_counter()
end
-- TIME may run faster than the clock by which a holder was told its end: slewed by 8.3 %, for
-- example. Limits tell a span that has a margin already.
local told_span = span
if lock or counter.span then span = math.floor(span * 1.1) + 250 end
-- Another gateway may still be in the window by the clock that its holder had used.
if window > 0 then span = span + apart end
if mine.span < span then
    mine.span = math.min(span, keep)
    save(mine)
end
local quiet = span <= quiet_span()

-- The number that was proposed last holds for all gateways.
local renumbers = not counter.number or (propose == 1 and tonumber(counter.number) ~= number)
if not renumbers then number = tonumber(counter.number) end
-- Units of a token bucket are parts of the number that their holder knows. Those of another one are
-- as many of this one, rounded up.
local parts = ARGV[18] == 'parts' and tonumber(ARGV[19])
local function in_parts(units, of)
    if not parts or of == 0 or of == number then return units end
    return math.ceil(units * number / of)
end
hold, want, need = in_parts(hold, parts), in_parts(want, parts), in_parts(need, parts)

local last, held_by_others, parties = nil, 0, {}
for id, party in pairs(entries) do
    local of, session = party.of, sessions[id]
    party.hold, party.want, party.need = in_parts(party.hold, of), in_parts(party.want, of), in_parts(party.need, of)
    -- A gateway that is not heard may be gone, and one that waits for a lock asks again within a
    -- second: else nobody waits there.
    local silent = session and id ~= me and now - session.heard > patience
    if silent or (lock and of > 0 and steady - of > patience) then
        party.want, party.need = math.min(party.want, party.hold), 0
    end
    -- What a session has given up is back if the store has lost that. In a later epoch it tells all
    -- that it holds, but not this.
    local returned = session and party.told_in < ordinal_of(session.told)
    if id == me then
        last = party
    elseif returned or (session and session.state == 'd' and now >= session.died + span) or (not session and quiet) then
        redis.call('HDEL', KEYS[2], id)
    else
        held_by_others = held_by_others + party.hold
        if session and session.state ~= 'd' then parties[#parties + 1] = party end
    end
end
-- A call that its gateway has given up may come late, behind a newer one on another connection. If
-- the newer one has given all up, nothing else tells that this one is old.
local late = now - seen - elapsed > tonumber(ARGV[16]) + elapsed / 2
if late or (last and seq <= last.seq) then
    finish()
    return {'old', now, epoch}
end

local revision, renumbered = tonumber(counter.revision or 0), renumbers and counter.number
if renumbers then
    revision = revision + 1
    redis.call('HSET', KEYS[2], 'number', number, 'revision', revision)
end

-- Max-min fair parts of the number for all that want some. False if one of them is too small for
-- what its gateway needs. reserves: those that need nothing get a part as well.
local own = {id = me, hold = hold, want = want, need = need, turn = last and last.turn or 0}
parties[#parties + 1] = own
table.sort(parties, function(a, b)
    if a.want ~= b.want then return a.want < b.want end
    return a.id < b.id
end)
local rest, wanting, lacking = number, 0, {}
local function divide(reserves)
    rest, wanting, lacking = number, 0, {}
    for _, party in ipairs(parties) do
        party.part, party.wants = 0, party.want > 0 and (reserves or party.need > 0)
        if party.wants then wanting = wanting + 1 end
    end
    local whole, left = number, wanting
    for _, party in ipairs(parties) do
        if party.wants then
            local fair = whole / left
            party.part = math.floor(math.min(party.want, fair))
            whole, left, rest = whole - math.min(party.want, fair), left - 1, rest - party.part
            if fair < math.min(party.need, number) then lacking[#lacking + 1] = party end
        end
    end
    return #lacking == 0
end

-- Where parts are too small, their gateways take turns: as many of them as there is enough for have
-- what they need. If all their parts together are too little for one of them, all gateways that need
-- anything take turns. Who has got it lately keeps it for `grace`, as its clients may have to come
-- again for it; those of a lock wait. Then come those that lack it, in the order in which they began
-- to; then the others that have it, the latest first. A turn is the time at which it began.
local grace, turn, reserved = lock and 0 or 500, own.turn, 0 -- for those before this one
local function has_enough(party) return party.hold >= math.min(party.need, number) end
local function rank(party)
    if not has_enough(party) then return 2 end
    return party.turn <= steady and steady - party.turn < grace and 1 or 3
end
local function begin_turn()
    turns = math.max(turns + 1, steady)
    own.turn = turns
end
local function widen_turns()
    local sum, most = rest, 0
    for _, party in ipairs(lacking) do
        sum, most = sum + party.part, math.max(most, math.min(party.need, number))
    end
    if sum >= most then return end
    lacking, rest = {}, number
    for _, party in ipairs(parties) do
        if party.wants then
            party.part = 0
            lacking[#lacking + 1] = party
        end
    end
end
local function take_turns()
    local lacked = last and last.need > 0 and last.hold < math.min(last.need, number)
    if not has_enough(own) and (own.turn == 0 or not lacked) then begin_turn() end
    table.sort(lacking, function(a, b)
        if rank(a) ~= rank(b) then return rank(a) < rank(b) end
        if a.turn ~= b.turn then return (a.turn < b.turn) ~= (rank(a) == 3) end
        return a.id < b.id
    end)
    for _, party in ipairs(lacking) do rest = rest + party.part end
    local before = true
    for _, party in ipairs(lacking) do
        local needed = math.min(party.need, number)
        party.part = rest >= needed and needed or 0
        party.wants = party.part > 0
        rest, before = rest - party.part, before and party ~= own
        if before then reserved = reserved + math.max(party.part - party.hold, 0) end
    end
    if before then reserved = 0 end
end
if not divide(true) and not divide(false) then widen_turns() end
local in_turns = #lacking > 1
if in_turns then take_turns() end
-- What nobody wants goes to all alike; where they take turns, to those that can use the least of it.
local left, least = 0, number
for _, party in ipairs(parties) do
    if party.wants and in_turns then least = math.min(least, party.need) end
end
local function gets_more(party) return party.wants and (not in_turns or party.need <= least) end
for _, party in ipairs(parties) do
    if gets_more(party) then left = left + 1 end
end
for _, party in ipairs(parties) do
    if gets_more(party) then
        local more = math.floor(rest / left)
        party.part = party.part + more
        rest, left = rest - more, left - 1
    end
end

-- The latest window in which a gateway has given up a part, unless all have passed it.
local given_up = tonumber(counter.window or -1)
local is_past = steady >= tonumber(counter.window_at or steady) + apart
-- A wrong clock may have told that one. So a lower window that is told meanwhile is noted as well.
local lower = tonumber(counter.lower or -1)
local is_lower_past = steady >= tonumber(counter.lower_at or steady) + apart
local grant = hold
if quiet and mine.state == 'a' and want > 0 then
    local room = number - held_by_others - reserved
    local most = wanting == 1 and own.wants and room or math.min(room, own.part)
    -- What a gateway has used of a window it gives up in a later one, by its own wall clock. Another
    -- one, whose clock has not come so far, may not fill the former window a second time. A store
    -- that has forgotten which window that was waits until it is over for all, unless an operator
    -- says that there is nothing of that kind.
    local forgotten = window > 0 and field.trusted ~= epoch and now < since + apart
    local open = (window >= given_up or is_past) and (window >= lower or is_lower_past)
    if open and not forgotten then grant = math.max(hold, most) end
end
-- After a lower number each gives up what is beyond its part.
local others_lack, wanted = hold + held_by_others > number and 1 or 0, 0
for _, party in ipairs(parties) do
    if party.id ~= me and party.hold < math.min(party.want, party.part) then others_lack = 1 end
    if party.id ~= me and party.hold > party.part then wanted = 1 end
end
local lacks = grant < math.min(want, own.part)

if (not last or hold < last.hold) and window > 0 then
    if window > given_up or is_past then
        redis.call('HSET', KEYS[2], 'window', window, 'window_at', string.format('%d', steady))
    elseif window < given_up and (window > lower or is_lower_past) then
        redis.call('HSET', KEYS[2], 'lower', window, 'lower_at', string.format('%d', steady))
    end
end
if in_turns and not has_enough(own) and grant >= math.min(need, number) then begin_turn() end
if own.turn ~= turn then redis.call('HSET', KEYS[2], 'turns', string.format('%d', turns)) end
local first_fence, fences = 0, 0
if lock then
    if grant > 0 and (hold == 0 or ARGV[19] == '1') then
        first_fence = math.max(fence, now * per_ms) + 1
        if first_fence + block < 2 ^ 53 then -- beyond that, numbers are not exact
            fences, fence = block, first_fence + block - 1
        end
    end
    redis.call('HSET', KEYS[2], 'fence', string.format('%d', fence))
end
if grant == 0 and want == 0 then
    redis.call('HDEL', KEYS[2], me)
else
    local of = lock and steady or parts and number or 0
    redis.call('HSET', KEYS[2], me, string.format('%d:%d:%d:%d:%d:%d:%d:%d', grant, want, need, seq, own.turn, of,
                                                  own_span, ordinal))
end
keep_counter()
local recalls = lacks and wanted == 1
local gives = others_lack == 1 and hold < (last and last.hold or 0)
if recalls or renumbered or gives then
    redis.call('PUBLISH', registry, (gives and 'gives ' or 'wants ') .. me .. ' ' .. KEYS[2])
end
finish()
return {'ok', now, epoch, grant, own.part, others_lack, held_by_others, number, revision, mine.state, quiet and 1 or 0,
        recalls and 1 or 0, first_fence, fences, fence, told_span}
)lua";
}

} // namespace stint::shared
