#include "http/rewrite.hpp"

#include "http/ascii.hpp"
#include "http/field_names.hpp"
#include "http/forwarding_fields.hpp"
#include "http/framing.hpp"
#include "http/hop_by_hop.hpp"
#include "http/status_line.hpp"
#include "http/trailers.hpp"

#include <cstdint>
#include <optional>

namespace stint::http {

namespace {

using Kind = BodyFraming::Kind;

// Copies fields with as few copies as their spelling allows: neighbouring lines that the sender
// wrote exactly as the gateway would ("Name: value" CRLF) are copied in one piece.
class FieldLines {
  public:
    explicit FieldLines(HeadBuffer& out) : out_{out} {}
    ~FieldLines() { flush(); }
    FieldLines(const FieldLines&) = delete;
    FieldLines& operator=(const FieldLines&) = delete;

    void add(const Field& field) {
        if (!as_we_would(field)) {
            flush();
            out_.field(field.name, field.value);
            return;
        }
        if (field.name.data() != end_) {
            flush();
            begin_ = field.name.data();
        }
        end_ = field.value.data() + field.value.size() + 2;
    }

  private:
    // True if the sender has written the line as the gateway would. May look behind a field: at
    // least two line ends follow it in its head.
    static bool as_we_would(const Field& field) noexcept {
        const char* colon = field.name.data() + field.name.size();
        const char* line_end = field.value.data() + field.value.size();
        return field.value.data() == colon + 2 && colon[0] == ':' && colon[1] == ' ' &&
               line_end[0] == '\r' && line_end[1] == '\n';
    }

    void flush() {
        out_ << std::string_view{begin_, static_cast<std::size_t>(end_ - begin_)};
        begin_ = end_ = nullptr;
    }

