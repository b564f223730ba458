// Responses of the gateway's own, as a client reads them.
#pragma once

#include "http/local_reply.hpp"
#include "http/response_writer.hpp"

#include <string>

namespace stint::http::test {

inline const ReplyContext context{.request_id = "id-1"};
inline const ResponseTerms terms{.date = "Sun, 06 Nov 1994 08:49:37 GMT"};

inline std::string text_of(const Response& response, const ResponseTerms& with = terms) {
    HeadBuffer out;
    write_response(out, response, with);
    return std::string{out.view()};
}

} // namespace stint::http::test
