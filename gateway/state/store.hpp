// A key-value store in a file: named tables of rows, changed in transactions. Uses SQLite, which no
// other layer includes. The meaning of rows is up to the callers.
//
// Written rows survive any end of the process, even a crash. Writes are not flushed to the disk at
// once (synchronous=NORMAL with a write-ahead log): a power cut may lose the writes since the last
// checkpoint, some MiB, but the file stays consistent.
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
    std::optional<std::string> value; // nullopt erases the row, if there is one
};

struct Failure {
    // unavailable: may succeed later (no such folder, a full disk, another process has the file
    // open). broken: the file is damaged, or is not a state file of this format; retries cannot
    // help.
    enum class Kind : std::uint8_t { unavailable, broken };
    Kind kind = Kind::unavailable;
    std::string why; // human-readable, without the file's name: "the disk is full"
};

// An open store. Used by one thread at a time. All functions may block on the disk.
class Store {
  public:
    // Opens the file; initialises a missing or empty one. Sets its mode to 0600. Checks the
    // integrity of the whole file, which takes about 100 ms for 50 MB. Locks the file against other
    // processes, and waits up to a second if another process has it open.
    [[nodiscard]] static Result<Store, Failure> open(const std::filesystem::path& file);
    // Opens a file that cannot be written, because it or its folder is read-only. Checks it as
    // open() does. Does not lock or change it. Fails if SQLite's log beside it (-wal) is not empty
    // and the folder is read-only. write() must not be called.
    [[nodiscard]] static Result<Store, Failure> open_to_read(const std::filesystem::path& file);

    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;
    ~Store();

    // Returns true if open() has initialised a missing or empty file.
    [[nodiscard]] bool fresh() const noexcept { return fresh_; }
    // Returns the rows of one table, in no particular order. Fails with Failure::Kind::broken if
    // the checksum of a row is wrong.
    [[nodiscard]] Result<std::vector<Row>, Failure> rows(std::string_view table);
    // Writes all changes in this order in one transaction, or none. After success the changes
    // survive the end of the process.
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
    // Runs a query and returns the first column of its first row; without a row the failure is
    // `broken`.
    [[nodiscard]] Result<std::string, Failure> ask(const char* sql);
    [[nodiscard]] Result<Statement, Failure> prepare(std::string_view sql);
    [[nodiscard]] Result<void, Failure> apply(const Change& change);
    [[nodiscard]] Failure failure(int code) const;

    Database database_;
    Statement put_;
    Statement erase_;
    bool fresh_ = false;
};

// Renames the file, and SQLite's files for it (-wal, -shm, -journal), to FILE.broken-<time>.
// Appends a number if that name is taken. Returns the new name, or the reason of a failure.
[[nodiscard]] Result<std::filesystem::path, Failure>
move_aside(const std::filesystem::path& file, WallTime now);

// True if a file that move_aside() has renamed is still beside `file`, or if the folder cannot be
// read.
[[nodiscard]] bool was_moved_aside(const std::filesystem::path& file);

} // namespace stint::state
