#include "shared/store_script.hpp"

namespace stint::shared {
namespace {

constexpr std::string_view text = R"lua(
local op, me, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])
local known_epoch, seen, elapsed = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local known_base = tonumber(ARGV[7])
local registry = KEYS[1]
local slack = math.min(250, ttl / 20)
local keep = 40 * 24 * 3600 * 1000

local function pairs_of(key)
    local flat, map = redis.call('HGETALL', key), {}
    for i = 1, #flat, 2 do map[flat[i]] = flat[i + 1] end
    return map
end

-- The registry's clock follows TIME, but runs on over a step of it: it never goes back, and never
-- further ahead than the caller's own clock allows. A caller that has seen no time yet, or one long
-- past, does not move it. If the caller has seen a later time than the registry can know, the store
-- has lost writes or begun anew: the clock jumps, and what the registry has noted jumps with it, so
-- that nothing grows older by the jump.
local field = pairs_of(registry)
local time = redis.call('TIME')
local wall = time[1] * 1000 + math.floor(time[2] / 1000)
local clock = tonumber(field.clock or wall)
local now = wall + tonumber(field.shift or 0)
local first = field.clock == nil
local jump = 0
local write = {}
local moves = first or (seen >= 0 and seen + elapsed + slack >= clock)
if seen >= 0 and moves then
    local known = math.max(math.min(now, seen + elapsed + slack), clock)
    now = math.max(known, seen)
    if not first then jump = now - known end
    if first and seen + elapsed > now then now = seen + elapsed end
elseif not first then
    now = math.max(math.min(now, clock + (seen < 0 and slack or 0)), clock)
end
local shift = now - wall
local function set_clock()
    shift = now - wall
    write.clock = string.format('%d', now)
    write.shift = string.format('%d', shift)
end
if moves then set_clock() end
local jumped = tonumber(field.jumped or 0) + jump -- in all
if jump > 0 then write.jumped = string.format('%d', jumped) end

-- Keys expire by TIME. A step forward may have ended counters that are in use, so it ends the epoch;
-- several small ones do as well, as the least time that a counter is kept after a call is longer than
-- `safe_step`. Callers tell nine tenths of the time that has passed (`elapsed`), so that TIME may be
-- ahead by the tenth without a step. A process that has just started cannot tell a step from a time
-- in which nobody called: that it was the latter, it knows by its own wall clock, if that is as far
-- from TIME as the clock of the gateway that has called last.
local safe_step, same = 30000, 5000
local own_wall = op == 'beat' and tonumber(ARGV[14]) or 0
local tenth = moves and seen >= 0 and elapsed / 9 or 0
local highest = math.max(tonumber(field.highest or shift) - tenth, shift)
if seen < 0 and field.apart and math.abs(wall - own_wall - tonumber(field.apart)) < same then
    highest = shift
end
local stepped = not first and shift < highest - safe_step
if stepped then highest = shift end
if moves or stepped or seen < 0 then write.highest = string.format('%d', highest) end
if op == 'beat' and seen >= 0 and shift >= highest - same then
    write.apart = string.format('%d', wall - own_wall)
end

-- Sessions: gateway, last beat, joined (version of the member list), knows (that version), the
-- epoch that it has told all its shares in, state (joining, active, dead), died, confirms (1: it was
-- within its time when it came into the epoch; n: it had never been active before), time to live.
local sessions, changed, longest_ttl = {}, {}, ttl
local function parse(id, packed)
    local gateway, heard, joined, knows, told, state, died, confirms, its_ttl =
        packed:match('^(%S+) (%d+) (%d+) (%d+) (%S+) (%a) (%d+) (%w) (%d+)$')
    return {id = id, gateway = gateway, heard = tonumber(heard), joined = tonumber(joined),
            knows = tonumber(knows), told = told, state = state, died = tonumber(died),
            confirms = confirms, ttl = tonumber(its_ttl)}
end
local function save(session)
    changed[session.id] = session
end
for name, packed in pairs(field) do
    if name:sub(1, 2) == 's:' then
        local session = parse(name:sub(3), packed)
        sessions[session.id] = session
        longest_ttl = math.max(longest_ttl, session.state ~= 'd' and session.ttl or 0)
        if jump > 0 then
            session.heard, session.died = session.heard + jump, session.died + jump
            save(session)
        end
    end
end

-- The wall clocks of gateways may differ by a second. So much later by the registry's clock, which
-- may run a tenth faster and gain the slack of each step, all have passed what one has passed.
local apart = 1100 + 2 * math.min(250, longest_ttl / 20)

