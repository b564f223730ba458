#include "http/max_forwards.hpp"

#include "http/framing.hpp"

namespace stint::http {

Result<std::optional<std::uint64_t>, HeadError> max_forwards(const RequestHead& head) noexcept {
    std::optional<std::uint64_t> hops;
    if (!head.ids.contains(FieldId::max_forwards)) [[likely]]
        return hops;
    if (head.method != "OPTIONS" && head.method != "TRACE")
        return hops;
    for (const Field& field : head.fields) {
        if (field.id != FieldId::max_forwards)
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
