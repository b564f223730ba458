// Trailer fields (RFC 9110 section 6.5): decides which clients accept them and which fields may be
// forwarded.
#pragma once

#include "base/message.hpp"
#include "http/head_buffer.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stint::http {

// True if the request has "TE: trailers" (RFC 9110 section 10.1.4). HTTP/1.0 has no chunks that
// trailers could follow.
[[nodiscard]] bool takes_trailers(const RequestHead& request) noexcept;

// True if a field may be a trailer: it neither frames nor routes, nor authenticates, nor controls a
// request, a response or a cache, nor describes limits or hops (RFC 9110 section 6.5.1).
[[nodiscard]] bool may_be_trailer(std::string_view name) noexcept;

// Writes a Trailer field that lists the names in the Trailer fields of `fields` that may be
// forwarded; nothing if there is none.
void write_trailer_field(HeadBuffer& out, std::span<const Field> fields);

// Returns all options of the Connection fields, as one list.
[[nodiscard]] std::string connection_options(std::span<const Field> fields);

// Appends "name: value" CRLF for each field that may be forwarded. trailer: as
// BodyDecoder::trailer() returns it. nominated: the head's connection_options().
void append_trailer_fields(std::string& out, std::string_view trailer, std::string_view nominated);

} // namespace stint::http
