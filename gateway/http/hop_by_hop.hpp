// Tells apart the fields that concern only one connection, and so are not forwarded (RFC 9110
// section 7.6.1).
#pragma once

#include "base/message.hpp"
#include "http/framing.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// True for fields that end at this hop whether or not Connection names them. Content-Length is one
// of them because the gateway writes its own; so is HTTP2-Settings, which only an upgrade would
// need.
[[nodiscard]] constexpr bool is_hop_by_hop(FieldId id) noexcept {
    switch (id) {
    case FieldId::connection:
    case FieldId::content_length:
    case FieldId::http2_settings:
    case FieldId::keep_alive:
    case FieldId::proxy_authenticate:
    case FieldId::proxy_authorization:
    case FieldId::proxy_connection:
    case FieldId::proxy_other:
    case FieldId::te:
    case FieldId::trailer:
    case FieldId::transfer_encoding:
    case FieldId::upgrade:
        return true;
    default:
        return false;
    }
}

// True for response fields that clients never receive: hop-by-hop ones, request-only ones, and
// those that only the gateway may send to its clients.
[[nodiscard]] constexpr bool ends_before_client(FieldId id) noexcept {
    switch (id) {
    case FieldId::expect:
    case FieldId::x_stint_fence:
    case FieldId::x_stint_other:
    case FieldId::x_stint_permit:
    case FieldId::x_stint_ticket:
        return true;
    default:
        return is_hop_by_hop(id);
    }
}

// True for fields forwarded unchanged, unless Connection names them.
[[nodiscard]] constexpr bool is_passed_on(FieldId id) noexcept {
    return id == FieldId::other || id == FieldId::date || id == FieldId::max_forwards;
}

// True if a Connection field names any option but the usual ones (close, keep-alive, TE, Upgrade
// and the like). Then the caller needs Nominations.
[[nodiscard]] bool nominates_fields(std::span<const Field> fields) noexcept;

// The end-to-end fields that Connection fields declare hop-by-hop. A client cannot remove the
// gateway's own fields (is_own_field), Cookie, Authorization and the `kept` ones in that way:
// otherwise the upstream would see another client than the gateway counted. A server cannot remove
// Set-Cookie and the fields that tell caches for whom a response is (RFC 9110 section 7.6.1: an
// option never names a field that is meant for all recipients).
class Nominations {
  public:
    // fields: of a head that HeadParser accepted, which has at most max_connection_options. kept:
    // in lower case.
    explicit Nominations(
        std::span<const Field> fields, std::span<const std::string> kept = {}) noexcept;
    [[nodiscard]] bool contains(std::string_view name) const noexcept;

  private:
    std::array<std::string_view, max_connection_options> names_;
    std::size_t size_ = 0;
};

} // namespace stint::http
