#include "runtime/token_file.hpp"

#include "http/ascii.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace stint::runtime {

Result<std::string, std::string> read_token(const std::string& path) {
    using Read = Result<std::string, std::string>;
    std::ifstream in{path};
    std::string token{std::istreambuf_iterator<char>{in}, {}};
    if (!in)
        return {
            boost::system::in_place_error,
            "cannot read the token file " + path + ": " + std::strerror(errno)};
    const auto is_space = [](char c) { return c == '\n' || c == '\r' || http::ascii::is_blank(c); };
    while (!token.empty() && is_space(token.back()))
        token.pop_back();
    token.erase(0, token.find_first_not_of(" \t\r\n"));
    if (token.empty())
        return {boost::system::in_place_error, "the token file " + path + " is empty"};
    return Read{boost::system::in_place_value, std::move(token)};
}

} // namespace stint::runtime
