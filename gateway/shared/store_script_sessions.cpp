// The second part: calls about sessions, and about the pauses of cool-downs.
#include "shared/store_script_parts.hpp"

namespace stint::shared {

std::string_view store_script_sessions() noexcept {
    return R"lua(
-- "edge-1~2" is a process that replaces edge-1 and edge-1~1; both live for a while.
local function process_of(gateway)
    local name, number = gateway:match('^(.+)~(%d+)$')
    return name or gateway, tonumber(number or 0)
end

if op == 'beat' then
    -- ARGV: ..., gateway, knows, told, confirms, state, members as "id:gateway id:gateway", the
    -- caller's wall clock, number of the beat, the longest time to live that it has been told, and
    -- whether it had never been active when it came into the epoch that it knows.
    local gateway, knows, told, confirms, state = ARGV[8], tonumber(ARGV[9]), ARGV[10], ARGV[11], ARGV[12]
    end_silent_sessions()
    local mine = sessions[me]
    if mine and mine.state == 'd' then
        finish()
        return {'dead', now, epoch}
    end
    -- One that was forgotten is dead, too: in the epoch that it knows, none is lost. In a later one, if
    -- its clock has stood still: then it does not know how old it is. A registry that has just begun
    -- cannot tell.
    local stood_still = field.born ~= epoch and now - seen - elapsed >= ttl
    if not mine and seen >= 0 and (known_epoch == epoch or stood_still) then
        finish()
        return {'dead', now, epoch}
    end
    -- A caller that knows this epoch from before its session was added had been given up and forgotten, and
    -- a late beat has added it again. Its shares were passed on.
    if mine and known_epoch == epoch and knows < mine.joined then
        end_session(mine, now)
        finish()
        return {'dead', now, epoch}
    end
    local is_new = not mine
    if is_new then
        local name, number = process_of(gateway)
        for _, other in pairs(sessions) do
            local its_name, its_number = process_of(other.gateway)
            -- The former process comes back when the store has forgotten it: that one has been active.
            local is_later = its_number > number and confirms == 'n'
            local is_same = its_name == name and (its_number == number or is_later)
            if is_same and other.state ~= 'd' and now - other.heard < ttl / 3 then
                finish()
                return {'taken', now, epoch, other.id}
            end
        end
        mine = add(me, gateway, state)
    end
    -- One that is dead here may live in an epoch that this store has lost: that one began without a
    -- word of its end.
    local version = known_epoch == epoch and knows or -1
    for name, its in (field.past or ''):gmatch('(%S+):(%d+)') do
        if name == known_epoch then version = tonumber(its) end
    end
    local unknown = knows > version
    for id, of in ARGV[13]:gmatch('(%S+):(%S+)') do
        local known = sessions[id]
        if not known or (unknown and known.state == 'd' and known.died <= since) then
            add(id, of, 'a')
        elseif id ~= me and known_epoch ~= epoch and known.state ~= 'd' and known.confirms == 'n' then
            known.confirms = '0' -- it may have been active in the caller's epoch
            save(known)
        end
    end
    mine.heard, mine.ttl = now, ttl
    local beats = tonumber(ARGV[15] or 0)
    local is_late = beats < mine.beats -- what a later one has said, holds
    mine.beats = math.max(mine.beats, beats)
    -- What a beat says of the epoch that it names is true whenever it arrives. A beat that names another
    -- epoch may be from before the session was active: it is believed only if it adds the session.
    if known_epoch == epoch and ARGV[17] == '1' then mine.confirms = 'n' end
    if not is_late and known_epoch == epoch then
        mine.knows = math.max(mine.knows, knows)
        mine.told = told
    elseif not is_late then
        mine.confirms = confirms == 'n' and not is_new and '0' or confirms
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
    local list, known, longest = {}, vouches and base or math.max(base, since), 0
    for id, session in pairs(sessions) do
        if session.state ~= 'd' then
            list[#list + 1] = id .. ':' .. session.gateway
            longest = math.max(longest, session.ttl)
        elseif now < session.died + session.span then
            known = math.max(known, session.died)
        end
    end
    -- How long it has known the base counts from this reply, as it hears here only who else lives.
    if now - known < longest_ttl then known = now end
    local learned = field.learned == epoch and 1 or 0
    return {'ok', now, epoch, mine.state, members, learned, known, table.concat(list, ' '),
            quiet_span(), longest}
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
    end_session(mine, now)
    finish()
    return {'ok', now, epoch}
end

-- An operator says that no gateway holds what this store does not know of.
if op == 'trust' then
    field.learned, write.learned, write.base, write.trusted = epoch, epoch, '0', epoch
    for _, session in pairs(sessions) do -- those that have died untold had nothing to tell
        if session.state == 'd' and session.died <= seen + elapsed then
            session.confirms = 'n'
            save(session)
        end
    end
    finish()
    return {'ok', now, epoch}
end

)lua";
}

} // namespace stint::shared
