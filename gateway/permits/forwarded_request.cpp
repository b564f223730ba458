#include "permits/forwarded_request.hpp"

#include "http/ascii.hpp"
#include "http/hop_by_hop.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace stint::permits {
namespace {

namespace ascii = http::ascii;

struct WantedField {
    std::string_view name; // lower case
    std::string_view spelt;
    std::string_view value{};
    std::size_t count = 0;
};

enum Part : std::size_t { method, host, target, part_count };
using Parts = std::array<WantedField, part_count>;

bool describes_only(const Field& field, const Parts& parts, bool has_token) noexcept {
    switch (field.id) {
    case FieldId::expect:
    case FieldId::host:
    case FieldId::max_forwards:
    case FieldId::x_forwarded_proto:
        return true;
    default:
        break;
    }
    return http::is_hop_by_hop(field.id) ||
           std::ranges::any_of(
               parts,
               [&](const WantedField& part) {
                   return ascii::equals_folded(field.name, part.name);
               }) ||
           (has_token && ascii::equals_folded(field.name, "authorization"));
}

std::string complaint(std::string_view spelt, std::size_t count) {
    return std::string{
        count == 0 ? "the request that is asked about has no "
                   : "the request that is asked about has more than one "}
        .append(spelt);
}

} // namespace

Result<void, std::string> write_forwarded_request(
    std::string& out, const RequestHead& asking, std::string_view client_field, bool has_token) {
    Parts parts{
        {{"x-forwarded-method", "X-Forwarded-Method"},
         {"x-forwarded-host", "X-Forwarded-Host"},
         {"x-forwarded-uri", "X-Forwarded-Uri"}}};
    bool names_client = false;
    for (const Field& field : asking.fields) {
        names_client = names_client || ascii::equals_folded(field.name, client_field);
        for (WantedField& part : parts)
            if (ascii::equals_folded(field.name, part.name)) {
                part.value = field.value;
                ++part.count;
            }
    }
    for (const WantedField& part : parts)
        if (part.count != 1 || part.value.empty())
            return complaint(part.spelt, part.value.empty() ? 0 : part.count);
    if (!names_client)
        return complaint(client_field, 0);
    // Method and target must be one word each: the parser would read text after a blank as the next
    // part of the request line.
    if (!ascii::token.contains_all(parts[method].value) ||
        parts[target].value.find_first_of(" \t") != std::string_view::npos)
        return std::string{"X-Forwarded-Method or X-Forwarded-Uri is not one word"};
    out.assign(parts[method].value).append(" ").append(parts[target].value);
    out.append(" HTTP/1.1\r\nHost: ").append(parts[host].value).append("\r\n");
    for (const Field& field : asking.fields)
        if (!describes_only(field, parts, has_token))
            out.append(field.name).append(": ").append(field.value).append("\r\n");
    out += "\r\n";
    return {};
}

} // namespace stint::permits
