// Reads the description of a change: the members of a JSON body, or parameters of the query.
#pragma once

#include "admin/message.hpp"
#include "base/time.hpp"
#include "runtime/limit_changes.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace stint::admin {

// Reads the members of an object, and keeps the first error. A member that is absent or invalid is
// read as nothing.
class ChangeBody {
  public:
    // json: outlives this. members: those that the object may have besides "who" and "why".
    ChangeBody(const Json& json, std::initializer_list<std::string_view> members);

    // Returns a whole number from 1 to `most`; 0: absent or invalid. for_zero: advice for who has
    // written 0.
    std::uint64_t count(std::string_view name, std::uint64_t most, std::string_view for_zero = {});
    // Returns a text of 1 to 1024 bytes; empty: absent or invalid.
    std::string text(std::string_view name);
    // Returns true or false.
    std::optional<bool> flag(std::string_view name);
    // Returns the end of a change that lasts for "for", such as "1h", or for "expires_in_ms".
    std::optional<SteadyTime> end(const Now& now);
    // Returns "who" and "why".
    runtime::Attribution attribution();

    void wrong(std::string why);
    // Returns the 400 response to send, if there was an error.
    [[nodiscard]] std::optional<Response> error() const;

  private:
    [[nodiscard]] const Json* find(std::string_view name) const;
    std::string short_text(std::string_view name);

    const Json& json_;
    std::optional<std::string> wrong_;
};

// Returns the query's `who` and `why`. Refuses a query with other parameters than these and
// `known`, or with one of them twice: a mistyped parameter must not widen the change. The error is
// the response to send.
[[nodiscard]] Result<runtime::Attribution, Response>
attribution_in(std::string_view query, std::string_view known = {});

} // namespace stint::admin
