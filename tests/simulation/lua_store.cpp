#include "lua_store.hpp"

#include <lua.hpp>
#include <stdexcept>

namespace stint::shared {
namespace {

constexpr const char* lua_key = "stint"; // of this object in Lua's own registry

void push(lua_State* state, std::string_view text) {
    lua_pushlstring(state, text.data(), text.size());
}

std::string text_at(lua_State* state, int index) {
    std::size_t length = 0;
    const char* const text = lua_tolstring(state, index, &length);
    return {text != nullptr ? text : "", length};
}

} // namespace

LuaStore::LuaStore(std::string_view script) : state_{luaL_newstate()} {
    luaL_openlibs(state_);
    // The script calls C all the time, which ends each trace, so machine code gains nothing; making
    // its pages writable and executable in turn took two thirds of the time on a virtual machine.
    luaJIT_setmode(state_, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    // Collects at ten times the size that is in use, not at twice: what a run leaves is small.
    lua_gc(state_, LUA_GCSETPAUSE, 1000);
    lua_pushlightuserdata(state_, this);
    lua_setfield(state_, LUA_REGISTRYINDEX, lua_key);
    lua_newtable(state_);
    lua_pushcfunction(state_, &LuaStore::call_command);
    lua_setfield(state_, -2, "call");
    lua_pushcfunction(state_, &LuaStore::try_command);
    lua_setfield(state_, -2, "pcall");
    lua_setglobal(state_, "redis");
    if (luaL_loadbuffer(state_, script.data(), script.size(), "script") != 0)
        throw std::runtime_error{text_at(state_, -1)};
    script_ = luaL_ref(state_, LUA_REGISTRYINDEX);
}

LuaStore::~LuaStore() {
    lua_close(state_);
}

Reply LuaStore::run(const Call& call, std::int64_t clock) {
    clock_ = clock;
    lua_newtable(state_);
    push(state_, registry_key);
    lua_rawseti(state_, -2, 1);
    push(state_, call.counter);
    lua_rawseti(state_, -2, 2);
    lua_setglobal(state_, "KEYS");
    lua_newtable(state_);
    int at = 0;
    for (const std::string& each : call.arguments) {
        push(state_, each);
        lua_rawseti(state_, -2, ++at);
    }
    lua_setglobal(state_, "ARGV");
    lua_rawgeti(state_, LUA_REGISTRYINDEX, script_);
    if (lua_pcall(state_, 0, 1, 0) != 0) {
        const std::string message = text_at(state_, -1);
        lua_pop(state_, 1);
        throw std::runtime_error{message};
    }
    Reply reply = reply_at_top();
    lua_pop(state_, 1);
    return reply;
}

// As Redis does: numbers become integers, and nil ends the array.
Reply LuaStore::reply_at_top() {
    Reply reply;
    const auto size = static_cast<int>(lua_objlen(state_, -1));
    for (int i = 1; i <= size; ++i) {
        lua_rawgeti(state_, -1, i);
        if (lua_type(state_, -1) == LUA_TNUMBER)
            reply.emplace_back(static_cast<std::int64_t>(lua_tonumber(state_, -1)));
        else
            reply.emplace_back(text_at(state_, -1));
        lua_pop(state_, 1);
    }
    return reply;
}

int LuaStore::call_command(lua_State* state) {
    lua_getfield(state, LUA_REGISTRYINDEX, lua_key);
    auto* const self = static_cast<LuaStore*>(lua_touserdata(state, -1));
    lua_pop(state, 1);
    return self->command(state);
}

// The script tries HLEN on a key that does not exist. While the slot moves, that is an error.
int LuaStore::try_command(lua_State* state) {
    lua_getfield(state, LUA_REGISTRYINDEX, lua_key);
    const auto* const self = static_cast<LuaStore*>(lua_touserdata(state, -1));
    lua_pop(state, 1);
    if (self->slot_moves)
        lua_newtable(state);
    else
        lua_pushnumber(state, 0);
    return 1;
}

StoreData::Entry* LuaStore::find(const std::string& key) {
    const auto found = data.keys.find(key);
    if (found == data.keys.end())
        return nullptr;
    if (found->second.expires != 0 && found->second.expires <= clock_ / 1000) {
        data.keys.erase(found);
        return nullptr;
    }
    return &found->second;
}

int LuaStore::command(lua_State* state) {
    const std::string name = text_at(state, 1);
    const int count = lua_gettop(state);
    if (name == "TIME") {
        lua_newtable(state);
        push(state, std::to_string(clock_ / 1'000'000));
        lua_rawseti(state, -2, 1);
        push(state, std::to_string(clock_ % 1'000'000));
        lua_rawseti(state, -2, 2);
        return 1;
    }
    if (name == "INFO") {
        push(state, "role:master\r\nmaster_replid:" + replication_id + "\r\n");
        return 1;
    }
    const std::string key = text_at(state, 2);
    StoreData::Entry* entry = find(key);
    if (name == "HGETALL") {
        lua_newtable(state);
        int at = 0;
        if (entry != nullptr)
            for (const auto& [field, value] : entry->fields) {
                push(state, field);
                lua_rawseti(state, -2, ++at);
                push(state, value);
                lua_rawseti(state, -2, ++at);
            }
        return 1;
    }
    if (name == "HSET") {
        if (entry == nullptr)
            entry = &data.keys[key];
        for (int i = 3; i < count; i += 2)
            entry->fields[text_at(state, i)] = text_at(state, i + 1);
    } else if (name == "HDEL") {
        if (entry != nullptr) {
            entry->fields.erase(text_at(state, 3));
            if (entry->fields.empty())
                data.keys.erase(key);
        }
    } else if (name == "PEXPIRE") {
        const auto expires = clock_ / 1000 + static_cast<std::int64_t>(lua_tonumber(state, 3));
        const bool only_later = count > 3 && text_at(state, 4) == "GT";
        if (entry != nullptr && (!only_later || (entry->expires != 0 && expires > entry->expires)))
            entry->expires = expires;
    } else if (name == "PUBLISH") {
        if (published)
            published(text_at(state, 3));
    } else {
        return luaL_error(state, "the script calls %s", name.c_str());
    }
    lua_pushnumber(state, 1);
    return 1;
}

} // namespace stint::shared
