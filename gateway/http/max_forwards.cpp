#include "http/max_forwards.hpp"

#include "http/framing.hpp"

namespace stint::http {

Result<std::optional<std::uint64_t>, HeadError>
read_max_forwards(std::string_view method, std::span<const Field> fields) noexcept {
    std::optional<std::uint64_t> hops;
    if (method != "OPTIONS" && method != "TRACE")
        return hops;
    for (const Field& field : fields) {
        if (field.id != FieldId::max_forwards)
            continue;
        if (hops)
            return HeadError{400, "Max-Forwards is given more than once."};
        const auto number = parse_content_length(field.value); // has the same form
        if (!number)
            return HeadError{400, "Max-Forwards is not a decimal number."};
        hops = *number;
    }
    return hops;
}

} // namespace stint::http
