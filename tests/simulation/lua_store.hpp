// A store of shared limits in this process: runs the script's very text by a Lua interpreter, over
// hashes in memory. Its clock, its identity and what it forgets are the test's.
#pragma once

#include "shared/call.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

struct lua_State;

namespace stint::shared {

using Hash = std::map<std::string, std::string>;

// What a store keeps, and would lose or pass on to a replica.
struct StoreData {
    struct Entry {
        Hash fields;
        std::int64_t expires = 0; // ms of the store's clock; 0: never
    };
    std::map<std::string, Entry> keys;
};

class LuaStore {
  public:
    static constexpr std::string_view registry_key = "registry"; // KEYS[1]

    explicit LuaStore(std::string_view script);
    LuaStore(const LuaStore&) = delete;
    LuaStore& operator=(const LuaStore&) = delete;
    ~LuaStore();

    // Runs the script. clock: microseconds since the Unix epoch. Throws std::runtime_error with the
    // interpreter's message if the script fails.
    [[nodiscard]] Reply run(const Call& call, std::int64_t clock);

    StoreData data;
    std::string replication_id = "0123456789abcdef";
    std::function<void(const std::string& message)> published;

  private:
    static int call_command(lua_State* state);
    int command(lua_State* state);
    [[nodiscard]] StoreData::Entry* find(const std::string& key);
    [[nodiscard]] Reply reply_at_top();

    lua_State* state_;
    int script_ = 0;
    std::int64_t clock_ = 0;
};

} // namespace stint::shared
