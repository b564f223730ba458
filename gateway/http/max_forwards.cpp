#include "http/max_forwards.hpp"

#include "http/ascii.hpp"
#include "http/framing.hpp"

namespace stint::http {

bool is_max_forwards(const Field& field) noexcept {
    constexpr std::string_view name = "max-forwards";
    return field.name.size() == name.size() && ascii::equals_folded(field.name, name);
}

Result<std::optional<std::uint64_t>, HeadError> max_forwards(const RequestHead& head) noexcept {
    std::optional<std::uint64_t> hops;
    if (head.method != "OPTIONS" && head.method != "TRACE")
        return hops;
    for (const Field& field : head.fields) {
        if (!is_max_forwards(field))
            continue;
        if (hops)
            return HeadError{400, "Max-Forwards is given more than once."};
        const auto number = parse_content_length(field.value); // of the same form
        if (!number)
            return HeadError{400, "Max-Forwards is not a decimal number."};
        hops = *number;
    }
    return hops;
}

} // namespace stint::http
