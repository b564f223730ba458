#include "state/store.hpp"

#include "base/descriptor.hpp"
#include "base/hash.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace stint::state {

namespace {

// The application id and format version in the header of the SQLite file.
constexpr auto application = "1398034004"; // "STnT"
constexpr int form = 1;
constexpr int wait_for_others_ms = 1000;
// Follows the name of a file that was moved aside.
constexpr auto moved_suffix = ".broken-";

std::string text_of(int error) {
    return std::generic_category().message(error);
}

Failure broken(std::string why) {
    return {Failure::Kind::broken, std::move(why)};
}

// Returns a checksum of a row, which detects flipped bits that SQLite would not notice. It does not
// protect against deliberate changes: its key is constant.
std::string checksum(std::string_view table, std::string_view key, std::string_view value) {
    static const KeyHasher hasher{KeyHasher::Key{}};
    const auto bytes = [](const Hash128& hash) {
        return std::string{reinterpret_cast<const char*>(&hash), sizeof hash};
    };
    std::string parts = bytes(hasher(table));
    parts += bytes(hasher(key));
    parts += bytes(hasher(value));
    return bytes(hasher(parts)).substr(0, 8);
}

// Creates a missing file with mode 0600, because SQLite's mode depends on the umask. Call it before
// SQLite opens the file: closing any descriptor of a file drops all POSIX locks that the process
// has on the file.
Result<void, Failure> make_file(const std::filesystem::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0) {
        if (!S_ISREG(status.st_mode))
            return Failure{Failure::Kind::unavailable, "it is not a regular file"};
        if (::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) != 0)
            return Failure{
                Failure::Kind::unavailable, "it cannot be written (" + text_of(errno) + ")"};
        return {};
    }
    const Descriptor made{::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600)};
    if (made.get() < 0)
        return Failure{Failure::Kind::unavailable, text_of(errno)};
    return {};
}

// Returns SQLite's URI for a file that is only read. A file without a write-ahead log is opened as
// immutable: then SQLite needs neither locks nor other files, and the folder may be read-only, too.
std::string uri_to_read(const std::filesystem::path& file) {
    std::string uri{"file:"};
    for (const char c : file.string())
        if (c == '%' || c == '?' || c == '#')
            uri.append(c == '%' ? "%25" : c == '?' ? "%3f" : "%23");
        else
            uri += c;
    std::error_code none;
    const auto log = std::filesystem::file_size(file.string() + "-wal", none);
    return uri + (none || log == 0 ? "?immutable=1" : "?mode=ro");
}

void bind_bytes(sqlite3_stmt* statement, int place, std::string_view bytes) {
    // nullptr as destructor (SQLITE_STATIC): the caller keeps the bytes until the statement has
    // run.
    sqlite3_bind_blob64(statement, place, bytes.empty() ? "" : bytes.data(), bytes.size(), nullptr);
}

std::string column(sqlite3_stmt* statement, int place) {
    const void* const bytes = sqlite3_column_blob(statement, place);
    const int size = sqlite3_column_bytes(statement, place);
    return bytes == nullptr
               ? std::string{}
               : std::string{static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

// Settings that are safe for a file that is not yet known to be Stint's. The exclusive lock is
// taken at the first read. With it SQLite uses no shared memory (-shm) for the write-ahead log, so
// that no file is mapped: truncation of a mapped file by another process would crash this one.
constexpr auto cautious = "PRAGMA locking_mode=EXCLUSIVE; PRAGMA mmap_size=0;"
                          "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
                          "PRAGMA temp_store=MEMORY";
// The settings of `cautious` without the exclusive lock, which SQLite takes only on a file that it
// may write.
constexpr auto cautious_reading = "PRAGMA mmap_size=0; PRAGMA trusted_schema=OFF;"
                                  "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY";
constexpr auto settings = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                          "PRAGMA journal_size_limit=16777216";

} // namespace

void Store::Close::operator()(sqlite3* database) const noexcept {
    sqlite3_close_v2(database);
}

void Store::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
    sqlite3_finalize(statement);
}

