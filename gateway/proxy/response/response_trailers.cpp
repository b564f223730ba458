#include "proxy/response/response_trailers.hpp"

#include "http/rewrite.hpp"
#include "http/trailers.hpp"

namespace stint::proxy {

void ResponseTrailers::expect(const ResponseHead& head, http::BodyDecoder& body) {
    kept_ = std::make_unique<Kept>();
    kept_->nominated = http::connection_options(head.fields);
    body.keep_trailer(kept_->place.data());
}

std::string_view ResponseTrailers::end_of_chunks(const http::BodyDecoder& body) {
    if (kept_ == nullptr) [[likely]]
        return http::last_chunk;
    std::string& ending = kept_->ending;
    ending = "0\r\n";
    http::append_trailer_fields(ending, body.trailer(), kept_->nominated);
    return ending += http::chunk_end;
}

} // namespace stint::proxy
