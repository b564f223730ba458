// The reason why a head or a body was refused, and the status to answer with.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/throw_exception.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace stint::http {

struct HeadError {
    constexpr HeadError() noexcept = default;
    // Not an aggregate: an aggregate could be made from a bare number, and Result<T, HeadError>
    // could not tell it from a T.
    constexpr HeadError(int answer, std::string_view reason) noexcept
        : status{answer}, detail{reason} {}

    int status = 400;        // sent to a client; an error of an upstream is answered by 502 instead
    std::string_view detail; // a sentence in static storage
};

// Called by Result<T, HeadError>::value() if there is no value, which is a programming error:
// throws std::logic_error.
[[noreturn]] inline void
throw_exception_from_error(const HeadError& error, const boost::source_location& where) {
    boost::throw_with_location(std::logic_error{std::string{error.detail}}, where);
}

} // namespace stint::http