Store::Store(Database database) : database_{std::move(database)} {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store, Failure> Store::open(const std::filesystem::path& file) {
    if (const auto made = make_file(file); !made)
        return made.error();
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(
        file.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    Store store{Database{opened}};
    if (opened == nullptr)
        return Failure{Failure::Kind::unavailable, "no memory"};
    if (code != SQLITE_OK)
        return store.failure(code);
    // Prevents a checkpoint on close, so that a file that fails the checks stays unchanged.
    sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_busy_timeout(opened, wait_for_others_ms);
    if (auto begun = store.begin(); !begun)
        return std::move(begun).error();
    sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
    // The file has the hash key and the hashes of limit keys, which are sensitive.
    ::chmod(file.c_str(), 0600);
    return store;
}

Result<Store, Failure> Store::open_to_read(const std::filesystem::path& file) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(
        uri_to_read(file).c_str(), &opened,
        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    Store store{Database{opened}};
    if (opened == nullptr)
        return Failure{Failure::Kind::unavailable, "no memory"};
    if (code != SQLITE_OK)
        return store.failure(code);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    if (auto done = store.run(cautious_reading); !done)
        return std::move(done).error();
    if (auto checked = store.check(); !checked)
        return std::move(checked).error();
    return store;
}

Result<void, Failure> Store::begin() {
    if (auto done = run(cautious); !done)
        return done;
    auto objects = ask("SELECT count(*) FROM sqlite_schema");
    if (!objects)
        return std::move(objects).error();
    fresh_ = *objects == "0";
    if (sqlite3_db_readonly(database_.get(), "main") != 0)
        return Failure{Failure::Kind::unavailable, "it is read-only"};
    if (auto ready = fresh_ ? create() : check(); !ready)
        return ready;
    if (auto done = run(settings); !done)
        return done;
    auto put = prepare("INSERT INTO entries(home, key, value, checksum) VALUES(?1, ?2, ?3, ?4) "
                       "ON CONFLICT(home, key) DO UPDATE SET value=?3, checksum=?4");
    auto erase = prepare("DELETE FROM entries WHERE home=?1 AND key=?2");
    if (!put || !erase)
        return put ? std::move(erase).error() : std::move(put).error();
    put_ = std::move(*put);
    erase_ = std::move(*erase);
    return {};
}

// Creates the table of a new file. It has rowids, so that values of some KiB are stored side by
// side and updated in place.
Result<void, Failure> Store::create() {
    const std::string sql =
        std::string{"PRAGMA journal_mode=WAL; BEGIN IMMEDIATE;"
                    "CREATE TABLE entries(home BLOB NOT NULL, key BLOB NOT NULL,"
                    " value BLOB NOT NULL, checksum BLOB NOT NULL, UNIQUE(home, key));"
                    "PRAGMA application_id="} +
        application + "; PRAGMA user_version=" + std::to_string(form) + "; COMMIT";
    return run(sql.c_str());
}

Result<void, Failure> Store::check() {
    auto owner = ask("PRAGMA application_id");
    if (!owner)
        return std::move(owner).error();
    if (*owner != application)
        return broken("it is not a state file of Stint");
    auto written_in = ask("PRAGMA user_version");
    if (!written_in)
        return std::move(written_in).error();
    if (*written_in != std::to_string(form))
        return broken("another version of Stint has written it (form " + *written_in + ")");
    auto found = ask("PRAGMA integrity_check(1)");
    if (!found)
        return std::move(found).error();
    std::ranges::replace(*found, '\n', ' '); // keeps the log message on one line
    return *found == "ok" ? Result<void, Failure>{} : broken("it is damaged: " + *found);
}

Result<std::vector<Row>, Failure> Store::rows(std::string_view table) {
    auto prepared = prepare("SELECT key, value, checksum FROM entries WHERE home=?1");
    if (!prepared)
        return std::move(prepared).error();
    sqlite3_stmt* const each = prepared->get();
    bind_bytes(each, 1, table);
    std::vector<Row> rows;
    int code = sqlite3_step(each);
    for (; code == SQLITE_ROW; code = sqlite3_step(each)) {
        Row& row = rows.emplace_back(Row{column(each, 0), column(each, 1)});
        if (column(each, 2) != checksum(table, row.key, row.value))
            return broken("it is damaged: a row is not what was written");
    }
    if (code != SQLITE_DONE)
        return failure(code);
    return rows;
}

Result<void, Failure> Store::write(std::span<const Change> changes) {
    if (auto begun = run("BEGIN IMMEDIATE"); !begun)
        return begun;
    Result<void, Failure> done{};
    for (const Change& change : changes)
        if (done)
            done = apply(change);
    if (done)
        done = run("COMMIT");
    if (!done && sqlite3_get_autocommit(database_.get()) == 0)
        (void)run("ROLLBACK");
    return done;
}

Result<void, Failure> Store::apply(const Change& change) {
    sqlite3_stmt* const statement = change.value ? put_.get() : erase_.get();
    std::string sum;
    bind_bytes(statement, 1, change.table);
    bind_bytes(statement, 2, change.key);
    if (change.value) {
        sum = checksum(change.table, change.key, *change.value);
        bind_bytes(statement, 3, *change.value);
        bind_bytes(statement, 4, sum);
    }
    const int code = sqlite3_step(statement);
    Result<void, Failure> done{};
    if (code != SQLITE_DONE)
        done = failure(code);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return done;
}

Result<void, Failure> Store::run(const char* sql) {
    const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        return failure(code);
    return {};
}

Result<std::string, Failure> Store::ask(const char* sql) {
    auto statement = prepare(sql);
    if (!statement)
        return std::move(statement).error();
    if (const int code = sqlite3_step(statement->get()); code != SQLITE_ROW)
        return failure(code);
    return column(statement->get(), 0);
}

Result<Store::Statement, Failure> Store::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(
        database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    if (code != SQLITE_OK)
        return failure(code);
    return Statement{statement};
}

// Returns the failure for a result code of SQLite. SQLITE_ERROR also means a damaged file, because
// the statements themselves are correct.
Failure Store::failure(int code) const {
    const int system = sqlite3_system_errno(database_.get());
    const std::string why = sqlite3_errmsg(database_.get());
    switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
    case SQLITE_DONE: // a query without its expected row
        return broken("it is damaged: " + why);
    case SQLITE_BUSY:
        return {Failure::Kind::unavailable, "another process has it open"};
    default:
        return {Failure::Kind::unavailable, system != 0 ? why + " (" + text_of(system) + ")" : why};
    }
}

Result<std::filesystem::path, Failure> move_aside(const std::filesystem::path& file, WallTime now) {
    const std::time_t seconds =
        std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char time[32];
    std::strftime(time, sizeof time, "%Y%m%dT%H%M%SZ", &parts);
    std::error_code error;
    const std::string wanted = file.string() + moved_suffix + time;
    std::string name = wanted;
    for (int number = 2; std::filesystem::exists(std::filesystem::symlink_status(name, error));
         ++number)
        name = wanted + "-" + std::to_string(number);
    std::filesystem::rename(file, name, error);
    if (error)
        return Failure{Failure::Kind::unavailable, error.message()};
    // Otherwise SQLite would use these files for the new database.
    for (const char* const beside : {"-wal", "-shm", "-journal"}) {
        std::error_code none;
        std::filesystem::rename(file.string() + beside, name + beside, none);
    }
    return std::filesystem::path{name};
}

bool was_moved_aside(const std::filesystem::path& file) {
    const std::string begins = file.filename().string() + moved_suffix;
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    std::error_code error;
    std::filesystem::directory_iterator each{folder, error};
    for (; !error && each != std::filesystem::directory_iterator{}; each.increment(error))
        if (each->path().filename().string().starts_with(begins))
            return true;
    return error.operator bool();
}

} // namespace stint::state
