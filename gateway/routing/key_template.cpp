#include "routing/key_template.hpp"

namespace stint::routing {

std::string KeyTemplate::text() const {
    switch (source_) {
    case Source::none:
        return "";
    case Source::client_ip:
        return "client_ip";
    }
    return "";
}

Hash128 KeyTemplate::evaluate(const KeyFacts& facts) const noexcept {
    switch (source_) {
    case Source::none:
        return {};
    case Source::client_ip:
        return facts.client_ip;
    }
    return {};
}

} // namespace stint::routing
