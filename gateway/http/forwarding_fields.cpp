#include "http/forwarding_fields.hpp"

#include <string_view>

namespace stint::http {

namespace {

// Writes every value that the field already has, each followed by ", ".
void write_list(HeadBuffer& out, std::span<const Field> fields, FieldId id) {
    for (const Field& field : fields)
        if (field.id == id && !field.value.empty())
            out << field.value << ", ";
}

// Returns the value of the first field of this id that has one, or an empty text.
std::string_view value_of(std::span<const Field> fields, FieldId id) noexcept {
    for (const Field& field : fields)
        if (field.id == id && !field.value.empty())
            return field.value;
    return {};
}

// Writes Forwarded. An IPv6 address is put in brackets, and a value that is no token in quotes (RFC
// 7239 sections 4 and 6). Without forwarding.forwarded, writes the field only if a trusted peer has
// sent one, and appends nothing to it but "for=" and the peer.
void write_forwarded(
    HeadBuffer& out, const RequestHead& head, const Forwarding& forwarding, std::string_view peer) {
    const bool begun =
        forwarding.peer_is_trusted && !value_of(head.fields, FieldId::forwarded).empty();
    if (!begun && !forwarding.forwarded)
        return;
    const bool v6 = peer.find(':') != std::string_view::npos;
    out << "Forwarded: ";
    if (begun)
        write_list(out, head.fields, FieldId::forwarded);
    out << (v6 ? "for=\"[" : "for=") << peer << (v6 ? "]\"" : "");
    if (forwarding.forwarded) {
        const bool quoted = head.authority.find(':') != std::string_view::npos;
        if (!head.authority.empty())
            out << (quoted ? ";host=\"" : ";host=") << head.authority << (quoted ? "\"" : "");
        out << ";proto=" << forwarding.scheme;
    }
    out << "\r\n";
}

// Writes the client's Via, and behind it the gateway's with the name `pseudonym`. An empty name
// means that the gateway adds nothing.
// The received protocol as Via names it (RFC 9110 section 7.6.3), and a blank.
std::string_view received_protocol(const RequestHead& head) noexcept {
    if (head.http2) [[unlikely]]
        return "2.0 ";
    return head.minor_version == 0 ? "1.0 " : "1.1 ";
}

void write_via_as(HeadBuffer& out, const RequestHead& head, std::string_view pseudonym) {
    if (pseudonym.empty()) {
        for (const Field& field : head.fields)
            if (field.id == FieldId::via && !field.value.empty())
                out.field("Via", field.value);
        return;
    }
    out << "Via: ";
    write_list(out, head.fields, FieldId::via);
    out.add(received_protocol(head), pseudonym, "\r\n");
}

} // namespace

void write_hops(HeadBuffer& out, const RequestHead& head, const Forwarding& forwarding) {
    const std::string_view peer =
        forwarding.peer_address.empty() ? std::string_view{"unknown"} : forwarding.peer_address;
    std::string_view scheme = forwarding.scheme;
    std::string_view host = head.authority;
    if (forwarding.peer_is_trusted) [[unlikely]] {
        out << "X-Forwarded-For: ";
        write_list(out, head.fields, FieldId::x_forwarded_for);
        const std::string_view known_scheme = value_of(head.fields, FieldId::x_forwarded_proto);
        const std::string_view known_host = value_of(head.fields, FieldId::x_forwarded_host);
        scheme = known_scheme.empty() ? scheme : known_scheme;
        host = known_host.empty() ? host : known_host;
        out.add(peer, "\r\nX-Forwarded-Proto: ", scheme, "\r\n");
    } else {
        out.add("X-Forwarded-For: ", peer, "\r\nX-Forwarded-Proto: ", scheme, "\r\n");
    }
    if (!host.empty())
        out.field("X-Forwarded-Host", host);
    if (forwarding.peer_is_trusted || forwarding.forwarded) [[unlikely]]
        write_forwarded(out, head, forwarding, peer);
    if (!forwarding.peer_is_trusted && !forwarding.client_field.empty())
        out.field(forwarding.client_field, peer);
}

void write_via(HeadBuffer& out, const RequestHead& head, const std::string* pseudonym) {
    if (pseudonym != nullptr) [[unlikely]]
        return write_via_as(out, head, *pseudonym);
    const std::string_view protocol = received_protocol(head);
    if (!head.ids.contains(FieldId::via)) [[likely]]
        return out.add("Via: ", protocol, "stint\r\n");
    out << "Via: ";
    write_list(out, head.fields, FieldId::via);
    out.add(protocol, "stint\r\n");
}

} // namespace stint::http
