// A file of rows that outlives the process: named tables of key → value, changed some at a time,
// all or none. The callers know what rows mean. Through SQLite, which only this layer names.
//
// What has been written survives the end of the process, however it ends. It is not flushed to the
// disk with each write (synchronous=NORMAL, a write-ahead log): a power cut may lose what was
// written since the last checkpoint, some MiB, but never leaves a file that is neither old nor new.
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace stint::state {

struct Row {
    std::string key;
    std::string value;
};

struct Change {
    std::string table;
    std::string key;
    std::optional<std::string> value; // nothing: erases the row, if there is one
};

struct Failure {
    // unavailable: not now, but perhaps later (no such folder, a full disk, another process has the
    // file). broken: the file is not a whole one of this kind, and never will be.
    enum class Kind : std::uint8_t { unavailable, broken };
    Kind kind = Kind::unavailable;
    std::string why; // for a person, without the file's name: "the disk is full"
};

// Threads: one at a time. Blocks on the disk.
class Store {
  public:
    // Opens the file, or makes a new one with mode 0600 where there is none or an empty one.
    // Checks everything in it: some 100 ms for 50 MB. While it is open no other process can open
    // it; waits up to a second for one that has it.
    [[nodiscard]] static Result<Store, Failure> open(const std::filesystem::path& file);

    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;
    ~Store();

    // True if the store began without rows.
    [[nodiscard]] bool fresh() const noexcept { return fresh_; }
    // Returns the rows of one table, in no order. A row that is not as it was written is
    // Failure::broken.
    [[nodiscard]] Result<std::vector<Row>, Failure> rows(std::string_view table);
    // Writes all changes or none, in this order. When it returns, they outlive the process.
    [[nodiscard]] Result<void, Failure> write(std::span<const Change> changes);

  private:
    struct Close {
        void operator()(sqlite3* database) const noexcept;
    };
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    using Database = std::unique_ptr<sqlite3, Close>;
    using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

    explicit Store(Database database);

    [[nodiscard]] Result<void, Failure> begin();
    [[nodiscard]] Result<void, Failure> create();
    [[nodiscard]] Result<void, Failure> check();
    [[nodiscard]] Result<void, Failure> run(const char* sql);
    // The first column of the first row.
    [[nodiscard]] Result<std::string, Failure> ask(const char* sql);
    [[nodiscard]] Result<Statement, Failure> prepare(std::string_view sql);
    [[nodiscard]] Result<void, Failure> apply(const Change& change);
    [[nodiscard]] Failure failure(int code) const;

    Database database_;
    Statement put_;
    Statement erase_;
    bool fresh_ = false;
};

// Renames the file, and those that SQLite keeps beside it, to FILE.broken-<time>, with a number
// behind it where that name is taken. Returns the new name, or why it could not be done.
[[nodiscard]] Result<std::filesystem::path, Failure>
move_aside(const std::filesystem::path& file, WallTime now);

} // namespace stint::state
