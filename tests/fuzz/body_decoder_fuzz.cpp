// Bodies: the same payload, end and verdict whatever pieces the bytes come in.
//
// Input: a byte for the framing (its lowest two bits: none, length, chunked, until close), a byte
// for the length, a byte that seeds the cuts, the bytes.
#include "http/body_decoder.hpp"
#include "http/rewrite.hpp"
#include "oracle.hpp"
#include "strict_http.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stint::fuzz {

namespace {

using Kind = BodyFraming::Kind;

// Sizes of pieces, 0 included, from a byte: mostly small ones.
class Cuts {
  public:
    explicit Cuts(std::uint8_t seed) : state_{seed} {}

    std::size_t next() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        const auto bits = static_cast<std::size_t>(state_ >> 33U);
        return bits % 16 == 0 ? bits / 16 % 2000 : bits / 16 % 8;
    }

  private:
    std::uint64_t state_;
};

struct Decoded {
    std::string payload;
    std::size_t consumed = 0;
    bool failed = false;
    bool done = false;
    bool may_end = false;

    friend bool operator==(const Decoded&, const Decoded&) = default;
};

template <class NextSize>
Decoded decode(BodyFraming framing, std::string_view input, NextSize next_size) {
    http::BodyDecoder decoder{framing};
    Decoded result;
    while (!decoder.done() && result.consumed < input.size()) {
        std::string piece{input.substr(result.consumed, next_size())};
        const auto step = decoder.decode(piece);
        if (!step) {
            result.failed = true;
            return result;
        }
        require(step->payload <= step->consumed, "a payload is not longer than its body", input);
        require(step->consumed <= piece.size(), "no more is consumed than came", input);
        require(
            step->consumed == piece.size() || decoder.done(), "all is consumed before the end",
            input);
        result.payload.append(piece, 0, step->payload);
        result.consumed += step->consumed;
    }
    result.done = decoder.done();
    result.may_end = decoder.end_of_stream();
    return result;
}

// What a relay would make of the payload, in the pieces of `cuts`.
std::string chunked(std::string_view payload, Cuts cuts) {
    std::string out;
    while (!payload.empty()) {
        const std::string_view piece = payload.substr(0, cuts.next());
        if (piece.empty())
            continue;
        out.append(http::ChunkHeader{piece.size()}.view()).append(piece).append(http::chunk_end);
        payload.remove_prefix(piece.size());
    }
    return out.append(http::last_chunk);
}

// Another reader finds the same end and the same payload in what the gateway takes.
void check_against_second_opinion(const Decoded& decoded, std::string_view input) {
    std::string payload;
    std::string_view rest = input;
    const bool whole = read_chunked_body(rest, payload);
    require(whole == decoded.done, "two readers find an end", input);
    require(payload == decoded.payload, "two readers find the same payload", input);
    require(
        !whole || input.size() - rest.size() == decoded.consumed, "two readers find the same end",
        input);
}

void check(BodyFraming framing, std::uint8_t seed, std::string_view input) {
    const Decoded whole = decode(framing, input, [&] { return input.size(); });
    const Decoded bytewise = decode(framing, input, [] { return std::size_t{1}; });
    const Decoded pieces =
        decode(framing, input, [cuts = Cuts{seed}]() mutable { return cuts.next(); });
    require(whole.failed == bytewise.failed, "pieces do not decide what is malformed", input);
    require(bytewise == pieces || whole.failed, "pieces do not change the payload", input);
    require(whole == bytewise || whole.failed, "pieces do not change the end", input);
    require(
        bytewise.payload.starts_with(pieces.payload), "what comes before a fault is the same",
        input);
    if (framing.kind == Kind::length)
        require(
            whole.payload == input.substr(0, framing.length), "a length is taken literally", input);
    if (whole.failed)
        return;
    if (framing.kind == Kind::chunked)
        check_against_second_opinion(whole, input);
    const std::string again = chunked(whole.payload, Cuts{seed});
    const Decoded back = decode({Kind::chunked, 0}, again, [&] { return again.size(); });
    require(
        back.done && back.consumed == again.size() && back.payload == whole.payload,
        "what is chunked anew is the same", again);
}

} // namespace

} // namespace stint::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stint;
    if (size < 3)
        return 0;
    const auto kind = static_cast<BodyFraming::Kind>(bytes[0] & 3U);
    const BodyFraming framing{kind, kind == BodyFraming::Kind::length ? bytes[1] : 0U};
    fuzz::check(framing, bytes[2], {reinterpret_cast<const char*>(bytes) + 3, size - 3});
    return 0;
}
