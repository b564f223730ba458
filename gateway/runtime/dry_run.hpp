// A reload that changes nothing: whether it would succeed, and the configuration that it would put
// in force.
#pragma once

#include "config/schema/schema.hpp"
#include "runtime/config_store.hpp"
#include "runtime/limit_changes.hpp"
#include "runtime/listener_set.hpp"
#include "runtime/reload_history.hpp"

#include <string>
#include <vector>

namespace stint::runtime {

struct DryRun {
    std::vector<ReloadError> errors; // as of ReloadReport; none: it would be applied
    // The members below are empty if there are errors.
    config::Config next{};
    std::string text{};               // the file's text, for the places of keys
    std::vector<std::string> notes{}; // as of ReloadReport
};

// Does the part of a reload that may fail, and changes nothing: reads the configuration file and
// the files that it names, and binds the addresses that it adds, for a moment. changes: the
// operators' changes of limits. Used by the control thread alone.
[[nodiscard]] DryRun
dry_run(const ConfigStore& store, const LimitChanges& changes, const ListenerSet& listeners);

} // namespace stint::runtime
