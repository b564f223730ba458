#include "permits/names.hpp"

#include "http/json_text.hpp"
#include "http/query.hpp"
#include "permits/acquire_request.hpp"

#include <algorithm>
#include <optional>

namespace stint::permits {
namespace {

// True if the whole text is UTF-8 (RFC 3629).
bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t sequence = http::utf8_sequence(text);
        if (sequence == 0)
            return false;
        text.remove_prefix(sequence);
    }
    return true;
}

// Percent-decodes a name. Returns nothing unless it is UTF-8 of 1 to longest_name bytes.
std::optional<std::string> decoded(std::string_view segment) {
    auto name = http::percent_decoded(segment);
    if (name && (name->empty() || name->size() > longest_name || !is_utf8(*name)))
        return std::nullopt;
    return name;
}

} // namespace

Result<std::string, http::HeadError> read_limit_name(std::string_view segment) {
    auto name = decoded(segment);
    if (!name)
        return http::HeadError{400, "the limit's name is not UTF-8 of 1 to 1024 bytes"};
    return *std::move(name);
}

Result<std::string, http::HeadError> read_lock_name(std::string_view segment) {
    auto name = decoded(segment);
    const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; };
    if (!name || std::ranges::any_of(*name, is_control))
        return http::HeadError{
            400, "the lock's name is not UTF-8 of 1 to 1024 bytes without control characters"};
    return *std::move(name);
}

} // namespace stint::permits
