#include "http/upgrade.hpp"

#include "http/ascii.hpp"
#include "http/framing.hpp"
#include "http/websocket.hpp"

#include <algorithm>

namespace stint::http {

namespace {

// Calls visit(protocol) for every element of the Upgrade fields that is not empty.
template <class Visit>
void for_each_protocol(std::span<const Field> fields, Visit visit) {
    for (const Field& field : fields)
        if (field.id == FieldId::upgrade)
            ascii::for_each_element(field.value, [&visit](std::string_view protocol) {
                if (!protocol.empty())
                    visit(protocol);
            });
}

// True for protocol-name ["/" protocol-version], where both are tokens.
bool well_formed(std::string_view protocol) noexcept {
    const std::size_t slash = protocol.find('/');
    const std::string_view name = protocol.substr(0, slash);
    if (name.empty() || !ascii::token.contains_all(name))
        return false;
    if (slash == std::string_view::npos)
        return true;
    const std::string_view version = protocol.substr(slash + 1);
    return !version.empty() && ascii::token.contains_all(version);
}

void append(std::string& list, std::string_view protocol) {
    if (!list.empty())
        list += ", ";
    list += protocol;
}

} // namespace

bool accepts_websocket(const RequestHead& request, const ResponseHead& answer) {
    const auto named = [](std::span<const Field> fields, std::string_view name) {
        const auto found = std::ranges::find_if(
            fields, [name](const Field& field) { return ascii::equals_folded(field.name, name); });
        return found == fields.end() ? std::string_view{} : found->value;
    };
    const std::string due = websocket_accept(named(request.fields, "sec-websocket-key"));
    return !due.empty() && named(answer.fields, "sec-websocket-accept") == due;
}

std::string offered_protocols(const RequestHead& request, std::span<const std::string> allowed) {
    std::string offer;
    if (request.minor_version == 0 || request.framing.has_body() ||
        !has_connection_option(request.fields, "upgrade"))
        return offer;
    for_each_protocol(request.fields, [&](std::string_view protocol) {
        const std::string_view name = protocol.substr(0, protocol.find('/'));
        const bool may = std::any_of(allowed.begin(), allowed.end(), [name](const auto& each) {
            return ascii::equals_folded(name, each);
        });
        if (may && well_formed(protocol) && !ascii::list_contains(offer, protocol))
            append(offer, protocol);
    });
    return offer;
}

std::string chosen_protocols(const ResponseHead& answer, std::string_view offer) {
    std::string chosen;
    if (answer.minor_version == 0 || !has_connection_option(answer.fields, "upgrade"))
        return chosen;
    bool all_offered = true;
    for_each_protocol(answer.fields, [&](std::string_view protocol) {
        all_offered = all_offered && ascii::list_contains(offer, protocol);
        append(chosen, protocol);
    });
    return all_offered ? chosen : std::string{};
}

} // namespace stint::http
