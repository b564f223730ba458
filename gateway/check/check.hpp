// stint check: reports the mistakes of a configuration and what may not be meant, or how it differs
// from another one.
#pragma once

#include "config/load.hpp"

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace stint::check {

inline constexpr std::string_view all_stores = "*"; // no store's name

struct Options {
    std::string file;                  // "-" is standard input
    std::optional<std::string> diff{}; // reports how `file` differs from this one, and nothing else
    bool strict = false;               // notes are a failure, too
    bool print = false;                // `out` gets the configuration, `errors` the notes
    std::string store{};               // this store is tried, too; all_stores: each; empty: none
    config::Environment environment{}; // for the variables in the configurations
};

enum class Ending : std::uint8_t {
    fine,     // also if there are notes, but `strict` is not set
    unusable, // a store, or `out`
    mistakes, // in `file`, or in `diff`
    notes,
    differs,
};

// Writes the report to `out`, and mistakes to `errors`, one line each.
[[nodiscard]] Ending run(const Options& options, std::ostream& out, std::ostream& errors);

// Returns the loaded configuration. If it or its TLS files have mistakes, writes each of them to
// `errors` and returns nullopt. file: as the mistakes name it.
[[nodiscard]] std::optional<config::Config> usable(
    Result<config::Config, config::ConfigErrors> loaded,
    const std::string& file,
    std::ostream& errors);

} // namespace stint::check