    HeadBuffer& out_;
    const char* begin_ = nullptr;
    const char* end_ = nullptr;
};

// Writes those fields of the head for which keep(field) is true and that no Connection field
// removes. kept: names that Connection cannot remove.
template <class Head, class Keep>
void write_fields(HeadBuffer& out, const Head& head, std::span<const std::string> kept, Keep keep) {
    FieldLines lines{out};
    const std::span<const Field> fields = head.fields;
    if (!head.ids.contains(FieldId::connection) || !nominates_fields(fields)) [[likely]] {
        for (const Field& field : fields)
            if (keep(field))
                lines.add(field);
        return;
    }
    const Nominations nominations{fields, kept};
    for (const Field& field : fields) {
        const bool may_go = is_passed_on(field.id) || field.id == FieldId::underscored;
        if (keep(field) && !(may_go && nominations.contains(field.name)))
            lines.add(field);
    }
}

// Writes the target in origin-form. An absolute-form one without a path stands for "*" with OPTIONS
// (RFC 9112 section 3.2.4), else for "/". path: replaces the target's path, if not empty.
void write_target(HeadBuffer& out, const RequestHead& head, std::string_view path) {
    if (path.empty() && (head.target.starts_with('/') || head.target == "*")) {
        out << head.target;
        return;
    }
    const bool has_query = !head.query.empty() || head.target.ends_with('?');
    const bool has_path = !path.empty() || head.path.data() > head.authority.data();
    if (head.method == "OPTIONS" && !has_path && !has_query)
        out << "*";
    else
        out << (path.empty() ? head.path : path);
    if (has_query)
        out << "?" << head.query;
}

void write_framing(HeadBuffer& out, const BodyFraming& framing) {
    if (framing.kind == Kind::length)
        out << "Content-Length: " << framing.length << "\r\n";
    else if (framing.kind == Kind::chunked)
        out << "Transfer-Encoding: chunked\r\n";
}

// Writes Upgrade and TE for the upstream connection, and Connection with their options (RFC 9110
// sections 7.8 and 10.1.4).
void write_wishes(HeadBuffer& out, const Forwarding& forwarding) {
    const bool upgrade = !forwarding.upgrade.empty();
    if (!upgrade && !forwarding.trailers) [[likely]]
        return;
    out.field("Connection", !upgrade ? "TE" : forwarding.trailers ? "Upgrade, TE" : "Upgrade");
    if (upgrade)
        out.field("Upgrade", forwarding.upgrade);
    if (forwarding.trailers)
        out.field("TE", "trailers");
}

void write_request_id(HeadBuffer& out, const ResponseHead& head, std::string_view request_id) {
    if (!request_id.empty() && !head.ids.contains(FieldId::x_request_id))
        out.field("X-Request-Id", request_id);
}

// True if a 426 names the protocols to upgrade to, as it has to (RFC 9110 section 15.5.22).
bool asks_for_upgrade(const ResponseHead& head) noexcept {
    return head.status == 426 && head.ids.contains(FieldId::upgrade);
}

// Writes the client's Connection field, if it needs one.
void write_connection(HeadBuffer& out, const ResponseHead& head, const ResponseFraming& framing) {
    const std::string_view options = !framing.keep_alive         ? "close"
                                     : framing.client_minor == 0 ? "keep-alive"
                                                                 : std::string_view{};
    if (asks_for_upgrade(head)) [[unlikely]]
        out.add("Connection: ", options, options.empty() ? "" : ", ", "Upgrade\r\n");
    else if (!options.empty())
        out.field("Connection", options);
}

// A response without a body may still state the length of the body that it leaves out (RFC 9110
// section 8.6): a response to HEAD and a 304, but not a 204.
void write_response_length(HeadBuffer& out, const ResponseHead& head) {
    if (head.framing.kind == Kind::length) {
        write_framing(out, head.framing);
        return;
    }
    if (head.framing.kind != Kind::none || head.status == 204)
        return;
    for (const Field& field : head.fields) // a head with two such fields was refused
        if (field.id == FieldId::content_length)
            if (const auto length = parse_content_length(field.value))
                out << "Content-Length: " << *length << "\r\n";
}

// Writes the fields that are forwarded: those of is_passed_on(), and names with "_" that imitate no
// other field. Then writes the fields that the configuration sets. write_upstream_head() drops all
// other fields or writes its own.
void write_end_to_end_fields(
    HeadBuffer& out, const RequestHead& head, const Forwarding& forwarding) {
    const FieldNames* const not_believed =
        forwarding.peer_is_trusted ? nullptr : forwarding.trusted_fields;
    const auto keep = [&](const Field& field) {
        const bool end_to_end =
            is_passed_on(field.id) || (field.id == FieldId::underscored &&
                                       !imitates(field.name, forwarding.protected_fields));
        return end_to_end && (not_believed == nullptr || !not_believed->contains(field.name));
    };
    const std::optional<std::uint64_t>& hops = head.max_forwards;
    const bool replaces = !forwarding.client_field.empty() && !forwarding.peer_is_trusted;
    const Shaping* const shaping = forwarding.shaping;
    if (!replaces && !hops && shaping == nullptr) [[likely]]
        return write_fields(out, head, forwarding.protected_fields, keep);
    write_fields(out, head, forwarding.protected_fields, [&](const Field& field) {
        return keep(field) && !(hops && field.id == FieldId::max_forwards) &&
               !(replaces && ascii::equals_folded(field.name, forwarding.client_field)) &&
               !(shaping != nullptr && drops(shaping->edits, field.name));
    });
    if (hops && *hops > 0)
        out << "Max-Forwards: " << *hops - 1 << "\r\n";
    if (shaping != nullptr)
        write_set_fields(out, shaping->edits.set, shaping->values);
}

// Writes the response's fields other than framing.
void write_response_fields(HeadBuffer& out, const ResponseHead& head, const Shaping* shaping) {
    const bool upgrade = asks_for_upgrade(head);
    const auto keep = [upgrade](const Field& field) {
        if (field.id == FieldId::underscored) [[unlikely]]
            return !imitates(field.name, {});
        return !ends_before_client(field.id) || (upgrade && field.id == FieldId::upgrade);
    };
    if (shaping == nullptr) [[likely]]
        return write_fields(out, head, {}, keep);
    write_fields(out, head, {}, [&](const Field& field) {
        return keep(field) && !drops(shaping->edits, field.name);
    });
    if (head.status >= 200 || head.status == 101)
        write_set_fields(out, shaping->edits.set, shaping->values);
}

} // namespace

void write_upstream_head(HeadBuffer& out, const RequestHead& head, const Forwarding& forwarding) {
    const std::string_view host = forwarding.host.empty() ? head.authority : forwarding.host;
    if (forwarding.path.empty() && head.target.starts_with('/')) [[likely]] {
        out.add(head.method, " ", head.target, " HTTP/1.1\r\nHost: ", host, "\r\n");
    } else {
        out.add(head.method, " ");
        write_target(out, head, forwarding.path);
        out.add(" HTTP/1.1\r\nHost: ", host, "\r\n");
    }
    write_end_to_end_fields(out, head, forwarding);
    write_framing(out, head.framing);
    write_wishes(out, forwarding);
    write_hops(out, head, forwarding);
    out.field("X-Request-Id", forwarding.request_id);
    write_via(out, head, forwarding.via);
    out << "\r\n";
}

ResponseFraming
frame_response(const RequestHead& request, const ResponseHead& response, bool want_keep_alive) {
    return frame_response(
        request.minor_version, response.framing, want_keep_alive && request.keep_alive);
}

ResponseFraming frame_response(int client_minor, const BodyFraming& body, bool want_keep_alive) {
    const bool unknown_length = body.kind == Kind::chunked || body.kind == Kind::until_close;
    const bool chunked = unknown_length && client_minor > 0;
    return {
        .chunked = chunked,
        .keep_alive = want_keep_alive && chunked == unknown_length,
        .client_minor = client_minor,
        .until_close = unknown_length && !chunked};
}

void write_downstream_head(
    HeadBuffer& out,
    const ResponseHead& head,
    const ResponseFraming& framing,
    std::string_view request_id,
    std::string_view date,
    const Shaping* shaping,
    const PolicyFields& policies) {
    write_status_line(out, head.status, head.reason);
    write_response_fields(out, head, shaping);
    if (head.status >= 200) { // interim responses have no framing fields
        if (framing.chunked)
            out << "Transfer-Encoding: chunked\r\n";
        else
            write_response_length(out, head);
        if (framing.trailers) [[unlikely]]
            write_trailer_field(out, head.fields);
        write_connection(out, head, framing);
        write_request_id(out, head, request_id);
        if (!date.empty() && !head.ids.contains(FieldId::date))
            out.field("Date", date);
    }
    if (!policies.policies.empty()) [[unlikely]]
        write_policy_fields(out, policies, head.fields);
    out << "\r\n";
}

void write_switching_head(
    HeadBuffer& out,
    const ResponseHead& head,
    std::string_view protocols,
    std::string_view request_id,
    const Shaping* shaping,
    const PolicyFields& policies) {
    write_status_line(out, head.status, head.reason);
    write_response_fields(out, head, shaping);
    out.field("Connection", "Upgrade");
    out.field("Upgrade", protocols);
    write_request_id(out, head, request_id);
    if (!policies.policies.empty()) [[unlikely]]
        write_policy_fields(out, policies, head.fields);
    out << "\r\n";
}

ChunkHeader::ChunkHeader(std::size_t size) noexcept {
    char* end = std::to_chars(text_, text_ + sizeof text_ - chunk_end.size(), size, 16).ptr;
    end += chunk_end.copy(end, chunk_end.size());
    size_ = static_cast<std::size_t>(end - text_);
}

} // namespace stint::http
