// HTTP heads as protocol-neutral views: no parser, no socket. Every string_view points into the
// buffer that was parsed and is valid as long as that buffer's bytes stay where they are; `fields`
// points into the parser's scratch and is valid only until that parser's next call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stint {

// Ids of the fields that the gateway itself reads, strips or writes. Any other field is `other`.
enum class FieldId : std::uint8_t {
    other,
    connection,
    content_length,
    date,
    expect,
    forwarded,
    host,
    http2_settings,
    keep_alive,
    max_forwards,
    proxy_authenticate,
    proxy_authorization,
    proxy_connection,
    proxy_other, // "Proxy" (httpoxy) and every other name that begins with "Proxy-"
    te,
    trailer,
    transfer_encoding,
    underscored, // any name with a "_", which some servers read as "-"
    upgrade,
    via,
    x_forwarded_for,
    x_forwarded_host,
    x_forwarded_proto,
    x_request_id,
    x_stint_fence,
    x_stint_other, // every other name that begins with "X-Stint-"
    x_stint_permit,
    x_stint_ticket,
};

// A set of field ids: the fields that a head has, whatever their values.
class FieldIds {
  public:
    constexpr void add(FieldId id) noexcept { bits_ |= bit(id); }
    [[nodiscard]] constexpr bool contains(FieldId id) const noexcept {
        return (bits_ & bit(id)) != 0;
    }

  private:
    [[nodiscard]] static constexpr std::uint32_t bit(FieldId id) noexcept {
        static_assert(static_cast<unsigned>(FieldId::x_stint_ticket) < 32, "the last has a bit");
        return std::uint32_t{1} << static_cast<unsigned>(id);
    }

    std::uint32_t bits_ = 0;
};

struct Field {
    FieldId id = FieldId::other;
    std::string_view name;  // as spelt by the sender
    std::string_view value; // without surrounding white space
};

// How a message's body ends (RFC 9112 section 6.3).
struct BodyFraming {
    enum class Kind : std::uint8_t { none, length, chunked, until_close };
    Kind kind = Kind::none;
    std::uint64_t length = 0; // bytes; only for Kind::length

    [[nodiscard]] bool has_body() const noexcept {
        return kind == Kind::chunked || kind == Kind::until_close || length > 0;
    }
};

struct RequestHead {
    std::string_view method;
    std::string_view target;    // as the client sent it: origin-form, absolute-form or "*"
    std::string_view path;      // the target's path, without its query; "*" for asterisk-form
    std::string_view query;     // without the "?"; empty if there is none
    std::string_view authority; // an absolute-form target's, else the Host field; may be empty
    int minor_version = 1;      // HTTP/1.minor_version; 1 for HTTP/2
    bool http2 = false;         // carried by HTTP/2
    std::uint32_t stream = 0;   // over HTTP/2: identifies the request within its connection
    // Written as the HTTP/1.1 request for the WebSocket that an extended CONNECT asks for (RFC
    // 8441).
    bool extended_connect = false;
    BodyFraming framing;
    bool keep_alive = true; // the client would keep the connection (RFC 9112 section 9.3)
    bool expects_continue = false;
    // Max-Forwards of an OPTIONS or TRACE request: the hops it may still take (RFC 9110 section
    // 7.6.2).
    std::optional<std::uint64_t> max_forwards;
    FieldIds ids; // those in `fields`
    std::span<const Field> fields;
};

struct ResponseHead {
    int status = 0;
    std::string_view reason;
    int minor_version = 1;
    BodyFraming framing;    // takes the request's method into account
    bool keep_alive = true; // the upstream would keep the connection
    FieldIds ids;           // those in `fields`
    std::span<const Field> fields;
};

} // namespace stint
