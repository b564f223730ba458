#include "import/draft/fields.hpp"

#include "base/text_template.hpp"
#include "config/values/bounds.hpp"
#include "config/values/edited_fields.hpp"
#include "config/values/match_values.hpp"
#include "config/values/placeholders.hpp"
#include "config/yaml/diagnostics.hpp"
#include "import/syntax/values.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace stint::import_nginx {

namespace {

struct PlaceholderName {
    std::string_view variable;
    std::string_view placeholder;
};
constexpr std::array of_fields{
    PlaceholderName{"remote_addr", "{client_ip}"},
    PlaceholderName{"host", "{host}"},
    PlaceholderName{"request_method", "{method}"},
    PlaceholderName{"request_id", "{request_id}"},
};
constexpr std::array of_targets{
    PlaceholderName{"host", "{host}"},
    PlaceholderName{"http_host", "{host}"},
    PlaceholderName{"request_uri", "{path}{?query}"},
    PlaceholderName{"uri", "{path}"},
    PlaceholderName{"document_uri", "{path}"},
};

// Returns true for a text that would be a placeholder in Stint, and is none in nginx.
bool has_placeholder(std::string_view text) {
    return std::ranges::any_of(placeholder_texts, [text](std::string_view placeholder) {
        return text.find(placeholder) != std::string_view::npos;
    });
}

// Replaces the variables. Returns the name of the first one for which there is nothing; "" if all
// are replaced.
std::string fill_in(
    std::string_view text,
    std::span<const PlaceholderName> known,
    const std::string& server,
    std::string& out) {
    std::string unknown;
    for (const Piece& piece : pieces_of(text)) {
        const auto found = std::ranges::find(known, piece.text, &PlaceholderName::variable);
        if (!piece.variable && has_placeholder(piece.text) && unknown.empty())
            unknown = "{ }";
        else if (!piece.variable)
            out += piece.text;
        else if (piece.text == "server_name" && !server.empty())
            out += server;
        else if (found != known.end())
            out += found->placeholder;
        else if (unknown.empty())
            unknown = piece.text;
    }
    return unknown;
}

// True for what Stint sends in these fields by itself.
bool is_as_in_stint(std::string_view key, std::string_view value) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 11> same{{
        {"x-forwarded-for", "$proxy_add_x_forwarded_for"},
        {"x-forwarded-for", "$remote_addr"},
        {"x-forwarded-for", "$http_x_forwarded_for"},
        {"x-forwarded-proto", "$scheme"},
        {"x-forwarded-host", "$host"},
        {"x-forwarded-host", "$http_host"},
        {"x-request-id", "$request_id"},
        {"connection", ""},
        {"connection", "$connection_upgrade"},
        {"connection", "upgrade"},
        {"upgrade", "$http_upgrade"},
    }};
    const std::string lower = config::lower(value);
    return std::ranges::find(same, std::pair{key, std::string_view{lower}}) != same.end();
}

class RequestReader {
  public:
    RequestReader(const FieldContext& context, Report& report)
        : context_{context}, report_{report} {}

    void read(const HeaderField& field, RequestFields& into);

  private:
    void read_host(const HeaderField& field, RequestFields& into);

    const FieldContext& context_;
    Report& report_;
    std::set<std::string> seen_;
};

void RequestReader::read_host(const HeaderField& field, RequestFields& into) {
    const bool plain = field.value == "$host", with_port = field.value == "$host:$server_port";
    if (plain || with_port || field.value == "$http_host") {
        into.host = "keep";
        if (plain || with_port)
            into.host_note = std::string{"Not the same: in nginx this Host is in lower case and "
                                         "has "} +
                             (plain ? "no port" : "the listener's port") +
                             "; keep sends the client's as it is.";
        return;
    }
    if (field.value == "$proxy_host")
        return;
    std::string host;
    if (!fill_in(field.value, {}, context_.server, host).empty() || !config::parse_host_field(host))
        return report_.lose(*field.at, "Host: Stint has no such value; see host of a route");
    into.host = host;
}

void RequestReader::read(const HeaderField& field, RequestFields& into) {
    const std::string key = config::field_key(field.name);
    into.upgrade = into.upgrade || (key == "upgrade" && field.value == "$http_upgrade");
    if (key == "host")
        return read_host(field, into);
    const bool names_client = !context_.client_header.empty() && key == context_.client_header;
    if (is_as_in_stint(key, field.value) || (names_client && field.value == "$remote_addr"))
        return;
    const auto lose = [&](const std::string& why) {
        report_.lose(*field.at, config::in_quotes(field.name) + why + "; left out");
    };
    if (const auto fault = config::edit_fault(field.name, config::EditedHead::request);
        !fault.empty())
        return lose(fault);
    if (names_client)
        return lose(" names the client, and is written by Stint");
    if (!seen_.insert(key).second)
        return lose(" is set twice");
    if (seen_.size() > config::most_edits)
        return lose(one_too_many());
    std::string value;
    const std::string unknown = fill_in(field.value, of_fields, context_.server, value);
    if (!unknown.empty())
        return lose(" has $" + unknown + ", for which Stint has no placeholder");
    if (value.empty())
        return void(into.removed.push(Node::text(field.name)));
    if (!config::parse_field_value(value)) // its fault would show the value
        return lose(" has a value that Stint does not send");
    into.set.add(field.name, Node::text(value));
}

} // namespace

std::string one_too_many() {
    return " is one header too many (" + std::to_string(config::most_edits) + ")";
}

RequestFields
request_fields(const Settings& settings, const FieldContext& context, Report& report) {
    RequestFields fields;
    if (config::parse_host_field(context.default_host))
        fields.host = context.default_host;
    RequestReader reader{context, report};
    for (const HeaderField& field : settings.request_headers)
        reader.read(field, fields);
    fields.set.flow();
    fields.removed.flow();
    return fields;
}

std::string redirect_target(std::string_view text, const std::string& server, Scheme scheme) {
    constexpr std::string_view any = "$scheme://";
    std::string full{text};
    if (full.starts_with(any)) {
        if (scheme == Scheme::both)
            return {};
        full.replace(0, any.size(), scheme == Scheme::https ? "https://" : "http://");
    }
    constexpr std::string_view with_query = "$uri$is_args$args";
    if (const std::size_t at = full.find(with_query); at != std::string::npos)
        full.replace(at, with_query.size(), "$request_uri");
    std::string target;
    const bool whole = fill_in(full, of_targets, server, target).empty();
    return whole && config::parse_redirect_target(target) ? target : std::string{};
}

std::string body_text(std::string_view text, const std::string& server, bool& whole) {
    std::string body;
    whole = fill_in(text, of_fields, server, body).empty();
    if (config::parse_answer_text(body, config::longest_answer))
        return body;
    whole = false;
    return {};
}

} // namespace stint::import_nginx
