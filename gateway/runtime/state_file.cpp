#include "runtime/state_file.hpp"

#include "net/clock.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace stint::runtime {

std::optional<StateFile::Contents> StateFile::open() {
    next_open_ = net::read_steady_clock() + between_openings;
    for (bool moved = false;; moved = true) {
        Contents contents;
        const std::optional<state::Failure> failure = try_open(contents);
        if (!failure) {
            // A former process may have moved a file aside, and ended before it wrote the new one.
            contents.in_place_of_another =
                moved || (contents.own.empty() && state::was_moved_aside(file_));
            return contents;
        }
        store_.reset();
        if (failure->kind == state::Failure::Kind::broken && !moved) {
            if (move_aside(*failure))
                continue;
        } else {
            note_failure(failure->why);
        }
        return std::nullopt;
    }
}

std::optional<StateFile::Contents> StateFile::reopen(bool at_once) {
    if (net::read_steady_clock() < next_open_ && !at_once)
        return std::nullopt;
    return open();
}

std::optional<StateFile::Contents> StateFile::read() const {
    auto opened = state::Store::open_to_read(file_);
    if (!opened)
        return std::nullopt;
    auto contents = contents_of(*opened);
    if (!contents)
        return std::nullopt;
    spdlog::warn(
        "state: {}: it can only be read: what it has goes on, nothing new is kept", file_.string());
    return std::move(*contents);
}

std::optional<state::Failure> StateFile::try_open(Contents& contents) {
    auto opened = state::Store::open(file_);
    if (!opened)
        return std::move(opened).error();
    store_ = std::move(*opened);
    auto read = contents_of(*store_);
    if (!read)
        return std::move(read).error();
    contents = std::move(*read);
    return std::nullopt;
}

Result<StateFile::Contents, state::Failure> StateFile::contents_of(state::Store& store) {
    auto stint = store.rows(own);
    if (!stint)
        return std::move(stint).error();
    auto limits = store.rows(counters);
    if (!limits)
        return std::move(limits).error();
    auto held = store.rows(leases);
    if (!held)
        return std::move(held).error();
    auto changed = store.rows(operators);
    if (!changed)
        return std::move(changed).error();
    return Contents{std::move(*stint), std::move(*limits), std::move(*held), std::move(*changed)};
}

bool StateFile::move_aside(const state::Failure& failure) {
    store_.reset();
    const auto moved = state::move_aside(file_, net::read_clocks().wall);
    if (!moved) {
        note_failure(failure.why + ", and it cannot be moved aside: " + moved.error().why);
        return false;
    }
    spdlog::error(
        "state: {}: {}; it is now {}, and counts begin anew", file_.string(), failure.why,
        moved->string());
    return true;
}

Result<void, state::Failure> StateFile::write(std::span<const state::Change> changes) {
    auto done = store_->write(changes);
    if (done)
        ++writes_;
    return done;
}

void StateFile::note_written() {
    last_write_.store(net::read_clocks().wall.time_since_epoch().count(), relaxed);
    failure_.clear();
    if (std::exchange(failing_, false))
        spdlog::info("state: {} is written again", file_.string());
}

void StateFile::note_failed(const state::Failure& failure) {
    if (failure.kind == state::Failure::Kind::unavailable)
        return note_failure(failure.why);
    ++write_failures_;
    if (move_aside(failure))
        next_open_ = {};
}

void StateFile::note_failure(const std::string& why) {
    ++write_failures_;
    failure_ = why;
    // During the shutdown the logger may already be destroyed.
    if (!std::exchange(failing_, true) && spdlog::default_logger_raw() != nullptr)
        spdlog::error(
            "state: {}: {}; until it can be written counts are in memory alone", file_.string(),
            why);
}

} // namespace stint::runtime
