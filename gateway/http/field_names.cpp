#include "http/field_names.hpp"

#include "http/ascii.hpp"

#include <algorithm>
#include <array>

namespace stint::http {

namespace {

constexpr char hyphen_for_underscore(char c) noexcept {
    return c == '_' ? '-' : ascii::lower(c);
}

constexpr std::string_view own_prefix = "x-stint-";

// rest: the part of a field name after own_prefix ("X-Stint-").
FieldId own_field(std::string_view rest) noexcept {
    if (ascii::equals_folded(rest, "fence"))
        return FieldId::x_stint_fence;
    if (ascii::equals_folded(rest, "permit"))
        return FieldId::x_stint_permit;
    if (ascii::equals_folded(rest, "ticket"))
        return FieldId::x_stint_ticket;
    return FieldId::x_stint_other;
}

} // namespace

bool reads_as(std::string_view name, std::string_view other) noexcept {
    return std::ranges::equal(name, other, {}, hyphen_for_underscore, hyphen_for_underscore);
}

bool begins_as(std::string_view name, std::string_view prefix) noexcept {
    return reads_as(name.substr(0, prefix.size()), prefix);
}

FieldId unlisted_field(std::string_view name) noexcept {
    if (name.find('_') != std::string_view::npos)
        return FieldId::underscored;
    if (name.size() < 5)
        return FieldId::other;
    if (ascii::lower(name.front()) == 'p') {
        const bool proxy = ascii::equals_folded(name.substr(0, 5), "proxy");
        // Proxy-Status (RFC 9209) is meant for all recipients, so it is no hop-by-hop field.
        return proxy && (name.size() == 5 || name[5] == '-') &&
                       !ascii::equals_folded(name, "proxy-status")
                   ? FieldId::proxy_other
                   : FieldId::other;
    }
    if (ascii::lower(name.front()) != 'x' || name.size() < own_prefix.size())
        return FieldId::other;
    if (ascii::equals_folded(name.substr(0, own_prefix.size()), own_prefix))
        return own_field(name.substr(own_prefix.size()));
    if (ascii::equals_folded(name, "x-forwarded-for"))
        return FieldId::x_forwarded_for;
    if (ascii::equals_folded(name, "x-forwarded-host"))
        return FieldId::x_forwarded_host;
    if (ascii::equals_folded(name, "x-forwarded-proto"))
        return FieldId::x_forwarded_proto;
    if (ascii::equals_folded(name, "x-request-id"))
        return FieldId::x_request_id;
    return FieldId::other;
}

bool is_own_field(std::string_view name) noexcept {
    return begins_as(name, "x-forwarded-") || begins_as(name, own_prefix);
}

bool imitates(std::string_view name, std::span<const std::string> also) noexcept {
    static constexpr auto own = std::to_array<std::string_view>(
        {"content-length", "http2-settings", "keep-alive", "transfer-encoding", "x-request-id"});
    const auto is_meant = [name](std::string_view other) { return reads_as(name, other); };
    if (is_own_field(name) || begins_as(name, "proxy-") || std::ranges::any_of(own, is_meant))
        return true;
    return std::ranges::any_of(also, [&](const std::string& other) {
        return is_meant(other) && !ascii::equals_folded(name, other);
    });
}

} // namespace stint::http
