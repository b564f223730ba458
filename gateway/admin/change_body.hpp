// Reads the description of a change: the members of a JSON body, or parameters of the query.
#pragma once

#include "admin/message.hpp"
#include "base/time.hpp"
#include "runtime/limit_changes.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stint::admin {

// Reads the members of a JSON object, and keeps the first error. For a member that is absent or
// invalid a function returns its empty value: 0, "" or nullopt.
class ChangeBody {
  public:
    // json: must outlive this object. members: those that it may have besides "who" and "why".
    ChangeBody(const Json& json, std::initializer_list<std::string_view> members);

    // Returns a whole number from 1 to `most`; 0: absent or invalid. for_zero: advice that is
    // appended to the error about a value of 0.
    std::uint64_t count(std::string_view name, std::uint64_t most, std::string_view for_zero = {});
    // Returns a text of 1 to 1024 bytes; empty: absent or invalid.
    std::string text(std::string_view name);
    // Returns the value of a member that is true or false.
    std::optional<bool> flag(std::string_view name);
    // Returns the end of a change that lasts for "for", such as "1h", or for "expires_in_ms".
    std::optional<SteadyTime> end(const Now& now);
    // Returns "who" and "why".
    runtime::Attribution attribution();

    // Records an error, unless there is one already.
    void wrong(std::string why);
    // Returns the 400 response to send, if there was an error.
    [[nodiscard]] std::optional<Response> error() const;

  private:
    [[nodiscard]] const Json* find(std::string_view name) const;
    std::string short_text(std::string_view name);

    const Json& json_;
    std::optional<std::string> wrong_;
};

// Returns 400 if the query has a parameter that is not in `known`, or one twice. expected: the
// known names in words.
[[nodiscard]] std::optional<Response> fault_in_query(
    std::string_view query, std::span<const std::string_view> known, std::string_view expected);

// Returns the query's `who` and `why`. A query with other parameters than these and `known`, or
// with one of them twice, is an error: if a mistyped `key` were ignored, the change would apply to
// all keys. The error is the response to send.
[[nodiscard]] Result<runtime::Attribution, Response>
attribution_in(std::string_view query, std::string_view known = {});

} // namespace stint::admin
