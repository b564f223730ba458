#include "proxy/response/response_trailers.hpp"

#include "http/trailers.hpp"

namespace stint::proxy {

void ResponseTrailers::expect(const ResponseHead& head, http::BodyDecoder& body) {
    kept_ = std::make_unique<Kept>();
    kept_->nominated = http::connection_options(head.fields);
    body.keep_trailer(kept_->place.data());
}

} // namespace stint::proxy
