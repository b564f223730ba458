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

    int status = 400;        // the answer to a client; towards an upstream every error is a 502
    std::string_view detail; // one sentence with static storage: what was found, by which rule
};

// Throws when Result<T, HeadError>::value() has no value: a programming error, as everywhere.
[[noreturn]] inline void
throw_exception_from_error(const HeadError& error, const boost::source_location& where) {
    boost::throw_with_location(std::logic_error{std::string{error.detail}}, where);
}

} // namespace stint::http
