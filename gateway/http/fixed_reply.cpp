#include "http/fixed_reply.hpp"

#include "http/field_edits.hpp"
#include "http/location.hpp"
#include "http/reply_writer.hpp"

namespace stint::http {

void make_fixed_reply(
    Response& to,
    const ReplyContext& context,
    const FixedAnswer& answer,
    const PlaceholderValues& values) {
    to.begin(answer.status, answer.content_type);
    if (answer.names_server)
        to.set_names_server();
    if (answer.status == 204 || answer.status == 304)
        to.set_content(Response::Content::none);
    if (!answer.location.empty()) {
        to.fields() << "Location: ";
        write_location(to.fields(), answer.location, values);
        to.fields() << "\r\n";
    }
    write_set_fields(to.fields(), answer.fields, values);
    add_context(to, context);
    if (to.content() == Response::Content::whole && answer.status != 205)
        answer.body.write(to.body(), values);
}

} // namespace stint::http
