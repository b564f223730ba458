#include "stores/counter_names.hpp"

#include <spdlog/fmt/fmt.h>

#include <string>

namespace stint::stores {

std::string digits_of(const Hash128& hash) {
    return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

CounterNames::CounterNames(std::string_view prefix, std::string_view secret)
    : registry_{fmt::format("{{{}}}:r", prefix)}, pauses_{fmt::format("{{{}}}:p", prefix)},
      counters_{fmt::format("{{{}}}:c:", prefix)}, hasher_{key_of_secret(
                                                       secret.empty() ? prefix : secret)} {
    // Counters with other names are those of another store.
    if (secret.empty())
        return;
    const std::string digits = fmt::format(":{:08x}", hasher_("registry").low & 0xFFFF'FFFFU);
    registry_ += digits;
    pauses_ += digits;
}

// Each text stands behind its length, so that no two counters have the same text.
std::string
CounterNames::counter(const limits::LimitIdentity& identity, std::string_view key_text) const {
    std::string text = fmt::format(
        "{} {} {} {}", static_cast<int>(identity.algorithm), static_cast<int>(identity.anchor),
        identity.per.count(), static_cast<int>(identity.unit));
    for (const std::string_view part :
         {std::string_view{identity.name}, std::string_view{identity.key},
          std::string_view{identity.time_zone}, key_text})
        text += fmt::format(" {}:{}", part.size(), part);
    return counters_ + digits_of(hasher_(text));
}

Hash128
CounterNames::pause(std::string_view owner, std::string_view scope, const Hash128& digest) const {
    return hasher_(fmt::format(
        "pause {}:{} {}:{} {}", owner.size(), owner, scope.size(), scope, digits_of(digest)));
}

} // namespace stint::stores
