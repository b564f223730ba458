// A request to the admin listener and its response, as values that own their data.
#pragma once

#include "base/error.hpp"
#include "base/message.hpp"
#include "http/response.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::admin {

using Json = nlohmann::ordered_json; // keeps members in insertion order, for human readers

struct Request {
    std::string method;
    std::string path;  // as sent, not percent-decoded
    std::string query; // as sent, without the "?"
    std::string authority;
    int minor_version = 1;
    std::vector<std::string> authorizations; // values of all Authorization fields
    std::vector<std::string> origins;        // values of all Origin fields
    std::string body;
};

// Copies the parts of a request head that handlers use.
[[nodiscard]] Request request_of(const RequestHead& head);

struct Response {
    int status = 200;
    std::string content_type;
    std::string body;
    // Header fields in addition to those that every response has.
    std::vector<std::pair<std::string, std::string>> fields{};
};

// Returns a 200 response with `value` as indented JSON. Invalid UTF-8 is replaced by U+FFFD.
[[nodiscard]] Response json_response(const Json& value);

// Returns a problem document (RFC 9457). more: an object whose members are added to the document.
[[nodiscard]] Response
problem(int status, std::string_view detail, const Json& more = Json::object());

// Returns the name of a member, in double quotes, for a problem's detail.
[[nodiscard]] inline std::string in_quotes(std::string_view name) {
    return std::string{'"'}.append(name).append("\"");
}

// Parses the JSON object in a request's body. The error is a 400 response. A repeated member is an
// error, because JSON parsers differ in which value they use (RFC 8259 section 4). otherwise: the
// error's detail for a body that is not an object.
[[nodiscard]] Result<Json, Response> object_in(std::string_view body, std::string_view otherwise);

// Copies the status, fields and body of `response` to `to`, the connection's response. response:
// must outlive the use of `to`.
void write_to(http::Response& to, const Response& response);

} // namespace stint::admin
