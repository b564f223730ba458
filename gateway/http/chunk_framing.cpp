#include "http/chunk_framing.hpp"

#include "http/trailers.hpp"

namespace stint::http {

std::string_view ChunkFraming::end_with(std::string_view trailer, std::string_view nominated) {
    end_ = "0\r\n";
    append_trailer_fields(end_, trailer, nominated);
    return end_ += "\r\n";
}

} // namespace stint::http
