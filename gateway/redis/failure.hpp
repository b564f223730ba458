// Why a command has no reply, as a value.
#pragma once

#include "base/error.hpp"
#include "redis/resp/value.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace stint::redis {

// How much of a command's bytes the connection's socket has taken. Only a command with all of its
// bytes taken may have been run by the server.
enum class Written : std::uint8_t { nothing, part, all };

struct Failure {
    enum class Kind : std::uint8_t {
        busy,        // a bound on commands or bytes was reached; nothing was sent
        unreachable, // there is no connection
        broken,      // the connection broke
        timed_out,   // the server was silent for too long; the connection was given up
        malformed,   // the server has broken the protocol; the connection was given up
        // Errors of the server, see failure_of(). The command has changed nothing:
        loading,        // LOADING: the server reads its data
        read_only,      // READONLY: it is a replica
        primary_down,   // MASTERDOWN: it is a replica that has lost its primary
        no_replicas,    // NOREPLICAS: fewer replicas than it must have
        out_of_memory,  // OOM
        script_running, // BUSY: another script runs for too long
        denied,         // NOAUTH, NOPERM, WRONGPASS
        redirected,     // MOVED, ASK: another node of the Cluster has the key
        no_script,      // NOSCRIPT, although the script was just loaded
        other_error,    // any other: the script may have run in part
    };

    Kind kind = Kind::broken;
    std::string text = {}; // for people: "redis: connect to 127.0.0.1:6379: connection refused"
    Written written = Written::nothing;

    [[nodiscard]] bool may_have_run() const noexcept { return written == Written::all; }
};

// Returns an error of the server as a failure: its kind by its code, its text with "redis: " in
// front.
[[nodiscard]] Failure failure_of(const Value& error);

// A reply, or why there is none. An error of the server is a reply: a Value that is_error().
using Reply = Result<Value, Failure>;

// Called once for each command, with its reply. Must not throw.
using ReplyHandler = std::function<void(Reply)>;

// Returns bytes of a server as text that any log or terminal can show: control characters as "?",
// at most 200 bytes.
[[nodiscard]] std::string printable(std::string_view bytes);

// Returns an error's message as this layer writes it: "connection refused".
[[nodiscard]] std::string text_of(const ErrorCode& error);

} // namespace stint::redis
