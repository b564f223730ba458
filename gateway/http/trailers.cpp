#include "http/trailers.hpp"

#include "http/ascii.hpp"
#include "http/field_names.hpp"

#include <algorithm>
#include <array>

namespace stint::http {

namespace {

// Fields that are never trailers, in lower case.
constexpr auto never_trailers = std::to_array<std::string_view>({
    "age",
    "authentication-info",
    "authorization",
    "cache-control",
    "connection",
    "cookie",
    "cookie2",
    "date",
    "expect",
    "expires",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "location",
    "max-forwards",
    "pragma",
    "range",
    "retry-after",
    "set-cookie",
    "set-cookie2",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "vary",
    "via",
    "warning",
    "www-authenticate",
    "x-request-id",
});
constexpr auto never_families = std::to_array<std::string_view>(
    {"content-", "if-", "proxy-", "ratelimit", "x-forwarded-", "x-ratelimit", "x-stint-"});

} // namespace

bool takes_trailers(const RequestHead& request) noexcept {
    if (request.minor_version == 0)
        return false;
    return std::any_of(request.fields.begin(), request.fields.end(), [](const Field& field) {
        return field.id == FieldId::te && ascii::list_contains(field.value, "trailers");
    });
}

bool may_be_trailer(std::string_view name) noexcept {
    const bool never =
        std::any_of(never_trailers.begin(), never_trailers.end(), [name](std::string_view each) {
            return reads_as(name, each);
        });
    const bool of_family =
        std::any_of(never_families.begin(), never_families.end(), [name](std::string_view each) {
            return begins_as(name, each);
        });
    return !never && !of_family;
}

void write_trailer_field(HeadBuffer& out, std::span<const Field> fields) {
    std::string names;
    const std::string nominated = connection_options(fields);
    for (const Field& field : fields)
        if (field.id == FieldId::trailer)
            ascii::for_each_element(field.value, [&](std::string_view name) {
                if (name.empty() || !ascii::token.contains_all(name) || !may_be_trailer(name) ||
                    ascii::list_contains(nominated, name))
                    return;
                names.append(names.empty() ? "" : ", ").append(name);
            });
    if (!names.empty())
        out.field("Trailer", names);
}

std::string connection_options(std::span<const Field> fields) {
    std::string options;
    for (const Field& field : fields)
        if (field.id == FieldId::connection)
            options.append(field.value).append(",");
    return options;
}

void append_trailer_fields(std::string& out, std::string_view trailer, std::string_view nominated) {
    while (!trailer.empty()) {
        const std::string_view line = trailer.substr(0, trailer.find('\r'));
        trailer.remove_prefix(std::min(line.size() + 1, trailer.size()));
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos)
            continue; // the empty line
        const std::string_view name = line.substr(0, colon);
        if (may_be_trailer(name) && !ascii::list_contains(nominated, name))
            out.append(name)
                .append(": ")
                .append(ascii::trim(line.substr(colon + 1)))
                .append("\r\n");
    }
}

} // namespace stint::http
