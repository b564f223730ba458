#include "observe/json_line.hpp"
#include "simulate/report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <vector>

namespace stint::simulate {
namespace {

using Row = std::vector<std::string>;

// Writes a table with columns as wide as their widest cell. The first text_columns are aligned
// left, the others, with numbers, right.
void write_table(std::ostream& out, const std::vector<Row>& rows, std::size_t text_columns) {
    Row::size_type columns = 0;
    for (const Row& row : rows)
        columns = std::max(columns, row.size());
    std::vector<int> widths(columns);
    for (const Row& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], static_cast<int>(row[i].size()));
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool last_text = i < text_columns && i + 1 == row.size();
            out << (i == 0 ? "  " : "   ") << (i < text_columns ? std::left : std::right)
                << std::setw(last_text ? 0 : widths[i]) << row[i];
        }
        out << '\n';
    }
}

// Replaces control characters, because clients choose keys, and control characters could control
// the terminal.
std::string printable(std::string_view text) {
    std::string safe;
    for (const char c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            safe += '?';
        else
            safe += c;
    return safe;
}

std::string name_of(const std::string& name) {
    return name.empty() ? "(none)" : printable(name);
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    std::array<char, 16> text{};
    const double share =
        whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    std::snprintf(text.data(), text.size(), "%.2f %%", share);
    return text.data();
}

void write_log(std::ostream& out, const Report& report) {
    out << report.requests << " requests in " << report.log.lines << " lines";
    if (report.requests > 0) {
        std::string from;
        std::string to;
        observe::append_rfc3339(from, report.from);
        observe::append_rfc3339(to, report.to);
        out << ", " << from << " to " << to;
    }
    out << '\n';
    if (report.log.unrouted > 0)
        out << report.log.unrouted
            << " lines left out: rejected before any limit (400 and the like)\n";
    if (report.log.malformed > 0)
        out << report.log.malformed << " lines left out: not readable\n";
    for (const std::string& example : report.log.first_malformed)
        out << "  " << printable(example) << '\n';
    if (report.log.late > 0)
        out << report.log.late << " requests came more than " << LogFiles::look_ahead
            << " lines late; they are counted when they came\n";
    for (const std::string& note : report.notes)
        out << "note: " << printable(note) << '\n';
}

void write_totals(std::ostream& out, const Report& report) {
    const auto row = [&](const std::string& name, const Tally& tally) {
        return Row{
            name, std::to_string(tally.admitted()), std::to_string(tally.refused()),
            percent(tally.refused(), report.requests), std::to_string(tally.unrouted())};
    };
    out << '\n';
    write_table(
        out,
        {{"", "ADMITTED", "REFUSED", "", "NO ROUTE"},
         row(report.file, report.after),
         row(report.against.value_or("what happened"), report.before)},
        1);
    if (report.unknown_ends > 0)
        out << '\n'
            << report.unknown_ends
            << " requests would be admitted that were refused in the log: when and how they would\n"
               "have ended is not known. They held slots of caps for no time and were counted in "
               "full\n";
}

void write_routes(std::ostream& out, const Tally& tally) {
    std::vector<Row> rows{{"ROUTE", "REFUSED BY", "REQUESTS"}};
    for (const auto& [name, route] : tally.routes()) {
        rows.push_back({name_of(name), "(admitted)", std::to_string(route.admitted)});
        for (const auto& [limit, count] : route.refused)
            rows.push_back({name_of(name), name_of(limit), std::to_string(count)});
    }
    if (rows.size() > 1) {
        out << '\n';
        write_table(out, rows, 2);
    }
}

void write_difference(std::ostream& out, const Report& report) {
    const Difference& difference = report.difference;
    out << "\nAgainst " << report.against.value_or("what happened") << ": "
        << difference.total.newly_refused << " newly refused, " << difference.total.newly_admitted
        << " newly admitted, " << difference.other_route << " on another route\n";
    std::vector<Row> rows{{"ROUTE", "LIMIT", "NEWLY REFUSED", "NEWLY ADMITTED"}};
    for (const auto& [place, count] : difference.places)
        rows.push_back(
            {name_of(place.first), name_of(place.second), std::to_string(count.newly_refused),
             std::to_string(count.newly_admitted)});
    if (rows.size() > 1)
        write_table(out, rows, 2);
}

void write_waits(std::ostream& out, const std::string& file, const Tally& tally) {
    if (tally.waited() > 0)
        out << '\n'
            << file << ": " << tally.waited() << " requests would wait before a limit, for at most "
            << ceil_ms(tally.longest_wait()) << " ms\n";
}

void write_undecided(std::ostream& out, const std::string& file, const Tally& tally) {
    for (const auto& [limit, count] : tally.undecided())
        out << "\n"
            << file << ": " << name_of(limit) << " was left out for " << count
            << " requests: a field that it looks at is not in the log\n";
}

void write_keys(std::ostream& out, const Tally& tally) {
    for (const auto& [limit, keys] : tally.keys()) {
        out << "\nMost refused by " << name_of(limit) << '\n';
        std::vector<Row> rows;
        for (std::size_t rank = 0; rank < std::min(keys.size(), keys_shown); ++rank) {
            const auto entry = keys.ranked(rank);
            rows.push_back(
                {entry.text.empty() ? "(without a key)" : printable(entry.text),
                 std::to_string(entry.count)});
            if (entry.over > 0)
                rows.back().push_back("(at most " + std::to_string(entry.over) + " too many)");
        }
        write_table(out, rows, 1);
    }
}

} // namespace

void write_text(std::ostream& out, const Report& report) {
    write_log(out, report);
    write_totals(out, report);
    write_waits(out, report.file, report.after);
    if (report.against)
        write_waits(out, *report.against, report.before);
    write_undecided(out, report.file, report.after);
    if (report.against)
        write_undecided(out, *report.against, report.before);
    write_routes(out, report.after);
    write_difference(out, report);
    write_keys(out, report.after);
}

} // namespace stint::simulate
