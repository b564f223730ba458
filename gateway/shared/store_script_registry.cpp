// The first part: the clock of the registry, its sessions, and the epoch.
#include "shared/store_script_parts.hpp"

namespace stint::shared {

std::string_view store_script_registry() noexcept {
    return R"lua(
-- The form of what counters keep, and what calls mean. Raise it when either changes.
local protocol = '2'
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
-- within its time when it came into the epoch; n: it had never been active before; 0: neither is
-- known), time to live, how long what it has told of in the epoch counts after its end, and the
-- number of its latest beat.
-- Lines of other protocols begin like this, too, so that each knows which sessions of the others
-- live. A store that has lost its sessions hears from each caller the longest time to live.
local sessions, changed = {}, {}
local longest_ttl = math.max(ttl, op == 'beat' and tonumber(ARGV[16] or 0) or 0)
local function parse(id, packed)
    local gateway, heard, joined, knows, told, state, died, confirms, its_ttl, span, beats =
        packed:match('^(%S+) (%d+) (%d+) (%d+) (%S+) (%a) (%d+) (%w) (%d+) ?(%d*) ?(%d*)')
    return {id = id, gateway = gateway, heard = tonumber(heard), joined = tonumber(joined),
            knows = tonumber(knows), told = told, state = state, died = tonumber(died),
            confirms = confirms, ttl = tonumber(its_ttl), span = tonumber(span) or keep,
            beats = tonumber(beats) or 0}
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

-- True if the session may have held shares before the epoch. One that was joining when the store
-- noted what it has now, may have been active when the store lost the rest.
local function is_from_before(session)
    return session.confirms ~= 'n'
end

-- Gateways of another protocol would not see what these hold. So they are refused while one of these
-- is heard, and begin an epoch once none is: in it, nobody vouches for what was granted before.
local foreign = not first and field.protocol ~= protocol
if foreign then
    for _, session in pairs(sessions) do
        if session.state ~= 'd' and now - session.heard < session.ttl then
            return {'protocol', now, field.epoch or '0', field.protocol or '0', protocol}
        end
    end
    for _, session in pairs(sessions) do
        session.state, session.died = 'd', session.state == 'd' and session.died or session.heard + session.ttl
        save(session)
    end
end
if first or foreign then write.protocol = protocol end

-- The wall clocks of gateways may differ by a second. So much later by the registry's clock, which
-- may run a tenth faster and gain the slack of each step, all have passed what one has passed.
local apart = 1100 + 2 * math.min(250, longest_ttl / 20)

-- While its slot moves to another node of a Cluster, counters that have moved are not here; if that
-- is broken off, they are lost. A key that does not exist tells: it might be at the other node.
local moving = in_cluster and type(redis.pcall('HLEN', registry .. ':none')) == 'table'
local settled = field.moving == '1' and not moving
if moving ~= (field.moving == '1') then write.moving = moving and '1' or '0' end

-- An epoch ends when the store may have lost what was written: another primary, a restart, a flush,
-- a step of its clock, the end of a migration; and when the gateways of another protocol have ended.
-- Before `since` it may have granted what it does not know of. A learned epoch knows all that the
-- one before knew, which is all that was granted from `base` on. A caller that is within its time
-- knows the base: nothing was granted without it. How long ago that was it tells by its own clock:
-- that of a store which has lost everything begins anew.
local function known_from()
    local age = math.max(seen + elapsed - known_base, 0)
    -- One that has known the base for less cannot know who came back since then, in epochs that are
    -- lost: who was heard until now lives for two thirds of a time to live.
    if age < longest_ttl then age = math.min(age, longest_ttl / 8) end
    return math.floor(now - age)
end
local replid = redis.call('INFO', 'replication'):match('master_replid:(%x+)')
local epoch, since, base = field.epoch, tonumber(field.since or 0) + jump, tonumber(field.base or 0) + jump
if jump > 0 then
    write.since, write.base = string.format('%d', since), string.format('%d', base)
end
local function ordinal_of(name) return tonumber(name:match('^%d+')) or 0 end
local ordinal, known_ordinal = ordinal_of(field.epoch or '0'), ordinal_of(known_epoch)
local lost = known_epoch ~= epoch and known_ordinal >= ordinal and known_ordinal > 0 -- the caller's
if field.replid ~= replid or stepped or settled or foreign or lost then
    if known_base >= 0 and not foreign then
        base = known_from()
    elseif foreign or not field.epoch then
        base = now
    elseif field.learned ~= field.epoch then
        base = since
    end
    -- The latest epochs of this store, each with its last version of the member list: a caller from
    -- another one, or with a later list, knows of what the store has lost.
    if epoch then
        local latest = epoch .. ':' .. (field.members or '0')
        field.past = (latest .. ' ' .. (field.past or '')):match('^%S+ ?%S* ?%S* ?%S*')
        write.past = field.past
    end
    ordinal = math.max(ordinal, known_ordinal) + 1
    epoch = string.format('%d-%d', ordinal, wall)
    if first then field.born, write.born = epoch, epoch end
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
            session.span = 0 -- until it tells again
            save(session)
        elseif stepped or settled or (is_from_before(session) and session.told == '-') then
            -- nobody tells what it had used
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
                     state = state, died = 0, confirms = '0', ttl = longest_ttl, span = 0,
                     beats = sessions[id] and sessions[id].beats or 0}
    sessions[id] = session
    save(session)
    return session