-- While its slot moves to another node of a Cluster, counters that have moved are not here; if that
-- is broken off, they are lost. A key that does not exist tells: it might be at the other node.
local moving = in_cluster and type(redis.pcall('HLEN', registry .. ':none')) == 'table'
local settled = field.moving == '1' and not moving
if moving ~= (field.moving == '1') then write.moving = moving and '1' or '0' end

-- An epoch ends when the store may have lost what was written: another primary, a restart, a flush,
-- a step of its clock, the end of a migration.
-- Before `since` it may have granted what it does not know of. A learned epoch knows all that the
-- one before knew, which is all that was granted from `base` on. A caller that is within its time
-- knows the base: nothing was granted without it. How long ago that was it tells by its own clock:
-- that of a store which has lost everything begins anew.
local function known_from()
    return now - math.max(seen + elapsed - known_base, 0)
end
local replid = redis.call('INFO', 'replication'):match('master_replid:(%x+)')
local epoch, since, base = field.epoch, tonumber(field.since or 0) + jump, tonumber(field.base or 0) + jump
if jump > 0 then
    write.since, write.base = string.format('%d', since), string.format('%d', base)
end
local ordinal = tonumber((field.epoch or '0'):match('^%d+'))
local known_ordinal = tonumber(known_epoch:match('^%d+'))
if field.replid ~= replid or stepped or settled or (known_epoch ~= epoch and known_ordinal >= ordinal and known_ordinal > 0) then
    if known_base >= 0 then
        base = known_from()
    elseif not field.epoch then
        base = now
    elseif field.learned ~= field.epoch then
        base = since
    end
    ordinal = math.max(ordinal, known_ordinal) + 1
    epoch = string.format('%d-%d', ordinal, wall)
    since = now
    -- Only a caller that has seen a later time can tell how old the remaining data is. Until one
    -- calls, the clock goes on from where it was.
    if not moves then
        set_clock()
        write.highest = write.shift
    end
    write.replid, write.epoch = replid, epoch
    write.learned = '-'
    field.learned = '-'
    for _, session in pairs(sessions) do
        if session.state ~= 'd' then
            session.heard, session.knows, session.told, session.confirms = now, 0, '-', '0'
            save(session)
        elseif stepped or settled then -- nobody tells again what it had used
            base = math.max(base, session.died)
        end
    end
    write.since, write.base = string.format('%d', since), string.format('%d', base)
end

local members = tonumber(field.members or 0)
local function add(id, gateway, state)
    members = members + 1
    write.members = string.format('%d', members)
    local session = {id = id, gateway = gateway, heard = now, joined = members, knows = 0, told = '-',
                     state = state, died = 0, confirms = '0', ttl = longest_ttl}
    sessions[id] = session
    save(session)
    return session
end

-- A session that was silent for its time to live is dead, for good. What it held ages on.
local function end_silent_sessions()
    for _, session in pairs(sessions) do
        if session.state ~= 'd' and now - session.heard >= session.ttl then
            session.state, session.died = 'd', session.heard + session.ttl
            save(session)
        elseif session.state == 'd' and now - session.died >= keep then
            sessions[session.id] = nil
            redis.call('HDEL', registry, 's:' .. session.id)
        end
    end
end

-- A session may hold shares once every other one knows of it: what the store forgets, they tell.
local function activate()
    for _, session in pairs(sessions) do
        if session.state == 'j' then
            local all = true
            for _, other in pairs(sessions) do
                if other.state ~= 'd' and other.id ~= session.id and other.knows < session.joined then
                    all = false
                end
            end
            if all then
                session.state = 'a'
                save(session)
            end
        end
    end
end

-- True if the session may have held shares before the epoch. One that was joining when the store
-- noted what it has now, may have been active when the store lost the rest.
local function is_from_before(session)
    return session.confirms ~= 'n'
end

-- The epoch is learned when all sessions from before it have told their shares again.
local function learn()
    if field.learned == epoch then return end
    local confirmed = false
    for _, session in pairs(sessions) do
        if is_from_before(session) and session.state ~= 'd' then
            if session.told ~= epoch or session.confirms ~= '1' then return end
            confirmed = true
        elseif is_from_before(session) and session.died > since and session.told ~= epoch then
            return
        end
    end
    if confirmed then
        field.learned, write.learned = epoch, epoch
    end
end

