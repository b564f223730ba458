// The reply to a request for a check (forward-auth).
#include "http/json_text.hpp"
#include "http/reply_writer.hpp"
#include "permits/checked_request.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace stint::permits {

void CheckedRequest::respond(http::Response& to) {
    http::ReplyContext context{.request_id = request_id_};
    if (!admission_.headers().empty())
        context.policies =
            admission_.headers().fields(admission_.route()->telling, admission_.decided());
    if (status_ == 200)
        return grant(to, context);
    admission_.reply().make(to, context, status_);
    if (deny_) {
        to.fields() << "X-Stint-Status: " << static_cast<std::uint64_t>(status_) << "\r\n";
        to.set_status(*deny_);
    }
    write_not_checked(to.fields());
}

// Calls visit(name) for each limit of the route that a check cannot apply.
template <class Visit>
void CheckedRequest::for_each_not_checked(Visit visit) const {
    for (std::uint32_t left = admission_.left_out(); left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(left));
        const auto limit = config_->snapshot->on(*admission_.route(), i);
        visit(std::string_view{limit->limit->identity().name});
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

void CheckedRequest::grant(http::Response& to, const http::ReplyContext& context) const {
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
    http::make_reply(
        to, context, 200, "application/json",
        [this](http::HeadBuffer& head) { write_not_checked(head); }, body);
}

} // namespace stint::permits
