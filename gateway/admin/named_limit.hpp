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
// The error is the response to send.
[[nodiscard]] Result<NamedLimit, Response>
named_limit(const runtime::Gateway& gateway, std::string_view name);
// The same for a limit that has to have a key.
[[nodiscard]] Result<NamedLimit, Response>
keyed_limit(const runtime::Gateway& gateway, std::string_view name);

// Returns the key in the form that routing uses; empty for the requests without a key. The error is
// the response to send.
[[nodiscard]] Result<std::string, Response>
canonical_key(const NamedLimit& limit, std::string_view key);
// The same for a key that is not empty, or a pattern of keys.
[[nodiscard]] Result<std::string, Response>
key_or_pattern(const NamedLimit& limit, const std::string& key);

} // namespace stint::admin