end

-- The session is dead, for good, from `died` on. How long it matters what it held before the epoch,
-- nobody knows unless it has told all of that again.
local function end_session(session, died)
    session.state, session.died = 'd', died
    if is_from_before(session) and session.told ~= epoch then session.span = keep end
    save(session)
end

-- A session that was silent for its time to live is dead. What it held ages on; then it is
-- forgotten, as every call reads all of them; but not before all others have heard of its end, who
-- else would tell that it lives.
local function end_silent_sessions()
    for _, session in pairs(sessions) do
        if session.state ~= 'd' and now - session.heard >= session.ttl then
            end_session(session, session.heard + session.ttl)
        elseif session.state == 'd' and now - session.died >= math.max(session.span, longest_ttl) then
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

-- The epoch is learned when all sessions from before it that live have told their shares again.
local function learn()
    if field.learned == epoch then return end
    local confirmed = false
    for _, session in pairs(sessions) do
        if is_from_before(session) and session.state ~= 'd' then
            if session.told ~= epoch or session.confirms ~= '1' then return end
            confirmed = true
        end
    end
    if confirmed then field.learned, write.learned = epoch, epoch end
end

-- Of counters with a longer span the store gives nothing: it may have forgotten what was used of them.
local function quiet_span()
    local learned = field.learned == epoch
    local longest = now - (learned and base or since) - longest_ttl
    -- A session that is heard, and whose shares are not, still uses them, and has used them until its
    -- end; also one that comes into an epoch that was learned without it.
    for _, session in pairs(sessions) do
        local untold = is_from_before(session) and session.told ~= epoch
        if untold and session.state ~= 'd' then return -1 end
        if untold and session.died >= since then longest = math.min(longest, now - session.died) end
    end
    return longest
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
            flat[#flat + 1] = string.format('%s %d %d %d %s %s %d %s %d %d %d', s.gateway, s.heard,
                                            s.joined, s.knows, s.told, s.state, s.died, s.confirms,
                                            s.ttl, s.span, s.beats)
        end
    end
    for i = 1, #flat, 1000 do -- there may be many sessions; unpack() has a bound
        redis.call('HSET', registry, unpack(flat, i, math.min(i + 999, #flat)))
    end
    if #flat > 0 then redis.call('PEXPIRE', registry, 2 * keep) end
end

)lua";
}

} // namespace stint::shared