local function finish()
    local flat = {}
    for name, value in pairs(write) do
        flat[#flat + 1] = name
        flat[#flat + 1] = value
    end
    for id, s in pairs(changed) do
        if sessions[id] then
            flat[#flat + 1] = 's:' .. id
            flat[#flat + 1] = string.format('%s %d %d %d %s %s %d %s %d', s.gateway, s.heard, s.joined,
                                            s.knows, s.told, s.state, s.died, s.confirms, s.ttl)
        end
    end
    for i = 1, #flat, 1000 do -- there may be many sessions; unpack() has a bound
        redis.call('HSET', registry, unpack(flat, i, math.min(i + 999, #flat)))
    end
    if #flat > 0 then redis.call('PEXPIRE', registry, 2 * keep) end
end

if op == 'beat' then
    -- ARGV: ..., gateway, knows, told, confirms, state, members as "id:gateway id:gateway", the
    -- caller's wall clock.
    local gateway, knows, told, confirms, state = ARGV[8], tonumber(ARGV[9]), ARGV[10], ARGV[11], ARGV[12]
    end_silent_sessions()
    local mine = sessions[me]
    if mine and mine.state == 'd' then
        finish()
        return {'dead', now, epoch}
    end
    if not mine then
        for _, other in pairs(sessions) do
            if other.gateway == gateway and other.state ~= 'd' and now - other.heard < ttl / 3 then
                finish()
                return {'taken', now, epoch, other.id}
            end
        end
        mine = add(me, gateway, state)
    end
    for id, of in ARGV[13]:gmatch('(%S+):(%S+)') do
        if not sessions[id] then add(id, of, 'a') end
    end
    mine.heard, mine.ttl = now, ttl
    if known_epoch == epoch then
        mine.knows = math.max(mine.knows, knows)
        mine.told = told
    else
        mine.confirms = confirms
        if confirms == '1' then mine.state = 'a' end
        -- It vouches for what was granted since its own base only: it may have begun in a store that
        -- had just forgotten all.
        local from = known_from()
        if confirms == '1' and field.learned ~= epoch and from > base then
            base = from
            write.base = string.format('%d', base)
        end
    end
    save(mine)
    activate()
    learn()
    finish()
    -- What a session held that has ended only this store knows: another one has to wait for it.
    -- Nor does a session know what was granted before an epoch into which it has not come within its
    -- time, before all others have told: it cannot vouch for that, if this store is lost as well.
    local vouches = field.learned == epoch or mine.confirms == '1'
    local list, known = {}, vouches and base or math.max(base, since)
    for id, session in pairs(sessions) do
        if session.state ~= 'd' then
            list[#list + 1] = id .. ':' .. session.gateway
        else
            known = math.max(known, session.died)
        end
    end
    local learned = field.learned == epoch and 1 or 0
    return {'ok', now, epoch, mine.state, members, learned, known, table.concat(list, ' ')}
end

-- Pauses of cool-downs: a field for each, as "end left status". They need no session.
local most_pauses, longest_pause = 10000, 366 * 24 * 3600 * 1000
local function end_and_status(packed)
    local ends, left, status = (packed or ''):match('^(%d+) (%d+) (%d+)$')
    if not ends then return nil end
    -- Whatever has happened to the clock since, the rest is no longer than it was.
    return math.min(tonumber(ends), now + tonumber(left)), status
end
if op == 'pauses' then
    local list = {}
    for name, packed in pairs(pairs_of(KEYS[2])) do
        local ends, status = end_and_status(packed)
        if ends and ends > now then
            list[#list + 1] = string.format('%s:%d:%s', name, ends - now, status)
        end
    end
    finish()
    return {'ok', now, epoch, table.concat(list, ' ')}
end
if op == 'pause' then
    -- ARGV: ..., "name:left:status name:left:status". Those that are over are removed once in a
    -- while.
    local key, news, last = KEYS[2], {}, 60000
    local count, swept = redis.call('HLEN', key), tonumber(redis.call('HGET', KEYS[2], 'swept') or 0)
    local fresh, since = count == 0, now - swept
    if since < 0 or since >= 10000 or (count > most_pauses and since >= 1000) then
        for name, packed in pairs(pairs_of(key)) do
            local ends = end_and_status(packed)
            if ends and ends <= now then redis.call('HDEL', key, name) end
        end
        redis.call('HSET', key, 'swept', string.format('%d', now))
        count = redis.call('HLEN', key)
    end
    for name, left, status in ARGV[8]:gmatch('(%x+):(%d+):(%d+)') do
        left = math.min(tonumber(left), longest_pause)
        local known = end_and_status(redis.call('HGET', key, name) or '')
        -- What is told again is a little later each time.
        if not known or known <= now or now + left > known + 100 then
            if known or count <= most_pauses then
                redis.call('HSET', key, name, string.format('%d %d %s', now + left, left, status))
                count = count + (known and 0 or 1)
                last = math.max(last, left + 60000)
            end
            news[#news + 1] = string.format('%s:%d:%s', name, left, status)
        end
    end
    last = string.format('%d', last)
    if fresh then redis.call('PEXPIRE', key, last) else redis.call('PEXPIRE', key, last, 'GT') end
    if #news > 0 then
        redis.call('PUBLISH', registry, 'pause ' .. me .. ' ' .. table.concat(news, ' '))
    end
    finish()
    return {'ok', now, epoch, #news}
end

local mine = sessions[me]
if known_epoch ~= epoch or not mine or mine.state == 'd' then
    finish()
    return {known_epoch ~= epoch and 'epoch' or not mine and 'unknown' or 'dead', now, epoch}
end

if op == 'leave' then
    mine.state, mine.died = 'd', now
    save(mine)
    finish()
    return {'ok', now, epoch}
end

-- An operator says that no gateway holds what this store does not know of.
if op == 'trust' then
    field.learned, write.learned, write.base, write.trusted = epoch, epoch, '0', epoch
    finish()
    return {'ok', now, epoch}
end

-- sync. ARGV: ..., seq, hold, want, number, propose, span, window, life, timeout, need; of a lock also
-- the caller's latest fencing number, which a wrong clock may have begun, 1 if it needs a block of
-- them, its wall clock, and the highest number that it had of the store; of a token bucket "parts",
-- and the number that `hold`, `want` and `need` are parts of. need: the least part that admits what
-- the gateway's clients ask for; 0: nobody asks, and what the gateway wants is a reserve.
local seq, hold, want = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local number, propose, span = tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])
local window, life, need = tonumber(ARGV[14]), tonumber(ARGV[15]), tonumber(ARGV[17])
local counter = pairs_of(KEYS[2])
local steady = now - jumped -- what counters note does not jump with the clock

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
local known_since = field.learned == epoch and base or since
local quiet = now >= known_since + longest_ttl + span
-- A session that is heard, and whose shares are not, still uses them.
if quiet and field.learned ~= epoch then
    for _, session in pairs(sessions) do
        local untold = is_from_before(session) and session.told ~= epoch
        if untold and session.state ~= 'd' then quiet = false end
        if untold and session.died > since and now < session.died + span then quiet = false end
    end
end

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
for id, packed in pairs(counter) do
    local party = {id = id}
    local held, wanted, needed, its_seq, turn, of = packed:match('^(%d+):(%d+):(%d+):(%d+):(%d+):(%d+)$')
    if held then
        of, party.seq, party.turn = tonumber(of), tonumber(its_seq), tonumber(turn)
        party.hold, party.want = in_parts(tonumber(held), of), in_parts(tonumber(wanted), of)
        party.need = in_parts(tonumber(needed), of)
        -- A gateway that waits for a lock asks again within a second: else nobody waits for it.
        if lock and of > 0 and now - of > patience then
            party.want, party.need = math.min(party.want, party.hold), 0
        end
        local session = sessions[id]
        if id == me then
            last = party
        elseif session and session.state ~= 'd' then
            held_by_others = held_by_others + party.hold
            parties[#parties + 1] = party
        elseif (session and now >= session.died + span) or (not session and quiet) then
            redis.call('HDEL', KEYS[2], id)
        else
            held_by_others = held_by_others + party.hold
        end
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

-- Where the parts of several are too small, those take turns: as many of them as there is enough for
-- have what they need. Who has got it lately keeps it for `grace`, as its clients may have to come
-- again for it; those of a lock wait. Then come those that lack it, in the order in which they began
-- to; then the others that have it, the latest first. A turn is the time at which it began.
local grace, turn, reserved = lock and 0 or 500, own.turn, 0 -- for those before this one
local function has_enough(party) return party.hold >= math.min(party.need, number) end
local function rank(party)
    if not has_enough(party) then return 2 end
    return steady - party.turn < grace and 1 or 3
end
local function begin_turn()
    turns = math.max(turns + 1, steady)
    own.turn = turns
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
if not divide(true) and not divide(false) and #lacking > 1 then take_turns() end
-- What nobody wants goes to all alike.
local left = 0
for _, party in ipairs(parties) do
    if party.wants then left = left + 1 end
end
for _, party in ipairs(parties) do
    if party.wants then
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
if #lacking > 1 and not has_enough(own) and grant >= math.min(need, number) then begin_turn() end
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
    local of = lock and now or parts and number or 0 -- when it was heard; what it holds parts of
    redis.call('HSET', KEYS[2], me, string.format('%d:%d:%d:%d:%d:%d', grant, want, need, seq, own.turn, of))
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

} // namespace

std::string store_script(bool in_cluster) {
    std::string script{in_cluster ? "local in_cluster = true" : "local in_cluster = false"};
    return script.append(text);
}

} // namespace stint::shared
