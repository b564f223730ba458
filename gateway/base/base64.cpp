#include "base/base64.hpp"

#include <sodium/utils.h>

namespace stint {

std::string to_base64(std::string_view bytes) {
    constexpr int variant = sodium_base64_VARIANT_ORIGINAL;
    std::string text(sodium_base64_encoded_len(bytes.size(), variant), '\0'); // with a final zero
    ::sodium_bin2base64(
        text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
        bytes.size(), variant);
    text.pop_back();
    return text;
}

} // namespace stint
