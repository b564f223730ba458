// Finds the limit, and the key of a limit, that a request to the admin listener names.
#pragma once

#include "admin/message.hpp"
#include "config/schema/schema.hpp"
#include "runtime/gateway.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace stint::admin {

// References into the configuration in force: valid until the next co_await.
struct NamedLimit {
    std::size_t index;             // into Config::limits
    const config::Limit& settings; // as in the file
    const runtime::ConfiguredLimit& limit;
};
// Returns the limit of this name. The error is the response to send (404).
[[nodiscard]] Result<NamedLimit, Response>
named_limit(const runtime::Gateway& gateway, std::string_view name);
// Returns the limit of this name, like named_limit(). A limit without a key is an error, too (400).
[[nodiscard]] Result<NamedLimit, Response>
keyed_limit(const runtime::Gateway& gateway, std::string_view name);

// Returns the key in the form that routing uses; empty for the requests without a key. The error is
// the response to send (400), if no request can have such a key or the limit has none.
[[nodiscard]] Result<std::string, Response>
canonical_key(const NamedLimit& limit, std::string_view key);
// Returns a pattern of keys as it is, and a key like canonical_key(), but an empty key is an error.
[[nodiscard]] Result<std::string, Response>
key_or_pattern(const NamedLimit& limit, const std::string& key);

} // namespace stint::admin
