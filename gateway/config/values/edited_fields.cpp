#include "config/values/edited_fields.hpp"

#include "config/values/match_values.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace stint::config {

namespace {

// Names of fields that must not be edited: framing, hop-by-hop fields, and fields that Stint writes
// about the client or about limits. A name is compared with "_" replaced by "-", because servers
// may treat both alike.
struct OwnNames {
    std::span<const std::string_view> names;
    std::span<const std::string_view> prefixes;
};
constexpr std::array<std::string_view, 16> request_names{
    "connection",     "content-length",    "expect",       "forwarded", "host",
    "http2-settings", "keep-alive",        "max-forwards", "proxy",     "te",
    "trailer",        "transfer-encoding", "upgrade",      "via",       "date",
    "x-request-id"};
constexpr std::array<std::string_view, 3> request_prefixes{"proxy-", "x-forwarded-", "x-stint-"};
constexpr std::array<std::string_view, 13> response_names{
    "connection",  "content-length",    "date",           "http2-settings",
    "keep-alive",  "retry-after",       "retry-after-ms", "te",
    "trailer",     "transfer-encoding", "upgrade",        "via",
    "x-request-id"};
constexpr std::array<std::string_view, 4> response_prefixes{
    "proxy-", "ratelimit", "x-ratelimit-", "x-stint-"};
constexpr OwnNames of_requests{request_names, request_prefixes};
constexpr OwnNames of_responses{response_names, response_prefixes};

const OwnNames& own_names(EditedHead head) {
    return head == EditedHead::request ? of_requests : of_responses;
}

} // namespace

std::string field_key(std::string_view name) {
    std::string key = lower(name);
    std::ranges::replace(key, '_', '-');
    return key;
}

std::string edit_fault(std::string_view name, EditedHead head) {
    if (!is_token(name))
        return " is not the name of a header";
    const std::string key = field_key(name);
    const OwnNames& own = own_names(head);
    const bool by_prefix = std::ranges::any_of(
        own.prefixes, [&key](std::string_view prefix) { return key.starts_with(prefix); });
    const bool retry_after = head == EditedHead::answer && key == "retry-after";
    if (by_prefix || (std::ranges::find(own.names, key) != own.names.end() && !retry_after))
        return std::string{" is left to Stint: it frames messages, or is written or removed anyway"}
            .append(key == "host" ? "; use host" : "");
    if (head == EditedHead::answer && key == "content-type")
        return " has a key of its own; use content_type";
    return {};
}

} // namespace stint::config
