#include "admin/message.hpp"

#include "http/ascii.hpp"
#include "http/local_reply.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace stint::admin {
namespace {

std::string text_of(const Json& value) {
    std::string text = value.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
    // dump() escapes all control characters but DEL. Escapes it, too, because a configuration file
    // that is made of GET /config must not have control characters.
    constexpr char del = 0x7F;
    for (std::size_t at = 0; (at = text.find(del, at)) != std::string::npos;)
        text.replace(at, 1, "\\u007f");
    return text;
}

} // namespace

Request request_of(const RequestHead& head) {
    Request request;
    request.method = head.method;
    request.path = head.path;
    request.query = head.query;
    request.authority = head.authority;
    request.minor_version = head.minor_version;
    for (const Field& field : head.fields) {
        if (http::ascii::equals_folded(field.name, "authorization"))
            request.authorizations.emplace_back(field.value);
        else if (http::ascii::equals_folded(field.name, "origin"))
            request.origins.emplace_back(field.value);
    }
    return request;
}

Response json_response(const Json& value) {
    return {.content_type = "application/json", .body = text_of(value)};
}

Response problem(int status, std::string_view detail, const Json& more) {
    Json document{
        {"type", "about:blank"},
        {"title", http::reason_phrase(status)},
        {"status", status},
        {"detail", detail}};
    document.update(more);
    return {
        .status = status, .content_type = "application/problem+json", .body = text_of(document)};
}

Result<Json, Response> object_in(std::string_view body, std::string_view otherwise) {
    // The parser would skip a byte order mark, and take a NUL for the end of the text.
    if (body.starts_with("\xEF\xBB\xBF"))
        return problem(400, "The body begins with a byte order mark: JSON has none.");
    if (body.find('\0') != std::string_view::npos)
        return problem(400, "The body has a NUL byte, which is not JSON.");
    std::vector<std::set<std::string>> open;
    std::string twice;
    const auto look = [&](int, Json::parse_event_t event, const Json& parsed) {
        if (event == Json::parse_event_t::object_start)
            open.emplace_back();
        else if (event == Json::parse_event_t::object_end)
            open.pop_back();
        else if (event == Json::parse_event_t::key)
            if (const auto& name = parsed.get_ref<const std::string&>();
                !open.back().insert(name).second)
                twice = name;
        return true;
    };
    Json json = Json::parse(body, look, false);
    if (!json.is_object())
        return problem(400, otherwise);
    if (twice.empty())
        return {boost::system::in_place_value, std::move(json)};
    return problem(400, "The body has \"" + twice + "\" twice.");
}

void write_to(http::Response& to, const Response& response) {
    to.begin(response.status, response.status == 204 ? std::string_view{} : response.content_type);
    to.set_no_store();
    to.fields() << "X-Content-Type-Options: nosniff\r\n";
    for (const auto& [name, value] : response.fields)
        to.fields().field(name, value);
    if (response.status == 204) // a 204 response has no content and no Content-Length
        to.set_content(http::Response::Content::none);
    else
        to.body() << response.body;
}

} // namespace stint::admin
