#include "http/hop_by_hop.hpp"

#include "http/ascii.hpp"
#include "http/field_names.hpp"

#include <algorithm>

namespace stint::http {

namespace {

// True for options that name no end-to-end field, or a field that Connection cannot remove.
bool is_ordinary(std::string_view option) noexcept {
    static constexpr auto ordinary = std::to_array<std::string_view>(
        {"", "close", "keep-alive", "te", "upgrade", "http2-settings", "trailer",
         "transfer-encoding", "proxy-connection", "cookie", "authorization", "set-cookie",
         "cache-control", "expires", "vary"});
    return std::any_of(ordinary.begin(), ordinary.end(), [option](std::string_view name) {
        return ascii::equals_folded(option, name);
    });
}

template <class Visit>
void for_each_nomination(std::span<const Field> fields, Visit visit) {
    for (const Field& field : fields) {
        if (field.id != FieldId::connection)
            continue;
        ascii::for_each_element(field.value, [&visit](std::string_view option) {
            if (!is_ordinary(option))
                visit(option);
        });
    }
}

} // namespace

bool nominates_fields(std::span<const Field> fields) noexcept {
    bool any = false;
    for_each_nomination(fields, [&any](std::string_view) { any = true; });
    return any;
}

Nominations::Nominations(
    std::span<const Field> fields, std::span<const std::string> kept) noexcept {
    for_each_nomination(fields, [&](std::string_view option) {
        const bool stays = is_own_field(option) || std::ranges::any_of(kept, [&](const auto& name) {
                               return ascii::equals_folded(option, name);
                           });
        if (!stays && size_ < names_.size())
            names_[size_++] = option;
    });
}

bool Nominations::contains(std::string_view name) const noexcept {
    return std::any_of(names_.begin(), names_.begin() + size_, [name](std::string_view nominated) {
        return ascii::same_folded(nominated, name);
    });
}

} // namespace stint::http
