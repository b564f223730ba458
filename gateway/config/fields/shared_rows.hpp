// Rows of keys that several sections share.
#pragma once

#include "config/fields/kinds.hpp"
#include "config/fields/tables.hpp"
#include "config/sections/section_readers.hpp"
#include "config/sections/section_showers.hpp"
#include "config/values/file_values.hpp"

#include <type_traits>
#include <utility>

namespace stint::config {

// True for the struct of a route, which inherits some settings from the top level. GET /config does
// not show an inherited setting.
template <class S>
inline constexpr bool is_route = std::is_same_v<S, Route>;

template <class S>
constexpr FieldOf<S> max_body_row(std::string_view otherwise) {
    constexpr std::uint64_t largest = std::uint64_t{1} << 40U;
    return Fields<S>::other(
        {.key = "max_body",
         .about = "The longest body of a request (else 413).",
         .expected = "a size such as 10MiB, or off",
         .otherwise = otherwise},
        {.kind = FieldType::Kind::size, .low = 0, .high = largest, .zero = "off"},
        [](const Field& field, const Value& value, S& section, LoadState&) {
            read_max_body(field, value, section.max_body);
        },
        [](const Field& field, const S& section, const Config& config, Shown::Map& members) {
            const bool taken_over = is_route<S> && section.max_body == config.max_body;
            if (!taken_over)
                add(members, field.key,
                    section.max_body ? Shown{Shown::Bytes{*section.max_body}} : Shown{"off"});
        });
}

template <class S>
constexpr FieldOf<S> ipv4_prefix_row(std::string_view about) {
    return Fields<S>::template number<inside<&S::prefixes, &AddressPrefixes::ipv4>>(
        {.key = "ipv4_prefix", .about = about, .expected = "a number of bits"}, 1, 32);
}
template <class S>
constexpr FieldOf<S> ipv6_prefix_row(std::string_view about) {
    return Fields<S>::template number<inside<&S::prefixes, &AddressPrefixes::ipv6>>(
        {.key = "ipv6_prefix", .about = about, .expected = "a number of bits"}, 1, 128);
}

template <class S>
constexpr FieldOf<S> headers_row(std::string_view otherwise) {
    return Fields<S>::map(
        {.key = "headers",
         .about = "Response fields that report limits to clients.",
         .otherwise = otherwise},
        "off, draft, legacy, both, or map",
        [](const Field&, const Value& value, S& section, LoadState& loading) {
            read_headers(value, section.headers, loading);
        },
        [](const Field& field, const S& section, const Config& config, Shown::Map& members) {
            const bool taken_over = is_route<S> && section.headers == config.headers;
            if (!taken_over)
                add(members, field.key, shown(header_fields(), section.headers, config));
        });
}

// The rows below are for the address of a listener, and the mode and group of its Unix socket file.
template <class S>
constexpr FieldOf<S> address_row(std::string_view example, Reload reload) {
    return Fields<S>::other(
        {.key = "address",
         .about =
             "IPv4:port, \"[IPv6]:port\" or unix:/path. With port 0 the kernel chooses the port.",
         .expected = example,
         .required = true,
         .reload = reload},
        {.kind = FieldType::Kind::text, .name = "address"}, nullptr,
        [](const Field& field, const S& section, const Config&, Shown::Map& members) {
            add(members, field.key, section.address.text);
        });
}
void show_mode(const Field& field, const Address& address, Shown::Map& members);
void show_group(const Field& field, const Address& address, Shown::Map& members);
template <class S>
constexpr FieldOf<S> mode_row(Reload reload) {
    return Fields<S>::other(
        {.key = "mode",
         .about =
             "Permissions of a Unix socket's file: three octal digits. Who may write to it may "
             "connect.",
         .expected = "a mode such as 0660",
         .otherwise = "`0660`",
         .reload = reload},
        {.kind = FieldType::Kind::text, .name = "octal digits"}, nullptr,
        [](const Field& field, const S& section, const Config&, Shown::Map& members) {
            show_mode(field, section.address, members);
        });
}
template <class S>
constexpr FieldOf<S> group_row(Reload reload) {
    return Fields<S>::other(
        {.key = "group",
         .about = "Group of a Unix socket's file: a name that this machine knows, or a number.",
         .expected = "a group such as www-data",
         .otherwise = "that of the process",
         .reload = reload},
        {.kind = FieldType::Kind::text, .name = "name or number"}, nullptr,
        [](const Field& field, const S& section, const Config&, Shown::Map& members) {
            show_group(field, section.address, members);
        });
}

template <class S>
constexpr FieldOf<S> hosts_row(Reload reload) {
    return Fields<S>::other(
        {.key = "hosts",
         .about =
             "Host names by which clients reach the listener, beside its address and localhost.",
         .expected = "a list of names such as [stint.internal]",
         .reload = reload},
        {.kind = FieldType::Kind::text,
         .is_list = true,
         .most_items = 64,
         .name = "names without ports"},
        [](const Field& field, const Value& value, S& section, LoadState&) {
            read_hosts(field, value, section.hosts);
        },
        [](const Field& field, const S& section, const Config&, Shown::Map& members) {
            add(members, field.key, list_of(section.hosts));
        });
}

template <class S>
constexpr FieldOf<S> token_file_row(std::string_view about, Reload reload) {
    return Fields<S>::other(
        {.key = "token_file",
         .about = about,
         .expected = "the path of a file with a token",
         .otherwise = "none",
         .reload = reload},
        {.kind = FieldType::Kind::text, .name = "path of a file"},
        [](const Field& field, const Value& value, S& section, LoadState& loading) {
            read_token_file(field, value, section.token_file, loading);
        },
        [](const Field& field, const S& section, const Config&, Shown::Map& members) {
            if (!section.token_file.empty())
                add(members, field.key, absolute_file(section.token_file));
        });
}

template <class S>
constexpr FieldOf<S> tls_row(Reload reload) {
    return Fields<S>::map(
        {.key = "tls",
         .about = "TLS: a map, or a list of certificates.",
         .otherwise = "none",
         .reload = reload},
        "map, or list of certificates",
        [](const Field&, const Value& value, S& section, LoadState& loading) {
            read_tls(value, loading, section.tls.emplace());
        },
        [](const Field& field, const S& section, const Config& config, Shown::Map& members) {
            if (section.tls)
                add(members, field.key, shown(tls_fields(), *section.tls, config));
        });
}

// The rows below are for settings that both an upstream and a route may have; the route's value has
// precedence.
template <class S>
constexpr FieldOf<S> retry_row(std::string_view otherwise) {
    return Fields<S>::map(
        {.key = "retry",
         .about = "Which failed requests are sent once more.",
         .otherwise = otherwise},
        "on, off, or map",
        [](const Field&, const Value& value, S& section, LoadState& loading) {
            read_retry(value, section.retry.emplace(), loading);
        },
        [](const Field& field, const S& section, const Config& config, Shown::Map& members) {
            add(members, field.key, shown_retry(section.retry, config));
        });
}
template <class S>
constexpr FieldOf<S> timeouts_row(std::string_view otherwise) {
    return Fields<S>::map(
        {.key = "timeouts", .about = "Its own timeouts.", .otherwise = otherwise}, "map",
        [](const Field&, const Value& value, S& section, LoadState& loading) {
            read_overrides(value, section.timeouts, loading);
        },
        [](const Field& field, const S& section, const Config& config, Shown::Map& members) {
            Shown::Map own = shown(timeout_override_fields(), section.timeouts, config);
            if (!own.empty())
                add(members, field.key, std::move(own));
        });
}
template <class S, EditedHead Head>
constexpr FieldOf<S> edits_row(std::string_view key) {
    return Fields<S>::map(
        {.key = key,
         .about = Head == EditedHead::request ? "Fields set and removed in heads of requests."
                                              : "Fields set and removed in heads of responses.",
         .otherwise = "none"},
        "map",
        [](const Field&, const Value& value, S& section, LoadState& loading) {
            read_edits(
                value, Head,
                Head == EditedHead::request ? section.shaping.request : section.shaping.response,
                loading);
        },
        [](const Field& field, const S& section, const Config& config, Shown::Map& members) {
            const FieldEdits& edits =
                Head == EditedHead::request ? section.shaping.request : section.shaping.response;
            if (!edits.set.empty() || !edits.remove.empty())
                add(members, field.key, shown(edit_fields(), edits, config));
        });
}

} // namespace stint::config
