// Values of a request for keys: of a field, a cookie, a query parameter or a token's claim. Each
// function returns a view of the request if the value occurs there verbatim; otherwise it appends
// the value to `scratch` and returns a view of that. Returns "" if the value is missing, empty or
// malformed. Internal to routing/.
#pragma once

#include "base/message.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stint::routing {

// Returns the value of a header. name: in lower case. Several lines are one value, joined by ", "
// (RFC 9110 section 5.3).
[[nodiscard]] std::string_view
header_value(std::span<const Field> fields, std::string_view name, std::string& scratch);

// Returns the first cookie of that name, case-sensitively (RFC 6265 section 4.2), without the
// double quotes that may enclose its value.
[[nodiscard]] std::string_view cookie_value(std::span<const Field> fields, std::string_view name);

// Returns the first query parameter of that name, decoded: percent-escapes, and "+" for a blank.
// name: as decoded.
[[nodiscard]] std::string_view
query_value(std::string_view query, std::string_view name, std::string& scratch);

// Returns a claim of the JSON Web Token (RFC 7519, compact form) in the request's only
// Authorization field (RFC 6750 section 2.1). The token is decoded, NOT verified: anyone can make
// one. A string gives its text, a number or boolean its text as written. Any other value counts as
// missing. So does every claim if the payload is not a JSON object, or names the claim twice. A
// claim whose name has dots may be a member of an object: see json_member().
[[nodiscard]] std::string_view
jwt_claim(std::span<const Field> fields, std::string_view claim, std::string& scratch);

} // namespace stint::routing
