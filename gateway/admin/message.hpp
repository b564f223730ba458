// A request to the admin listener and its answer, as values: no socket, no view into a buffer.
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

using Json = nlohmann::ordered_json; // members in the order in which a person wants to read them

struct Request {
    std::string method;
    std::string path;  // as sent: not decoded
    std::string query; // as sent, without the "?"
    std::string authority;
    int minor_version = 1;
    std::vector<std::string> authorizations; // the values of every Authorization field
    std::vector<std::string> origins;        // the values of every Origin field
    std::string body;
};

// Copies the parts that handlers use.
[[nodiscard]] Request request_of(const RequestHead& head);

struct Response {
    int status = 200;
    std::string content_type;
    std::string body;
    // Fields beside those that every response has.
    std::vector<std::pair<std::string, std::string>> fields{};
};

// 200 with `value`, indented for people. Text that is not UTF-8 comes out with U+FFFD in it.
[[nodiscard]] Response json_response(const Json& value);

// A problem document (RFC 9457); `more` is an object whose members are added to it.
[[nodiscard]] Response
problem(int status, std::string_view detail, const Json& more = Json::object());

// Parses the JSON object in a request's body. A repeated member is a 400, because readers differ in
// which one they take (RFC 8259 section 4). otherwise: the detail of the 400 for a body that is no
// object.
[[nodiscard]] Result<Json, Response> object_in(std::string_view body, std::string_view otherwise);

// Writes the response as the connection sends it. `response` outlives the use of `to`.
void write_to(http::Response& to, const Response& response);

} // namespace stint::admin
