// Trailer fields of a response that go on to its client.
#include "http/trailers.hpp"
#include "proxy/exchange.hpp"

namespace stint::proxy {

void Exchange::expect_trailers(const ResponseHead& head) {
    trailers_ = std::make_unique<Trailers>();
    trailers_->nominated = http::connection_options(head.fields);
    response_body_.keep_trailer(trailers_->place.data());
}

// The last chunk, the trailer fields that may be passed on and the end of the body.
std::string_view Exchange::end_of_chunks() {
    if (trailers_ == nullptr) [[likely]]
        return http::last_chunk;
    std::string& ending = trailers_->ending;
    ending = "0\r\n";
    http::append_trailer_fields(ending, response_body_.trailer(), trailers_->nominated);
    return ending += http::chunk_end;
}

} // namespace stint::proxy
