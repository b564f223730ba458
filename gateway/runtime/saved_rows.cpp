#include "runtime/saved_rows.hpp"

#include "base/bytes.hpp"
#include "net/clock.hpp"

#include <algorithm>
#include <fstream>

namespace stint::runtime {

SavedClock SavedClock::read() {
    static const std::string boot = [] {
        std::string id;
        std::ifstream{"/proc/sys/kernel/random/boot_id"} >> id;
        return id;
    }();
    return {boot, net::read_clocks()};
}

// If the steady clock has gone back, it is treated as the clock of another boot even if the boot id
// is the same, because containers may have steady clocks of their own.
Duration SavedClock::shift_to(const SavedClock& later) const noexcept {
    if (!boot.empty() && boot == later.boot && at.steady <= later.at.steady)
        return {};
    const Duration passed = std::max(later.at.wall - at.wall, Duration{});
    return later.at.steady - at.steady - passed;
}

std::string key_of(const limits::LimitIdentity& identity) {
    std::string key;
    put_text(key, identity.name);
    put_text(key, identity.key);
    put(key, static_cast<std::uint8_t>(identity.algorithm));
    put(key, static_cast<std::uint8_t>(identity.anchor));
    put(key, identity.per.count());
    put_text(key, identity.time_zone);
    put(key, static_cast<std::uint8_t>(identity.unit));
    if (!identity.store.empty())
        put_text(key, identity.store);
    return key;
}

std::string row_key(std::string_view limit, std::uint32_t page) {
    std::string key{limit};
    put(key, page);
    return key;
}

std::string row_value(const limits::SavedPage& page, const SavedClock& now) {
    std::string value;
    value.reserve(80 + page.bytes.size());
    put_text(value, now.boot);
    put(value, now.at.steady.time_since_epoch().count());
    put(value, now.at.wall.time_since_epoch().count());
    put(value, page.until.time_since_epoch().count());
    value += page.bytes;
    return value;
}

std::optional<RowName> row_in(std::string_view key) noexcept {
    if (key.size() <= sizeof(std::uint32_t))
        return std::nullopt;
    const std::size_t end = key.size() - sizeof(std::uint32_t);
    return RowName{key.substr(0, end), ByteReader{key.substr(end)}.take<std::uint32_t>()};
}

std::optional<LimitRow> read_row(std::string_view key, std::string_view value) {
    const std::optional<RowName> name = row_in(key);
    if (!name)
        return std::nullopt;
    LimitRow row;
    row.limit = name->limit;
    row.page.page = name->page;
    ByteReader from{value};
    row.page.written.boot = from.take_text();
    row.page.written.at.steady = SteadyTime{Duration{from.take<std::int64_t>()}};
    row.page.written.at.wall = WallTime{Duration{from.take<std::int64_t>()}};
    row.page.until = SteadyTime{Duration{from.take<std::int64_t>()}};
    row.page.bytes = from.rest();
    return from.good() ? std::optional{std::move(row)} : std::nullopt;
}

} // namespace stint::runtime
