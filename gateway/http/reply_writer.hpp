// The common parts of local replies. Internal to the code that makes local replies.
#pragma once

#include "http/local_reply.hpp"
#include "http/problem_writer.hpp"
#include "http/response.hpp"

#include <string_view>

namespace stint::http {

// Adds the rate-limit fields and X-Request-Id of the context.
inline void add_context(Response& to, const ReplyContext& context) {
    if (!context.policies.policies.empty())
        write_policy_fields(to.fields(), context.policies);
    if (!context.request_id.empty())
        to.fields().field("X-Request-Id", context.request_id);
}

// Makes a local reply, which no cache may store. write_fields(out) adds fields; write_body(out)
// writes the body.
template <class WriteFields, class WriteBody>
void make_reply(
    Response& to,
    const ReplyContext& context,
    int status,
    std::string_view content_type,
    WriteFields write_fields,
    WriteBody write_body) {
    to.begin(status, content_type);
    to.set_no_store();
    write_fields(to.fields());
    add_context(to, context);
    write_body(to.body());
}

} // namespace stint::http
