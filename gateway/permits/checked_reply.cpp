// The reply to a request for a check (forward-auth).
#include "http/json_text.hpp"
#include "http/reply_writer.hpp"
#include "permits/checked_request.hpp"

#include <cstdint>

namespace stint::permits {

void CheckedRequest::write(
    http::HeadBuffer& out, http::ReplyContext context, std::optional<int> deny) const {
    context.request_id = request_id_;
    http::PolicyFields policies;
    if (!rate_limit_headers_.empty()) {
        policies = rate_limit_headers_.fields(route_->telling, now_);
        context.policies = &policies;
    }
    if (status_ == 200)
        return write_granted(out, context);
    if (!deny && not_checked_.empty())
        return reply_.write(out, context, status_);
    http::HeadBuffer answer;
    reply_.write(answer, context, status_);
    write_denied(out, answer.view(), deny);
}

void CheckedRequest::write_not_checked(http::HeadBuffer& head) const {
    std::string_view between = "X-Stint-Not-Checked: ";
    for (const std::string_view limit : not_checked_) {
        head << between << limit;
        between = ", ";
    }
    if (!not_checked_.empty())
        head << "\r\n";
}

void CheckedRequest::write_granted(http::HeadBuffer& out, const http::ReplyContext& context) const {
    const auto body = [&](auto& sink) {
        sink << R"({"granted":true,"route":")";
        http::write_json_text(sink, route_->name);
        sink << R"(","not_checked":[)";
        std::string_view between = "\"";
        for (const std::string_view limit : not_checked_) {
            sink << between;
            http::write_json_text(sink, limit);
            sink << "\"";
            between = ",\"";
        }
        sink << "]}\n";
    };
    http::write_reply(
        out, context, 200, "application/json",
        [this](http::HeadBuffer& head) { write_not_checked(head); }, body);
}

// Writes the reply with another status line, and with fields after that.
void CheckedRequest::write_denied(
    http::HeadBuffer& out, std::string_view answer, std::optional<int> deny) const {
    const auto status = static_cast<std::uint64_t>(status_);
    const int sent = deny.value_or(status_);
    out << "HTTP/1.1 " << static_cast<std::uint64_t>(sent) << " " << http::reason_phrase(sent)
        << "\r\n";
    if (deny)
        out << "X-Stint-Status: " << status << "\r\n";
    write_not_checked(out);
    out << answer.substr(answer.find("\r\n") + 2);
}

} // namespace stint::permits
