// The reply to a request for a check (forward-auth).
#include "http/json_text.hpp"
#include "http/reply_writer.hpp"
#include "permits/checked_request.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace stint::permits {

void CheckedRequest::write(http::HeadBuffer& out, const http::ReplyContext& asked) {
    http::ReplyContext context = asked;
    context.request_id = request_id_;
    http::PolicyFields policies;
    if (!admission_.headers().empty()) {
        policies = admission_.headers().fields(admission_.route()->telling, admission_.decided());
        context.policies = &policies;
    }
    if (status_ == 200)
        return write_granted(out, context);
    if (!deny_ && admission_.left_out() == 0)
        return admission_.reply().write(out, context, status_);
    http::HeadBuffer answer;
    admission_.reply().write(answer, context, status_);
    write_denied(out, answer.view());
}

// Calls visit(name) for each limit that was left out.
template <class Visit>
void CheckedRequest::for_each_not_checked(Visit visit) const {
    for (std::uint32_t left = admission_.left_out(); left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(left));
        visit(std::string_view{admission_.route()->limits[i].limit->identity().name});
    }
}

void CheckedRequest::write_not_checked(http::HeadBuffer& head) const {
    std::string_view between = "X-Stint-Not-Checked: ";
    for_each_not_checked([&](std::string_view limit) {
        head << between << limit;
        between = ", ";
    });
    if (admission_.left_out() != 0)
        head << "\r\n";
}

void CheckedRequest::write_granted(http::HeadBuffer& out, const http::ReplyContext& context) const {
    const auto body = [&](auto& sink) {
        sink << R"({"granted":true,"route":")";
        http::write_json_text(sink, admission_.route()->name);
        sink << R"(","not_checked":[)";
        std::string_view between = "\"";
        for_each_not_checked([&](std::string_view limit) {
            sink << between;
            http::write_json_text(sink, limit);
            sink << "\"";
            between = ",\"";
        });
        sink << "]}\n";
    };
    http::write_reply(
        out, context, 200, "application/json",
        [this](http::HeadBuffer& head) { write_not_checked(head); }, body);
}

// Writes the reply with another status line, and with fields after that.
void CheckedRequest::write_denied(http::HeadBuffer& out, std::string_view answer) const {
    const auto status = static_cast<std::uint64_t>(status_);
    const int sent = deny_.value_or(status_);
    out << "HTTP/1.1 " << static_cast<std::uint64_t>(sent) << " " << http::reason_phrase(sent)
        << "\r\n";
    if (deny_)
        out << "X-Stint-Status: " << status << "\r\n";
    write_not_checked(out);
    out << answer.substr(answer.find("\r\n") + 2);
}

} // namespace stint::permits
