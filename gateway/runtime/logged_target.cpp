#include "runtime/logged_target.hpp"

#include "observe/json_line.hpp"
#include "routing/log_key.hpp"

namespace stint::runtime {
namespace {

using Kind = LimitChange::Kind;

// Returns the change's key as the access log shows it; "" if it must not be shown.
std::string logged_key(
    const LimitChange::Target& target,
    const Compiled& compiled,
    const KeyHasher& hasher,
    LogKey as) {
    if (target.kind == Kind::block_client)
        return target.key; // the access log shows clients, too
    const auto index = compiled.limit_named(target.limit);
    if (!index || routing::is_glob(target.key))
        return {};
    const auto hash = compiled.limits[*index].key.hash_of(target.key, hasher);
    return hash ? routing::logged({*hash, target.key, false}, as) : std::string{};
}

} // namespace

std::string logged_target(
    const LimitChange::Target& target,
    const Compiled& compiled,
    const KeyHasher& hasher,
    LogKey as) {
    std::string text = "limit " + target.limit + ": " + std::string{subject_of(target.kind)};
    if (target.key.empty())
        return text;
    const std::string key = logged_key(target, compiled, hasher, as);
    if (key.empty())
        return text + (routing::is_glob(target.key) ? " of a pattern of keys" : " of a key");
    text += target.kind == Kind::block_client ? " of " : " of the key ";
    observe::append_json_string(text, key);
    return text;
}

} // namespace stint::runtime
