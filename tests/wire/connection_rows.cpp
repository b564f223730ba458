// Connections that end early, are silent or change their protocol.
#include "play.hpp"

#include <doctest/doctest.h>

using namespace stint::wire;

namespace {

const std::string nothing;

const Rows upstreams{
    {.name = "an upstream that closes instead of answering",
     .source = "RFC 9110 15.6.3",
     .client = post("", "Content-Length: 0"),
     .upstream_saw = post("", "Content-Length: 0"),
     .client_got = "<502>",
     .answers = {nothing},
     .upstream_ends = Row::End::close},
    {.name = "an upstream that resets instead of answering",
     .source = "RFC 9110 15.6.3",
     .client = post("", "Content-Length: 0"),
     .upstream_saw = post("", "Content-Length: 0"),
     .client_got = "<502>",
     .answers = {nothing},
     .upstream_ends = Row::End::reset},
    {.name = "an upstream that closes in the middle of its head",
     .source = "RFC 9112 8; RFC 9110 15.6.3",
     .client = get,
     .upstream_saw = get,
     .client_got = "<502>",
     .answers = {"HTTP/1.1 200 OK\r\nContent-Le"},
     .upstream_ends = Row::End::close},
    {.name = "an upstream that is silent",
     .source = "RFC 9110 15.6.5",
     .client = get,
     .upstream_saw = get,
     .client_got = "<504>",
     .answers = {nothing},
     .passes = std::chrono::seconds{61}},
    {.name = "an upstream that is silent in the middle of its head",
     .source = "RFC 9110 15.6.5",
     .client = get,
     .upstream_saw = get,
     .client_got = "<504>",
     .answers = {"HTTP/1.1 200 OK\r\n"},
     .passes = std::chrono::seconds{61}},
};

} // namespace

TEST_CASE("upstreams that fail") {
    play(upstreams);
}
