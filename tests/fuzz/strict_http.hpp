// A second opinion on HTTP/1.1 messages, for judging what the gateway wrote. It shares no code with
// gateway/http, and takes nothing that two readers could understand in different ways: what breaks
// a rule ends the fuzzer (oracle.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stint::fuzz {

struct Message {
    enum class Body : std::uint8_t { none, length, chunked, until_close };

    // A request's method, target and version; a response's version, status and reason.
    std::string first;
    std::string second;
    std::string third;
    std::vector<std::pair<std::string, std::string>> fields; // names in lower case
    Body framing = Body::none;
    std::uint64_t length = 0; // of Body::length
    std::string body;         // its payload, as far as it has come
    bool whole = false;       // to its last byte; never true for until_close

    [[nodiscard]] std::size_t count(std::string_view name) const;
    [[nodiscard]] std::string_view value(std::string_view name) const; // of the first; "" for none
    // Whether the field, a list over all its lines, has the element in any case of letters.
    [[nodiscard]] bool lists(std::string_view name, std::string_view element) const;
};

// Exactly one head with nothing behind it, as a request's or a response's (to a request of
// `method`; "" for one that could not be read).
[[nodiscard]] Message read_request_head(std::string_view head);
[[nodiscard]] Message read_response_head(std::string_view head, std::string_view method);

// Whole messages, the last of which may be cut off. Requests end with one that asks for an Upgrade,
// responses with a 101: what follows may be anything. methods: of the requests in turn; a final
// response more than these answers a request that could not be read.
[[nodiscard]] std::vector<Message> read_requests(std::string_view bytes);
[[nodiscard]] std::vector<Message>
read_responses(std::string_view bytes, const std::vector<std::string>& methods);

// What a client's bytes can mean: every request up to the first that a strict reader refuses, and
// with that one as far as its head is right. Breaks no rule whatever the bytes.
[[nodiscard]] std::vector<Message> possible_requests(std::string_view bytes);

// Takes a chunked body as any sender may write it off the front of `bytes`, its payload into
// `body`. False where it does not end within `bytes` or is malformed; `bytes` is then anywhere.
[[nodiscard]] bool read_chunked_body(std::string_view& bytes, std::string& body);

// The target that such a request is forwarded with (RFC 9112 section 3.2.1, 3.2.4).
[[nodiscard]] std::string origin_form(std::string_view method, std::string_view target);

// Whether a request for `target` may reach the upstream as `seen`: in the client's own spelling,
// or, where its path has dot segments or begins like an authority, with a path that has neither.
[[nodiscard]] bool
may_arrive_as(std::string_view method, std::string_view target, std::string_view seen);

} // namespace stint::fuzz
