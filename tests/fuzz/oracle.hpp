// How a fuzzer says that something is wrong: it prints the rule and what broke it, and aborts.
#pragma once

#include <string_view>

namespace stint::fuzz {

// rule: what should have held, as a sentence. seen: bytes; control characters are printed escaped.
void require(bool holds, std::string_view rule, std::string_view seen = {});

} // namespace stint::fuzz
