// Reads the directives of an nginx configuration into a Model, by a table with a row for each
// directive.
#pragma once

#include "import/read/model.hpp"
#include "import/report.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace stint::import_nginx {

// Where a directive stands. Several are added.
namespace context {
inline constexpr unsigned main = 1;
inline constexpr unsigned http = 2;
inline constexpr unsigned server = 4;
inline constexpr unsigned location = 8;
inline constexpr unsigned upstream = 16;
inline constexpr unsigned shared = http | server | location;
inline constexpr unsigned any = main | http | server | location | upstream;
} // namespace context

// The block that is being read. Pointers are null where the context has no such thing.
struct Block {
    unsigned where = context::main;
    Model& model;
    Report& report;
    Settings* settings = nullptr;
    Server* server = nullptr;
    Location* location = nullptr;
    UpstreamGroup* upstream = nullptr;
    // Lists that this block has begun itself: the first directive of a kind replaces what the block
    // around it has.
    std::set<std::string_view> begun{};

    // Returns the list, emptied if the block has not begun it yet.
    template <class List>
    List& own(List& list, std::string_view name) {
        if (begun.insert(name).second)
            list.clear();
        return list;
    }
};

// True in http, also without the block, as a file of conf.d has it.
[[nodiscard]] inline bool in_http(const Block& block) noexcept {
    return (block.where & context::http) != 0;
}

// The row of a directive. Either it is read, or `why` says why not.
struct Row {
    std::string_view name;
    unsigned where = context::any;
    std::size_t least = 0; // arguments
    std::size_t most = 0;
    void (*read)(Block&, const Directive&) = nullptr;
    std::string_view why{};
    bool lost = false;       // a row without `read`: the draft lacks what the directive does
    std::string_view idle{}; // the argument with which it does nothing, so that nothing is lost
};

inline constexpr std::size_t many = 10'000; // arguments

// The rows of each part of the table. No name is in two rows.
[[nodiscard]] std::span<const Row> limit_rows();
[[nodiscard]] std::span<const Row> proxy_rows();
[[nodiscard]] std::span<const Row> upstream_rows();
[[nodiscard]] std::span<const Row> server_rows();
[[nodiscard]] std::span<const Row> answer_rows();
[[nodiscard]] std::span<const Row> client_rows();
[[nodiscard]] std::span<const Row> unread_rows();

// Reads the directives of a block: servers and locations last, as they have the settings around
// them wherever these stand.
void read_block(Block& block, const std::vector<Directive>& directives);

// Reads one directive. It outlives the model.
void read_directive(Block& block, const Directive& directive);

// Returns the row of a directive; null if there is none.
[[nodiscard]] const Row* find_row(std::string_view name);

// Reads a whole configuration. folder: of the main file.
[[nodiscard]] Model
read_model(const std::vector<Directive>& directives, std::string folder, Report& report);

// Reports an argument that nginx would refuse, or Stint.
void lose_argument(Block& block, const Directive& directive, std::string_view expected);

// Returns true for "on", false for "off"; any other word is reported and is false.
[[nodiscard]] bool read_switch(Block& block, const Directive& directive);

// Returns the path of the file that the first argument names: an absolute one, or one below the
// folder of the main file. "", after a report, if it cannot be a file's.
[[nodiscard]] std::string read_path(Block& block, const Directive& directive);

} // namespace stint::import_nginx
