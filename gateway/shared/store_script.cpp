#include "shared/store_script.hpp"

#include "shared/store_script_parts.hpp"

namespace stint::shared {

std::string store_script(bool in_cluster) {
    std::string script{in_cluster ? "local in_cluster = true" : "local in_cluster = false"};
    for (const auto part :
         {store_script_registry(), store_script_sessions(), store_script_shares()})
        script.append(part);
    return script;
}

} // namespace stint::shared
